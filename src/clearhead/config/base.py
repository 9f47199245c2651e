"""The base of all configurations: reading, checking, changing, saving."""

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from clearhead.errors import ConfigError, nearest

__all__ = ["Config", "read_json"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Base of all configurations; a subclass adds fields and checks them in `__post_init__`."""

    def __post_init__(self) -> None:
        """Check the types; a subclass goes on with what its values mean."""
        kinds = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, str) and kinds[field.name] in (int, float, bool):
                raise ConfigError(f"{field.name}={value!r} is text, not a number")
            object.__setattr__(self, field.name, _read(field.name, value, kinds[field.name]))

    def to_dict(self) -> dict[str, Any]:
        """Plain nested data, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Undo `to_dict`. An unknown name, a missing one or a wrong type is an error."""
        kinds = typing.get_type_hints(cls)
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for name in data:
            if name not in fields:
                raise ConfigError(f"{cls.__name__} has no {name!r}: {nearest(name, fields)}")
        missing = [
            name
            for name, field in fields.items()
            if name not in data
            and field.default is dataclasses.MISSING
            and field.default_factory is dataclasses.MISSING
        ]
        if missing:
            raise ConfigError(f"{cls.__name__} needs {', '.join(missing)}")
        return cls(**{name: _read(name, value, kinds[name]) for name, value in data.items()})

    def override(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with some values replaced; dots reach into nested configurations.

        A text value is read as the field's type, so that `--set block.dropout=0.3` works.
        """
        data = self.to_dict()
        for path, value in changes.items():
            *parents, last = path.split(".")
            place = data
            for name in parents:
                if name not in place:
                    raise ConfigError(f"no setting {name!r} in {path!r}: {nearest(name, place)}")
                if not isinstance(place[name], dict):
                    raise ConfigError(f"{name!r} in {path!r} is one value, not a group of settings")
                place = place[name]
            if last not in place:
                known = [".".join([*parents, name]) for name in place]
                raise ConfigError(f"no setting {path!r}: {nearest(path, known)}")
            place[last] = value
        return type(self).from_dict(data)

    def save(self, path: Path) -> None:
        """Write the configuration as JSON."""
        path.write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        return cls.from_dict(read_json(path))


def read_json(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # not UTF-8, or not JSON
        raise ConfigError(f"{path} is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path} holds {type(data).__name__}, not an object of settings")
    return data


def _read(name: str, value: Any, kind: Any) -> Any:
    """Turn `value` (JSON data, or text from a command line) into what a field of `kind` holds."""
    if isinstance(kind, type) and issubclass(kind, Config):
        if isinstance(value, kind):
            return value
        if not isinstance(value, Mapping):
            raise ConfigError(f"{name}={value!r} must be a group of settings, not one value")
        return kind.from_dict(value)
    origin, options = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        if value in options:
            return value
        allowed = ", ".join(map(str, options))
        raise ConfigError(f"{name}={value!r} is not allowed: choose one of {allowed}")
    if origin in (types.UnionType, typing.Union):
        if value in (None, "none", "None", "null"):
            return None
        (kind,) = (option for option in options if option is not type(None))
        return _read(name, value, kind)
    if isinstance(value, str) and kind is not str:
        value = _parse(name, value, kind)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ConfigError(f"{name}={value!r} is not of type {kind.__name__}")
    return value


def _parse(name: str, text: str, kind: type) -> Any:
    try:
        return json.loads(text.lower() if kind is bool else text)
    except json.JSONDecodeError:
        raise ConfigError(f"{name}={text!r} is not of type {kind.__name__}") from None
