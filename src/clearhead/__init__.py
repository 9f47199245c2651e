"""Clearhead: the Transformer, whole. Train it, run it fast, and see through it."""

__all__ = ["__version__"]

__version__ = "0.1.0"
