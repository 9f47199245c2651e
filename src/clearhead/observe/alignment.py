"""Which source words each target word reads: the weights of cross-attention, word by word."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearhead.observe.forced import Forced
from clearhead.observe.lexicon import Lexicon
from clearhead.observe.value import words_of
from clearhead.observe.watch import watch

__all__ = ["Aligner", "CrossAttention", "agreements", "cross_attention", "find_aligner"]


@dataclass(frozen=True)
class CrossAttention:
    """Weights (block, head, target word, source word); each row sums to one.

    A source word's weight is the sum over its pieces. A target word's row is the mean over the
    steps that wrote its pieces.
    """

    weights: Tensor
    source: list[str]
    target: list[str]

    def sharpest(self) -> tuple[int, int]:
        """Block and head whose rows are the most decided: the highest mean of the largest weight.

        The end of the sentence is left out on both sides: many heads rest there.
        """
        largest = self.weights[:, :, :-1, :-1].amax(-1).mean(-1)
        block, head = divmod(int(largest.argmax()), largest.shape[1])
        return block, head

    def read_most(self) -> Tensor:
        """Of each block, head and target word, the source word that it reads most; no ends."""
        return self.weights[:, :, :-1, :-1].argmax(-1)


@dataclass(frozen=True)
class Aligner:
    """The head of cross-attention that aligns best, and how well it does."""

    block: int
    head: int
    agreement: float
    """In which share of links it reads most the word that belongs there."""
    n_links: int


@torch.no_grad()
def cross_attention(pair: Forced) -> CrossAttention:
    """Let the model read the source and write exactly the target, and see where it looks."""
    n_blocks = len(pair.model.decoder.blocks)
    names = [f"decoder.blocks.{n}.cross_attention.weights" for n in range(n_blocks)]
    with watch(pair.model, *names) as seen:
        pair.log_probs()
    weights = torch.stack([seen.steps(name)[0].tensor.float() for name in names])
    source, from_pieces = _words(pair.source_tokens)
    target, to_pieces = _words(pair.target_tokens)
    mean_over = to_pieces / to_pieces.sum(1, keepdim=True)
    return CrossAttention(mean_over @ weights @ from_pieces.T, source, target)


def find_aligner(pairs: Sequence[Forced], lexicon: Lexicon) -> Aligner:
    """The head that agrees most with which words belong together in these pairs."""
    agreement, n_links = agreements(pairs, lexicon)
    block, head = divmod(int(agreement.argmax()), agreement.shape[1])
    return Aligner(block, head, float(agreement[block, head]), n_links)


def agreements(pairs: Sequence[Forced], lexicon: Lexicon) -> tuple[Tensor, int]:
    """Of each block and head, in which share of links it agrees; and how many links there are."""
    config = pairs[0].model.config
    hits = torch.zeros(config.n_decoder_layers, config.block.n_heads)
    n_links = 0
    for pair in pairs:
        seen = cross_attention(pair)
        read_most = seen.read_most()
        for t, s in lexicon.links(seen.source[:-1], seen.target[:-1]):
            hits += read_most[:, :, t] == s
            n_links += 1
    return hits / max(1, n_links), n_links


def _words(pieces: Sequence[str]) -> tuple[list[str], Tensor]:
    """The words of a sentence, and a matrix (word, piece) that says which pieces are whose."""
    words = words_of(pieces)
    belongs = torch.zeros(len(words), len(pieces))
    for row, (_, places) in enumerate(words):
        belongs[row, places] = 1
    return [word for word, _ in words], belongs
