"""Where to compute: a graphics processor where there is one, the processor otherwise."""

from typing import Literal

import torch

from clearhead.errors import InputError

__all__ = ["Device", "pick_device"]

Device = Literal["auto", "cpu", "cuda", "mps"]


def pick_device(name: Device = "auto") -> torch.device:
    """Return the device of that name, or for `auto` the fastest kind that this machine has.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        return torch.device(next((kind for kind, is_there in there.items() if is_there), "cpu"))
    if not there.get(name, True):
        raise InputError(f"this machine has no {name}; give --device cpu, or auto to let it choose")
    return torch.device(name)
