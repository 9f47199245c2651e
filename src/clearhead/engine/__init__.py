"""The engine: a faster path for use without training, equal to the plain one."""

from clearhead.engine.choice import Choice, Wanted, choose, remembered
from clearhead.engine.engine import Engine
from clearhead.engine.library import find_library
from clearhead.engine.native_model import NativeModel, NativeState

__all__ = [
    "Choice",
    "Engine",
    "NativeModel",
    "NativeState",
    "Wanted",
    "choose",
    "find_library",
    "remembered",
]
