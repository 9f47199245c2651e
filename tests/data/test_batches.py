"""Batches hold every pair once, within their budget, in an order that repeats and resumes."""

from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.batches import Batch, Batches, evaluation_batches, in_order, make_batch
from clearhead.data.shards import Shards, ShardWriter
from clearhead.errors import ConfigError, InputError

Pairs = list[tuple[list[int], list[int]]]


def shards_of(folder: Path, pairs: Pairs) -> Shards:
    with ShardWriter(folder, 100, 50) as writer:
        for source, target in pairs:
            writer.add(source, target)
    return Shards(folder)


def random_pairs(n_pairs: int, longest: int = 12) -> Pairs:
    random = np.random.default_rng(0)
    lengths = random.integers(1, longest + 1, (n_pairs, 2))
    return [
        (random.integers(4, 100, n_source).tolist(), random.integers(4, 100, n_target).tolist())
        for n_source, n_target in lengths
    ]


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    return shards_of(tmp_path_factory.mktemp("data") / "shards", random_pairs(500))


def read(batch: Batch) -> Pairs:
    """The pairs of a batch as they were, checked for all that was added."""
    found = []
    for source, target_in, target_out in zip(
        batch.source.tolist(), batch.target_in.tolist(), batch.target_out.tolist(), strict=True
    ):
        words, answer = source[: source.index(2)], target_out[: target_out.index(2)]
        assert not any(source[len(words) + 1 :] + target_out[len(answer) + 1 :])
        assert target_in == [1, *answer] + [0] * (len(target_out) - len(answer) - 1)
        found.append((words, answer))
    return found


def equal(one: Batch, other: Batch) -> bool:
    names = ("source", "target_in", "target_out", "rows")
    return all(torch.equal(getattr(one, name), getattr(other, name)) for name in names)


def test_shift_right() -> None:
    batch = make_batch([([7, 8], [9]), ([5], [6, 4])], [3, 1])
    assert batch.source.tolist() == [[7, 8, 2], [5, 2, 0]]
    assert batch.target_in.tolist() == [[1, 9, 0], [1, 6, 4]]
    assert batch.target_out.tolist() == [[9, 2, 0], [6, 4, 2]]
    assert batch.rows.tolist() == [3, 1]
    assert (batch.n_source_tokens, batch.n_target_tokens) == (5, 5)
    assert (batch.n_padding, batch.padding_share) == (2, 2 / 12)
    assert batch.source.dtype == torch.int64


sentences = st.lists(st.integers(4, 99), max_size=9)


@given(
    pairs=st.lists(st.tuples(sentences, sentences), min_size=1, max_size=40),
    n_tokens=st.integers(1, 60),
    seed=st.integers(0, 5),
    pool=st.integers(1, 50),
)
def test_every_pair_appears_once_within_the_budget(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, n_tokens: int, seed: int, pool: int
) -> None:
    shards = shards_of(tmp_path_factory.mktemp("data") / "shards", pairs)
    batches = Batches(shards, n_tokens, seed, pool)
    made = list(batches.epoch(1))
    assert len(made) == batches.n_batches(1)
    rows = [row for batch in made for row in batch.rows.tolist()]
    assert sorted(rows) == list(range(len(pairs)))
    assert [pair for batch in made for pair in read(batch)] == [pairs[row] for row in rows]
    for batch in made:
        places = max(batch.source.numel(), batch.target_out.numel())
        assert places <= n_tokens or len(batch.rows) == 1
    n_padding = sum(batch.n_padding for batch in made)
    n_places = sum(batch.source.numel() + batch.target_out.numel() for batch in made)
    assert batches.padding_share(1) == pytest.approx(n_padding / n_places)


def test_an_epoch_resumes_at_any_batch(shards: Shards) -> None:
    whole = list(Batches(shards, 64, seed=3).epoch(2))
    for start in (0, 1, 17, len(whole) - 1, len(whole)):
        rest = list(Batches(Shards(shards.folder), 64, seed=3).epoch(2, start))
        assert len(rest) == len(whole) - start
        assert all(map(equal, rest, whole[start:]))
    with pytest.raises(InputError, match=r"has \d+ batches"):
        next(Batches(shards, 64).epoch(2, len(whole) + 9))


def test_seed_and_epoch_alone_decide_the_order(shards: Shards) -> None:
    batches = Batches(shards, 64)

    def first_rows(batches: Batches, epoch: int) -> list[list[int]]:
        return [batch.rows.tolist() for batch in islice(batches.epoch(epoch), 5)]

    before = first_rows(batches, 0)
    assert first_rows(batches, 1) != before
    assert first_rows(batches, 0) == before
    assert first_rows(Batches(shards, 64, seed=1), 0) != before


def test_batches_of_another_epoch_hold_other_company(shards: Shards) -> None:
    batches = Batches(shards, 64)
    together = [
        {tuple(sorted(batch.rows.tolist())) for batch in batches.epoch(epoch)} for epoch in (0, 1)
    ]
    assert len(together[0] & together[1]) < len(together[0]) / 4


def test_two_epochs_can_be_read_in_turn(shards: Shards) -> None:
    batches = Batches(shards, 64)
    in_turn = list(zip(batches.epoch(0), batches.epoch(1), strict=False))
    alone = list(Batches(shards, 64).epoch(0))
    assert all(equal(one, other) for (one, _), other in zip(in_turn, alone, strict=False))


def test_pairs_of_like_length_leave_little_padding(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lengths = np.clip(random.normal(13, 4, (5000, 1)) + random.normal(0, 2, (5000, 2)), 3, 40)
    with ShardWriter(tmp_path / "shards", 100) as writer:
        for n_source, n_target in lengths.astype(int).tolist():
            writer.add([5] * n_source, [6] * n_target)
    assert Batches(Shards(tmp_path / "shards"), 1024).padding_share() < 0.1


def test_a_pair_beyond_the_budget_is_a_batch_of_its_own(tmp_path: Path) -> None:
    pairs = [([5] * 3, [5] * 3), ([5] * 90, [5]), ([5] * 3, [5] * 3)]
    made = list(Batches(shards_of(tmp_path / "shards", pairs), 16).epoch(0))
    assert sorted(sorted(batch.rows.tolist()) for batch in made) == [[0, 2], [1]]


def test_evaluation_goes_from_long_to_short_and_back_in_order() -> None:
    pairs = random_pairs(100)
    made = list(evaluation_batches(pairs, 64))
    assert max(max(batch.source.shape[1], batch.target_in.shape[1]) for batch in made) <= 64
    widths = [batch.source.shape[1] for batch in made]
    assert all(one >= other for one, other in pairwise(widths))
    assert in_order((batch, read(batch)) for batch in made) == pairs
    blind = list(evaluation_batches([(source, []) for source, _ in pairs], 64))
    assert in_order((b, b.rows.tolist()) for b in blind) == list(range(100))
    assert list(evaluation_batches([], 64)) == []


def test_what_cannot_be_is_refused(shards: Shards) -> None:
    for wrong in ({"n_tokens": 0}, {"n_tokens": 9, "seed": -1}, {"n_tokens": 9, "pool": 0}):
        with pytest.raises(ConfigError, match="at least"):
            Batches(shards, **wrong)
    with pytest.raises(InputError, match="epoch=-1"):
        Batches(shards, 9).n_batches(-1)
