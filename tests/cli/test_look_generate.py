"""Looking into decoders by themselves: the numbers of the model, in every view."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from clearhead.cli import main
from clearhead.cli.look_generate import VIEWS
from clearhead.config import GPTConfig, LlamaConfig, MixtralConfig
from clearhead.models import GPT, Llama, Mixtral
from clearhead.observe.forced import force_text
from clearhead.observe.lens import logit_lens
from clearhead.tasks.folder import ModelFolder, save_folder
from clearhead.text import Tokenizer

TEXT = "the dog runs"
TOKENIZER = Tokenizer.train([TEXT, "a cat sat on the mat"], "char")
SMALL: dict[str, Any] = {
    "n_tokens": TOKENIZER.n_tokens, "n_layers": 2, "d_model": 16, "d_ff": 24, "n_heads": 2,
}  # fmt: skip


def models() -> list[Any]:
    torch.manual_seed(1)
    made = [
        Llama(LlamaConfig(**SMALL)),
        GPT(GPTConfig(n_positions=64, **SMALL)),
        Mixtral(MixtralConfig(n_experts=3, **SMALL)),
    ]
    return [model.eval() for model in made]


@pytest.fixture(scope="module", params=models(), ids=lambda model: type(model).__name__)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "texts"
    save_folder(folder, ModelFolder(request.param, TOKENIZER, {"task": "generate"}))
    return folder


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_drawn(folder: Path, view: str, tmp_path: Path) -> None:
    run = CliRunner()
    shown = run.invoke(main, ["look", str(folder), TEXT, "--view", view])
    assert shown.exit_code == 0, shown.output
    out = tmp_path / "view.json"
    written = run.invoke(main, ["look", str(folder), TEXT, "--view", view, "--out", str(out)])
    assert written.exit_code == 0, written.output
    assert json.loads(out.read_text())


def test_steps_are_the_usual_view(folder: Path) -> None:
    run = CliRunner()
    usual = run.invoke(main, ["look", str(folder), TEXT]).output
    assert usual == run.invoke(main, ["look", str(folder), TEXT, "--view", "steps"]).output
    assert usual.startswith(f"Step by step: {TEXT}")


@pytest.mark.parametrize("model", models(), ids=lambda model: type(model).__name__)
def test_the_last_block_says_what_the_model_says(model: Any) -> None:
    whole = force_text(model, TOKENIZER, TEXT)
    tokens = torch.tensor([[TOKENIZER.eos, *TOKENIZER.encode(TEXT)]])
    with torch.no_grad():
        logits = model(tokens[:, :-1])[0].log_softmax(-1)
    assert torch.allclose(logit_lens(whole).log_probs[-1], logits, atol=1e-5)
    wanted = logits.gather(1, tokens[0, 1:, None])[:, 0]
    assert torch.allclose(whole.log_probs(), wanted, atol=1e-6)


def test_one_head_is_causal(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "head.json"
    command = ["look", str(folder), TEXT, "--view", "heads", "--block", "1", "--head", "1"]
    assert CliRunner().invoke(main, [*command, "--out", str(out)]).exit_code == 0
    data = json.loads(out.read_text())
    weights = torch.tensor(data["weights"])
    assert torch.allclose(weights.sum(-1), torch.ones(len(weights)), atol=1e-4)
    assert not weights.triu(1).any()
    assert data["columns"][:4] == ["<eos>", "t", "h", "e"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--view", "align"], "a model for the task generate has no view 'align'"),
        (["--word", "dog"], "--word is for translators"),
        (["--block", "1"], "give --head"),
        (["another"], "each view shows one text, and 2 were given"),
        (["--view", "tree", "--temperature", "1"], "leave out --temperature"),
        (["--view", "heads", "--block", "9", "--head", "0"], "there is no head 0 in block 9"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, more: list[str], told: str) -> None:
    refused = CliRunner().invoke(main, ["look", str(folder), TEXT, *more])
    assert refused.exit_code == 1
    assert told in refused.output
    assert "Traceback" not in refused.output
