"""Configurations travel as JSON, read text from a command line, and refuse the unknown."""

import dataclasses
import json
from pathlib import Path
from typing import Any, Literal

import pytest

from clearhead.config import (
    Config,
    GPTConfig,
    LlamaConfig,
    MixtralConfig,
    TransformerConfig,
    load_config,
    save_config,
)
from clearhead.errors import ClearheadError, ConfigError
from clearhead.layers import BlockConfig
from clearhead.models import PRESETS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Engine(Config):
    """The nested part of the example."""

    power: int = 3
    kind: Literal["petrol", "electric"] = "petrol"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Car(Config):
    """An example with a field of every sort."""

    name: str
    doors: int = 4
    weight: float = 1.5
    is_fast: bool = False
    trailer: int | None = None
    engine: Engine = dataclasses.field(default_factory=Engine)


CAR = Car(name="Ada", trailer=2, engine=Engine(kind="electric"))


@pytest.mark.parametrize(
    "config", [CAR, Car(name="Bo"), *(TransformerConfig.preset(name, 100) for name in PRESETS)]
)
def test_round_trip_through_json(config: Config, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    config.save(path)
    assert type(config).load(path) == config
    assert type(config).from_dict(json.loads(path.read_text(encoding="utf-8"))) == config


def test_json_is_plain_and_nested() -> None:
    assert CAR.to_dict()["engine"] == {"power": 3, "kind": "electric"}
    assert json.loads(json.dumps(CAR.to_dict())) == CAR.to_dict()


def test_config_is_frozen_and_keyword_only() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CAR.doors = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        Car("Ada")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"name": "Ada", "dors": 2}, "Car has no 'dors': did you mean doors?"),
        ({"name": "Ada", "engine": {"powr": 2}}, "Engine has no 'powr': did you mean power?"),
        (
            {"name": "Ada", "xyz": 2},
            "Car has no 'xyz': known: doors, engine, is_fast, name, trailer, weight",
        ),
        ({"doors": 2}, "Car needs name"),
    ],
)
def test_unknown_and_missing_names(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Car.from_dict(data)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("name", "Bo", "Bo"),
        ("name", "12", "12"),
        ("doors", "2", 2),
        ("weight", "2", 2.0),
        ("weight", "1e-3", 0.001),
        ("weight", 3, 3.0),
        ("is_fast", "true", True),
        ("is_fast", "True", True),
        ("is_fast", "false", False),
        ("trailer", "5", 5),
        ("trailer", "none", None),
        ("trailer", None, None),
        ("engine.power", "7", 7),
        ("engine.kind", "petrol", "petrol"),
    ],
)
def test_override(path: str, text: Any, value: object) -> None:
    """Dots reach into nested parts, and text is read as the field's type."""
    place: Any = CAR.override({path: text})
    for name in path.split("."):
        place = getattr(place, name)
    assert place == value
    assert type(place) is type(value)


def test_override_makes_a_copy_and_keeps_the_rest() -> None:
    changed = CAR.override({"engine.power": 9, "doors": "2"})
    assert (changed.doors, changed.engine.power) == (2, 9)
    assert (CAR.doors, CAR.engine.power) == (4, 3)
    assert changed.override({"doors": 4, "engine.power": 3}) == CAR


def test_override_with_a_whole_part() -> None:
    assert CAR.override({"engine": Engine(power=1)}).engine == Engine(power=1)
    assert CAR.override({"engine": {"power": 1}}).engine == Engine(power=1)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("dors", "no setting 'dors': did you mean doors?"),
        ("engine.powr", "no setting 'engine.powr': did you mean engine.power?"),
        ("engin.power", "no setting 'engin' in 'engin.power': did you mean engine?"),
        ("zzz.power", "no setting 'zzz' in 'zzz.power': known: "),
    ],
)
def test_override_of_an_unknown_place(path: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        CAR.override({path: 1})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        ("doors", "two", "int"),
        ("doors", "2.5", "int"),
        ("doors", 2.0, "int"),
        ("doors", True, "int"),
        ("doors", None, "int"),
        ("doors", "none", "int"),
        ("weight", "heavy", "float"),
        ("weight", False, "float"),
        ("is_fast", "yes", "bool"),
        ("is_fast", 1, "bool"),
        ("name", 3, "str"),
        ("trailer", "two", "int"),
        ("trailer", 1.5, "int"),
        ("engine.power", [1], "int"),
    ],
)
def test_wrong_types(path: str, value: object, kind: str) -> None:
    name = path.split(".")[-1]
    with pytest.raises(ConfigError) as caught:
        CAR.override({path: value})
    given, _, allowed = str(caught.value).partition(" is not ")
    assert given in (f"{name}={value!r}", f"{name}={value}")
    assert allowed == f"of type {kind}"


@pytest.mark.parametrize("value", ["diesel", "", None, 3])
def test_choices(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        CAR.override({"engine.kind": value})
    message = f"kind={value!r} is not allowed: choose one of petrol, electric"
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [3, None, "electric", [1, 2]])
def test_part_that_is_no_object(value: object) -> None:
    with pytest.raises(ConfigError, match="engine"):
        CAR.override({"engine": value})


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[1]", "holds list, not an object"), ("3", "holds int, not an object")],
)
def test_file_that_is_no_configuration(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        Car.load(path)
    assert str(path) in str(caught.value)


def test_paper_defaults() -> None:
    """What is not said is the base model of 2017, table 3."""
    block = TransformerConfig.preset("base", 37000).block
    assert block == BlockConfig()
    assert (block.d_model, block.d_ff, block.n_heads, block.dropout) == (512, 2048, 8, 0.1)
    big = TransformerConfig.preset("big", 37000).block
    assert (big.d_model, big.d_ff, big.n_heads, big.dropout) == (1024, 4096, 16, 0.3)


def test_preset_with_changes() -> None:
    config = TransformerConfig.preset("tiny", 10, n_encoder_layers=1, **{"block.dropout": "0"})
    assert (config.n_encoder_layers, config.block.dropout) == (1, 0.0)


@pytest.mark.parametrize("kind", [GPTConfig, LlamaConfig, MixtralConfig])
def test_decoders_have_sizes_by_name(kind: type[GPTConfig] | type[LlamaConfig]) -> None:
    small = kind.preset("small", 50257, dropout="0.3")
    assert (small.n_layers, small.d_model, small.n_heads, small.dropout) == (12, 768, 12, 0.3)
    nano = kind.preset("nano", 65)
    assert (nano.n_layers, nano.d_model, nano.n_heads, nano.n_tokens) == (4, 128, 4, 65)
    assert kind.preset("tiny", 9) == kind(n_tokens=9)
    with pytest.raises(ConfigError, match="no preset 'smal': did you mean small"):
        kind.preset("smal", 9)


def test_errors_can_be_caught_together() -> None:
    with pytest.raises(ClearheadError):
        Car.from_dict({})
    with pytest.raises(ValueError, match="needs name"):
        Car.from_dict({})


def test_a_model_config_names_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    configs: list[Config] = [
        *(kind(n_tokens=9) for kind in (GPTConfig, LlamaConfig, MixtralConfig)),
        TransformerConfig.preset("tiny", 9),
    ]
    for config in configs:
        save_config(config, path)
        assert load_config(path) == config
    TransformerConfig.preset("tiny", 9).save(path)  # as older folders have it
    assert load_config(path) == TransformerConfig.preset("tiny", 9)
    path.write_text('{"kind": "lama", "n_tokens": 9}')
    with pytest.raises(ConfigError, match="is for a model of kind 'lama': did you mean llama"):
        load_config(path)
