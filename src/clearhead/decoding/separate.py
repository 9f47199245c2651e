"""Requests that choose one by one: by rules, in groups, with required terms, or by chance."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from clearhead.decoding.beam import Beam
from clearhead.decoding.choices import Stages, write_choices
from clearhead.decoding.request import Hypothesis, Request
from clearhead.decoding.rules import apply_rules, has_rules
from clearhead.decoding.sampling import Samples

__all__ = ["Separate", "best_tokens"]

Choice = Beam | Samples
Found = list[list[tuple[int, float]]]


class Separate:
    """Their rows under each other, and who chooses for which of them."""

    def __init__(self, requests: Sequence[Request], *, begins: Sequence[int], eos: int) -> None:
        self.eos = eos
        self.begins = {id(request): token for request, token in zip(requests, begins, strict=True)}
        self.choices: list[Choice] = [
            Samples(request, eos) if request.config.temperature > 0 else Beam(request, eos)
            for request in requests
        ]
        self._stages: dict[int, Stages] = {}
        """Of each choice that is logged: what the rules did in this step."""

    @property
    def owners(self) -> NDArray[np.int64]:
        """Whose row each one is."""
        return np.repeat(
            np.arange(len(self.choices)), [len(choice.histories) for choice in self.choices]
        )

    @property
    def n_rows(self) -> int:
        """How many beginnings are being continued."""
        return sum(len(choice.histories) for choice in self.choices)

    @property
    def newest(self) -> NDArray[np.int64]:
        """What each row wrote last."""
        return np.array(
            [
                history[-1] if history else self.begins[id(choice.request)]
                for choice in self.choices
                for history in choice.histories
            ]
        )

    def advance(
        self, logits: Float[Tensor, "B V"]
    ) -> tuple[NDArray[np.int64], list[tuple[Request, list[Hypothesis]]]]:
        """Choose the next tokens.

        Returns which row each new row goes on from, and the requests that have ended.
        """
        finished: list[tuple[Request, list[Hypothesis]]] = []
        kept: list[int] = []
        living: list[Choice] = []
        first = 0
        for choice, found, log_probs in self._candidates(logits):
            n_rows = len(choice.histories)
            stages = self._stages.pop(id(choice), None)
            parents = choice.advance(found, log_probs)
            if stages is not None:
                write_choices(choice, stages)
            kept += [first + parent for parent in parents]
            first += n_rows
            if parents:
                living.append(choice)
            else:
                finished.append((choice.request, choice.results()))
        self.choices = living
        return np.array(kept, dtype=np.int64), finished

    def drop(self, requests: set[int]) -> NDArray[np.bool_]:
        """Forget requests, named by their `id`; return which rows stay."""
        is_kept = [
            id(choice.request) not in requests for choice in self.choices for _ in choice.histories
        ]
        self.choices = [c for c in self.choices if id(c.request) not in requests]
        return np.array(is_kept, dtype=bool)

    def written(self, request: Request) -> tuple[int, ...] | None:
        """What the first row of a live request has written; nothing if it does not live here."""
        return next((c.histories[0] for c in self.choices if c.request is request), None)

    def _candidates(
        self, logits: Float[Tensor, "B V"]
    ) -> Iterator[tuple[Choice, Found, Tensor | None]]:
        """The best next tokens of each choice's rows, by rules where asked for."""
        first = 0
        for choice in self.choices:
            own = logits[first : first + len(choice.histories)]
            first += len(choice.histories)
            is_told = choice.request.log is not None and choice.request.config.is_followed_singly
            if not choice.needs_all and not has_rules(choice.request) and not is_told:
                yield choice, _pairs(*best_tokens(own, choice.n_candidates)), None
                continue
            log_probs = own.float() - own.float().logsumexp(-1, keepdim=True)
            stages = Stages(log_probs, choice.histories) if is_told else None
            told = stages.hear if stages else lambda *_: None
            apply_rules(log_probs, choice.histories, choice.request, self.eos, told)
            if stages is not None:
                self._stages[id(choice)] = stages
            values, tokens = log_probs.topk(min(own.shape[1], choice.n_candidates), dim=-1)
            yield choice, _pairs(tokens, values), log_probs


def best_tokens(logits: Float[Tensor, "B V"], k: int) -> tuple[Tensor, Tensor]:
    """Rank the logits themselves; return the k best tokens and their log-probabilities."""
    values, tokens = logits.topk(min(k, logits.shape[1]), dim=-1)
    return tokens, values.float() - logits.float().logsumexp(-1, keepdim=True)


def _pairs(tokens: Tensor, log_probs: Tensor) -> Found:
    return [
        list(zip(some, probs, strict=True))
        for some, probs in zip(tokens.tolist(), log_probs.tolist(), strict=True)
    ]
