"""Families of decoders: in from a folder of Hugging Face, and out to one, with the same logits."""

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor

from clearhead.config import GPTConfig, LlamaConfig, MixtralConfig
from clearhead.convert.families import FAMILIES, GPT2Family, LlamaFamily, MixtralFamily
from clearhead.convert.family import Entry, Family
from clearhead.errors import ConfigError
from clearhead.models import Model
from tests.parity.compare import assert_near, randomise

V = 53
NO_ENDS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
LLAMA: dict[str, Any] = {
    "vocab_size": V,
    "hidden_size": 32,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    **NO_ENDS,
}
GPT2: dict[str, Any] = {
    "vocab_size": V,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 20,
    **NO_ENDS,
}
BASE: dict[str, Any] = {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}
THEIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("gpt2", GPT2),
    "gpt2, untied": ("gpt2", GPT2 | {"tie_word_embeddings": False, "n_inner": 40}),
    "gpt2, exact": ("gpt2", GPT2 | {"activation_function": "gelu", "layer_norm_epsilon": 1e-3}),
    "llama": ("llama", LLAMA),
    "llama, biases": ("llama", LLAMA | BASE | {"attention_bias": True, "head_dim": 12}),
    "mixtral": ("mixtral", LLAMA | {"num_local_experts": 4}),
    "mixtral, tied": (
        "mixtral",
        LLAMA | BASE | {"num_local_experts": 3, "num_experts_per_tok": 3, "head_dim": 12}
        | {"tie_word_embeddings": True},
    ),
}  # fmt: skip
SIZES: dict[str, Any] = {"n_tokens": V, "n_layers": 2, "d_model": 32, "d_ff": 24, "n_heads": 4}
OURS: dict[str, Any] = {
    "gpt2": GPTConfig(pad=7, n_positions=20, **SIZES),
    "llama": LlamaConfig(n_kv_heads=2, d_head=8, attention_bias=True, **SIZES),
    "mixtral": MixtralConfig(n_kv_heads=4, d_head=6, n_experts=5, rotary_base=700.0, **SIZES),
}


def family_of(model_type: str) -> Family[Any]:
    (found,) = (family for family in FAMILIES if family.model_type == model_type)
    return found


def read_folder(folder: Path) -> Model:
    """Every weight of ours must be there, and every one of theirs must be wanted."""
    settings = json.loads((folder / "config.json").read_text())
    family = family_of(settings["model_type"])
    config = family.read_config(settings)
    weights = load_file(folder / "model.safetensors")
    model = family.build(config)
    entries = family.entries(config)
    assert {entry.ours for entry in entries} == {name for name, _ in model.named_parameters()}
    wanted = {name for entry in entries for name in entry.theirs}
    extra = [name for name in weights if name not in wanted]
    assert all(any(fnmatch(name, pattern) for pattern in family.ignored) for name in extra)
    taken = {entry.ours: entry.take(weights.__getitem__) for entry in entries}
    model.load_state_dict(taken, strict=False)
    return model.eval()


def write_folder(model: Model, family: Family[Any], folder: Path) -> None:
    config: Any = model.config
    settings = family.write_config(config)
    settings |= {"model_type": family.model_type, "architectures": [family.architecture]}
    (folder / "config.json").write_text(json.dumps(settings))
    parameters = dict(model.named_parameters())
    theirs: dict[str, Tensor] = {}
    for entry in family.entries(config):
        theirs |= entry.give(parameters[entry.ours].detach())
    save_file(theirs, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize("kind", THEIRS)
@torch.no_grad()
def test_what_they_save_is_read(kind: str, tmp_path: Path) -> None:
    model_type, settings = THEIRS[kind]
    theirs = transformers.AutoModelForCausalLM.from_config(
        transformers.AutoConfig.for_model(model_type, **settings)
    ).eval()
    randomise(theirs)
    theirs.save_pretrained(tmp_path)
    ours = read_folder(tmp_path)
    tokens = torch.randint(1, V, (2, 11))
    assert_near(ours(tokens), theirs(tokens).logits, 1e-4)


@pytest.mark.parametrize("model_type", OURS)
@torch.no_grad()
def test_what_we_write_is_read_by_them_and_by_us(model_type: str, tmp_path: Path) -> None:
    family, config = family_of(model_type), OURS[model_type]
    ours = family.build(config).eval()
    randomise(ours)
    write_folder(ours, family, tmp_path)
    tokens = torch.randint(1, V, (2, 11))
    expected = ours(tokens)
    theirs, report = getattr(transformers, family.architecture).from_pretrained(
        tmp_path, output_loading_info=True
    )
    assert not report["unexpected_keys"]
    assert set(report["missing_keys"]) <= {"lm_head.weight"}
    assert_near(theirs.eval()(tokens).logits, expected, 1e-4)

    again = read_folder(tmp_path)
    assert again.config == config
    for name, weight in ours.named_parameters():
        assert torch.equal(again.get_parameter(name), weight), name


@pytest.mark.parametrize("model_type", OURS)
def test_entries_go_there_and_back_exactly(model_type: str) -> None:
    family, config = family_of(model_type), OURS[model_type]
    weights = dict(family.build(config).named_parameters())
    for entry in family.entries(config):
        given = entry.give(weights[entry.ours].detach())
        assert list(given) == list(entry.theirs)
        assert all(part.is_contiguous() for part in given.values())
        assert torch.equal(entry.take(given.__getitem__), weights[entry.ours])


def test_stacked_entries_join_the_parts_of_each_layer() -> None:
    entry = Entry("w", ("a1", "a2", "b1", "b2"), (1, 2), is_stacked=True)
    parts = {"a1": torch.zeros(1, 3), "a2": torch.ones(2, 3)}
    parts |= {"b1": torch.full((1, 3), 2.0), "b2": torch.full((2, 3), 3.0)}
    joined = entry.take(parts.__getitem__)
    assert joined[:, :, 0].tolist() == [[0, 1, 1], [2, 3, 3]]
    turned = Entry("w", ("a1", "b1"), is_transposed=True, is_stacked=True)
    assert turned.take(parts.__getitem__).shape == (2, 3, 1)


@pytest.mark.parametrize(
    ("family", "theirs", "message"),
    [
        (GPT2Family(), {"activation_function": "gelu_old"}, "did you mean gelu"),
        (GPT2Family(), {"scale_attn_weights": False}, "scores are scaled"),
        (GPT2Family(), {"scale_attn_by_inverse_layer_idx": True}, "only models without are"),
        (GPT2Family(), {"add_cross_attention": True}, "only models without are"),
        (MixtralFamily(), {"sliding_window": 4096}, "every position is read"),
        (MixtralFamily(), {"num_experts_per_tok": 1}, "choose two"),
        (LlamaFamily(), {"rope_scaling": {"rope_type": "yarn"}}, "kind 'yarn' are not known"),
        (LlamaFamily(), {"mlp_bias": True}, "mlp_bias is not known here"),
    ],
)
def test_what_we_do_not_have_is_refused(
    family: Family[Any], theirs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        family.read_config((GPT2 if isinstance(family, GPT2Family) else LLAMA) | theirs)


def test_what_they_do_not_have_is_refused() -> None:
    mixtral = MixtralFamily()
    with pytest.raises(ConfigError, match="attention_bias has no form in Mixtral"):
        mixtral.write_config(OURS["mixtral"].override({"attention_bias": True}))
    with pytest.raises(ConfigError, match="choose two"):
        mixtral.write_config(OURS["mixtral"].override({"n_chosen": 1}))


def test_gpt2_pads_with_its_end_where_it_has_no_padding() -> None:
    settings = GPT2 | {"vocab_size": 50257, "pad_token_id": None}
    family = GPT2Family()
    assert family.read_config(settings | {"eos_token_id": 50256}).pad == 50256
    assert family.read_config(settings | {"eos_token_id": None}).pad == 0
    assert "eos_token_id" not in family.write_config(GPTConfig.preset("small", 50257))
