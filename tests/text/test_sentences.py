"""A text is cut where its sentences end, in many languages, and nothing of it gets lost."""

import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clearhead.errors import InputError
from clearhead.text.sentences import NEVER_END, Piece, join, split
from clearhead.text.streaming import graphemes


def sentences(text: str, language: str | None = None) -> list[str]:
    return [piece.text for piece in split(text, language) if piece.is_sentence]


# A sentence ends at |, with or without a space after it.
EXAMPLES = {
    "en": [
        "Two dogs run. | They bark! | Why? | Nobody knows…",
        "Mr. Smith met Dr. Jones and Prof. Lee, e.g. in St. Louis. | They left.",
        "J. R. R. Tolkien wrote it. | George W. Bush did not. | A. A. Milne?",
        "He lives in the U.S. Army base. | She is from the U.S. | He left at 5 p.m. | The end.",
        "Apples, pears, etc. are fruit. | We sell apples, pears, etc. | Come in.",
        "It costs 3.14 or 1,000.50 for version 1.2.3 of it. | Fine.",
        "See https://a.org/b?c=d.e and www.b.org. | Or write to a.b@c.org. | Thanks.",
        "Wait… what? | Well... fine, if you like... | Good.",
        "This is No. 5 of Vol. II, on pp. 12. | He said no. | Then he went.",
        '"Why?" he asked. | "Go!" | She left. | (It was late.) | Then “No.” | The end.',
        "One . . . | Two.",
        "**Bold.** | *Soft.* | Plain.",
        "It was in 2016. | Then came 2017.",
        "The Apple Inc. Store opened on Jan. 5. | It is big.",
        "Vitamin C. | It helps. | Is this Plan B? | Yes.",
        "She said “yes!” and left. | Oh no?! | Really!!! | Yes.",
    ],
    "de": [
        "Am 3. Oktober ging er, z. B. mit Hr. Müller bzw. Frau Dr. Meier. | Er kam am 5. Mai.",
        "Das war im 19. Jahrhundert. | „Gut.“ | »Ja.« | Er ging, d.h. er lief. | Es war 2016.",
        "Siehe Nr. 5, Abs. 2 und S. 12. | Das Ufo usw. ist weg.",
    ],
    "fr": [
        "« Bonjour ! » dit-il. | « Ça va ? » | Oui. | M. Dupont et Mme Curie arrivent.",
        "Vers 50 av. J.-C. environ. | Voir p. 5, chap. 3. | Fin.",
    ],
    "es": [
        "¿Qué tal? | ¡Hola! | El Sr. García y la Sra. López llegaron. | Vive en EE.UU. desde 2010."
    ],
    "it": ["Il sig. Rossi e il dott. Bianchi. | Vedi pag. 5. | Fine."],
    "pt": ["O Sr. Silva mora na Av. Paulista. | Veja a pág. 5. | Fim."],
    "hi": [
        "डॉ. राम आए। | वह क्या है? | हाँ! | श्री. गुप्ता और के. एल. राहुल खेले।",
        "क्र. ५ देखो। | मूल्य ३.१४ है। | वह गया. | फिर आया. | ठीक है.",
        "राम ने कहा॥१॥|सीता ने सुना॥२॥",
        "वह आया।|वह गया।",
    ],
    "ur": ["یہ کیا ہے؟ | وہ گیا۔ | میں آیا۔"],
    "ar": ["هل أنت بخير؟ | د. أحمد قال ذلك. | ذهب."],
    "zh": [
        "你好。|我走了！|真的吗？|是的……我不知道。",
        "“你好。”他说。|“再见！”|“好。”我走了!|他来了。|3.14是数。",
        "价格是３．１４元。|见https://a.org/b。|谢谢。",
    ],
    "ja": ["「はい。」と言った。|そうですか？|（本当。）|GNUは自由です。"],
    "ko": ["안녕하세요. | 네. | 알겠습니다."],
    "ru": ["А. С. Пушкин родился в Москве. | Он поэт."],
    "am": ["ሰላም። | ደህና ነህ።"],
    "km": ["សួស្តី។|ល្អ។"],
    "my": ["မင်္ဂလာပါ။ | ကောင်းပါတယ်။"],
    "bo": ["བཀྲ་ཤིས། །|བདེ་ལེགས།"],
    "hy": ["Բարեւ։ | Ինչպես ես։"],
}
CASES = [(language, text) for language, texts in EXAMPLES.items() for text in texts]


@pytest.mark.parametrize(("language", "marked"), CASES)
def test_sentences_of_many_languages(language: str, marked: str) -> None:
    text = marked.replace(" | ", " ").replace("|", "")
    assert sentences(text, language) == [part.strip() for part in marked.split("|")]
    assert sentences(text, f"{language.upper()}-XX") == sentences(text, language)


@pytest.mark.parametrize("language", ["en", "fr", "hi", "ur", "zh", "ja", "ru"])
def test_the_language_need_not_be_known(language: str) -> None:
    for marked in EXAMPLES[language]:
        text = marked.replace(" | ", " ").replace("|", "")
        assert sentences(text) == sentences(text, language)


def test_a_german_date_needs_no_language() -> None:
    assert sentences("Am 3. Oktober kam er. Er blieb.") == ["Am 3. Oktober kam er.", "Er blieb."]
    assert sentences("I have 3. Then I had 5.") == ["I have 3.", "Then I had 5."]


@pytest.mark.parametrize("language", [*NEVER_END, "sv"])
def test_abbreviations_of_a_language_end_nothing(language: str) -> None:
    lists = NEVER_END.values() if language in ("", "sv") else (NEVER_END[""], NEVER_END[language])
    for word in " ".join(lists).split():
        text = f"Xyz {word.capitalize()}. Xyz xyz. Xyz."
        assert len(sentences(text, language or None)) == 2, text


def test_lines_bullets_and_white_space_are_kept() -> None:
    text = (
        "# Title\n\n  - One.  Two.\r\n\t* Three\u2028 • Four\n1. Five. Six.\n(a) Seven\n\n"
        "-----\n👍 \n…\n\x0b Eight \x85"
    )
    pieces = split(text)
    assert "".join(piece.text for piece in pieces) == text
    expected = "Title|One.|Two.|Three|Four|Five.|Six.|Seven|Eight"
    assert [piece.text for piece in pieces if piece.is_sentence] == expected.split("|")
    assert pieces[0] == Piece("# ", False)
    assert Piece("\n\n-----\n👍 \n…\n\x0b ", False) in pieces


def test_in_german_a_number_may_begin_a_line() -> None:
    assert sentences("3. Oktober: frei", "de") == ["3. Oktober: frei"]
    assert sentences("3. October", "en") == ["October"]


def test_empty_texts() -> None:
    assert split("") == []
    assert split(" \n ") == [Piece(" \n ", False)]
    assert split("?!") == [Piece("?!", False)]


def test_a_long_sentence_is_cut_at_the_best_place() -> None:
    assert sentences_of_30("Eins zwei drei; vier, fünf sechs sieben") == [
        "Eins zwei drei;",
        "vier, fünf sechs sieben",
    ]
    assert sentences_of_30("Eins zwei drei, vier fünf sechs sieben") == [
        "Eins zwei drei,",
        "vier fünf sechs sieben",
    ]
    assert sentences_of_30("Eins zwei drei 1,000 – vier fünf sechs") == [
        "Eins zwei drei 1,000 –",
        "vier fünf sechs",
    ]
    assert sentences_of_30("eins zwei drei vier fünf sechs sieben") == [
        "eins zwei drei vier fünf sechs",
        "sieben",
    ]
    assert sentences_of_30("one two. three four? five six seven") == [
        "one two. three four?",
        "five six seven",
    ]
    assert sentences_of_30("我们今天去公园，然后回家吃饭，最后看电影再睡觉" * 2)[0].endswith("，")


def sentences_of_30(text: str) -> list[str]:
    pieces = split(text, max_length=30)
    assert "".join(piece.text for piece in pieces) == text
    return [piece.text for piece in pieces if piece.is_sentence]


@pytest.mark.parametrize("unit", ["漢", "x", "क्षि", "👍🏽", "🇮🇳", "e\u0301"])
def test_without_any_space_no_grapheme_is_cut(unit: str) -> None:
    pieces = split(unit * 300, max_length=50)
    assert "".join(piece.text for piece in pieces) == unit * 300
    assert all(set(graphemes(piece.text)) == {unit} for piece in pieces)


def test_a_grapheme_that_is_too_long_is_cut_all_the_same() -> None:
    pieces = split("a" + "\u0301" * 30, max_length=10)
    assert pieces == [Piece("a" + "\u0301" * 9, True), Piece("\u0301" * 21, False)]


@settings(max_examples=150)
@given(
    text=st.text(max_size=60)
    | st.text(st.sampled_from('aB1 .!?…\n\t"()»«।।。，,;–„“”\u0301\u200dक्ष漢👍-#*'), max_size=60),
    language=st.sampled_from([None, "en", "de", "hi", "ja", "xx"]),
    max_length=st.sampled_from([1, 3, 10, 400]),
)
@example(text="a" * 10 + "\u0301" * 30, language=None, max_length=3)
@example(text="\ud800. \udc00", language=None, max_length=10)
def test_nothing_gets_lost(text: str, language: str | None, max_length: int) -> None:
    pieces = split(text, language, max_length)
    assert "".join(piece.text for piece in pieces) == text
    for piece in pieces:
        assert piece.text
        if piece.is_sentence:
            assert piece.text == piece.text.strip()
            assert len(piece.text.splitlines()) == 1
            assert len(piece.text) <= max_length
            assert any(map(str.isalnum, piece.text))
    kinds = [piece.is_sentence for piece in pieces]
    assert (False, False) not in pairwise(kinds)


@given(text=st.text(st.sampled_from('aB1 .!?\n\t"()क;–-#*'), max_size=60))
def test_joined_with_themselves_sentences_are_the_text(text: str) -> None:
    pieces = split(text)
    assert join(pieces, [piece.text for piece in pieces if piece.is_sentence]) == text


def test_translations_take_the_place_of_sentences() -> None:
    pieces = split("  Hello!  How are you?\n\n- Fine.\n")
    assert join(pieces, ["नमस्ते!", "आप कैसे हैं?", "ठीक।"]) == "  नमस्ते!  आप कैसे हैं?\n\n- ठीक।\n"
    assert join(split("Hello. Bye."), ["你好。", "再见。"]) == "你好。 再见。"
    assert join([], []) == ""


@pytest.mark.parametrize(
    ("text", "translations", "expected"),
    [
        ("你好。再见。", ["Hello.", "Bye."], "Hello. Bye."),
        ("你好。再见。", ["こんにちは。", "さようなら。"], "こんにちは。さようなら。"),
        ("你好。再见。", ["안녕하세요.", "안녕히 가세요."], "안녕하세요. 안녕히 가세요."),
        ("你好。再见。", ["नमस्ते।", "अलविदा।"], "नमस्ते। अलविदा।"),
        ("你好。再见。", ["", "Bye."], "Bye."),
        ("你好。再见。", ["Hello. ", "Bye."], "Hello. Bye."),
        ("वह आया।वह गया।", ["He came.", "He went."], "He came. He went."),
    ],
)
def test_a_space_is_added_where_the_script_needs_one(
    text: str, translations: list[str], expected: str
) -> None:
    assert join(split(text), translations) == expected


def test_no_space_is_added_within_a_long_word() -> None:
    pieces = split("abc" * 400)
    assert len(pieces) == 3
    assert join(pieces, [piece.text for piece in pieces]) == "abc" * 400
    chinese = split("漢字" * 300)
    assert join(chinese, ["One", "two."]) == "One two."


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="1 translations do not fit 2 sentences"):
        join(split("One. Two."), ["Eins."])
    with pytest.raises(InputError, match="max_length=0"):
        split("One.", max_length=0)


@pytest.mark.parametrize(
    "unit",
    [
        "Mr. Smith met J. R. R. Tolkien, who was old. He left! ",
        ".",
        ". ",
        "A.",
        "a." + " " * 500,
        "x",
        "漢",
        "\u0301",
        "\n",
        ".\"'",
        ". »",
        "। ",
        "1. ",
        "; ",
        "a " + "b" * 399,
    ],
)
def test_time_grows_with_the_length_only(unit: str) -> None:
    """If it grew with the square, this would take minutes."""
    text = unit * (100_000 // len(unit))
    begin = time.process_time()
    pieces = split(text)
    assert time.process_time() - begin < 2
    assert "".join(piece.text for piece in pieces) == text
