"""What is seen is what the model computes, in every way of running it."""

import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from clearhead.errors import InputError
from clearhead.models import Llama, LlamaConfig
from clearhead.observe import Seen, Steps, Value, watch, zero
from clearhead.tasks import Translator
from tests.tasks.small_translator import random_translator

CROSS = "decoder.blocks.{}.cross_attention.weights"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return random_translator()


def test_values_have_axes_and_tokens(translator: Translator) -> None:
    with translator.watch("decoder.*.cross_attention.weights", "encoder.blocks.0.*") as seen:
        answer = translator("The old dog.", n_beams=1, max_length=4, min_length=4)
    source = [*translator.tokenizer.tokens(translator.tokenizer.encode("The old dog.")), "<eos>"]
    weights = seen["encoder.blocks.0.self_attention.weights"]
    assert isinstance(weights, Value)
    assert weights.axes == ("head", "query", "key")
    assert weights.labels("query") == weights.labels("key") == source
    assert torch.allclose(weights.tensor.sum(-1), torch.ones(weights.shape[:2]), atol=1e-6)
    steps = seen[CROSS.format(1)]
    assert isinstance(steps, Steps)
    assert [step.shape for step in steps] == [(2, 1, len(source))] * 4
    assert [step.labels("query") for step in steps] == [
        ["<bos>"],
        *([t] for t in answer.tokens[:3]),
    ]
    assert all(step.labels("key") == source for step in steps)


def test_steps_equal_one_pass_over_all_positions(translator: Translator) -> None:
    """Each step holds only its new row; put together, they are the teacher-forced matrix."""
    model, tokenizer = translator.model, translator.tokenizer
    name = "decoder.blocks.1.self_attention.weights"
    with translator.watch(name) as seen:
        answer = translator("The old dog.", n_beams=1, max_length=6, min_length=6)
    source = [*tokenizer.encode("The old dog."), tokenizer.eos]
    written = [tokenizer.bos, *_ids(translator, answer.tokens)[:-1]]
    with watch(model, name) as forced, torch.no_grad():
        model(torch.tensor([source]), torch.tensor([written]))
    whole = forced[name]
    assert isinstance(whole, Value)
    for t, step in enumerate(seen.steps(name)):
        assert step.shape == (2, 1, t + 1)
        assert torch.allclose(step.tensor[:, 0], whole.tensor[:, t, : t + 1], atol=1e-5)
        assert (whole.tensor[:, t, t + 1 :] == 0).all()


def _ids(translator: Translator, tokens: list[str]) -> list[int]:
    all_ = translator.tokenizer.tokens(range(translator.tokenizer.n_tokens))
    return [all_.index(token) for token in tokens]


@pytest.mark.parametrize("settings", [{}, {"n_beams": 1}, {"temperature": 0.8, "seed": 1}])
def test_watching_changes_no_token(translator: Translator, settings: dict[str, object]) -> None:
    texts = ["The old dog.", "A house."]
    expected = [answer.tokens for answer in translator(texts, **settings)]
    with translator.watch("*") as seen:
        found = [answer.tokens for answer in translator(texts, **settings)]
    assert found == expected
    assert set(seen) == set(translator.model.points())


def test_rows_of_a_beam_keep_their_own_tokens(translator: Translator) -> None:
    """At each step, a row's keys are the tokens that it has read, whatever rows it came from."""
    name = "decoder.blocks.0.self_attention.weights"
    with translator.watch(name) as seen:
        translator("The old dog.", n_beams=3, max_length=5)
    for t, step in enumerate(seen.steps(name)):
        rows = step.tokens["key"]
        assert all(len(row) == t + 1 and row[0] == "<bos>" for row in rows)
        assert [row[-1:] for row in rows] == list(step.tokens["query"])
        if t == 2:
            assert len({tuple(row) for row in rows}) == len(rows)  # beams differ


def test_words_find_their_pieces(translator: Translator) -> None:
    with translator.watch("encoder.blocks.0.self_attention.*") as seen:
        translator("The telescope sees the dog.", n_beams=1)
    weights = seen["encoder.blocks.0.self_attention.weights"]
    assert isinstance(weights, Value)
    tokens = weights.labels("key")
    last = next(i for i, token in enumerate(tokens) if token == "▁sees")
    pieces = list(range(1, last))
    assert len(pieces) > 1  # the word is not in the vocabulary
    expected = float(weights.tensor[1, last, pieces].sum())
    assert weights.at(head=1, query="sees", key="telescope") == pytest.approx(expected)
    q = seen["encoder.blocks.0.self_attention.q"]
    assert isinstance(q, Value)
    vector = q.at(head=0, query="telescope")
    assert vector.axes == ("head width",)
    assert np.allclose(vector.to_numpy(), q.to_numpy()[0, pieces].mean(0))
    with pytest.raises(InputError, match=r"no key 'telescopes': did you mean telescope\?"):
        weights.at(key="telescopes")
    with pytest.raises(InputError, match="has no axis 'layer'"):
        weights.at(layer=0)
    with pytest.raises(InputError, match=r"head=2 is outside .* it has 2"):
        weights.at(head=2)


def test_a_word_that_stands_twice_needs_a_number(translator: Translator) -> None:
    with translator.watch("encoder.blocks.0.self_attention.weights") as seen:
        translator("the dog sees the dog", n_beams=1)
    weights = seen["encoder.blocks.0.self_attention.weights"]
    with pytest.raises(InputError, match="the key 'dog' stands at 1, 4: give one of these numbers"):
        weights.at(key="dog")  # type: ignore[union-attr]


def test_unknown_points_and_points_that_stay_silent_are_errors(translator: Translator) -> None:
    with (
        pytest.raises(InputError, match=r"no point 'encoder.blocks.0.self_attention.weight'.*did"),
        translator.watch("encoder.blocks.0.self_attention.weight"),
    ):
        pass
    with (
        pytest.raises(InputError, match=r"decoder\.input was watched, but nothing passed it"),
        translator.watch("decoder.input", "encoder.input"),
        torch.no_grad(),
    ):
        translator.model.encode(torch.tensor([[5, 6]]))
    with pytest.raises(InputError, match="say what to watch"), translator.watch():
        pass


def test_too_much_is_refused_before_it_is_computed(translator: Translator) -> None:
    watched = watch(translator.model, "encoder.*", limit=1000)
    seen = watched.__enter__()
    with pytest.raises(InputError, match=r"watching would take .* and the limit is 1.0 kB"):
        translator("The old dog.")
    assert len(seen) == 0
    with pytest.raises(InputError, match="nothing passed it"):
        watched.__exit__(None, None, None)


def test_the_estimate_is_what_is_kept(translator: Translator) -> None:
    with translator.watch("*.weights", "*.hidden", "*.q", "*.output") as seen:
        translator(["The old dog.", "A house near the river."], n_beams=1, max_length=4)
    with translator.watch(
        "*.weights", "*.hidden", "*.q", "*.output", limit=int(1.01 * seen.n_bytes)
    ):
        translator(["The old dog.", "A house near the river."], n_beams=1, max_length=4)


def test_two_threads_see_only_their_own_run(translator: Translator) -> None:
    name, found = CROSS.format(0), {}
    barrier = threading.Barrier(2)

    def run(text: str) -> None:
        with translator.watch(name) as seen:
            barrier.wait()
            for _ in range(3):
                translator(text, n_beams=1, max_length=3, min_length=3)
            barrier.wait()
        found[text] = seen.steps(name)

    texts = ["The old dog.", "A house near the river."]
    threads = [threading.Thread(target=run, args=[text]) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in texts:
        source = [*translator.tokenizer.tokens(translator.tokenizer.encode(text)), "<eos>"]
        assert len(found[text]) == 9
        assert all(step.labels("key") == source for step in found[text])


def test_what_was_seen_can_be_kept_in_a_file(translator: Translator, tmp_path: Path) -> None:
    with translator.watch(CROSS.format("*"), "encoder.input") as seen:
        translator(["The old dog.", "एक कुत्ता"], n_beams=2, max_length=3)
    seen.save(tmp_path / "seen.safetensors")
    again = Seen.load(tmp_path / "seen.safetensors")
    assert set(again) == set(seen)
    for name in seen:
        for one, other in zip(seen.steps(name), again.steps(name), strict=True):
            assert torch.equal(one.tensor, other.tensor)
            assert (one.axes, one.tokens) == (other.axes, other.tokens)
    (tmp_path / "other").write_text("nothing")
    with pytest.raises(InputError, match="holds nothing that was seen"):
        Seen.load(tmp_path / "other")


def test_a_decoder_by_itself_can_be_watched() -> None:
    torch.manual_seed(0)
    model = Llama(LlamaConfig(n_tokens=30, n_layers=1, d_model=16, d_ff=16, n_heads=2)).eval()
    name = "decoder.blocks.0.self_attention.weights"
    with watch(model, name) as seen:
        state = model.start(torch.tensor([[5, 6, 7]]))
        for token in (8, 9):
            _, state = model.step(torch.tensor([[token]]), state)
    assert [step.labels("query") for step in seen.steps(name)] == [["5", "6", "7"], ["8"], ["9"]]
    assert seen.steps(name)[2].labels("key") == ["5", "6", "7", "8", "9"]


def test_a_search_by_rules_can_be_watched(translator: Translator) -> None:
    with translator.watch(CROSS.format(0)) as seen:
        translator("A dog.", no_repeat=2, max_length=4)
    assert len(seen.steps(CROSS.format(0))) >= 1


def test_what_was_seen_shows_itself(translator: Translator) -> None:
    with translator.watch("encoder.blocks.0.*", "decoder.cache.*") as seen:
        translator("The old dog.", n_beams=1, max_length=3, min_length=3)
    weights = seen["encoder.blocks.0.self_attention.weights"]
    assert isinstance(weights, Value)
    assert "head 1" in weights._repr_html_()
    one = weights.at(head=0)
    assert f"{float(one.tensor[0, 0]):.2f}" in one._repr_html_()
    assert "old" in one.picture().text
    hidden = seen["encoder.blocks.0.feed_forward.hidden"]
    assert isinstance(hidden, Value)
    assert hidden.picture().data["largest"] == float(hidden.tensor.max())
    assert "decoder.cache.lengths" in seen._repr_html_()
    assert "encoder.blocks.0.self_attention.weights" in seen.picture().text


def test_the_cache_grows_by_what_its_config_says(translator: Translator) -> None:
    with translator.watch("decoder.cache.lengths", "decoder.cache.bytes") as seen:
        translator("The old dog.", n_beams=1, max_length=4, min_length=4)
    lengths = [value.tensor.tolist() for value in seen.steps("decoder.cache.lengths")]
    assert lengths == [[1, 1], [2, 2], [3, 3], [4, 4]]
    n_bytes = [value.tensor.tolist() for value in seen.steps("decoder.cache.bytes")]
    assert n_bytes == [[2 * 16 * 4 * n] * 2 for n in (1, 2, 3, 4)]
    with translator.watch("decoder.*") as all_:
        translator("The old dog.", n_beams=1, max_length=2, min_length=2)
    assert "decoder.cache.lengths" in all_


def test_a_gauge_that_never_fired_is_an_error_only_by_its_name(translator: Translator) -> None:
    model = translator.model
    tokens = torch.tensor([[5, 6, 7]])
    with watch(model, "decoder.*") as seen, torch.no_grad():
        model(tokens, tokens)
    assert "decoder.cache.lengths" not in seen
    told = r"decoder\.cache\.lengths was watched, but nothing passed"
    with (
        pytest.raises(InputError, match=told),
        watch(model, "decoder.cache.lengths"),
        torch.no_grad(),
    ):
        model(tokens, tokens)
    with (
        pytest.raises(InputError, match="can be watched, and not edited"),
        translator.edit({"decoder.cache.lengths": zero()}),
    ):
        pass
