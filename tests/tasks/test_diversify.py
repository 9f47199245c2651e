"""First models translate the pairs, and the last one learns from all of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from clearhead.data import PairFile, open_pairs
from clearhead.data.batches import Batches
from clearhead.data.phrasebook import phrasebook
from clearhead.data.shards import Shards, Swapped
from clearhead.errors import ConfigError
from clearhead.tasks.diversify import given_last, nearest_answer
from clearhead.tasks.plan import Facts, make_plan
from clearhead.tasks.summarise.plan import make_summary_plan
from clearhead.tasks.train import train
from clearhead.tasks.translate import Translator
from clearhead.tasks.translation import Translation
from clearhead.training import Interrupted, TrainingConfig
from clearhead.training.checkpoint import read_checkpoint

pytestmark = pytest.mark.usefixtures("unchecked")

FEW_STEPS: dict[str, Any] = {
    "n_batch_tokens": 512,
    "n_first_steps": 4,
    "n_each_way": 2,
    "training.n_steps": 6,
    "training.validate_every": 3,
    "training.precision": "float32",
    "model.n_encoder_layers": 1,
    "model.n_decoder_layers": 1,
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> PairFile:
    path = tmp_path_factory.mktemp("data") / "pairs.tsv"
    rows = [("en", "hi"), *phrasebook()[:400]]
    path.write_text("".join(f"{english}\t{hindi}\n" for english, hindi in rows))
    return open_pairs([path])


@pytest.fixture(params=[1, 2], ids=["in turn", "beside each other"])
def n_threads(request: pytest.FixtureRequest) -> Iterator[None]:
    usual = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(usual)


@pytest.fixture(scope="module")
def told() -> list[tuple[str, dict[str, Any]]]:
    return []


@pytest.fixture(scope="module")
def folder(
    pairs: PairFile,
    told: list[tuple[str, dict[str, Any]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    to = tmp_path_factory.mktemp("models") / "en-hi"
    train(pairs, to, settings=FEW_STEPS, tell=lambda kind, facts: told.append((kind, facts)))
    return to


def test_what_is_told(folder: Path, told: list[tuple[str, dict[str, Any]]]) -> None:
    kinds = [kind for kind, _ in told if kind not in ("step", "validation")]
    kinds = [kind for kind in kinds if kind != "resume"]  # of what was done beside something else
    assert kinds == [
        "report", "tokenizer", "probe", "plan", *["first_model"] * 4, "translating",
        "last_model", "end", "scores",
    ]  # fmt: skip
    begun = [facts for kind, facts in told if kind.endswith("_model")]
    assert [each.get("languages") for each in begun] == ["en → hi", "hi → en"] * 2 + [None]
    n_after = [(each["n_steps"], each["n_after"]) for each in begun]
    is_beside = any(kind == "resume" for kind, _ in told)
    # Beside each other, each step takes twice as long as one of the last model's six.
    in_turn = [4 + 3, 4 + 3, 3, 3] if is_beside else [18, 14, 10, 6]
    assert n_after == [*((4, n) for n in in_turn), (6, 0)]
    numbers = [(each["number"], each["n_models"]) for each in begun[:4]]
    assert numbers == [(1, 4), (2, 4), (3, 4), (4, 4)]
    n_told = sum(kind == "step" for kind, _ in told)
    assert n_told == (2 if is_beside else 4) * 4 + 6  # a copy says nothing


def test_each_new_pair_has_one_side_that_was_given(folder: Path) -> None:
    given, more = Shards(folder / "training/tokens"), Shards(folder / "training/more-tokens")
    n_given = len(given)
    known = [tuple(side.tolist() for side in given[k]) for k in range(n_given)]
    found = [tuple(side.tolist() for side in more[k]) for k in range(len(more))]
    assert found[:n_given] == known
    assert n_given < len(found) <= 5 * n_given
    sources, targets = ([pair[side] for pair in known] for side in (0, 1))
    for source, target in found[n_given:]:
        assert (source in sources) != (target in targets)


def test_the_card_counts_the_time_of_all_models(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    before = json.loads((folder / "training/more-tokens.json").read_text())["seconds"]
    assert card["training"]["seconds"] > before > 0
    assert (card["plan"]["n_first_steps"], card["plan"]["n_each_way"]) == (4, 2)
    assert card["languages"] == ["en", "hi"]
    lengths = card["data"]["lengths"]
    assert lengths["longest"] >= max(Shards(folder / "training/tokens").lengths[:, 0])


@pytest.mark.parametrize(
    ("kind", "number"), [("step", 2), ("step", 6), ("translating", 1), ("step", 12)]
)
def test_a_run_that_is_stopped_anywhere_ends_with_the_same_model(
    pairs: PairFile, folder: Path, tmp_path: Path, kind: str, number: int
) -> None:
    n_seen = 0

    def stop(told: str, facts: dict[str, Any]) -> None:
        nonlocal n_seen
        n_seen += told == kind
        if n_seen == number:
            raise KeyboardInterrupt if kind == "translating" else Interrupted("enough for today")

    with pytest.raises(Interrupted):
        train(pairs, tmp_path, settings=FEW_STEPS, tell=stop)
    train(pairs, tmp_path, settings=FEW_STEPS)
    one, other = (Translator.load(place).model.state_dict() for place in (folder, tmp_path))
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


@pytest.mark.usefixtures("n_threads")
def test_first_models_learn_the_same_in_turn_and_beside_each_other(
    pairs: PairFile, folder: Path, tmp_path: Path
) -> None:
    def stop(told: str, facts: dict[str, Any]) -> None:
        if told == "translating":
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="they are saved"):
        train(pairs, tmp_path, settings=FEW_STEPS, tell=stop)
    for number in (1, 2, 3, 4):
        one, other = (
            read_checkpoint(place / f"training/first-{number}/best.safetensors")[0]
            for place in (folder, tmp_path)
        )
        for name, value in one.items():
            assert torch.equal(value, other[name]), name


def test_pairs_the_other_way_round(folder: Path) -> None:
    shards = Shards(folder / "training/tokens")
    swapped = Swapped(shards)
    assert len(swapped) == len(shards)
    assert np.array_equal(swapped.lengths[:, 0], shards.lengths[:, 1])
    for one, other in zip(swapped[3], reversed(shards[3]), strict=True):
        assert np.array_equal(one, other)


def test_the_nearest_of_several_answers() -> None:
    def answer(text: str, *others: str) -> Translation:
        return Translation(text, 0.0, [], True, others=[answer(other) for other in others])

    several = answer("a dog", "a dog runs over grass", "a brown dog runs on the grass", "grass")
    assert nearest_answer(several, "a dog runs on the grass") == "a brown dog runs on the grass"
    assert nearest_answer(several, "nothing in common") == "a dog"
    assert nearest_answer(answer("", "x"), "") == ""


def test_the_last_steps_have_only_the_given_pairs(folder: Path) -> None:
    given = Batches(Shards(folder / "training/tokens"), 512)
    more = Shards(folder / "training/more-tokens")
    n_all, n_given = Batches(more, 512).n_batches(0), given.n_batches(0)
    batches = given_last(more, given, TrainingConfig(n_steps=8 * n_all))
    assert [batches.n_batches(epoch) == n_given for epoch in range(8)] == [False] * 6 + [True] * 2
    seen = [batch.rows.tolist() for batch in batches.epoch(7)]
    assert seen == [batch.rows.tolist() for batch in given.epoch(1)]
    assert [batch.rows.tolist() for batch in batches.epoch(7, start=2)] == seen[2:]
    assert batches.padding_share(6) == given.padding_share(0)
    twice = TrainingConfig(n_steps=4 * n_all, n_accumulated=2)
    assert given_last(more, given, twice).n_epochs == 6


def test_few_pairs_have_first_models_and_many_have_none() -> None:
    few = Facts(29_000, 3_900_000, n_tokens=8000, n_batches=110)
    plan, reasons = make_plan(few)
    n_before, n_last = plan.n_steps_before, plan.training.n_steps
    assert (plan.n_each_way, plan.n_first_models) == (2, 4)
    assert n_before == 4 * plan.n_first_steps == pytest.approx(0.52 * (n_before + n_last), abs=4)
    assert any("4 first models translate them, 2 each way" in reason for reason in reasons)
    one = make_plan(few, settings={"n_each_way": 1})[0]
    assert one.n_steps_before == 2 * one.n_first_steps
    assert one.n_steps_before == pytest.approx(2 / 3 * one.training.n_steps, abs=2)
    three = make_plan(few, settings={"n_each_way": "3"})[0]
    assert three.n_first_models == 6
    assert three.n_first_steps > 500
    assert make_plan(few, settings={"training.n_steps": 3000})[0].n_each_way == 1
    assert make_plan(few, settings={"training.n_steps": 300})[0].n_first_steps == 0
    assert make_plan(few, settings={"n_copies": 2, "subword_dropout": 0.1})[0].n_first_steps == 0
    many = Facts(100_000, 12_000_000, n_tokens=16_000, n_batches=400)
    assert make_plan(many)[0].n_first_steps == 0


def test_what_cannot_be_is_refused() -> None:
    few = Facts(29_000, 3_900_000)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"n_first_steps": -1}, "n_first_steps=-1 must be at least 0"),
        ({"n_first_steps": "some"}, "n_first_steps"),
        ({"n_each_way": 0}, "n_each_way=0 must be at least 1: set n_first_steps=0"),
        ({"n_each_way": "some"}, "n_each_way"),
        (
            {"n_first_steps": 9, "n_copies": 2, "subword_dropout": 0.1},
            "n_first_steps=9 and n_copies=2 do not go together",
        ),
    ]
    for settings, words in refused:
        with pytest.raises(ConfigError, match=words):
            make_plan(few, settings=settings)
    with pytest.raises(ConfigError, match="n_first_steps=9 is for translations"):
        make_summary_plan(few, settings={"n_first_steps": 9})
