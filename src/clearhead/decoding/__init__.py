"""Decoding: from logits to tokens."""

from clearhead.decoding.generate import generate, stream
from clearhead.decoding.request import DecodingConfig, Hypothesis, Request

__all__ = ["DecodingConfig", "Hypothesis", "Request", "generate", "stream"]
