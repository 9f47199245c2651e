"""The families of checkpoints that are understood, one file each."""

from typing import Any

from clearhead.convert.families.llama import LlamaFamily
from clearhead.convert.families.marian import MarianFamily
from clearhead.convert.families.t5 import T5Family
from clearhead.convert.family import Family

__all__ = ["FAMILIES", "LlamaFamily", "MarianFamily", "T5Family"]

FAMILIES: tuple[Family[Any], ...] = (LlamaFamily(), MarianFamily(), T5Family())
