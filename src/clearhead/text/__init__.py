"""Text to tokens and back."""

from clearhead.text.foreign import AnyTokenizer, ForeignTokenizer, load_tokenizer
from clearhead.text.foreign_files import read_tokenizer
from clearhead.text.learning import Kind, choose_size
from clearhead.text.normal import BOS, EOS, PAD, SPECIALS, UNK, normalise
from clearhead.text.tokenizer import Tokenizer

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "SPECIALS",
    "UNK",
    "AnyTokenizer",
    "ForeignTokenizer",
    "Kind",
    "Tokenizer",
    "choose_size",
    "load_tokenizer",
    "normalise",
    "read_tokenizer",
]
