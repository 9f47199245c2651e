"""The engine is chosen by a trial, remembered, and steps aside when somebody watches."""

import json
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from clearhead.decoding import DecodingConfig, Request, generate
from clearhead.engine import choice
from clearhead.engine.choice import choose
from clearhead.engine.engine import Engine
from clearhead.engine.library import find_library, load_library
from clearhead.engine.memory import Choice, Wanted, recall
from clearhead.engine.positions import sinusoids
from clearhead.engine.source import Source, WeightFile
from clearhead.errors import InputError
from clearhead.layers import positions
from clearhead.layers.tap import listen, taps
from clearhead.models import Transformer, TransformerConfig

pytestmark = pytest.mark.skipif(find_library() is None, reason="there is no compiled engine")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(choice, "SECONDS", 0.01)
    return tmp_path / "clearhead" / "engine.json"


def make(**changes: object) -> Transformer:
    torch.manual_seed(1)
    settings = {"block.d_model": 32, "block.d_ff": 48, "block.n_heads": 2, **changes}
    return Transformer(TransformerConfig.preset("tiny", 101, **settings)).eval()


def kernel_name() -> str:
    library = find_library()
    assert library is not None
    return str(library.ch_kernels(b"").decode())


def answers(model: Transformer | Engine) -> list[list[int]]:
    requests = [Request([7, 9, n], 12, DecodingConfig(n_beams=3)) for n in (5, 11, 30)]
    found = generate(model, requests, bos=1, eos=2, pad=0)  # type: ignore[misc]
    return [some[0].tokens for some in found]


def engine(model: Transformer, wanted: Wanted = "auto") -> Engine:
    made = Engine(lambda: model, *choose(model, wanted))
    assert made.model is model
    return made


@pytest.mark.parametrize("wanted", ["float32", "bfloat16", "int8"])
def test_what_is_asked_for_is_taken(wanted: Wanted) -> None:
    native, chosen = choose(make(), wanted)
    assert native is not None
    assert chosen.precision == wanted
    assert chosen.n_threads >= 1


def test_float32_answers_as_the_model() -> None:
    model = make()
    assert answers(engine(model, "float32")) == answers(model)


def test_the_choice_is_remembered_and_a_spoilt_memory_does_no_harm(cache: Path) -> None:
    model = make()
    config, kernels = model.config.to_dict(), kernel_name()
    assert recall(config, kernels) is None
    _, chosen = choose(model)
    assert recall(config, kernels) == chosen
    assert chosen.precision in ("float32", "int8")
    assert "times as fast" in chosen.reason
    (key,) = json.loads(cache.read_text())
    other = Choice("int8", 1, "plain", "told so")
    cache.write_text(json.dumps({key: vars(other)}))
    assert choose(model)[1] == other
    for spoilt in ("no JSON", "[1]", json.dumps({key: {"precision": "int8"}})):
        cache.write_text(spoilt)
        assert choose(model)[1].reason != "told so"


def test_a_cache_that_cannot_be_written_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert choose(make())[0] is not None


def test_while_somebody_watches_the_model_itself_computes() -> None:
    model = make()
    fast = engine(model, "float32")
    tap = taps(model)["decoder.blocks.0.cross_attention.weights"]
    n_seen = 0

    def count(value: torch.Tensor) -> torch.Tensor:
        nonlocal n_seen
        n_seen += 1
        return value

    with listen({tap: count}):
        watched = answers(fast)
    assert n_seen > 0
    n_before = n_seen
    assert watched == answers(fast)
    assert n_seen == n_before


def test_what_the_engine_cannot_do_is_told_or_left_to_the_model() -> None:
    model = make(positions="learned")
    native, chosen = choose(model)
    assert native is None
    assert "does not know learned positions" in chosen.reason
    assert answers(Engine(lambda: model, native, chosen)) == answers(model)
    with pytest.raises(
        InputError, match="precision 'int8' needs the native engine, and the engine"
    ):
        choose(model, "int8")
    with pytest.raises(InputError, match="does not know learned positions"):
        choose(make(positions="learned"), "int8")
    with pytest.raises(InputError, match="no precision 'int9': did you mean int8"):
        choose(model, "int9")  # type: ignore[arg-type]


def test_without_a_compiler_torch_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "find_library", lambda: None)
    native, chosen = choose(make())
    assert native is None
    assert str(chosen).startswith("float32 on ")
    assert chosen.reason.endswith("it was installed without a C++ compiler")


@pytest.mark.parametrize("n_bytes", [None, 12])
def test_an_engine_of_another_version_is_refused(
    n_bytes: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Records of another size would be read wrongly, without any error.
    functions = {} if n_bytes is None else {"ch_record_bytes": lambda: n_bytes}
    monkeypatch.setattr("ctypes.CDLL", lambda _: SimpleNamespace(**functions))
    with pytest.raises(InputError, match=r"old\.so was compiled for another version of clearhead"):
        load_library(Path("old.so"))


@pytest.mark.parametrize("d_model", [1, 7, 128])
def test_positions_are_those_of_the_model(d_model: int) -> None:
    expected = positions.sinusoids(3000, d_model).numpy()
    np.testing.assert_allclose(sinusoids(3000, d_model), expected, rtol=0, atol=1e-7)


def test_positions_have_no_end() -> None:
    """Vectors for more positions are made when a source or an answer needs them."""
    model = make()
    fast = engine(model, "float32")
    source = torch.randint(3, 101, (1, 900))
    plain, native = model.start(source), fast.start(source)
    for _ in range(3):
        expected, plain = model.step(source[:, :1], plain)
        logits, native = fast.step(source[:, :1], native)
    assert torch.allclose(logits, expected, atol=1e-4)


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
def test_weights_are_read_from_a_file_one_by_one(tmp_path: Path, kind: torch.dtype) -> None:
    model = make().to(kind).float()
    path = tmp_path / "model.safetensors"
    weights = {name: p.detach().to(kind) for name, p in model.named_parameters()}
    save_file(weights, path, {"note": "of no interest"})
    file = WeightFile(path)
    assert file.shapes == {name: tuple(p.shape) for name, p in model.named_parameters()}
    native, chosen = choose(Source(model.config, file.read), "float32")
    loaded: list[Transformer] = []

    def load() -> Transformer:
        loaded.append(model)
        return model

    fast = Engine(load, native, chosen)
    assert answers(fast) == answers(model)
    assert not loaded  # the engine needs nothing of it
    assert fast.model is model


def test_a_file_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    model = make()
    path = tmp_path / "model.safetensors"
    save_file({name: p.detach() for name, p in model.named_parameters()}, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(InputError, match="is cut off"):
        choose(Source(model.config, WeightFile(path).read), "float32")
    path.write_bytes(whole[:100])
    with pytest.raises(InputError, match="cannot be read"):
        WeightFile(path)
    path.write_bytes(b"\xff" * 16)
    with pytest.raises(InputError, match="it is no safetensors file"):
        WeightFile(path)
    with pytest.raises(InputError, match="cannot be read"):
        WeightFile(tmp_path / "none")
    save_file({"output": torch.ones(2, dtype=torch.int64)}, path)
    with pytest.raises(InputError, match="the weight output is I64"):
        WeightFile(path).read("output")


def test_weights_of_another_model_are_refused() -> None:
    other = Source.of(make(**{"block.d_ff": 64}))
    with pytest.raises(InputError, match=r"w_1\.weight has 64 × 32 numbers, not 48 × 32"):
        choose(Source(make().config, other.read), "float32")
    shallow = Source.of(make(n_decoder_layers=3))
    with pytest.raises(InputError, match=r"the weight decoder\.blocks\.3\..* is missing"):
        choose(Source(make().config, shallow.read), "float32")


def test_threads_may_share_an_engine() -> None:
    fast = engine(make(), "int8")
    expected = answers(fast)
    found: list[list[list[int]]] = []
    threads = [threading.Thread(target=lambda: found.append(answers(fast))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
