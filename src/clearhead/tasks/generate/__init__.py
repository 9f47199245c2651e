"""Continuing texts: plain text in, a model that writes on. Its parts are imported by their names."""

__all__: list[str] = []
