"""Where the engine takes its weights from: a model in memory, or a file, tensor by tensor.

From a file, one tensor at a time is in memory beside what is packed already. So a large model needs
about as much room as its packed weights.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from clearhead.config import TransformerConfig
from clearhead.engine.shape import AnyConfig
from clearhead.errors import InputError

if TYPE_CHECKING:
    from clearhead.models import GPT, Llama, Mixtral, Transformer

__all__ = ["Source", "WeightFile"]

Floats = NDArray[np.float32]
KINDS: Final[dict[str, np.dtype[Any]]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}
MAX_HEADER: Final = 100_000_000


class WeightFile:
    """A safetensors file of which single tensors are read; nothing is mapped into memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                n = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(n)) if n <= MAX_HEADER else None
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read: {error}") from None
        if not isinstance(header, dict):
            raise InputError(f"{path} cannot be read: it is no safetensors file")
        self.begin = 8 + n
        header.pop("__metadata__", None)
        self.entries: dict[str, Any] = header

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor."""
        return {name: tuple(entry["shape"]) for name, entry in self.entries.items()}

    def read(self, name: str) -> Floats | None:
        """One tensor as float32, if it is there."""
        entry = self.entries.get(name)
        if entry is None:
            return None
        kind, shape = entry["dtype"], entry["shape"]
        if kind not in KINDS:
            raise InputError(f"{self.path}: the weight {name} is {kind}, not one of {list(KINDS)}")
        count = int(np.prod(shape, dtype=np.int64))
        offset = self.begin + entry["data_offsets"][0]
        values = np.fromfile(self.path, KINDS[kind], count, offset=offset)
        if len(values) != count:
            raise InputError(f"{self.path} is cut off: the weight {name} is not whole")
        if kind == "BF16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        return values.reshape(shape).astype(np.float32, copy=False)


class Source:
    """A configuration, and its weights by the names that they have in the model."""

    def __init__(self, config: AnyConfig, read: Callable[[str], Floats | None]) -> None:
        self.config, self._read = config, read

    @classmethod
    def of(cls, model: Transformer | Llama | Mixtral | GPT) -> Source:
        """The weights of a model in memory."""
        weights = dict(model.named_parameters())

        def read(name: str) -> Floats | None:
            value = weights.get(name)
            return None if value is None else value.detach().float().cpu().numpy()

        return cls(model.config, read)

    def read(self, name: str) -> Floats | None:
        """One tensor by the engine's name for it; nothing if the model has none."""
        if not isinstance(self.config, TransformerConfig):
            read = write = "embedding.weight"
            output = read if self.config.is_tied else "output.weight"
        else:
            read = "source_embedding.weight"
            output = write = read if self.config.is_joint else "target_embedding.weight"
        if name == "target_embedding" and write == read:
            return None  # the same as that of the source
        known = {"source_embedding": read, "target_embedding": write, "output": output}
        found = self._read(known.get(name, name))
        if found is not None and found.ndim == 3:  # experts, below one another
            found = found.reshape(-1, found.shape[-1])
        return None if found is None else np.ascontiguousarray(found)
