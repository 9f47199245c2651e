"""The families of checkpoints that are understood, one file each."""

from typing import Any

from clearhead.convert.families.bert import BertFamily
from clearhead.convert.families.llama import LlamaFamily
from clearhead.convert.families.vit import ViTFamily
from clearhead.convert.family import Family

__all__ = ["FAMILIES", "BertFamily", "LlamaFamily", "ViTFamily"]

FAMILIES: tuple[Family[Any], ...] = (BertFamily(), LlamaFamily(), ViTFamily())
