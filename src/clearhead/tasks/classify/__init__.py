"""Classifying: a text in, one of the labels out."""

__all__: list[str] = []
