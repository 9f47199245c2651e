"""The families of checkpoints that are understood, one file each."""

from typing import Any

from clearhead.convert.families.bert import BertFamily
from clearhead.convert.families.gpt2 import GPT2Family
from clearhead.convert.families.llama import LlamaFamily
from clearhead.convert.families.marian import MarianFamily
from clearhead.convert.families.mixtral import MixtralFamily
from clearhead.convert.families.t5 import T5Family
from clearhead.convert.families.vit import ViTFamily
from clearhead.convert.family import Family

__all__ = [
    "FAMILIES",
    "BertFamily",
    "GPT2Family",
    "LlamaFamily",
    "MarianFamily",
    "MixtralFamily",
    "T5Family",
    "ViTFamily",
]

FAMILIES: tuple[Family[Any], ...] = (
    BertFamily(),
    GPT2Family(),
    LlamaFamily(),
    MarianFamily(),
    MixtralFamily(),
    T5Family(),
    ViTFamily(),
)
