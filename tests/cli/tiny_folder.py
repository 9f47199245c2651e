"""A small model folder, made in a moment: nothing is trained, so its answers mean nothing."""

from pathlib import Path
from typing import Any

import torch

from clearhead.models import Transformer, TransformerConfig
from clearhead.tasks.folder import ModelFolder, save_folder
from clearhead.text import Tokenizer

__all__ = ["CARD", "SENTENCES", "write_folder"]

SENTENCES = [
    ("How are you?", "आप कैसे हैं?"),
    ("We are friends", "हम दोस्त हैं"),
    ("Thank you", "धन्यवाद"),
    ("I am good", "मैं ठीक हूँ"),
]
SIZES = {
    "n_encoder_layers": 1,
    "n_decoder_layers": 1,
    "block.d_model": 16,
    "block.d_ff": 32,
    "block.n_heads": 2,
}
CARD: dict[str, Any] = {
    "task": "translate",
    "languages": ["en", "hi"],
    "n_parameters": 12345,
    "data": {
        "paths": ["pairs[red].tsv"],
        "names": ["en", "hi"],
        "n_read": 1601,
        "n_kept": 1600,
        "n_dropped": 1,
        "findings": [
            {"kind": "blank", "meaning": "a side is blank", "effect": "dropped", "count": 1}
        ],
        "fingerprint": "abc",
    },
    "held_out": {"validation": 80, "test": 70},
    "plan": {
        "n_vocabulary": 2000,
        "smoothing": 0.1,
        "model": {"n_encoder_layers": 77},
        "training": {"lr": 0.0015, "seed": 0},
    },
    "forecast": {"seconds": 4000.0, "n_bytes": 1, "reasons": ["such data fills a tiny model"]},
    "training": {
        "step": 1234,
        "best_step": 1100,
        "best_score": 41.256,
        "reason": "the score stopped rising",
        "seconds": 3000.0,
    },
    "aligner": {"block": 0, "head": 1, "agreement": 0.824, "n_links": 1443},
    "scores": [
        {"name": "BLEU", "value": 41.256, "signature": "nrefs:1|case:mixed"},
        {"name": "chrF", "value": 62.34, "signature": "nrefs:1|nc:6"},
        {"name": "BLEU of copying the source", "value": 0.5, "signature": "nrefs:1|case:mixed"},
    ],
}


def write_folder(folder: Path) -> Path:
    """Write a whole model folder with random weights; the tokens are characters."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train([text for pair in SENTENCES for text in pair], "char")
    config = TransformerConfig.preset("tiny", tokenizer.n_tokens, **SIZES)
    save_folder(folder, ModelFolder(Transformer(config), tokenizer, CARD))
    return folder
