"""What is asked of a decoder: one source, how to choose, and what the answer must look like."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from clearhead.config import Config
from clearhead.decoding.log import SearchLog
from clearhead.errors import ConfigError, InputError

__all__ = ["DecodingConfig", "Hypothesis", "Request"]

Number = TypeVar("Number", float, NDArray[np.float64])
Test = Callable[[tuple[int, ...]], bool]


@dataclass(frozen=True, kw_only=True)
class DecodingConfig(Config):
    """How the next token is chosen. The defaults search with five beams; one beam is greedy."""

    n_beams: int = 5
    n_best: int = 1
    """How many answers are returned; for sampling, how many are drawn."""
    length_norm: Literal["power", "paper"] = "power"
    """Divide log-probabilities by n^α, or by ((5 + n) / 6)^α as in Wu et al. 2016, eq. 14."""
    length_power: float = 1.0
    """α; 0 leaves log-probabilities as they are."""
    n_groups: int = 1
    """Beams in several groups that avoid each other's tokens (Vijayakumar et al. 2018)."""
    diversity: float = 0.5
    """What a token costs a group, in log-probability, for each earlier group that chose it."""
    temperature: float = 0.0
    """Above 0, tokens are drawn instead of searched for."""
    top_k: int = 0
    """Draw from the k most probable tokens; 0 for all."""
    top_p: float = 1.0
    """Draw from the fewest tokens that together have this probability."""
    min_p: float = 0.0
    """Draw from tokens at least this many times as probable as the most probable one."""
    seed: int = 0
    repetition_penalty: float = 1.0
    """Multiplies the log-probabilities of tokens that were written already; above 1 avoids them."""
    no_repeat: int = 0
    """No sequence of so many tokens is written twice; 0 for no limit."""
    min_length: int = 0
    """How many tokens are written before the end may come."""

    def __post_init__(self) -> None:
        """Check what can be checked before anything is decoded."""
        super().__post_init__()
        for name in ("n_beams", "n_best", "n_groups"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 1")
        for name in ("length_power", "diversity", "temperature", "top_k", "no_repeat"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name}={getattr(self, name)} must be at least 0")
        if self.min_length < 0:
            raise ConfigError(f"min_length={self.min_length} must be at least 0")
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p={self.top_p} must be above 0 and at most 1")
        if not 0 <= self.min_p < 1:
            raise ConfigError(f"min_p={self.min_p} must be at least 0 and below 1")
        if not self.repetition_penalty > 0:
            raise ConfigError(f"repetition_penalty={self.repetition_penalty} must be above 0")
        if self.temperature == 0 and self.n_best > self.n_beams:
            raise ConfigError(
                f"n_best={self.n_best} answers need as many beams, and n_beams={self.n_beams}"
            )
        if self.n_beams % self.n_groups:
            raise ConfigError(
                f"n_beams={self.n_beams} cannot be divided into n_groups={self.n_groups} groups"
            )

    @property
    def n_rows(self) -> int:
        """How many sequences are followed at once."""
        return self.n_best if self.temperature > 0 else self.n_beams

    @property
    def is_followed_singly(self) -> bool:
        """Whether no sequence competes with another: greedy search, and drawing."""
        return self.temperature > 0 or self.n_beams == 1

    def normalise(self, log_prob: Number, length: Any) -> Number:
        """Make log-probabilities of answers of different lengths comparable; also whole arrays.

        >>> DecodingConfig().normalise(-6.0, 4)
        -1.5
        """
        if self.length_norm == "paper":
            return log_prob / ((5 + length) / 6) ** self.length_power
        return log_prob / length**self.length_power


@dataclass(frozen=True, eq=False)
class Request:
    """One source with its limits; tokens are ids without the marks of begin and end."""

    source: list[int]
    max_length: int
    config: DecodingConfig = field(default_factory=DecodingConfig)
    prefix: tuple[int, ...] = ()
    """How the answer must begin."""
    required: tuple[tuple[int, ...], ...] = ()
    """Sequences of tokens that the answer must hold, in any order; beam search only."""
    forbidden: frozenset[int] = frozenset()
    is_wrong: Test | None = None
    """Whether a beginning may not be written on, because it holds a forbidden text, say."""
    is_enough: Test | None = None
    """Whether an answer is complete before its end, because it holds a stop text, say."""
    log: SearchLog | None = None
    """Where it is written what was considered."""

    def __post_init__(self) -> None:
        """Refuse what no answer can satisfy."""
        if not self.source:
            raise InputError("the source holds no token")
        if self.max_length < 1:
            raise InputError(f"max_length={self.max_length} must be at least 1")
        if len(self.prefix) > self.max_length:
            raise InputError(
                f"the answer must begin with {len(self.prefix)} tokens and may have "
                f"max_length={self.max_length}"
            )
        if self.required and self.config.temperature > 0:
            raise InputError("required terms need beam search: set temperature to 0")
        if any(not term for term in self.required):
            raise InputError("a required term holds no token")
        if len(self.prefix) + sum(map(len, self.required)) > self.max_length:
            raise InputError(
                f"the required terms have {sum(map(len, self.required))} tokens, and the answer "
                f"may have max_length={self.max_length}"
            )


@dataclass(frozen=True)
class Hypothesis:
    """One answer: its tokens without the marks of begin and end, and how probable it is."""

    tokens: list[int]
    log_probs: list[float]
    """Of each token, and of the end if it came; given the ones before."""
    score: float
    is_finished: bool
    """False when the longest allowed length was reached before the end."""

    @property
    def log_prob(self) -> float:
        """Of the whole answer."""
        return sum(self.log_probs)
