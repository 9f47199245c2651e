"""Decoding: from logits to tokens."""

from clearhead.decoding.generate import generate, stream
from clearhead.decoding.log import SearchLog
from clearhead.decoding.request import DecodingConfig, Hypothesis, Request

__all__ = ["DecodingConfig", "Hypothesis", "Request", "SearchLog", "generate", "stream"]
