"""Two runs beside each other."""

import pytest

from clearhead.errors import InputError
from clearhead.observe import compare, replace, scale, watch, zero
from clearhead.observe.forced import force
from tests.tasks.small_translator import random_translator

TRANSLATOR = random_translator()
POINT = "decoder.blocks.1.cross_attention.weights"
TEXT, TARGET = "The old dog", "Der alte Mann"
PAIR = force(TRANSLATOR.model, TRANSLATOR.tokenizer, TEXT, TARGET)


def test_changes_are_differences_of_two_runs() -> None:
    found = compare(PAIR, {POINT: zero(head=1)})
    assert found.before == pytest.approx(PAIR.log_probs().tolist())
    with TRANSLATOR.edit({POINT: zero(head=1)}):
        edited = PAIR.log_probs().tolist()
    assert found.after == pytest.approx(edited)
    assert found.changes == pytest.approx(
        [a - b for a, b in zip(edited, found.before, strict=True)]
    )
    assert found.total == pytest.approx(sum(edited) - sum(found.before))
    assert found.tokens == PAIR.target_tokens
    assert any(abs(change) > 1e-4 for change in found.changes)
    assert found.answers is None
    assert not found.is_other_answer


def test_the_original_value_changes_no_log_probability() -> None:
    with watch(TRANSLATOR.model, POINT) as seen:
        PAIR.log_probs()
    with pytest.raises(InputError, match="changed nothing"):
        compare(PAIR, {POINT: replace(seen.steps(POINT)[0].tensor[None])})


def test_a_translator_compares_its_answers() -> None:
    found = TRANSLATOR.compare(TEXT, {"output.logits": scale(-1.0)}, n_beams=1, max_length=6)
    assert found.answers is not None
    assert found.answers[0] == TRANSLATOR(TEXT, n_beams=1, max_length=6).text
    assert found.is_other_answer
    assert f"→ {found.answers[1]}" in str(found)
    assert "change" in found._repr_html_()
    same = TRANSLATOR.compare(TEXT, {POINT: scale(1.0001)}, target=TARGET, n_beams=1, max_length=6)
    assert not same.is_other_answer
    assert ", unchanged" in str(same)
    assert same.tokens == PAIR.target_tokens
    picture = same.picture()
    assert picture.data["changes"] == same.changes


def test_words_can_name_the_place() -> None:
    found = compare(PAIR, {POINT: zero(key="dog")})
    assert any(found.changes)
