"""The model folder: everything a model needs to be used, in four files and nothing else.

    config.json  model.safetensors  tokenizer.json  card.json

A model that reads no tokens, but pictures, has no tokenizer.json. No pickle is written or read.
Training adds a folder `training/` beside them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clearhead.config import ModelConfig, load_config, n_tokens_of, save_config
from clearhead.engine.source import Source, WeightFile
from clearhead.errors import ConfigError, InputError
from clearhead.text import AnyTokenizer, load_tokenizer

if TYPE_CHECKING:
    from torch import Tensor

    from clearhead.models import Model

__all__ = [
    "ModelFolder",
    "OpenFolder",
    "check_whole",
    "load_folder",
    "open_folder",
    "put_weights",
    "save_folder",
    "task_of",
]


@dataclass(frozen=True)
class ModelFolder:
    """What a model folder holds."""

    model: Model
    words: AnyTokenizer | None
    """The tokenizer; none for a model that reads no tokens."""
    card: dict[str, Any]

    @property
    def tokenizer(self) -> AnyTokenizer:
        """The tokenizer, of a model that reads tokens."""
        if self.words is None:
            raise InputError("this model reads no text, and has no tokenizer")
        return self.words


def save_folder(folder: Path, contents: ModelFolder) -> None:
    """Write a model folder; the card comes last, so that a folder with a card is whole."""
    from safetensors.torch import save

    from clearhead.training.checkpoint import write_bytes  # who only reads needs no training

    folder.mkdir(parents=True, exist_ok=True)
    # Tied weights have one name among the parameters, and one place in the file.
    weights = {name: p.detach().contiguous() for name, p in contents.model.named_parameters()}
    save_config(cast(ModelConfig, contents.model.config), folder / "config.json")
    write_bytes(folder / "model.safetensors", save(weights))
    if contents.words is not None:
        contents.words.save(folder / "tokenizer.json")
    card = json.dumps(contents.card, indent=2, ensure_ascii=False)
    write_bytes(folder / "card.json", (card + "\n").encode())


@dataclass(frozen=True)
class OpenFolder:
    """A model folder whose weights are read only when they are needed."""

    folder: Path
    config: ModelConfig
    words: AnyTokenizer | None
    """The tokenizer; none for a model that reads no tokens."""
    card: dict[str, Any]

    @property
    def tokenizer(self) -> AnyTokenizer:
        """The tokenizer, of a model that reads tokens."""
        if self.words is None:
            raise InputError("this model reads no text, and has no tokenizer")
        return self.words

    @property
    def weights(self) -> Path:
        """The file of the weights."""
        return self.folder / "model.safetensors"

    def model(self) -> Model:
        """The model with its weights."""
        from clearhead.models import build  # and torch, which the engine does without

        model = build(self.config)
        put_weights(model, _read_weights(self.weights), self.folder)
        return model.eval()

    def source(self) -> Source:
        """The weights for the engine, which takes them one by one."""
        return Source(cast(Any, self.config), WeightFile(self.weights).read)


def open_folder(folder: Path) -> OpenFolder:
    """Read all that `save_folder` wrote but the weights."""
    check_whole(folder)
    config = cast(ModelConfig, load_config(folder / "config.json"))
    tokenizer = _tokenizer_for(config, folder) if n_tokens_of(config) else None
    try:
        card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{folder / 'card.json'} is not JSON: {error}") from None
    return OpenFolder(folder, config, tokenizer, card)


def check_whole(folder: Path) -> None:
    """Refuse what is no model folder, or one in which a file is missing."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a model folder: there is no such folder")
    names = ["config.json", "model.safetensors", "card.json"]
    if _reads_tokens(folder / "config.json"):
        names.insert(2, "tokenizer.json")
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{folder} is not a whole model folder: {', '.join(missing)} is missing; "
            f"`clearhead train … --to {folder}` makes one, or goes on with one"
        )


def _reads_tokens(path: Path) -> bool:
    """Whether the model of a configuration needs a tokenizer; most do."""
    try:
        return n_tokens_of(load_config(path)) > 0
    except ConfigError:
        return True  # and reading it will say what is wrong


def _tokenizer_for(config: ModelConfig, folder: Path) -> AnyTokenizer:
    """The tokenizer of a folder; refuses one that belongs to another model."""
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    n_tokens = n_tokens_of(config)
    # Others give a model more rows than there are tokens, which suits processors.
    has_spare_rows = tokenizer.kind == "foreign" and tokenizer.n_tokens <= n_tokens
    if tokenizer.n_tokens != n_tokens and not has_spare_rows:
        raise InputError(
            f"the tokenizer in {folder} has {tokenizer.n_tokens} tokens and the model "
            f"{n_tokens}: they do not belong together"
        )
    return tokenizer


def task_of(folder: Path) -> str:
    """What the model in a folder is for; the card says it, and in older ones translating."""
    try:
        card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "translate"  # and opening it will say what is wrong
    task = card.get("task") if isinstance(card, dict) else None
    return task if isinstance(task, str) else "translate"


def load_folder(folder: Path) -> ModelFolder:
    """Read what `save_folder` wrote."""
    found = open_folder(folder)
    return ModelFolder(found.model(), found.words, found.card)


def _read_weights(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def put_weights(model: Model, weights: dict[str, Tensor], source: Path) -> None:
    """Put saved weights into a model; each name and shape must fit."""
    parameters = dict(model.named_parameters())
    for name in sorted(parameters.keys() ^ weights.keys()):
        state = "missing" if name in parameters else "not known to this model"
        raise InputError(f"{source}: the weight {name} is {state}")
    for name, parameter in parameters.items():
        if parameter.shape != weights[name].shape:
            given, wanted = tuple(weights[name].shape), tuple(parameter.shape)
            raise InputError(f"{source}: the weight {name} has shape {given}, not {wanted}")
        parameter.data.copy_(weights[name])
