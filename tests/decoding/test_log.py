"""The log of a search is the search: it cannot disagree with the answer."""

import pytest

from clearhead.decoding import DecodingConfig, Hypothesis, Request, SearchLog, generate
from tests.decoding.scripted import BOS, EOS, PAD, random_model

OPTIONS: list[dict[str, object]] = [
    {"n_beams": 1},
    {"n_beams": 4, "n_best": 3},
    {"n_beams": 3, "length_power": 0.0, "min_length": 3},
    {"n_beams": 4, "n_groups": 2, "n_best": 2},
    {"n_beams": 3, "no_repeat": 2, "repetition_penalty": 1.3},
]


def decode(options: dict[str, object], seed: int) -> tuple[list[Hypothesis], Request]:
    config = DecodingConfig(**options)  # type: ignore[arg-type]
    request = Request([5], 7, config, log=SearchLog())
    (found,) = generate(random_model(9, seed), [request], bos=BOS, eos=EOS, pad=PAD)
    return found, request


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_best_leaves_are_the_answers(options: dict[str, object], seed: int) -> None:
    found, request = decode(options, seed)
    log = request.log
    assert log is not None
    assert len(log.best) == len(found)
    for leaf, answer in zip(log.best, found, strict=True):
        path = log.path(leaf)
        assert [node.token for node in path if node.token != EOS] == answer.tokens
        assert [node.log_prob for node in path] == answer.log_probs
        assert path[-1].score == pytest.approx(answer.score)
        assert path[-1].fate == "finished"
        assert all(node.fate == "kept" for node in path[:-1])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_logging_changes_no_answer(options: dict[str, object], seed: int) -> None:
    found, request = decode(options, seed)
    plain = Request([5], 7, request.config)
    assert generate(random_model(9, seed), [plain], bos=BOS, eos=EOS, pad=PAD) == [found]


@pytest.mark.parametrize("seed", range(5))
def test_every_candidate_has_one_fate(seed: int) -> None:
    _, request = decode({"n_beams": 4, "n_best": 2}, seed)
    log = request.log
    assert log is not None
    assert [node.id for node in log.nodes] == list(range(len(log.nodes)))
    n_live = 1
    for step in range(log.n_steps):
        nodes = [node for node in log.nodes if node.step == step]
        counts = log.counts(step)
        assert sum(counts.values()) == len(nodes) == n_live * 8  # twice as many as beams, each
        assert [node.rank for node in nodes] == list(range(len(nodes)))
        assert [n.total for n in nodes] == sorted((n.total for n in nodes), reverse=True)
        assert counts["kept"] + counts["dropped"] <= 4
        for node in nodes:
            if node.parent is not None:
                parent = log.nodes[node.parent]
                assert (parent.step, parent.fate) == (step - 1, "kept")
                assert node.total == pytest.approx(parent.total + node.log_prob)
            if node.fate == "pruned":
                assert node.by is not None
                assert log.nodes[node.by].fate != "pruned"
                assert log.nodes[node.by].step == step
            if node.fate == "dropped" and node.by is not None:
                longest = request.config.normalise(node.total, request.max_length + 1)
                assert longest <= max(n.score for n in log.nodes if n.fate == "finished")
        n_live = counts["kept"]
