"""Decoding: logits → tokens, for every model that has `start` and `step`."""

from clearhead.decoding.beam import Hypothesis, beam_search

__all__ = ["Hypothesis", "beam_search"]
