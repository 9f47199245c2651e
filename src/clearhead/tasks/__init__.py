"""Tasks: one line through all rooms, from input to output, with its score and its baseline."""

from clearhead.tasks.evaluate import Evaluation, Sample, evaluate
from clearhead.tasks.train import train
from clearhead.tasks.translate import Translation, Translator

__all__ = ["Evaluation", "Sample", "Translation", "Translator", "evaluate", "train"]
