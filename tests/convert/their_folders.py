"""Small folders of Hugging Face: a Llama with random weights, and a tokenizer of a few words."""

from pathlib import Path
from typing import Any

import tokenizers
import torch
from tokenizers import models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

__all__ = ["WORDS", "llama", "write_llama", "write_words"]

WORDS = ["<unk>", "<s>", "</s>", *(f"w{n}" for n in range(58))]


def llama(**changes: Any) -> LlamaForCausalLM:
    """Build a tiny Llama of theirs whose numbers are all different."""
    torch.manual_seed(3)
    sizes = {
        "vocab_size": 61, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5,
        "tie_word_embeddings": False,
    }  # fmt: skip
    model = LlamaForCausalLM(LlamaConfig(**sizes | changes)).eval()
    for parameter in model.parameters():
        parameter.data += torch.randn_like(parameter) * 0.1
    return model


def write_words(folder: Path) -> PreTrainedTokenizerFast:
    """Write a tokenizer whose tokens are words."""
    rules = tokenizers.Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>")
    )
    rules.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = PreTrainedTokenizerFast(
        tokenizer_object=rules, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    made.save_pretrained(folder)
    return made


def write_llama(folder: Path, n_bytes: int | str = "5GB", **changes: Any) -> LlamaForCausalLM:
    """Write a tiny Llama with its tokenizer as `transformers` does."""
    model = llama(**changes)
    model.save_pretrained(folder, max_shard_size=n_bytes)
    write_words(folder)
    return model
