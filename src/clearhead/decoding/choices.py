"""What was chosen at each step, and what each rule did to the candidates; for the log."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from clearhead.decoding.beam import Beam
from clearhead.decoding.log import Choice, Stage
from clearhead.decoding.sampling import Samples, shaping_steps

__all__ = ["Stages", "write_choices"]

N_LOGGED = 8
"""So many candidates are noted: the most probable before the rules, and as many after them."""


class Stages:
    """The log-probabilities of one choice's rows, rule by rule."""

    def __init__(self, log_probs: Float[Tensor, "B V"], histories: Sequence[Sequence[int]]) -> None:
        self.n_written = [len(history) for history in histories]
        self.rules: list[str] = []
        self.tables: list[NDArray[np.float64]] = []
        self.hear("model", log_probs)

    def hear(self, rule: str, log_probs: Float[Tensor, "B V"]) -> None:
        """What a rule has left."""
        self.rules.append(rule)
        self.tables.append(log_probs.to("cpu", torch.float64).numpy().copy())


def write_choices(choice: Beam | Samples, stages: Stages) -> None:
    """Write what each row has chosen in this step to the log of its request."""
    log, config = choice.request.log, choice.request.config
    assert log is not None
    n_vocabulary = stages.tables[0].shape[1]
    for place, (row, token) in enumerate(_chosen(choice)):
        found: list[tuple[str, NDArray[np.float64]]] = []
        for rule, table in zip(stages.rules, stages.tables, strict=True):
            p = np.exp(table[place])
            found.append((rule, p / (p.sum() or 1.0)))
        if config.temperature > 0 and np.isfinite(stages.tables[-1][place].max()):
            for rule, (tokens, p) in shaping_steps(stages.tables[-1][place], config):
                whole = np.zeros(n_vocabulary)
                whole[tokens] = p
                found.append((rule, whole))
        noted = dict.fromkeys([*_most(found[0][1]), *_most(found[-1][1]), token])
        log.choices.append(
            Choice(
                row,
                stages.n_written[place],
                token,
                [
                    Stage(rule, {t: float(p[t]) for t in noted}, int((p > 0).sum()))
                    for rule, p in found
                ],
            )
        )


def _most(p: NDArray[np.float64]) -> list[int]:
    return [int(token) for token in np.argsort(-p, kind="stable")[:N_LOGGED] if p[token] > 0]


def _chosen(choice: Beam | Samples) -> list[tuple[int, int]]:
    """The answers that were continued, and by which token."""
    if isinstance(choice, Samples):
        pairs = zip(choice.was_live, choice.drawn, strict=True)
        return [(row, token) for row, token in pairs if token is not None]
    assert choice.request.log is not None
    nodes = choice.request.log.nodes
    newest = [node for node in nodes if node.step == nodes[-1].step] if nodes else []
    taken = [node for node in newest if node.fate in ("kept", "finished")]
    return [(0, min(taken, key=lambda node: node.rank).token)] if taken else []
