"""Summarising: a long text → a short one, with its score and its tokens.

summariser = Summariser.load("news")
summariser("A long article …").text
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from clearhead.config import ModelConfig, is_encoder_decoder, kind_of
from clearhead.errors import InputError
from clearhead.tasks.lengths import longest_in, longest_target_in
from clearhead.tasks.translate import Translator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clearhead.tasks.settings import Settings

__all__ = ["Summariser"]

USUAL_SOURCE: Final = 512
USUAL_TARGET: Final = 128
"""For models whose card does not say how long their texts were."""
NO_REPEAT: Final = 3


class Summariser(Translator):
    """A trained model with its tokenizer: call it with a text, or with several.

    It is a translator that reads a text as a whole, up to `max_source` tokens, and whose answers
    have a longest length of their own. No three tokens come twice, unless `no_repeat` says so.
    """

    @classmethod
    def _refuse(cls, config: ModelConfig, folder: str | Path) -> None:
        if not is_encoder_decoder(config):
            raise InputError(
                f"{folder} holds no summariser: {kind_of(config)} continues or reads one text, and "
                "summarising needs an encoder and a decoder"
            )

    @property
    def max_source(self) -> int:
        """The most tokens of a text that are read: as many as the longest text it learned from."""
        return longest_in(self.card, USUAL_SOURCE)

    def _read_settings(self, given: Mapping[str, Any]) -> Settings:
        longest = longest_target_in(self.card)
        n_most = USUAL_TARGET if longest is None else longest + longest // 4 + 1
        shortest = given.get("min_length")
        if isinstance(shortest, int):
            n_most = max(n_most, 2 * shortest)
        wanted = {"no_repeat": NO_REPEAT, **given}
        if given.get("max_length") is None:
            wanted["max_length"] = n_most
        return replace(super()._read_settings(wanted), max_source=self.max_source)
