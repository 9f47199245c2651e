"""Decoding: from logits to tokens."""

from clearhead.decoding.generate import Decoding, generate, stream
from clearhead.decoding.request import DecodingConfig, Hypothesis, Request

__all__ = ["Decoding", "DecodingConfig", "Hypothesis", "Request", "generate", "stream"]
