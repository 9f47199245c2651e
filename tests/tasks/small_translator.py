"""Translators made in a moment: one with random weights, and one that repeats its source."""

from collections.abc import Sequence
from typing import Any

import torch

from clearhead.decoding import Hypothesis, Request
from clearhead.models import Transformer, TransformerConfig
from clearhead.tasks import Translator
from clearhead.text import Tokenizer

__all__ = ["Echo", "random_translator"]

TEXTS = [
    "The old man reads the red book near the river.",
    "A small dog sees the big house and the blue bird.",
    "Der alte Mann liest das rote Buch am Fluss.",
    "Ein kleiner Hund sieht das große Haus und den blauen Vogel.",
    "एक छोटा कुत्ता नदी के पास घर को देखता है।",
]
SIZES = {
    "n_encoder_layers": 1,
    "n_decoder_layers": 2,
    "block.d_model": 16,
    "block.d_ff": 32,
    "block.n_heads": 2,
}


def random_translator(card: dict[str, Any] | None = None, seed: int = 0) -> Translator:
    """Nothing is trained: its answers mean nothing, but they are always the same."""
    torch.manual_seed(seed)
    tokenizer = Tokenizer.train(TEXTS * 3, "bpe", 512)
    config = TransformerConfig.preset("tiny", tokenizer.n_tokens, **SIZES)
    return Translator(Transformer(config), tokenizer, card or {"languages": ["en", "de"]})


class Echo(Translator):
    """Answers each sentence with itself, and remembers what it was asked."""

    def __init__(self, longest: int = 60) -> None:
        card = {"languages": ["en", "de"], "data": {"lengths": {"longest": longest}}}
        model = random_translator(card)
        super().__init__(model.model, model.tokenizer, model.card)
        self.asked: list[Request] = []

    def _generate(self, requests: Sequence[Request]) -> list[list[Hypothesis]]:
        self.asked += requests
        sources = [request.source[:-1] for request in requests]
        return [[Hypothesis(source, [-0.5] * (len(source) + 1), -0.5, True)] for source in sources]
