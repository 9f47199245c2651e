"""The families of checkpoints that are understood, one file each."""

from typing import Any

from clearhead.convert.families.gpt2 import GPT2Family
from clearhead.convert.families.llama import LlamaFamily
from clearhead.convert.families.mixtral import MixtralFamily
from clearhead.convert.family import Family

__all__ = ["FAMILIES", "GPT2Family", "LlamaFamily", "MixtralFamily"]

FAMILIES: tuple[Family[Any], ...] = (GPT2Family(), LlamaFamily(), MixtralFamily())
