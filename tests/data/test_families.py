"""Parts of texts, found fast and found by trying all."""

from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.families import N_WORDS, families


@given(st.lists(st.text(alphabet="ab ", max_size=14), max_size=12))
def test_the_longest_holder_is_found(texts: list[str]) -> None:
    rows = [text.split() for text in texts]

    def holds(whole: list[str], part: list[str]) -> bool:
        n = len(part)
        return n < len(whole) and any(whole[k : k + n] == part for k in range(len(whole) - n + 1))

    for number, found in enumerate(families(texts)):
        holders = [each for each in rows if holds(each, rows[number])]
        if len(rows[number]) < N_WORDS or not holders:
            assert found == number
        else:
            # What holds a holder holds its parts, too: the longest of all is nobody's part.
            assert holds(rows[found], rows[number])
            assert len(rows[found]) == max(map(len, holders))
            assert not any(holds(each, rows[found]) for each in rows)
