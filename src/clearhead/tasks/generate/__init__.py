"""Continuing texts: plain text in, a model that writes on."""

__all__: list[str] = []
