"""Summarising: a long text in, a short one out."""

__all__: list[str] = []
