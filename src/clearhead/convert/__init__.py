"""Weights in the formats of other libraries."""

from clearhead.convert.hugging_face import Imported, read_folder, write_folder
from clearhead.convert.to_ctranslate2 import save_for_ctranslate2
from clearhead.convert.to_transformers import as_m2m100

__all__ = ["Imported", "as_m2m100", "read_folder", "save_for_ctranslate2", "write_folder"]
