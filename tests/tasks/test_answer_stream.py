"""What is streamed is the same text as the whole answer, in whole letters."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.decoding import Request
from clearhead.errors import ConfigError, InputError
from clearhead.tasks import Translator
from clearhead.text.streaming import graphemes
from tests.tasks.small_translator import Echo, random_translator

TEXT = "The old man reads.  A small dog\n\n- sees the house!\n"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return random_translator(seed=1)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "settings",
    [
        {"n_beams": 1},
        {"n_beams": 3},
        {"temperature": 1.0, "seed": 3},
        {"n_beams": 1, "max_length": 5},
        {"n_beams": 1, "forbidden": ["e"]},
        {"n_beams": 3, "glossary": {"dog": "Hund"}},
    ],
)
@pytest.mark.parametrize("text", [TEXT, "A dog", "  ", "---\n--"])
def test_the_pieces_are_the_answer(
    translator: Translator, text: str, settings: dict[str, object]
) -> None:
    stream = translator.stream(text, **settings)
    pieces = list(stream)
    whole = translator(text, **settings)
    assert "".join(pieces) == stream.text == whole.text
    assert stream.is_finished == whole.is_finished
    assert stream.flags == whole.flags
    assert all(pieces)


def test_one_beam_is_the_default_and_comes_in_pieces(translator: Translator) -> None:
    pieces = list(translator.stream("The old man reads the red book."))
    assert "".join(pieces) == translator("The old man reads the red book.", n_beams=1).text
    assert len(pieces) > 5
    one_by_one = translator.stream("The old man reads the red book.")
    assert next(one_by_one) == pieces[0]
    assert one_by_one.text == pieces[0]


def test_a_stop_text_never_shows(translator: Translator) -> None:
    free = translator("The old man", n_beams=1).text
    for begin in range(1, len(free) - 4, 9):
        stop = [free[begin : begin + 4], "never"]
        if not stop[0].strip():
            continue
        pieces = list(translator.stream("The old man", stop=stop))
        assert "".join(pieces) == translator("The old man", n_beams=1, stop=stop).text


class Script(Echo):
    """Writes a text that is given, token by token."""

    def __init__(self, answer: str) -> None:
        super().__init__()
        self.answer = answer

    def _stream(self, request: Request) -> Iterator[int]:
        yield from self.tokenizer.encode(self.answer)


@given(st.text(st.sampled_from("ab \n\tकि्षै\u200d👩🏽"), max_size=12), st.sampled_from(["b", "a b"]))
def test_any_text_comes_whole_and_even(answer: str, stop: str) -> None:
    script = Script(answer)
    even = " ".join(script.tokenizer.decode(script.tokenizer.encode(answer)).split())
    pieces = list(script.stream("The dog"))
    assert "".join(pieces) == even
    begins = [sum(map(len, pieces[:n])) for n in range(len(pieces))]
    letters = graphemes(even)
    ends = {sum(map(len, letters[:n])) for n in range(len(letters) + 1)}
    assert ends.issuperset(begins)
    cut = "".join(script.stream("The dog", stop=stop))
    assert cut == (even[: even.find(stop)].rstrip() if stop in even else even)


def test_sentences_without_a_space_between_them_get_one() -> None:
    script = Script("A dog.")
    text = "你好。再见。\n再见。"
    assert "".join(script.stream(text)) == "A dog. A dog.\nA dog."


def test_what_a_stream_cannot_give_is_refused_at_once(translator: Translator) -> None:
    with pytest.raises(InputError, match="leave out n_best and alignment"):
        translator.stream("A dog", n_beams=3, n_best=2)
    with pytest.raises(InputError, match="leave out n_best and alignment"):
        translator.stream("A dog", alignment=True)
    with pytest.raises(ConfigError, match="n_beams=0"):
        translator.stream("A dog", n_beams=0)
