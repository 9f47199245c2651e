"""What Hugging Face has computes the same here, and the other way round; bad folders are named."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from clearhead.config import BlockConfig, LlamaConfig, TransformerConfig
from clearhead.convert import read_folder, write_folder
from clearhead.errors import ConfigError, InputError
from clearhead.models import Llama, Transformer
from clearhead.text import Tokenizer
from tests.convert.their_folders import write_llama

TOKENS = torch.tensor([[1, 5, 60, 33, 12], [1, 7, 7, 30, 2]])


def edit(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    """Change the weights of a folder."""
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")


def edit_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("n_bytes", ["5GB", 9000])
def test_a_folder_computes_the_same_here(tmp_path: Path, is_tied: bool, n_bytes: int | str) -> None:
    theirs = write_llama(tmp_path, n_bytes, tie_word_embeddings=is_tied)
    assert (tmp_path / "model.safetensors").is_file() == (n_bytes == "5GB")
    found = read_folder(tmp_path)
    assert (found.family.model_type, found.notes) == ("llama", ())
    assert isinstance(found.model, Llama)
    assert not found.model.training
    assert (found.model.output.weight is found.model.embedding.weight) == is_tied
    with torch.no_grad():
        assert torch.allclose(found.model(TOKENS), theirs(TOKENS).logits, atol=1e-5)
    assert found.tokenizer is not None
    assert found.tokenizer.encode("w3 w57 never") == [6, 60, 0]
    assert (found.tokenizer.bos, found.tokenizer.eos, found.tokenizer.unk) == (1, 2, 0)
    with pytest.raises(InputError, match="does not say which of its tokens is 'pad'"):
        _ = found.tokenizer.pad


@pytest.mark.parametrize("is_tied", [False, True])
def test_transformers_opens_what_is_written(tmp_path: Path, is_tied: bool) -> None:
    torch.manual_seed(1)
    tokenizer = Tokenizer.train(["a dog runs", "ein Hund läuft"], "char")
    config = LlamaConfig(
        n_tokens=tokenizer.n_tokens, n_layers=2, d_model=24, d_ff=40, n_heads=4, n_kv_heads=2,
        d_head=6, attention_bias=True, is_tied=is_tied,
    )  # fmt: skip
    model = Llama(config).eval()
    folder = tmp_path / "out"
    write_folder(model, tokenizer, folder)
    assert not list(tmp_path.glob(".*"))
    theirs = AutoModelForCausalLM.from_pretrained(folder)
    assert type(theirs).__name__ == "LlamaForCausalLM"
    with torch.no_grad():
        assert torch.allclose(theirs(TOKENS).logits, model(TOKENS), atol=1e-5)
    words = AutoTokenizer.from_pretrained(folder)
    assert words("a Hund", add_special_tokens=False)["input_ids"] == tokenizer.encode("a Hund")
    assert (words.bos_token_id, words.eos_token_id, words.pad_token_id) == (1, 2, 0)
    assert theirs.config.eos_token_id == 2
    again = read_folder(folder)
    assert isinstance(again.tokenizer, Tokenizer)
    assert again.config == config
    for (name, left), (other, right) in zip(
        model.named_parameters(), again.model.named_parameters(), strict=True
    ):
        assert name == other
        assert torch.equal(left, right)


def test_there_and_back_is_exact(tmp_path: Path) -> None:
    theirs = write_llama(tmp_path / "in")
    found = read_folder(tmp_path / "in")
    write_folder(found.model, found.tokenizer, tmp_path / "out")
    before, after = (load_file(tmp_path / name / "model.safetensors") for name in ("in", "out"))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    with torch.no_grad():
        assert torch.equal(again(TOKENS).logits, theirs(TOKENS).logits)
    words = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert words("w3 w57 </s>")["input_ids"] == [6, 60, 2]


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_shorter_numbers_become_float32(tmp_path: Path, kind: torch.dtype) -> None:
    write_llama(tmp_path)
    edit(tmp_path, lambda weights: weights.update({n: w.to(kind) for n, w in weights.items()}))
    found = read_folder(tmp_path)
    assert found.notes == (f"{str(kind).removeprefix('torch.')} weights were read as float32",)
    kept = load_file(tmp_path / "model.safetensors")["model.norm.weight"].float()
    assert torch.equal(dict(found.model.named_parameters())["decoder.norm.weight"], kept)


def test_a_tied_output_may_be_written_again(tmp_path: Path) -> None:
    write_llama(tmp_path, tie_word_embeddings=True)
    embedding = load_file(tmp_path / "model.safetensors")["model.embed_tokens.weight"]
    edit(tmp_path, lambda weights: weights.update({"lm_head.weight": embedding.clone()}))
    read_folder(tmp_path)
    edit(tmp_path, lambda weights: weights.update({"lm_head.weight": embedding + 1}))
    with pytest.raises(InputError, match=r"not known to this model are lm_head\.weight$"):
        read_folder(tmp_path)


def test_a_bare_model_has_shorter_names(tmp_path: Path) -> None:
    theirs = write_llama(tmp_path, tie_word_embeddings=True)
    theirs.model.save_pretrained(tmp_path)
    assert "embed_tokens.weight" in load_file(tmp_path / "model.safetensors")
    with torch.no_grad():
        assert torch.allclose(read_folder(tmp_path).model(TOKENS), theirs(TOKENS).logits, atol=1e-5)


def test_weights_that_do_not_fit_are_named(tmp_path: Path) -> None:
    write_llama(tmp_path)
    edit(tmp_path, lambda weights: weights.update({"a.rotary_emb.inv_freq": torch.ones(3)}))
    read_folder(tmp_path)  # a table, which holds nothing learned
    edit(tmp_path, lambda weights: weights.update(odd=torch.ones(3)))
    edit(tmp_path, lambda weights: weights.pop("model.norm.weight"))
    place = "model.layers.1.self_attn.k_proj.weight"
    edit(tmp_path, lambda weights: weights.update({place: torch.ones(12, 20)}))
    with pytest.raises(InputError) as told:
        read_folder(tmp_path)
    assert str(told.value) == (
        f"{tmp_path}: the weights do not fit its config.json; missing are model.norm.weight; "
        f"of another shape are {place} with (12, 20) instead of (12, 24); "
        "not known to this model are odd"
    )
    edit_config(tmp_path, num_hidden_layers=3)
    with pytest.raises(InputError, match=r"model\.layers\.2\.\S+ and 7 more; of another shape"):
        read_folder(tmp_path)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "weights.pt", "model.ckpt"])
def test_a_pickle_is_not_opened(tmp_path: Path, name: str) -> None:
    write_llama(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / name)
    with pytest.raises(InputError, match=r"a pickle, .*not read here; .*save_pretrained"):
        read_folder(tmp_path)


def test_what_is_no_such_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        read_folder(tmp_path / "none")
    with pytest.raises(InputError, match=r"it has no config\.json"):
        read_folder(tmp_path)
    write_llama(tmp_path)
    for changes, message in (
        ({"model_type": "lama"}, "model_type 'lama' is not known here: did you mean llama"),
        ({"model_type": "zzz"}, "model_type 'zzz' is not known here: known: .*llama"),
        ({"hidden_act": "relu"}, r"config\.json: hidden_act='relu' is not known here"),
        ({"hidden_size": "wide"}, "hidden_size|d_model|another kind"),
        ({"quantization_config": {"bits": 4}}, "quantised"),
        ({"vocab_size": 20}, "of another shape are model.embed_tokens.weight"),
    ):
        good = (tmp_path / "config.json").read_text()
        edit_config(tmp_path, **changes)
        with pytest.raises(InputError, match=message):
            read_folder(tmp_path)
        (tmp_path / "config.json").write_text(good)
    settings = json.loads(good)
    del settings["hidden_size"]
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match="does not say 'hidden_size', which llama needs"):
        read_folder(tmp_path)
    (tmp_path / "config.json").write_text(good)
    data = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(data[:-5])
    with pytest.raises(InputError, match="cannot be read"):
        read_folder(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(InputError, match="has no weights"):
        read_folder(tmp_path)


def test_parts_that_do_not_fit_are_told(tmp_path: Path) -> None:
    write_llama(tmp_path, 9000)
    index = tmp_path / "model.safetensors.index.json"
    good = json.loads(index.read_text())
    places = good["weight_map"]
    name, file = next(iter(places.items()))
    for changed, message in (
        (places | {name: "../other.safetensors"}, "which is not in the folder"),
        (places | {name: "gone.safetensors"}, "gone.safetensors of its parts is missing"),
        (places | {"odd": file}, "lacks odd, which the index names"),
        ({}, "does not say in which files"),
    ):
        index.write_text(json.dumps({"weight_map": changed}))
        with pytest.raises(InputError, match=message):
            read_folder(tmp_path)


def test_nothing_is_overwritten_or_left_half_written(tmp_path: Path) -> None:
    model = Llama(LlamaConfig(n_tokens=9, n_layers=1, d_model=8, d_ff=8, n_heads=2))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something already"):
        write_folder(model, None, tmp_path / "full")
    with pytest.raises(InputError, match="is a file"):
        write_folder(model, None, tmp_path / "full" / "notes.txt")
    (tmp_path / "empty").mkdir()
    write_folder(model, None, tmp_path / "empty")
    assert read_folder(tmp_path / "empty").notes == (
        "the folder has no tokenizer that is known here",
    )
    other = Transformer(
        TransformerConfig(
            n_source_tokens=9,
            n_target_tokens=9,
            positions="learned",
            block=BlockConfig(d_model=8, d_ff=8, n_heads=2, norm="pre"),
        )
    )
    with pytest.raises(ConfigError, match="no family of Hugging Face"):
        write_folder(other, None, tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "full"]


MEASURE = """
import sys
from pathlib import Path
from clearhead.convert import read_folder

def peak(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

import torch
torch.ones(9) @ torch.ones(9)
before = peak("VmRSS")
found = read_folder(Path(sys.argv[1]))
print((peak("VmHWM") - before) / (4 * found.model.n_parameters))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("n_bytes", ["5GB", "30MB"])
def test_reading_needs_little_more_memory_than_the_weights(tmp_path: Path, n_bytes: str) -> None:
    sizes = {"vocab_size": 8000, "hidden_size": 512, "intermediate_size": 1408}
    write_llama(tmp_path, n_bytes, num_hidden_layers=6, num_key_value_heads=4, **sizes)
    command = [sys.executable, "-c", MEASURE, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert 0.9 < float(told) < 1.2
