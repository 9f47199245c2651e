"""Rules: what may not, or must, come next. They change log-probabilities of one request's rows.

Each is a function (log_probs, histories, request, eos) that writes into `log_probs`; histories are
the tokens that each row has written. A forbidden token gets −∞, the others keep what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from clearhead.decoding.request import Request

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

__all__ = ["RULES", "apply_rules", "has_rules"]

History = Sequence[int]
Rule = Callable[["Tensor", Sequence[History], Request, int], None]

NEVER = float("-inf")


def has_rules(request: Request, *, beside_shortest: bool = False) -> bool:
    """Whether any rule is asked for; or any beside that of the shortest length."""
    return any(
        is_asked_for(request)
        for is_asked_for, rule in RULES
        if not (beside_shortest and rule is _forbid_an_early_end)
    )


def apply_rules(
    log_probs: Float[Tensor, "B V"],
    histories: Sequence[History],
    request: Request,
    eos: int,
    tell: Callable[[str, Tensor], None] = lambda *_: None,
) -> None:
    """Let every rule that the request asks for change its rows, in place; `tell` hears of each."""
    for is_asked_for, rule in RULES:
        if is_asked_for(request):
            rule(log_probs, histories, request, eos)
            tell(NAMES[rule], log_probs)


def _penalise_repetition(
    log_probs: Tensor, histories: Sequence[History], request: Request, eos: int
) -> None:
    """The idea of Keskar et al. 2019, §4.1, on log-probabilities, which are never above 0."""
    for row, history in zip(log_probs, histories, strict=True):
        if history:
            row[sorted(set(history))] *= request.config.repetition_penalty


def _forbid_repeated_sequences(
    log_probs: Tensor, histories: Sequence[History], request: Request, eos: int
) -> None:
    n = request.config.no_repeat
    for row, history in zip(log_probs, histories, strict=True):
        last = list(history[len(history) - n + 1 :]) if n > 1 else []
        for end in range(n - 1, len(history)):
            if list(history[end - n + 1 : end]) == last:
                row[history[end]] = NEVER


def _forbid_tokens(
    log_probs: Tensor, histories: Sequence[History], request: Request, eos: int
) -> None:
    log_probs[:, sorted(request.forbidden)] = NEVER


def _forbid_an_early_end(
    log_probs: Tensor, histories: Sequence[History], request: Request, eos: int
) -> None:
    if len(histories[0]) < request.config.min_length:
        log_probs[:, eos] = NEVER


def _force_the_prefix(
    log_probs: Tensor, histories: Sequence[History], request: Request, eos: int
) -> None:
    length = len(histories[0])
    if length < len(request.prefix):
        forced = log_probs[:, request.prefix[length]].clone()
        log_probs.fill_(NEVER)
        log_probs[:, request.prefix[length]] = forced


RULES: Final[tuple[tuple[Callable[[Request], bool], Rule], ...]] = (
    (lambda request: request.config.repetition_penalty != 1, _penalise_repetition),
    (lambda request: request.config.no_repeat > 0, _forbid_repeated_sequences),
    (lambda request: bool(request.forbidden), _forbid_tokens),
    (lambda request: request.config.min_length > 0, _forbid_an_early_end),
    (lambda request: bool(request.prefix), _force_the_prefix),
)
"""When a rule is wanted, and the rule; what must come is last, and stronger."""

NAMES: Final[dict[Rule, str]] = {
    _penalise_repetition: "repetition penalty",
    _forbid_repeated_sequences: "no repeat",
    _forbid_tokens: "forbidden",
    _forbid_an_early_end: "shortest length",
    _force_the_prefix: "prefix",
}
