"""Terms are found as whole words, and files of terms are read or refused line by line."""

from pathlib import Path

import pytest

from clearhead.errors import InputError
from clearhead.tasks.glossary import Glossary, read_glossary
from clearhead.tasks.settings import read_settings
from clearhead.text import Tokenizer


@pytest.mark.parametrize(
    ("term", "sentence", "is_there"),
    [
        ("dog", "A Dog.", True),
        ("dog", "dogs", False),
        ("dog", "hotdog", False),
        ("dog", "the dog's house", True),
        ("straße", "in der STRASSE", True),
        ("new  york", "in New York", True),
        ("café", "the cafe\N{COMBINING ACUTE ACCENT}", True),
        ("cafe", "the café", False),
        ("cafe", "the cafe\N{COMBINING ACUTE ACCENT}", False),
        ("क", "कि", False),
        ("नदी", "नदी के पास", True),
        ("नद", "नदी", False),
        ("北京", "我在北京工作", True),
        ("กรุงเทพ", "อยู่กรุงเทพมา", True),
        ("C++", "in C++17", True),
        ("7", "in 1972", False),
    ],
)
def test_whole_words(term: str, sentence: str, is_there: bool) -> None:
    assert Glossary({term: "x"}).find(sentence) == (["x"] if is_there else [])


def test_the_longer_term_counts_once() -> None:
    glossary = Glossary({"York": "Y", "New York": "NY", "New": "N"})
    assert glossary.find("New York and York, New York") == ["NY", "Y"]
    assert glossary.find("New Yorker") == ["N"]


def test_a_term_is_asked_for_as_in_a_sentence() -> None:
    texts = ["der alte Mann liest das Buch", "你好北京", "我在北京工作"] * 4
    tokenizer = Tokenizer.train(texts, "bpe", 512)
    settings = read_settings({"glossary": {"book": "Buch", "Beijing": "北京"}}, tokenizer)
    sentence = "A book about Beijing"
    book, beijing = settings.request(sentence, tokenizer.encode(sentence)).required
    assert tokenizer.tokens(book)[0].startswith("▁")
    before = tokenizer.encode("Mann")
    assert tokenizer.decode([*before, *book]) == "Mann Buch"
    assert tokenizer.decode([*before, *beijing]) == "Mann北京"


def test_characters_have_their_space_too() -> None:
    tokenizer = Tokenizer.train(["ein Hund"], "char")
    settings = read_settings({"glossary": {"dog": "Hund"}}, tokenizer)
    (dog,) = settings.request("dog", [9]).required
    assert tokenizer.decode(dog) == " Hund"


def test_a_word_that_the_vocabulary_lacks_is_refused() -> None:
    tokenizer = Tokenizer.train(["ein Hund"], "word")
    settings = read_settings({"glossary": {"dog": "Köter"}}, tokenizer)
    assert settings.request("cat", [4]).required == ()
    with pytest.raises(InputError, match="'Köter', and a word of it is not in the vocabulary"):
        settings.request("dog", [4])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", 'dog\tHund\r\n\r\n"x"\t a  b \ndog\tHund\nDog\tHund\n'),
        ("a.txt", '\ufeffdog\tHund\n"x"\ta b'),
        ("a.csv", 'dog,Hund\n"""x""",a b\n'),
        ("a.csv", 'dog;Hund\n"""x""";a b\n'),
    ],
)
def test_files_of_terms(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    assert read_glossary(path) == {"dog": "Hund", '"x"': "a b"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "dog\tHund\n\ncat\n", "line 3 of .* is no pair of terms: .* a tab"),
        ("a.tsv", "dog\tHund\ncat\tKatze\tKater\n", "line 2 of .* is no pair"),
        ("a.tsv", "dog\t\n", "line 1 of .* is no pair"),
        ("a.csv", "dog,Hund\ncat\n", "line 2 of .* is no pair of terms: .* a comma"),
        ("a.csv", 'dog,"Hund"x\n', "line 1 of .* has broken quotes"),
        ("a.tsv", "dog\tHund\nDog\tKöter\n", "line 2 .* by 'Köter', and line 1 by 'Hund': keep"),
        ("a.tsv", "", "is empty"),
    ],
)
def test_bad_lines_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(InputError, match=message):
        read_glossary(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_glossary(tmp_path / "none.tsv")
