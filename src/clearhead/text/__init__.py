"""Text to tokens and back."""

from clearhead.text.learning import Kind, choose_size
from clearhead.text.normal import BOS, EOS, PAD, SPECIALS, UNK, normalise
from clearhead.text.tokenizer import Tokenizer

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "SPECIALS",
    "UNK",
    "Kind",
    "Tokenizer",
    "choose_size",
    "normalise",
]
