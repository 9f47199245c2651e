"""Filling gaps: a model that guesses hidden words from both sides."""

__all__: list[str] = []
