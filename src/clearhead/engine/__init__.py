"""The engine: a faster path for use without training, equal to the plain one."""

__all__: list[str] = []  # `memory` and `library` are asked for without loading torch
