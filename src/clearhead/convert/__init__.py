"""Weights in the formats of other libraries."""

from clearhead.convert.to_ctranslate2 import save_for_ctranslate2
from clearhead.convert.to_transformers import as_m2m100

__all__ = ["as_m2m100", "save_for_ctranslate2"]
