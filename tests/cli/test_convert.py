"""`clearhead convert`: what it prints, what it writes, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner, Result
from transformers import AutoModelForCausalLM

from clearhead.cli.main import main
from clearhead.errors import InputError
from clearhead.tasks import Translator
from clearhead.tasks.folder import ModelFolder, load_folder, open_folder, save_folder
from clearhead.text import Tokenizer
from tests.cli.tiny_folder import write_folder as write_translator
from tests.convert.gguf_models import llama, ours
from tests.convert.their_folders import WORDS, write_llama

ctranslate2 = pytest.importorskip("ctranslate2")


def convert(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["convert", *map(str, arguments)])


def test_in_and_out_again(tmp_path: Path) -> None:
    theirs = write_llama(tmp_path / "in")
    result = convert(tmp_path / "in", tmp_path / "ours")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"read {tmp_path / 'in'}: LlamaForCausalLM of Hugging Face, 12,264 parameters, 61 tokens\n"
        f"wrote {tmp_path / 'ours'}: a model folder\n"
    )
    found = load_folder(tmp_path / "ours")
    assert found.card["task"] == "generate"
    assert found.card["imported"]["from"] == str(tmp_path / "in")
    assert found.tokenizer is not None
    assert found.tokenizer.encode("w3 w57") == [6, 60]
    assert (found.tokenizer.bos, found.tokenizer.eos) == (1, 2)
    tokens = torch.tensor([[1, 5, 60, 33]])
    with torch.no_grad():
        assert torch.allclose(found.model(tokens), theirs(tokens).logits, atol=1e-5)
    assert open_folder(tmp_path / "ours").source().read("output") is not None
    result = convert(tmp_path / "ours", tmp_path / "out")
    assert "Llama of Clearhead" in result.stdout
    assert "LlamaForCausalLM for transformers" in result.stdout
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    with torch.no_grad():
        assert torch.equal(again(tokens).logits, theirs(tokens).logits)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "ours", "out"]


@pytest.mark.parametrize("is_tied", [False, True])
def test_ctranslate2_continues_alike(tmp_path: Path, is_tied: bool) -> None:
    theirs = write_llama(tmp_path / "in", tie_word_embeddings=is_tied)
    result = convert(tmp_path / "in", tmp_path / "out", "--to-format", "ctranslate2")
    assert result.exit_code == 0, result.output
    generator = ctranslate2.Generator(str(tmp_path / "out"), compute_type="float32")
    tokens = torch.tensor([[1, 5, 60, 33, 12, 30]])
    logits = generator.forward_batch([[WORDS[token] for token in tokens[0]]])
    with torch.no_grad():
        expected = theirs(tokens).logits
    assert torch.allclose(torch.tensor(np.array(logits)), expected, atol=1e-4)


def test_a_translator_for_ctranslate2(tmp_path: Path) -> None:
    write_translator(tmp_path / "ours")
    result = convert(tmp_path / "ours", tmp_path / "out", "--to-format", "ctranslate2")
    assert result.exit_code == 0, result.output
    theirs = ctranslate2.Translator(str(tmp_path / "out"), compute_type="float32")
    assert theirs.translate_batch([["<eos>"]], max_decoding_length=3)


def test_a_file_for_llama_cpp(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    tokenizer = ours("char")
    model = llama(tokenizer.n_tokens, {})
    card = {"task": "generate", "plan": {"context": 96}}
    save_folder(tmp_path / "ours", ModelFolder(model, tokenizer, card))
    to = tmp_path / "new" / "model.gguf"
    result = convert(tmp_path / "ours", to, "--to-format", "gguf")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1:] == [f"wrote {to}: float32 for llama.cpp"]
    assert [path.name for path in to.parent.iterdir()] == ["model.gguf"]
    settings = gguf.GGUFReader(to).fields
    assert settings["llama.context_length"].contents() == 96


def test_notes_of_a_file_for_llama_cpp(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    tokenizer = Tokenizer.train(["a\n\n\n\nb\n\n\n\nb a"], "bpe", 300)
    model = llama(tokenizer.n_tokens, {})
    save_folder(tmp_path / "ours", ModelFolder(model, tokenizer, {"task": "generate"}))
    result = convert(tmp_path / "ours", tmp_path / "model.gguf", "--to-format", "gguf")
    assert result.exit_code == 0, result.output
    assert "note: this vocabulary joins runs of spaces or line breaks" in result.stdout


def test_a_translator_opens_no_llama(tmp_path: Path) -> None:
    write_llama(tmp_path / "in")
    convert(tmp_path / "in", tmp_path / "ours")
    with pytest.raises(InputError, match="holds no translator: llama"):
        Translator.load(tmp_path / "ours")


def test_notes_are_told(tmp_path: Path) -> None:
    write_llama(tmp_path / "in").half().save_pretrained(tmp_path / "in")
    result = convert(tmp_path / "in", tmp_path / "ours")
    assert "note: float16 weights were read as float32\n" in result.stdout


def test_mistakes_are_told_and_leave_nothing(tmp_path: Path) -> None:
    write_llama(tmp_path / "in")
    write_translator(tmp_path / "ours")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "config.json").write_text("{}")
    write_llama(tmp_path / "bare")
    for path in (tmp_path / "bare").glob("tokenizer*"):
        path.unlink()
    (tmp_path / "old.gguf").write_bytes(b"mine")
    before = sorted(path.name for path in tmp_path.iterdir())
    for source, to, more, message in (
        ("none", "to", [], "there is nothing of that name"),
        ("full/notes.txt", "to", [], "a kind that is not known here"),
        ("full", "to", [], "is not a whole model folder"),
        ("odd", "to", [], "neither a model_type"),
        ("in", "full", [], "holds something already"),
        ("in", "ours/card.json", [], "is a file"),
        ("ours", "to", ["--to-format", "clearhead"], "is a model folder already"),
        ("ours", "to", [], "no family of Hugging Face"),
        ("in", "to", ["--to-format", "gguf"], "name one such as"),
        ("in", "old.gguf", ["--to-format", "gguf"], "is there already"),
        ("in", "to.gguf", ["--to-format", "gguf"], "the kind WordLevel has no form in GGUF"),
        ("ours", "to.gguf", ["--to-format", "gguf"], "a Transformer cannot be written as GGUF"),
        ("bare", "to", [], "has no tokenizer"),
    ):
        result = convert(tmp_path / source, tmp_path / to, *more)
        assert result.exit_code == 1, (source, result.output)
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_damaged_tokenizer_is_told(tmp_path: Path) -> None:
    write_llama(tmp_path / "in")
    convert(tmp_path / "in", tmp_path / "ours")
    path = tmp_path / "ours" / "tokenizer.json"
    data = json.loads(path.read_text())
    data["clearhead"]["specials"]["bos"] = 99
    path.write_text(json.dumps(data))
    result = convert(tmp_path / "ours", tmp_path / "out")
    assert result.exit_code == 1
    assert "its special tokens are not in its vocabulary" in result.stderr
