"""The engine: a faster path for use without training, equal to the plain one."""

from clearhead.engine.library import find_library
from clearhead.engine.native_model import NativeModel, NativeState

__all__ = ["NativeModel", "NativeState", "find_library"]
