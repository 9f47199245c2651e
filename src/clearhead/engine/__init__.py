"""The engine: a faster path for use without training, equal to the plain one.

Nothing here imports torch before it is needed: it takes seconds, and the engine does without it.
"""

__all__: list[str] = []
