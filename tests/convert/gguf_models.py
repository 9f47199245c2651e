"""Small models with random weights and small tokenizers, for what is written as GGUF."""

from typing import Any

import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing

from clearhead.config import GPTConfig
from clearhead.convert.gguf_tokens import tokens_for_gguf
from clearhead.models import GPT, Llama, LlamaConfig, Mixtral, MixtralConfig
from clearhead.text import ForeignTokenizer, Kind, Tokenizer
from clearhead.text.sentencepiece import BPE, SentencePieces
from tests.parity.compare import randomise

__all__ = ["SHAPES", "TEXTS", "bytes_of_gpt2", "gpt", "llama", "ours", "sentence_pieces"]

TRAINING = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind.\n",
    "Once upon a time there was a fox; the fox had three hundred and 27 friends.\n",
    "Was ist das? Das ist ein größerer Fuchs, der über den Zaun springt.\n",
    "À la fin, l'été arrive: où sont les élèves? «Ici», dit-elle.\n",
] * 3

TEXTS = [
    "",
    "The fox",
    "the dog, and\nthe fox\nwas there.",
    "  two  spaces and   three\tand a tab ",
    "\n\nÀ l'été, größere Füchse — “Zäune”…",
    "emoji 🦊🦊 and 👩‍🚀, 中文, हिन्दी",
    "100 foxes, 27.5% of <eos> and <0x41>",
]

SHAPES: dict[str, dict[str, Any]] = {
    "tied": {},
    "untied, grouped queries": {"is_tied": False, "n_kv_heads": 2, "rotary_base": 500.0},
    "biases, wide heads": {"attention_bias": True, "d_head": 12, "norm_eps": 1e-6},
    "narrow heads, one for keys": {"d_head": 4, "n_kv_heads": 1},
    "experts": {"n_experts": 4, "d_ff": 24},
    "experts, untied, biases": {
        "n_experts": 3, "n_chosen": 3, "is_tied": False, "attention_bias": True, "n_kv_heads": 2,
    },
}  # fmt: skip


def llama(n_tokens: int, shape: dict[str, Any]) -> Llama | Mixtral:
    """Build a model whose numbers are all different."""
    sizes = {"n_layers": 2, "d_model": 32, "d_ff": 40, "n_heads": 4} | shape
    torch.manual_seed(5)
    model = (
        Mixtral(MixtralConfig(n_tokens=n_tokens, **sizes))
        if "n_experts" in sizes
        else Llama(LlamaConfig(n_tokens=n_tokens, **sizes))
    )
    randomise(model)
    return model.eval()


def gpt(n_tokens: int, **shape: Any) -> GPT:
    """Build a GPT-2 whose numbers are all different."""
    torch.manual_seed(5)
    sizes = {"n_layers": 2, "d_model": 32, "d_ff": 64, "n_heads": 4, "n_positions": 128} | shape
    model = GPT(GPTConfig(n_tokens=n_tokens, **sizes))
    randomise(model)
    return model.eval()


def ours(kind: Kind = "bpe") -> Tokenizer:
    """Train a tokenizer of ours that knows little."""
    return Tokenizer.train(TRAINING, kind, 420 if kind in ("bpe", "unigram") else None)


def sentence_pieces(*, adds_space: bool = True) -> ForeignTokenizer:
    """Write byte pairs in SentencePiece's form, as a Llama has them; texts begin with a token."""
    found = tokens_for_gguf(ours(), ours().n_tokens)
    kinds = map(int, found.kinds)
    pieces = list(zip(found.pieces, found.scores, kinds, strict=True))
    rules = SentencePieces(pieces, BPE, True, b"", adds_space, False).rules()
    rules.post_processor = TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 1)])
    return ForeignTokenizer(rules, {"bos": 1, "eos": 2, "unk": 3})


def bytes_of_gpt2(*, digits: bool = False) -> ForeignTokenizer:
    """Train byte pairs whose letters are bytes, as GPT-2 has them."""
    rules = tokenizers.Tokenizer(models.BPE())
    level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    each = pre_tokenizers.Digits(individual_digits=True)
    rules.pre_tokenizer = pre_tokenizers.Sequence([each, level]) if digits else level
    rules.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    rules.train_from_iterator(TRAINING, trainer)
    return ForeignTokenizer(rules, {"eos": 0})
