"""What can be looked at in a summariser: all that can be in a translator, for it is one inside."""

from functools import partial
from typing import Final

from clearhead.cli import look_translate
from clearhead.tasks.summarise.summariser import Summariser

__all__ = ["VIEWS", "look"]

VIEWS: Final = look_translate.VIEWS
look = partial(look_translate.look, loaded=Summariser)
