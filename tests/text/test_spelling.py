"""Spelling: words share the parts that two of them have, whatever their order."""

from hypothesis import given
from hypothesis import strategies as st

from clearhead.text.spelling import shared_parts

WORDS = st.lists(st.text("aberm!7 é", min_size=1, max_size=8), max_size=12, unique=True)


@given(WORDS)
def test_words_have_a_part_in_common_just_if_both_are_spelled_with_it(words: list[str]) -> None:
    parts, n_parts = shared_parts(words)
    spelled = [f"<{word.strip()}>" if any(map(str.isalpha, word)) else "" for word in words]
    sets = [
        {word[i : i + n] for n in (3, 4, 5) for i in range(len(word) - n + 1)} for word in spelled
    ]
    for a, some in zip(sets, parts, strict=True):
        assert len(set(some)) == len(some)
        for b, others in zip(sets, parts, strict=True):
            if a is not b:
                assert len(a & b) == len(set(some) & set(others))
    assert {number for some in parts for number in some} == set(range(n_parts))


def test_signs_and_numbers_have_no_parts() -> None:
    assert shared_parts(["...", "....", "1234", "12345"]) == ([[], [], [], []], 0)
