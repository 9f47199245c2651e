"""Which source words each target word reads: the weights of cross-attention, word by word."""

from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
from torch import Tensor

from clearhead.errors import InputError
from clearhead.layers.tap import Tap, listen
from clearhead.models import Transformer
from clearhead.text import Tokenizer

__all__ = ["CrossAttention", "watch_cross_attention"]


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


def watch_cross_attention(
    model: Transformer, tokenizer: Tokenizer, source: str, target: str
) -> CrossAttention:
    """Let the model read `source` and write exactly `target`, and see where it looks."""
    if not source.strip() or not target.strip():
        raise InputError("both the source and the target need at least one word")
    read = [*tokenizer.encode(source), tokenizer.eos]
    written = [*tokenizer.encode(target), tokenizer.eos]
    seen: dict[int, Tensor] = {}
    names = [
        f"decoder.blocks.{n}.cross_attention.weights" for n in range(len(model.decoder.blocks))
    ]
    handlers = {
        cast(Tap, model.get_submodule(name)): partial(_keep, seen, number)
        for number, name in enumerate(names)
    }
    with torch.no_grad(), listen(handlers):
        model.forward(_row(read, model), _row([tokenizer.bos, *written[:-1]], model))
    weights = torch.stack([seen[number][0] for number in sorted(seen)])
    source_words, from_pieces = _words(tokenizer, read)
    target_words, to_pieces = _words(tokenizer, written)
    mean_over = to_pieces / to_pieces.sum(1, keepdim=True)
    return CrossAttention(mean_over @ weights.cpu() @ from_pieces.T, source_words, target_words)


def _keep(seen: dict[int, Tensor], number: int, value: Tensor) -> Tensor:
    seen[number] = value
    return value


def _row(tokens: list[int], model: Transformer) -> Tensor:
    return torch.tensor([tokens], device=next(model.parameters()).device)


def _words(tokenizer: Tokenizer, tokens: list[int]) -> tuple[list[str], Tensor]:
    """The words of a sentence, and a matrix (word, piece) that says which pieces are whose."""
    pieces = tokenizer.tokens(tokens)
    starts = [
        number
        for number, piece in enumerate(pieces)
        if number == 0 or piece.startswith("▁") or tokens[number] == tokenizer.eos
    ]
    words, belongs = [], torch.zeros(len(starts), len(pieces))
    for row, (begin, end) in enumerate(zip(starts, [*starts[1:], len(pieces)], strict=True)):
        is_end = tokens[begin] == tokenizer.eos
        words.append("<eos>" if is_end else tokenizer.decode(tokens[begin:end]).strip())
        belongs[row, begin:end] = 1
    return words, belongs
