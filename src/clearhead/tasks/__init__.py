"""Tasks: one line through all rooms, from input to output, with its score and its baseline."""

from clearhead.tasks.train import score, train
from clearhead.tasks.translate import Translation, Translator

__all__ = ["Translation", "Translator", "score", "train"]
