"""Single kernels of the engine on arrays, by the plain C functions of `kernel_api.cpp`."""

import ctypes
from ctypes import c_char_p, c_float, c_int, c_int64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]

ACTIVATIONS = ["none", "relu", "gelu", "gelu_tanh"]
PRECISIONS = ["float32", "bfloat16", "int8"]
BLOCK = 16  # outputs of a product that stand side by side
UNTOUCHED = np.float32(-777)

_ROW = [c_void_p, c_void_p, c_int]  # the kernels, a row, its length
_PRODUCT = [c_void_p, c_void_p, c_void_p, c_int64, c_int, c_int, c_int, c_int, c_void_p, c_int64]
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "set": (c_void_p, [c_char_p]),
    "linear_new": (c_void_p, [c_void_p, c_int, c_int, c_void_p, c_int]),
    "linear_free": (None, [c_void_p]),
    "product": (None, _PRODUCT),
    "product_bfloat16": (None, _PRODUCT),
    "product_int8": (None, [*_PRODUCT[:4], c_void_p, *_PRODUCT[4:]]),
    "finish_int8": (None, [*[c_void_p] * 4, c_int, c_int, c_int, c_void_p, c_int64]),
    "quantise": (c_float, [*_ROW, c_void_p, c_int]),
    "layer_norm": (None, [*[c_void_p] * 4, c_float, c_int, c_void_p]),
    "rms_norm": (None, [*[c_void_p] * 3, c_float, c_int, c_void_p]),
    "gate": (None, [*_ROW, c_void_p]),
    "attend": (
        None,
        [*_ROW, c_float, c_int, *[c_void_p] * 3, c_int64, c_int64, c_void_p, c_void_p],
    ),
    "best": (None, [*_ROW, c_int, c_void_p, c_void_p]),
}


def declare(library: ctypes.CDLL) -> dict[str, Any]:
    """The functions for single kernels, with what they take and return."""
    functions = {}
    for name, (returned, taken) in _SIGNATURES.items():
        functions[name] = getattr(library, f"ch_kernel_{name}")
        functions[name].restype, functions[name].argtypes = returned, taken
    return functions


def at(table: NDArray[Any] | None) -> int | None:
    """Where an array begins."""
    return None if table is None else table.ctypes.data


def placed(table: NDArray[Any], offset: int) -> NDArray[Any]:
    """A copy that begins `offset` numbers after a round address."""
    room = np.empty(table.size + 64 + offset, table.dtype)
    first = (-room.ctypes.data // table.itemsize) % (64 // table.itemsize) + offset
    moved = room[first : first + table.size].reshape(table.shape)
    moved[...] = table
    return moved


class Packed:
    """A matrix W of (n_out, n_in) and a bias in the order of the kernels."""

    def __init__(
        self, library: ctypes.CDLL, w: Floats, bias: Floats | None, precision: str
    ) -> None:
        self.functions = declare(library)
        self.n_out, self.n_in = w.shape
        self.n_blocks = -(-self.n_out // BLOCK)
        self.handle = self.functions["linear_new"](
            at(np.ascontiguousarray(w)), *w.shape, at(bias), PRECISIONS.index(precision)
        )
        self.precision = precision

    def __del__(self) -> None:
        self.functions["linear_free"](self.handle)


class KernelSet:
    """The kernels of one kind of processor."""

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self.functions, self.name = declare(library), name
        self.handle = self.functions["set"](name.encode())

    def product(
        self,
        packed: Packed,
        x: Floats | Bytes,
        activation: str = "none",
        *,
        scale: Floats | None = None,
        begin: int = 0,
        end: int | None = None,
        y_step: int | None = None,
    ) -> Floats:
        """y = activation(x Wᵀ + bias); rows of x may be longer than W's, and y is where it was."""
        end = packed.n_blocks if end is None else end
        y = np.full((len(x), y_step or packed.n_out), UNTOUCHED, np.float32)
        name = {"float32": "product", "bfloat16": "product_bfloat16", "int8": "product_int8"}
        self.functions[name[packed.precision]](
            self.handle, packed.handle, at(x), x.shape[1], *([] if scale is None else [at(scale)]),
            len(x), begin, end, ACTIVATIONS.index(activation), at(y), y.shape[1],
        )  # fmt: skip
        return y

    def finish_int8(
        self, packed: Packed, sums: NDArray[np.int32], scale: Floats, block: int, activation: str
    ) -> Floats:
        """The outputs of one block from the 16 sums of each row."""
        y = np.full((len(sums), packed.n_out), UNTOUCHED, np.float32)
        self.functions["finish_int8"](
            self.handle, packed.handle, at(sums), at(scale), len(sums), block,
            ACTIVATIONS.index(activation), at(y), packed.n_out,
        )  # fmt: skip
        return y

    def quantise(self, x: Floats) -> tuple[Bytes, np.float32]:
        """A row in bytes, filled up to a multiple of four, and what one of them is worth."""
        q = np.full(-(-len(x) // 4) * 4, 99, np.int8)
        unit = self.functions["quantise"](self.handle, at(x), len(x), at(q), len(q))
        return q, np.float32(unit)

    def layer_norm(self, x: Floats, weight: Floats, bias: Floats, eps: float = 1e-5) -> Floats:
        """(x − mean) / √(variance + eps) · weight + bias"""
        y = np.full(len(x) + 16, UNTOUCHED, np.float32)
        self.functions["layer_norm"](self.handle, at(x), at(weight), at(bias), eps, len(x), at(y))
        assert (y[len(x) :] == UNTOUCHED).all()
        return y[: len(x)]

    def rms_norm(self, x: Floats, weight: Floats, eps: float = 1e-5) -> Floats:
        """x / √(mean of x² + eps) · weight"""
        y = np.full(len(x) + 16, UNTOUCHED, np.float32)
        self.functions["rms_norm"](self.handle, at(x), at(weight), eps, len(x), at(y))
        assert (y[len(x) :] == UNTOUCHED).all()
        return y[: len(x)]

    def gate(self, x: Floats) -> Floats:
        """swish(first half) · second half"""
        n = len(x) // 2
        y = np.full(n + 16, UNTOUCHED, np.float32)
        self.functions["gate"](self.handle, at(x), n, at(y))
        assert (y[n:] == UNTOUCHED).all()
        return y[:n]

    def attend(
        self,
        q: Floats,
        keys: Floats,
        values: Floats,
        row: NDArray[np.int32] | None,
        n: int,
        scale: float,
    ) -> Floats:
        """Σ softmax(q · k_i · scale) v_i; keys and values are (rows, places, step)."""
        scores = np.full(n + 16, UNTOUCHED, np.float32)
        out = np.full(len(q) + 16, UNTOUCHED, np.float32)
        self.functions["attend"](
            self.handle, at(q), len(q), scale, n, at(keys), at(values), at(row), keys.shape[1],
            keys.shape[2], at(scores), at(out),
        )  # fmt: skip
        assert (scores[n:] == UNTOUCHED).all()
        assert (out[len(q) :] == UNTOUCHED).all()
        return out[: len(q)]

    def best(self, logits: Floats, k: int) -> tuple[NDArray[np.int32], Floats]:
        """The k largest logits: their places, and their log-probabilities."""
        tokens, log_probs = np.empty(k, np.int32), np.empty(k, np.float32)
        self.functions["best"](self.handle, at(logits), len(logits), k, at(tokens), at(log_probs))
        return tokens, log_probs
