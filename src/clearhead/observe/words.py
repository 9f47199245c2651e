"""One word in several sentences: the same vector before the encoder, different ones after it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from clearhead.errors import InputError
from clearhead.models import Transformer
from clearhead.observe.value import find_word, words_of
from clearhead.observe.watch import Seen, watch
from clearhead.text import AnyTokenizer

__all__ = ["Mixture", "WordPaths", "mixture", "word_paths"]


@dataclass(frozen=True)
class WordPaths:
    """The vectors of a word in each sentence: before the encoder, and after each of its blocks."""

    word: str
    sentences: list[str]
    vectors: Float[Tensor, "B L D"]

    def cosines(self) -> Float[Tensor, " L"]:
        """The mean cosine between the sentences at each level; 1 before the encoder."""
        unit = F.normalize(self.vectors, dim=-1)
        products = torch.einsum("ald,bld->lab", unit, unit)
        n = len(self.sentences)
        return (products.sum((1, 2)) - n) / (n * (n - 1))

    def plane(self) -> Float[Tensor, "B L 2"]:
        """The same paths in the plane of their two main directions (PCA)."""
        flat = self.vectors.flatten(0, 1)
        centred = flat - flat.mean(0)
        _, _, directions = torch.linalg.svd(centred, full_matrices=False)
        # A direction has no sign of its own: the largest number of each is made positive.
        largest = directions[:2].abs().argmax(-1, keepdim=True)
        signs = directions[:2].gather(1, largest).sign()
        return (centred @ (directions[:2] * signs).T).view(*self.vectors.shape[:2], 2)


@dataclass(frozen=True)
class Mixture:
    """What a token's new vector is mixed from: the weights of one head at one query."""

    word: str
    words: list[str]
    weights: list[float]
    place: str
    """The point, the block and the head."""

    def __str__(self) -> str:
        parts = [f"{w:.2f}·{word}" for word, w in zip(self.words, self.weights, strict=True)]
        return f"{self.word}' = {' + '.join(parts)}"


@torch.no_grad()
def word_paths(
    model: Transformer, tokenizer: AnyTokenizer, word: str, sentences: Sequence[str]
) -> WordPaths:
    """Follow a word through the encoder, in at least two sentences."""
    if len(sentences) < 2:
        raise InputError("a word is compared in at least two sentences")
    place = "norm.output" if model.config.block.norm == "post" else "sum"
    n_blocks = len(model.encoder.blocks)
    names = [f"encoder.blocks.{n}.feed_forward_residual.{place}" for n in range(n_blocks)]
    vectors = []
    for sentence in sentences:
        tokens = [*tokenizer.encode(sentence), tokenizer.eos]
        places = find_word(tokenizer.tokens(tokens), word)
        if len(places) != 1:
            raise InputError(f"{word!r} must stand once in {sentence!r}, not {len(places)} times")
        seen = _encode(model, tokens, "source_embedding.vectors", *names)
        levels = [seen.steps(name)[0].tensor for name in ("source_embedding.vectors", *names)]
        vectors.append(torch.stack([level[places[0]].float().mean(0) for level in levels]))
    return WordPaths(word, list(sentences), torch.stack(vectors))


@torch.no_grad()
def mixture(
    model: Transformer, tokenizer: AnyTokenizer, sentence: str, word: str, block: int, head: int
) -> Mixture:
    """The mixture equation of a word in an encoder block, with the weights of a head."""
    n_blocks, n_heads = len(model.encoder.blocks), model.config.block.n_heads
    if not (0 <= block < n_blocks and 0 <= head < n_heads):
        raise InputError(
            f"block={block}, head={head} is outside the encoder of {n_blocks} blocks with "
            f"{n_heads} heads"
        )
    name = f"encoder.blocks.{block}.self_attention.weights"
    tokens = [*tokenizer.encode(sentence), tokenizer.eos]
    seen = _encode(model, tokens, name, decode=tokenizer)
    value = seen.steps(name)[0].at(head=head, query=word)
    words = words_of(value.labels("key"))
    weights = [float(value.tensor[places].sum()) for _, places in words]
    return Mixture(word, [each for each, _ in words], weights, f"{name}, head {head}")


def _encode(
    model: Transformer, tokens: list[int], *names: str, decode: AnyTokenizer | None = None
) -> Seen:
    device = next(model.parameters()).device
    labels = None if decode is None else decode.tokens
    with watch(model, *names, decode=labels) as seen:
        model.encode(torch.tensor([tokens], device=device))
    return seen
