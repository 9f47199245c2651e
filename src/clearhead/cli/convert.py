"""`clearhead convert`: a model from another library, or to one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from clearhead.config import Config, ViTConfig, is_encoder_decoder, n_tokens_of
from clearhead.config.base import read_json
from clearhead.convert.families.bert import read_labels
from clearhead.convert.hugging_face import read_folder, write_folder
from clearhead.convert.llama2c import Llama2cTokenizer, read_llama2c
from clearhead.convert.new_folder import check_new, check_new_file, new_file, new_folder
from clearhead.convert.to_ctranslate2 import save_for_ctranslate2
from clearhead.convert.to_gguf import save_as_gguf
from clearhead.errors import InputError
from clearhead.models import GPT, Llama, Mixtral, Model, Transformer
from clearhead.tasks.folder import ModelFolder, load_folder, save_folder
from clearhead.tasks.images.reading import Reading
from clearhead.text import AnyTokenizer

__all__ = ["show_conversion"]


@dataclass(frozen=True)
class _Given:
    """A model that was read, and where it comes from."""

    model: Model
    tokenizer: AnyTokenizer | None
    family: str
    is_ours: bool
    notes: tuple[str, ...] = ()
    n_positions: int | None = None
    """How long its texts were in training, if that is known."""
    labels: tuple[str, ...] = ()
    """What a classifier says, in the order of its scores."""


def show_conversion(source: Path, to: Path, to_format: str | None = None) -> None:
    """Read a model in one format, write it in another, and say what was read and written."""
    _check_target(to, to_format)  # before a large model is read
    given = _read(source)
    wanted = to_format or ("transformers" if given.is_ours else "clearhead")
    n_tokens = f", {given.tokenizer.n_tokens:,} tokens" if given.tokenizer else ""
    click.echo(f"read {source}: {given.family}, {given.model.n_parameters:,} parameters{n_tokens}")
    for note in given.notes:
        click.echo(f"note: {note}")
    written = _WRITERS[wanted](given, source, to)
    click.echo(f"wrote {to}: {written}")


def _check_target(to: Path, to_format: str | None) -> None:
    """All formats are folders but one."""
    if to_format != "gguf":
        check_new(to)
    elif to.suffix != ".gguf" or to.is_dir():
        raise InputError(f"{to}: GGUF is a single file, so name one such as {to / 'model.gguf'}")
    else:
        check_new_file(to)


def _read(source: Path) -> _Given:
    if source.is_file():
        return _read_file(source)
    if not source.is_dir():
        raise InputError(f"{source} is neither a folder nor a file: there is nothing of that name")
    path = source / "config.json"
    if path.is_file() and "model_type" in (theirs := read_json(path)):
        found = read_folder(source)
        name = f"{found.family.architecture_of(found.config)} of Hugging Face"
        n_positions = theirs.get("max_position_embeddings")
        labels = read_labels(theirs, getattr(found.config, "n_labels", 0))
        return _Given(found.model, found.tokenizer, name, False, found.notes, n_positions, labels)
    if path.is_file() and not (source / "card.json").is_file():
        raise InputError(
            f"{path} has neither a model_type, as folders of Hugging Face have, nor a card.json "
            "beside it, as model folders have"
        )
    ours = load_folder(source)
    name, plan = f"{type(ours.model).__name__} of Clearhead", ours.card.get("plan")
    n_positions = plan.get("context") if isinstance(plan, dict) else None
    labels = ours.card.get("labels") or (ours.card.get("reading") or {}).get("labels") or ()
    return _Given(ours.model, ours.words, name, True, (), n_positions, tuple(map(str, labels)))


def _read_file(source: Path) -> _Given:
    """A model of llama2.c, with its vocabulary beside it."""
    if source.suffix != ".bin" or _is_zip(source):
        raise InputError(
            f"{source} is a file of a kind that is not known here: give a folder of Hugging Face "
            "with safetensors, a model folder, or a .bin file of llama2.c"
        )
    model = read_llama2c(source)
    vocabularies = sorted(source.parent.glob("tok*.bin"))
    if not vocabularies:
        raise InputError(f"{source.parent} has no vocabulary for {source.name}, such as tok512.bin")
    tokenizer = Llama2cTokenizer.load(vocabularies[0], model.config.n_tokens)
    return _Given(model, tokenizer.as_foreign(), "a Llama of llama2.c", False)


def _is_zip(path: Path) -> bool:
    """Pickles of torch are zip archives, and some are called .bin, too."""
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _write_ours(given: _Given, source: Path, to: Path) -> str:
    if given.is_ours:
        raise InputError(f"{source} is a model folder already: name another --to-format")
    config: Config = given.model.config
    tokenizer = _needed(given, source) if n_tokens_of(config) else None
    card: dict[str, Any] = {
        "task": _task(given.model),
        "n_parameters": given.model.n_parameters,
        "imported": {
            "from": str(source.resolve()),
            "family": given.family,
            "notes": list(given.notes),
        },
    }
    if isinstance(config, ViTConfig) and config.head == "classify":
        card["reading"] = Reading.of_hugging_face(source, config).to_dict()
    if card["task"] == "classify":
        card["labels"] = list(given.labels)
    with new_folder(to) as part:
        save_folder(part, ModelFolder(given.model, tokenizer, card))
    return "a model folder"


def _write_theirs(given: _Given, source: Path, to: Path) -> str:
    family = write_folder(given.model, given.tokenizer, to, given.labels)
    return f"{family.architecture_of(given.model.config)} for transformers"


def _write_ctranslate2(given: _Given, source: Path, to: Path) -> str:
    try:
        import ctranslate2  # noqa: F401
    except ImportError:
        raise InputError(
            "writing for CTranslate2 needs the package ctranslate2: pip install ctranslate2"
        ) from None
    model, tokenizer = given.model, _needed(given, source)
    if not isinstance(model, Transformer | Llama | GPT):
        raise InputError(
            f"a {type(model).__name__} cannot be written for CTranslate2 yet: a Transformer, a "
            "Llama and a GPT can"
        )
    rules, n_tokens = tokenizer.rules, n_tokens_of(model.config)
    names = [rules.id_to_token(token) or f"<spare_{token}>" for token in range(n_tokens)]
    bos, eos, unk = (names[token] for token in (tokenizer.bos, tokenizer.eos, tokenizer.unk))
    with new_folder(to) as part:
        save_for_ctranslate2(model, names, part, bos=bos, eos=eos, unk=unk)
        rules.save(str(part / "tokenizer.json"))
    opener = "Translator" if isinstance(model, Transformer) else "Generator"
    return f"float32 for CTranslate2's {opener}"


def _write_gguf(given: _Given, source: Path, to: Path) -> str:
    model, tokenizer = given.model, _needed(given, source)
    if not isinstance(model, Llama | Mixtral | GPT):
        raise InputError(
            f"a {type(model).__name__} cannot be written as GGUF: a Llama, a Mixtral and a GPT can"
        )
    with new_file(to) as part:
        notes = save_as_gguf(model, tokenizer, part, n_positions=given.n_positions)
    for note in notes:
        click.echo(f"note: {note}")
    return "float32 for llama.cpp"


def _needed(given: _Given, source: Path) -> AnyTokenizer:
    if given.tokenizer is None:
        raise InputError(f"{source} has no tokenizer, and this format needs one")
    return given.tokenizer


def _task(model: Model) -> str:
    """What a model can be used for, as its card says."""
    config: Config = model.config
    if is_encoder_decoder(config):
        return "translate"
    if getattr(config, "head", None) == "fill":
        return "fill"
    if isinstance(config, ViTConfig) and config.head == "classify":
        return "images"
    if getattr(config, "head", None) == "span":
        return "answer"
    if getattr(config, "head", None) == "classify":
        return "classify"
    return "generate" if getattr(model, "is_causal", False) else "encode"


_WRITERS: Final[dict[str, Callable[[_Given, Path, Path], str]]] = {
    "clearhead": _write_ours,
    "transformers": _write_theirs,
    "ctranslate2": _write_ctranslate2,
    "gguf": _write_gguf,
}
