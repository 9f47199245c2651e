"""Which source token each token of an answer reads most.

The model reads the source again and writes the answer that was found, while the head is watched
that aligns best; it was found on validation pairs at the end of training, and stands in the card.
A card without one means the last block but one, as a mean over its heads: in models of six blocks,
these come nearest to alignments made by people (Garg et al. 2019).
"""

from collections.abc import Sequence
from typing import Any

import torch

from clearhead.data import Pair
from clearhead.models import Transformer
from clearhead.observe.alignment import Aligner, find_aligner
from clearhead.observe.forced import Forced, force
from clearhead.observe.lexicon import Lexicon
from clearhead.observe.value import words_of
from clearhead.observe.watch import watch
from clearhead.tasks.translation import Alignment
from clearhead.text import AnyTokenizer

__all__ = ["N_LOOKED_AT", "align", "aligner_in", "choose_aligner", "learn_lexicon"]

N_LOOKED_AT = 100
"""Pairs on which heads are compared."""


def choose_aligner(
    model: Transformer,
    tokenizer: AnyTokenizer,
    pairs: Sequence[Pair],
    more: Sequence[Pair] = (),
    max_source: int | None = None,
) -> Aligner:
    """The best head on some of the pairs; which words belong together is learned from all."""
    looked_at = [
        force(model, tokenizer, pair.source, pair.target, max_source)
        for pair in pairs[:N_LOOKED_AT]
    ]
    return find_aligner(looked_at, learn_lexicon(tokenizer, [*pairs, *more]))


def learn_lexicon(tokenizer: AnyTokenizer, pairs: Sequence[Pair]) -> Lexicon:
    """Which words belong together, in the words that the model reads and writes."""

    def words(text: str) -> list[str]:
        return [word for word, _ in words_of(tokenizer.tokens(tokenizer.encode(text)))]

    return Lexicon.learn([(words(pair.source), words(pair.target)) for pair in pairs])


def aligner_in(card: dict[str, Any]) -> Aligner | None:
    """The head that the card names."""
    found = card.get("aligner")
    try:
        return Aligner(**found) if isinstance(found, dict) else None
    except TypeError:
        return None


@torch.no_grad()
def align(pair: Forced, aligner: Aligner | None) -> Alignment:
    """Align the target of a pair with its source, token by token.

    `<eos>` is never the token that is read most: heads that have nothing to read rest there.
    """
    names, n_written = pair.source_tokens[:-1], len(pair.target) - 1
    if not n_written:
        return Alignment(names, [], [])
    block = max(0, len(pair.model.decoder.blocks) - 2) if aligner is None else aligner.block
    point = f"decoder.blocks.{block}.cross_attention.weights"
    with watch(pair.model, point) as seen:
        pair.model.read(*pair.inputs)
    weights = seen.steps(point)[0].tensor
    row = weights.mean(0) if aligner is None else weights[aligner.head]
    largest, places = row[:n_written, :-1].max(-1)
    return Alignment(names, places.tolist(), largest.tolist())
