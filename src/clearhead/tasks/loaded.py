"""What every task has in common once its model is loaded: the model, its engine, and watching."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from clearhead.config import ModelConfig
from clearhead.decoding.interface import StepDecoder
from clearhead.engine.choice import choose
from clearhead.engine.engine import Engine
from clearhead.engine.memory import Wanted
from clearhead.errors import InputError
from clearhead.tasks.folder import open_folder
from clearhead.text import AnyTokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from clearhead.observe import Edit, Seen

__all__ = ["Loaded", "LoadedModel"]

M = TypeVar("M", bound=Any)


class LoadedModel(Generic[M]):
    """A trained model with its card, whatever it reads."""

    def __init__(self, model: M | Engine, card: dict[str, Any]) -> None:
        self.card = card
        self.engine = model if isinstance(model, Engine) else None
        """The faster path of a model that is not trained any more."""
        self._model: M | None = None if isinstance(model, Engine) else model.eval()

    @property
    def model(self) -> M:
        """The model itself; behind an engine, it is loaded when it is first asked for."""
        if self._model is not None:
            return self._model
        assert self.engine is not None
        return cast("M", self.engine.model)

    @property
    def device(self) -> str:
        """Where it computes."""
        if self._model is None:  # the engine
            return "cpu"
        return str(next(self._model.parameters()).device)

    def _names(self, tokens: Sequence[int]) -> list[str]:
        """What stands along the axes of its places."""
        return [str(token) for token in tokens]

    def watch(self, *patterns: str, limit: int | None = None) -> AbstractContextManager[Seen]:
        """Keep what passes places of the model while the block runs; see `observe.watch`.

        The model itself computes then, and not the engine.
        """
        from clearhead.observe.watch import LIMIT, watch  # and torch, which the engine does without

        limit = LIMIT if limit is None else limit
        return watch(self.model, *patterns, decode=self._names, limit=limit)

    def edit(self, edits: Mapping[str, Edit | Sequence[Edit]]) -> AbstractContextManager[None]:
        """Let something else go on from places of the model; see `observe.edit`."""
        from clearhead.observe.edit import edit

        return edit(self.model, edits, decode=self._names)


class Loaded(LoadedModel[M]):
    """A trained model that reads tokens, with its tokenizer and card."""

    def __init__(self, model: M | Engine, tokenizer: AnyTokenizer, card: dict[str, Any]) -> None:
        super().__init__(model, card)
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, folder: str | Path, precision: Wanted = "auto") -> Self:
        """Open a model folder; `precision` is that of the engine, see `engine.choice`."""
        found = open_folder(Path(folder))
        cls._refuse(found.config, folder)
        if found.words is None:
            raise InputError(f"{folder} holds a model that reads no text")
        try:
            native, choice = choose(found.source(), precision)
        except InputError as error:
            raise InputError(f"{folder}: {error}") from None
        load: Any = found.model
        return cls(Engine(load, native, choice), found.tokenizer, found.card)

    @classmethod
    def _refuse(cls, config: ModelConfig, folder: str | Path) -> None:
        """Refuse a folder whose model cannot do this task."""

    @property
    def _decoder(self) -> StepDecoder[Any]:
        return self.engine or self.model

    def _names(self, tokens: Sequence[int]) -> list[str]:
        return self.tokenizer.tokens(tokens)
