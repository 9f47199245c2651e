"""Weights in the formats of other libraries."""

from clearhead.convert.hugging_face import Imported, read_folder, write_folder
from clearhead.convert.llama2c import Llama2cTokenizer, read_llama2c
from clearhead.convert.to_ctranslate2 import save_for_ctranslate2
from clearhead.convert.to_gguf import save_as_gguf
from clearhead.convert.to_transformers import as_m2m100

__all__ = [
    "Imported",
    "Llama2cTokenizer",
    "as_m2m100",
    "read_folder",
    "read_llama2c",
    "save_as_gguf",
    "save_for_ctranslate2",
    "write_folder",
]
