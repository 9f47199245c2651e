"""What llama.cpp gets: the same weights and the same tokens, read back from the file."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers

from clearhead.convert import save_as_gguf
from clearhead.convert.gguf_tokens import LLAMA_3, PieceKind, tokens_for_gguf
from clearhead.errors import ConfigError, InputError
from clearhead.models import Llama, LlamaConfig, Mixtral
from clearhead.text import ForeignTokenizer, Tokenizer
from tests.convert.gguf_models import (
    SHAPES,
    TEXTS,
    bytes_of_gpt2,
    gpt,
    llama,
    ours,
    sentence_pieces,
)
from tests.reference.best_neighbours import best_neighbours

gguf = pytest.importorskip("gguf")


def read_back(path: Path) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
    """Tensors and settings of a file."""
    reader = gguf.GGUFReader(path)
    tensors = {each.name: np.array(each.data) for each in reader.tensors}
    return tensors, {name: field.contents() for name, field in reader.fields.items()}


def halves(weight: np.ndarray[Any, Any], n_heads: int) -> np.ndarray[Any, Any]:
    """Undo what makes neighbours of the halves of a head."""
    d_half = len(weight) // n_heads // 2
    rows = [
        (head * d_half + i) * 2 + half
        for head in range(n_heads)
        for half in (0, 1)
        for i in range(d_half)
    ]
    return weight[rows]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_weights_are_ours(tmp_path: Path, shape: str) -> None:
    tokenizer = ours()
    model = llama(tokenizer.n_tokens, SHAPES[shape])
    save_as_gguf(model, tokenizer, tmp_path / "model.gguf")
    theirs, _ = read_back(tmp_path / "model.gguf")
    config = model.config
    found = {
        "embedding.weight": theirs.pop("token_embd.weight"),
        "decoder.norm.weight": theirs.pop("output_norm.weight"),
    }
    found["output.weight"] = theirs.pop("output.weight", found["embedding.weight"])
    for n in range(config.n_layers):
        block = {
            name.split(".", 2)[2]: theirs.pop(name) for name in list(theirs) if f"k.{n}." in name
        }
        for name in ("weight", "bias") if config.attention_bias else ("weight",):
            q = halves(block[f"attn_q.{name}"], config.n_heads)
            k = halves(block[f"attn_k.{name}"], config.kv_heads)
            fused = "w_qkv" if name == "weight" else "b_qkv"
            block[f"self_attention.{fused}"] = np.concatenate([q, k, block[f"attn_v.{name}"]])
            block[f"self_attention.w_o.{name}"] = block[f"attn_output.{name}"]
        block["self_attention_residual.norm.weight"] = block["attn_norm.weight"]
        block["feed_forward_residual.norm.weight"] = block["ffn_norm.weight"]
        if isinstance(model, Mixtral):
            parts = [block["ffn_gate_exps.weight"], block["ffn_up_exps.weight"]]
            block["feed_forward.w_1"] = np.concatenate(parts, axis=1)
            block["feed_forward.w_2"] = block["ffn_down_exps.weight"]
            block["feed_forward.w_r.weight"] = block["ffn_gate_inp.weight"]
        else:
            parts = [block["ffn_gate.weight"], block["ffn_up.weight"]]
            block["feed_forward.w_1.weight"] = np.concatenate(parts)
            block["feed_forward.w_2.weight"] = block["ffn_down.weight"]
        found |= {f"decoder.blocks.{n}.{name}": weight for name, weight in block.items()}
    assert not theirs
    for name, weight in model.state_dict().items():
        assert torch.equal(torch.from_numpy(found[name]), weight), name


@pytest.mark.parametrize("is_tied", [True, False])
def test_the_weights_of_gpt_2_are_ours(tmp_path: Path, is_tied: bool) -> None:
    model = gpt(330, is_tied=is_tied)
    assert save_as_gguf(model, None, tmp_path / "model.gguf") == ()
    theirs, settings = read_back(tmp_path / "model.gguf")
    assert settings["general.architecture"] == "gpt2"
    assert settings["gpt2.context_length"] == 128
    assert settings["tokenizer.ggml.model"] == "no_vocab"
    names = {
        "self_attention.w_qkv": "attn_qkv.weight",
        "self_attention.b_qkv": "attn_qkv.bias",
        "self_attention.w_o": "attn_output",
        "self_attention_residual.norm": "attn_norm",
        "feed_forward_residual.norm": "ffn_norm",
        "feed_forward.w_1": "ffn_up",
        "feed_forward.w_2": "ffn_down",
        "decoder.blocks": "blk",
        "decoder.norm": "output_norm",
        "embedding": "token_embd",
        "positions": "position_embd",
    }
    for name, weight in model.state_dict().items():
        if is_tied and name == "output.weight":
            continue
        for our, their in names.items():
            name = name.replace(our, their)
        assert torch.equal(torch.from_numpy(theirs.pop(name)), weight), name
    assert not theirs
    with pytest.raises(ConfigError, match="activation='relu' has no form"):
        save_as_gguf(gpt(330, activation="relu"), None, tmp_path / "relu.gguf")


def test_the_settings_are_ours(tmp_path: Path) -> None:
    tokenizer = ours()
    shape = SHAPES["experts, untied, biases"] | {"d_head": 12, "rotary_base": 500.0}
    model = llama(tokenizer.n_tokens, shape)
    save_as_gguf(model, tokenizer, tmp_path / "model.gguf", n_positions=96)
    _, settings = read_back(tmp_path / "model.gguf")
    expected = {
        "general.architecture": "llama",
        "general.file_type": 0,
        "llama.vocab_size": tokenizer.n_tokens,
        "llama.context_length": 96,
        "llama.block_count": 2,
        "llama.embedding_length": 32,
        "llama.feed_forward_length": 40,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "llama.attention.key_length": 12,
        "llama.attention.value_length": 12,
        "llama.rope.dimension_count": 12,
        "llama.rope.freq_base": 500.0,
        "llama.attention.layer_norm_rms_epsilon": pytest.approx(1e-5),
        "llama.expert_count": 3,
        "llama.expert_used_count": 3,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.bos_token_id": 2,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 3,
        "tokenizer.ggml.padding_token_id": 0,
        "tokenizer.ggml.add_space_prefix": True,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": False,
    }
    assert {name: settings[name] for name in expected} == expected
    pieces = settings["tokenizer.ggml.tokens"]
    assert pieces[:5] == ["<pad>", "<bos>", "<eos>", "<unk>", "<0x00>"]
    assert settings["tokenizer.ggml.token_type"][:5] == [3, 3, 3, 2, 6]
    assert "▁the" in pieces


def test_half_precision_keeps_vectors_and_the_router(tmp_path: Path) -> None:
    tokenizer = ours("char")
    model = llama(tokenizer.n_tokens, SHAPES["experts"])
    save_as_gguf(model, tokenizer, tmp_path / "model.gguf", precision="float16")
    theirs, settings = read_back(tmp_path / "model.gguf")
    assert settings["general.file_type"] == 1
    wide = {name for name, weight in theirs.items() if weight.dtype == np.float32}
    assert wide == {name for name in theirs if "norm" in name or "ffn_gate_inp" in name}
    expected = model.embedding.weight.detach().half().numpy()
    assert np.array_equal(theirs["token_embd.weight"], expected)


@pytest.mark.parametrize("kind", ["bpe", "char"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_best_neighbours_are_our_tokens(kind: Any, text: str) -> None:
    tokenizer = ours(kind)
    found = tokens_for_gguf(tokenizer, tokenizer.n_tokens)
    assert found.adds_space == (kind == "bpe")
    space = " " if found.adds_space and text else ""
    tokens = best_neighbours((space + text).replace(" ", "▁"), found.pieces, found.scores)
    assert tokens == tokenizer.encode(text)
    assert not found.notes


def test_runs_of_spaces_are_told_and_come_last() -> None:
    lines = ["def f(x):\n        return  x\n\n\n    \ndef g(x):\n        return x\n\n\n    \n"] * 4
    tokenizer = Tokenizer.train(lines, "bpe", 300)
    found = tokens_for_gguf(tokenizer, tokenizer.n_tokens)
    assert found.notes == (
        "this vocabulary joins runs of spaces or line breaks, which llama.cpp may cut differently",
    )
    runs = [n for n, piece in enumerate(found.pieces) if len(piece) > 1 and not piece.strip("▁\n")]
    words = [n for n, piece in enumerate(found.pieces) if found.scores[n] and n not in runs]
    assert max(found.scores[n] for n in runs) < min(found.scores[n] for n in words)
    text = "def f(x):\n        return x"
    tokens = best_neighbours(f"▁{text.replace(' ', '▁')}", found.pieces, found.scores)
    assert tokens == tokenizer.encode(text)


def test_spare_embeddings_get_a_name() -> None:
    for tokenizer in (ours(), bytes_of_gpt2(), sentence_pieces()):
        found = tokens_for_gguf(tokenizer, tokenizer.n_tokens + 2)
        assert found.pieces[-1] == f"[PAD{tokenizer.n_tokens + 1}]"
        assert found.kinds[-2:] == [PieceKind.UNUSED] * 2


def test_another_llamas_tokenizer(tmp_path: Path) -> None:
    tokenizer = sentence_pieces()
    save_as_gguf(llama(tokenizer.n_tokens, {}), tokenizer, tmp_path / "model.gguf")
    _, settings = read_back(tmp_path / "model.gguf")
    assert settings["tokenizer.ggml.model"] == "llama"
    assert settings["tokenizer.ggml.add_bos_token"] is True
    assert settings["tokenizer.ggml.bos_token_id"] == 1
    assert settings["tokenizer.ggml.add_space_prefix"] is True
    assert settings["tokenizer.ggml.token_type"][:5] == [3, 3, 3, 2, 6]
    for text in TEXTS[1:-1]:
        tokens = best_neighbours(
            f" {text}".replace(" ", "▁"),
            settings["tokenizer.ggml.tokens"],
            settings["tokenizer.ggml.scores"],
        )
        assert tokens == tokenizer.encode(text)
    bare = sentence_pieces(adds_space=False)
    assert not tokens_for_gguf(bare, bare.n_tokens).adds_space


def test_a_tokenizer_of_bytes(tmp_path: Path) -> None:
    tokenizer = bytes_of_gpt2()
    tokenizer.rules.add_tokens([AddedToken("<name>", normalized=False)])
    tokenizer = ForeignTokenizer(tokenizer.rules, {"eos": 0})
    save_as_gguf(llama(tokenizer.n_tokens, {}), tokenizer, tmp_path / "model.gguf")
    _, settings = read_back(tmp_path / "model.gguf")
    assert settings["tokenizer.ggml.model"] == "gpt2"
    assert settings["tokenizer.ggml.pre"] == "gpt-2"
    assert settings["tokenizer.ggml.bos_token_id"] == settings["tokenizer.ggml.eos_token_id"] == 0
    assert settings["tokenizer.ggml.token_type"][:2] == [3, 1]
    assert settings["tokenizer.ggml.token_type"][-1] == 4
    merges = json.loads(tokenizer.rules.to_str())["model"]["merges"]
    assert settings["tokenizer.ggml.merges"] == [" ".join(pair) for pair in merges]
    assert "tokenizer.ggml.scores" not in settings
    digits = bytes_of_gpt2(digits=True)
    assert tokens_for_gguf(digits, digits.n_tokens).cut == "smollm"


def llama_3(*, ignores: bool = True, regex: str = LLAMA_3) -> ForeignTokenizer:
    """Cut as Llama 3 does, with letters alone."""
    letters = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    rules = tokenizers.Tokenizer(models.BPE(letters, [], ignore_merges=ignores))
    split = pre_tokenizers.Split(tokenizers.Regex(regex), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    rules.pre_tokenizer = pre_tokenizers.Sequence([split, level])
    rules.decoder = decoders.ByteLevel()
    return ForeignTokenizer(rules, {"eos": 0})


def test_how_words_are_cut_has_a_name_or_is_refused() -> None:
    assert tokens_for_gguf(llama_3(), 256).cut == "llama-bpe"
    qwen = LLAMA_3.replace("{1,3}", "")
    assert tokens_for_gguf(llama_3(ignores=False, regex=qwen), 256).cut == "qwen2"
    with pytest.raises(InputError, match="no ignore_merges=False for llama-bpe"):
        tokens_for_gguf(llama_3(ignores=False), 256)
    with pytest.raises(InputError, match="no name for the way"):
        tokens_for_gguf(llama_3(regex=r"\s+"), 256)


def test_the_space_before_a_text_is_found_or_refused() -> None:
    def with_steps(normal: Any, cut: Any) -> Any:
        tokenizer = sentence_pieces()
        tokenizer.rules.normalizer, tokenizer.rules.pre_tokenizer = normal, cut
        return tokens_for_gguf(tokenizer, tokenizer.n_tokens)

    whole = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    found = with_steps(None, whole)
    assert found.adds_space
    assert found.notes == ("llama.cpp puts a space before a text, also if it begins with one",)
    never = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    assert not with_steps(None, never).adds_space
    replace = normalizers.Replace(" ", "▁")
    prepend = normalizers.Prepend("▁")
    assert with_steps(normalizers.Sequence([prepend, replace]), None).adds_space
    for normal, cut in (
        (None, pre_tokenizers.Metaspace()),
        (normalizers.Sequence([normalizers.NFKC(), replace]), None),
        (None, None),
    ):
        with pytest.raises(InputError, match="changes or cuts texts in a way"):
            with_steps(normal, cut)


def test_what_has_no_form_is_refused(tmp_path: Path) -> None:
    for kind in ("word", "unigram"):
        tokenizer = ours(kind)
        with pytest.raises(InputError, match=f"the kind '{kind}' has no form in GGUF"):
            tokens_for_gguf(tokenizer, tokenizer.n_tokens)
    words = tokenizers.Tokenizer(models.WordLevel({"<unk>": 0, "a": 1}, unk_token="<unk>"))
    with pytest.raises(InputError, match="the kind WordLevel has no form in GGUF"):
        tokens_for_gguf(ForeignTokenizer(words, {}), 2)
    with pytest.raises(InputError, match="the character ▁"):
        tokens_for_gguf(Tokenizer.train(["a ▁ b"], "char"), 999)
    few = tokenizers.Tokenizer(models.BPE({"a": 0, "b": 1}, [], byte_fallback=True))
    with pytest.raises(InputError, match="lacks some of the 256 bytes"):
        tokens_for_gguf(ForeignTokenizer(few, {"eos": 0}), 2)
    around = sentence_pieces()
    around.rules.post_processor = tokenizers.processors.TemplateProcessing(
        single="<pad> $A", special_tokens=[("<pad>", 0)]
    )
    with pytest.raises(InputError, match="tokens around a text"):
        tokens_for_gguf(around, around.n_tokens)
    with pytest.raises(InputError, match="and the model only 9"):
        save_as_gguf(Llama(LlamaConfig(n_tokens=9)), ours(), tmp_path / "model.gguf")
    single = llama(ours().n_tokens, {"n_experts": 4, "n_chosen": 1})
    with pytest.raises(ConfigError, match="a single expert for each token"):
        save_as_gguf(single, ours(), tmp_path / "model.gguf")
    assert not list(tmp_path.iterdir())


def test_the_package_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(InputError, match="pip install gguf"):
        save_as_gguf(llama(ours().n_tokens, {}), ours(), tmp_path / "model.gguf")
