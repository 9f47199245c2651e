"""From requests to answers, all together or token by token.

    answers = generate(model, requests, bos=1, eos=2, pad=0)

A model that searches by itself gets what it can do; the loop, and torch with it, is imported only
for the rest.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from clearhead.decoding.interface import Searcher, State, StepDecoder
from clearhead.decoding.request import Hypothesis, Request
from clearhead.decoding.table import by_config

__all__ = ["generate", "stream"]

S = TypeVar("S", bound=State)


def generate(
    model: StepDecoder[S],
    requests: Sequence[Request],
    *,
    bos: int,
    eos: int,
    pad: int,
    device: str = "cpu",
) -> list[list[Hypothesis]]:
    """Decode these requests together; return the answers of each, the best first."""
    answers: dict[int, list[Hypothesis]] = {}
    others: list[Request] = []
    for config, some in by_config(requests).items():
        found = None
        if config is not None and isinstance(model, Searcher):
            found = model.search(some, bos=bos, eos=eos)
        if found is None:
            others += some
        else:
            answers |= {id(request): all_ for request, all_ in zip(some, found, strict=True)}
    if others:
        from clearhead.decoding.loop import Decoding

        decoding = Decoding(model, bos=bos, eos=eos, pad=pad)
        decoding.add(others, device)
        while not decoding.is_idle:
            answers |= {id(request): found for request, found in decoding.step()}
    return [answers[id(request)] for request in requests]


def stream(
    model: StepDecoder[S],
    request: Request,
    *,
    bos: int,
    eos: int,
    pad: int,
    device: str = "cpu",
) -> Iterator[int]:
    """Decode one request, and yield each token as soon as it is chosen.

    A search with several beams knows its first token only at the end, and yields all then.
    """
    from clearhead.decoding.loop import Decoding

    decoding = Decoding(model, bos=bos, eos=eos, pad=pad)
    decoding.add([request], device)
    n_told = 0
    while not decoding.is_idle:
        finished = decoding.step()
        if finished:
            answers = finished[0][1]  # none, if nothing may be written
            tokens = tuple(answers[0].tokens) if answers else ()
        else:
            tokens = decoding.written(request) if request.config.n_rows == 1 else ()
        yield from tokens[n_told:]
        n_told = len(tokens)
