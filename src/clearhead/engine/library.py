"""The compiled part of the engine, if this installation has it: its functions and their types."""

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int64, c_void_p
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from clearhead.errors import InputError

__all__ = ["Fetch", "SearchSettings", "Shape", "find_library", "load_library"]

_floats = _ints = c_void_p  # addresses of arrays


Fetch = ctypes.CFUNCTYPE(c_int, c_char_p, POINTER(c_void_p), POINTER(c_int), POINTER(c_int))
"""Name → where the tensor is, its rows and its columns; 0 if there is none."""


class Shape(ctypes.Structure):
    """The sizes and the kind of a model, as the engine is told them."""

    _fields_ = [
        *(
            (name, c_int)
            for name in (
                "d_model", "d_ff", "n_heads", "n_kv_heads", "n_encoder_layers", "n_decoder_layers",
                "is_pre_norm", "activation", "n_source_tokens", "n_target_tokens", "d_head",
                "is_causal", "is_rotary", "is_rms_norm", "is_gated",
                "is_tied", "n_experts", "n_chosen",
            )
        ),
        ("norm_eps", c_float),
        ("embedding_scale", c_float),
    ]  # fmt: skip


class SearchSettings(ctypes.Structure):
    """How the engine searches by itself."""

    _fields_ = [
        *(
            (name, c_int)
            for name in ("n_beams", "n_best", "min_length", "bos", "eos", "is_papers_norm")
        ),
        ("length_power", c_double),
        ("n_threads", c_int),
    ]


@cache
def find_library() -> ctypes.CDLL | None:
    """Open the engine that was compiled when this package was installed; nothing without one."""
    for suffix in EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(f"_native{suffix}")
        if path.exists():
            return load_library(path)
    return None


def load_library(path: Path) -> ctypes.CDLL:
    """Open the compiled engine, and say what its functions take and return."""
    library = ctypes.CDLL(str(path))
    n_bytes = ctypes.sizeof(Shape) + ctypes.sizeof(SearchSettings)
    try:
        is_ours = library.ch_record_bytes() == n_bytes
    except AttributeError:  # older than this question
        is_ours = False
    if not is_ours:
        raise InputError(
            f"{path} was compiled for another version of clearhead and would compute nonsense; "
            "install clearhead again, or delete that file to go on more slowly without it"
        )
    signatures = {
        "ch_error": (c_char_p, []),
        "ch_kernels": (c_char_p, [c_char_p]),
        "ch_model_new": (c_void_p, [POINTER(Shape), Fetch, c_int, c_int, c_char_p]),
        "ch_model_free": (None, [c_void_p]),
        "ch_model_positions": (None, [c_void_p, _floats, c_int]),
        "ch_model_bytes": (c_int64, [c_void_p]),
        "ch_session_new": (c_void_p, [c_void_p, _ints, _ints, c_int]),
        "ch_session_free": (None, [c_void_p]),
        "ch_session_reorder": (c_int, [c_void_p, _ints, c_int]),
        "ch_session_step": (c_int, [c_void_p, _ints, _floats]),
        "ch_model_search": (
            c_void_p,
            [c_void_p, POINTER(SearchSettings), _ints, _ints, _ints, c_int],
        ),
        "ch_answers_free": (None, [c_void_p]),
        "ch_answers_count": (c_int, [c_void_p, c_int]),
        "ch_answers_read": (c_int, [c_void_p, c_int, c_int, _ints, _floats, c_void_p, _ints]),
        "ch_session_best": (c_int, [c_void_p, _ints, c_int, _ints, _floats]),
    }
    for name, (returned, taken) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returned, taken
    return library
