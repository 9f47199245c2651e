"""An encoder that was trained for something else, as the beginning of another task.

    encoder = open_encoder(Path("minilm"))
    model = Bert(encoder.config_for("span"))
    put_body(model, encoder)

The body is what all heads have in common: the embeddings and the blocks. A head is taken over only
if it is of the same kind and size.
"""

from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

import torch

from clearhead.config import BertConfig, ModelConfig
from clearhead.config.bert import Head
from clearhead.errors import ConfigError, InputError
from clearhead.models import Bert
from clearhead.tasks.folder import OpenFolder, open_folder
from clearhead.text import AnyTokenizer

__all__ = [
    "Encoder",
    "freeze_body",
    "freeze_embedding",
    "open_encoder",
    "put_body",
    "refuse_other_shape",
]

HEADS = ("output.", "pooling.")
"""How the names of weights begin that belong to a head."""
FREE = ("model.dropout", "model.attention_dropout")
"""What can be changed of a model that is there already."""


@dataclass(frozen=True)
class Encoder:
    """A folder with an encoder, whose weights are read when they are needed."""

    folder: OpenFolder
    config: BertConfig

    @property
    def tokenizer(self) -> AnyTokenizer:
        """The one that it was trained with."""
        return self.folder.tokenizer

    @property
    def fingerprint(self) -> str:
        """Other weights have another one."""
        with self.folder.weights.open("rb") as file:
            return file_digest(file, "blake2b").hexdigest()[:32]

    def config_for(self, head: Head, **changes: Any) -> BertConfig:
        """The same sizes with another head; `changes` are fields, such as `n_labels`."""
        labels = {} if "n_labels" in changes else {"n_labels": 2}
        return replace(self.config, head=head, **{**labels, **changes})


def open_encoder(folder: Path) -> Encoder:
    """Open a folder to begin with, or refuse it if its model is no encoder."""
    found = open_folder(folder)
    config: ModelConfig = found.config
    if not isinstance(config, BertConfig):
        kind = type(config).__name__.removesuffix("Config")
        raise InputError(
            f"--from {folder}: this is a {kind}, and an encoder is needed; `clearhead convert` "
            "makes one of a BERT of Hugging Face"
        )
    return Encoder(found, config)


def refuse_other_shape(folder: Path, size: str | None, settings: dict[str, Any]) -> None:
    """Refuse a size, or settings of one, for a model that has its size already."""
    asked = [f"--size {size}"] if size else []
    asked += [f"--set {key}" for key in settings if key.startswith("model.") and key not in FREE]
    asked += [f"--set {key}" for key in settings if key in ("tokenizer", "n_vocabulary")]
    if asked:
        raise ConfigError(
            f"{asked[0]}: the model in {folder} has its size and its tokens already; leave it out"
        )


def put_body(model: Bert, encoder: Encoder, *, with_head: bool = True) -> None:
    """Put the weights of an encoder into a model of another head, whose own stay as they are.

    Without `with_head` a head of the same kind and size stays, too: its labels may be others.
    """
    given = dict(encoder.folder.model().named_parameters())
    is_same_head = with_head and (encoder.config.head, encoder.config.n_labels) == (
        model.config.head,
        model.config.n_labels,
    )
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in given and (is_same_head or not name.startswith(HEADS)):
                parameter.copy_(given[name])


def freeze_embedding(model: Bert) -> None:
    """Let tokens, positions and segments keep their vectors."""
    for table in (model.embedding, model.positions, model.segments):
        table.requires_grad_(False)


def freeze_body(model: Bert) -> None:
    """Let only the head learn."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.startswith(HEADS))
