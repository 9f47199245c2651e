"""Folders of Hugging Face: read into our models, and written from them.

    found = read_folder(Path("TinyLlama"))
    found.model(tokens)
    write_folder(found.model, found.tokenizer, Path("copy"))

What differs between kinds of models stands in `families`; this is the same for all.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, get_type_hints

import torch
from safetensors.torch import save_file
from torch import Tensor

from clearhead.config import Config, n_tokens_of
from clearhead.config.base import read_json
from clearhead.convert.families import FAMILIES
from clearhead.convert.families.bert import name_labels
from clearhead.convert.family import Entry, Family
from clearhead.convert.hollow import fill, hollow
from clearhead.convert.new_folder import new_folder
from clearhead.convert.their_weights import TheirWeights, name_some
from clearhead.errors import ConfigError, InputError, nearest
from clearhead.models import Model
from clearhead.text import AnyTokenizer, read_tokenizer

__all__ = ["Imported", "family_for", "read_folder", "write_folder"]


@dataclass(frozen=True)
class Imported:
    """What a folder of Hugging Face held."""

    family: Family[Any]
    config: Config
    model: Model
    tokenizer: AnyTokenizer | None
    notes: tuple[str, ...]
    """What was done that one should know of."""


def read_folder(folder: Path) -> Imported:
    """Read a folder with safetensors; beside the weights, one tensor at a time is in memory."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder of Hugging Face: there is no such folder")
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} is no folder of Hugging Face: it has no config.json")
    theirs = read_json(folder / "config.json")
    family = _family_of(theirs, folder / "config.json")
    config = _read_config(family, theirs, folder / "config.json")
    weights = TheirWeights(folder)
    model = hollow(lambda: family.build(config))
    entries = [_renamed(entry, family, config, weights) for entry in family.entries(config)]
    _check(entries, family, model, weights, folder)
    by_name = {entry.ours: entry for entry in entries}
    fill(model, lambda name: by_name[name].take(weights.read).contiguous())
    used = [name for entry in entries for name in entry.theirs]
    notes = [f"{kind} weights were read as float32" for kind in weights.precisions(used)]
    tokenizer = read_tokenizer(folder)
    if tokenizer is None and n_tokens_of(config):
        notes.append("the folder has no tokenizer that is known here")
    if tokenizer is not None and tokenizer.n_tokens > n_tokens_of(config) > 0:
        raise InputError(
            f"the tokenizer in {folder} has {tokenizer.n_tokens} tokens and the model "
            f"{n_tokens_of(config)}: they do not belong together"
        )
    return Imported(family, config, model.eval(), tokenizer, tuple(notes))


def write_folder(
    model: Model, tokenizer: AnyTokenizer | None, folder: Path, labels: Sequence[str] = ()
) -> Family[Any]:
    """Write a folder that `transformers` opens; return as which family.

    `labels` are the names of what a classifier says, in the order of its scores.
    """
    config: Config = model.config
    family, theirs = family_for(config)
    parameters = dict(model.named_parameters())
    weights: dict[str, Tensor] = {}
    for entry in family.entries(config):
        weights |= entry.give(parameters[entry.ours].detach().float().cpu())
    about = {
        "model_type": family.model_type,
        "architectures": [family.architecture_of(config)],
        "torch_dtype": "float32",
        **_token_ids(tokenizer),
        **theirs,
        **(name_labels(labels) if labels else {}),
    }
    with new_folder(folder) as part:
        _write_json(part / "config.json", about)
        save_file(weights, part / "model.safetensors", metadata={"format": "pt"})
        if tokenizer is not None:
            _write_tokenizer(tokenizer, part)
    return family


def family_for(config: Config) -> tuple[Family[Any], dict[str, Any]]:
    """The first family that has a form for such a model, and its config.json."""
    problem = None
    for family in FAMILIES:
        if get_type_hints(type(family).build)["config"] is type(config):
            try:
                return family, family.write_config(config)
            except ConfigError as error:
                problem = error
    raise ConfigError(
        f"no family of Hugging Face that is known here has a form for such a "
        f"{type(config).__name__.removesuffix('Config')}{f': {problem}' if problem else ''}"
    )


def _family_of(theirs: Mapping[str, Any], path: Path) -> Family[Any]:
    """By the type, and where several share it by the class."""
    wanted = str(theirs.get("model_type"))
    found = [family for family in FAMILIES if family.model_type == wanted]
    if not found:
        known = {family.model_type for family in FAMILIES}
        raise InputError(
            f"{path}: model_type {wanted!r} is not known here: {nearest(wanted, known)}"
        )
    classes = theirs.get("architectures") or []
    return next((family for family in found if family.architecture in classes), found[0])


def _read_config(family: Family[Any], theirs: Mapping[str, Any], path: Path) -> Config:
    if theirs.get("quantization_config"):
        raise InputError(f"{path}: the weights are quantised; take the folder that has them whole")
    try:
        config: Config = family.read_config(theirs)
    except KeyError as error:
        raise InputError(f"{path} does not say {error}, which {family.model_type} needs") from None
    except ConfigError as error:
        raise InputError(f"{path}: {error}") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{path} holds a value of another kind than it should: {error}") from None
    return config


def _renamed(entry: Entry, family: Family[Any], config: Config, weights: TheirWeights) -> Entry:
    """The same entry with the names of this folder: bare models leave the prefix out, say."""
    prefix = family.prefix
    known = {family.rename(name, config): name for name in weights.shapes}

    def name_in_folder(name: str) -> str:
        others = [name.removeprefix(prefix), prefix + name] if prefix else []
        others += [family.stand_ins[name]] if name in family.stand_ins else []
        return next((known[other] for other in [name, *others] if other in known), name)

    return replace(entry, theirs=tuple(map(name_in_folder, entry.theirs)))


def _check(
    entries: list[Entry], family: Family[Any], model: Model, weights: TheirWeights, folder: Path
) -> None:
    """Refuse weights that are missing, unknown, or of another shape, and name them."""
    parameters = dict(model.named_parameters())
    described = [entry.ours for entry in entries]
    assert sorted(described) == sorted(parameters), "a family describes every weight once"
    shapes = {
        name: shape
        for entry in entries
        for name, shape in _their_shapes(entry, tuple(parameters[entry.ours].shape))
    }
    missing = [name for name in shapes if name not in weights.shapes]
    wrong = [
        f"{name} with {weights.shapes[name]} instead of {shape}"
        for name, shape in shapes.items()
        if weights.shapes.get(name, shape) != shape
    ]
    extra = [
        name
        for name in weights.shapes
        if name not in shapes
        if not any(fnmatch(name, pattern) for pattern in family.ignored)
        if not _is_copy(name, entries, weights)
    ]
    problems = {"missing": missing, "of another shape": wrong, "not known to this model": extra}
    told = [f"{kind} are {name_some(names)}" for kind, names in problems.items() if names]
    if told:
        raise InputError(f"{folder}: the weights do not fit its config.json; {'; '.join(told)}")


def _their_shapes(entry: Entry, ours: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for number, name in enumerate(entry.theirs):
        shape = ours[1:] if entry.is_stacked else ours
        if entry.rows:
            shape = (entry.rows[number % len(entry.rows)], *shape[1:])
        if entry.shapes is not None:
            shape = entry.shapes[1]
        yield name, shape[::-1] if entry.is_transposed else shape


def _is_copy(name: str, entries: list[Entry], weights: TheirWeights) -> bool:
    """Whether a tensor is an embedding once more, as some write a tied output."""
    for entry in entries:
        if entry.ours.endswith("embedding.weight") and len(entry.theirs) == 1:
            other = entry.theirs[0]
            if weights.shapes.get(other) == weights.shapes[name] and torch.equal(
                weights.read(other), weights.read(name)
            ):
                return True
    return False


def _token_ids(tokenizer: AnyTokenizer | None) -> dict[str, int]:
    specials = _specials(tokenizer)
    return {
        f"{role}_token_id": specials[role] for role in ("bos", "eos", "pad") if role in specials
    }


def _specials(tokenizer: AnyTokenizer | None) -> dict[str, int]:
    """The special tokens that others write down, too."""
    if tokenizer is None:
        return {}
    if tokenizer.kind == "foreign":
        return dict(tokenizer.specials)
    roles = ("pad", "bos", "eos", "unk")
    return {role: getattr(tokenizer, role) for role in roles}


def _write_tokenizer(tokenizer: AnyTokenizer, folder: Path) -> None:
    """Their two files: the rules, and what the special tokens are for."""
    rules = tokenizer.rules
    (folder / "tokenizer.json").write_text(rules.to_str(pretty=True) + "\n", encoding="utf-8")
    names = {
        f"{role}_token": rules.id_to_token(token) for role, token in _specials(tokenizer).items()
    }
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    _write_json(folder / "tokenizer_config.json", about | names)


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
