"""Plain texts: what is read, what is left out and told, and nothing changed in between."""

from pathlib import Path

import pytest

from clearhead.data.texts import LEAST, Texts
from clearhead.data.which import which_task
from clearhead.errors import InputError

LONG = "To be, or not to be.\n" * 600


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_folder_is_read_in_order_without_what_is_no_text(tmp_path: Path) -> None:
    write(tmp_path / "b.py", LONG)
    write(tmp_path / "a" / "z.txt", "first")
    write(tmp_path / "copy.txt", LONG)
    write(tmp_path / "empty.md", " \n")
    write(tmp_path / "picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    write(tmp_path / ".git" / "config", "hidden")
    write(tmp_path / "latin.txt", "na\xefve caf\xe9".encode("latin-1"))
    texts = Texts([tmp_path])
    report, documents = texts.examine()
    assert [document.path.name for document in documents] == ["z.txt", "b.py", "latin.txt"]
    assert documents[0].text == "first"
    assert documents[2].text == "naïve café"
    assert (report.n_read, report.n_kept) == (6, 3)
    told = {found.kind: found.places for found in report.findings}
    assert told == {
        "empty": ("empty.md",), "not text": ("picture.png",), "duplicate": ("copy.txt",),
    }  # fmt: skip
    assert not report.is_fatal
    assert report.lines()[-1].startswith("fit for training: 12,615 characters in 603 lines of 3")
    assert report.to_dict()["n_dropped"] == 3


def test_what_is_held_out_is_not_trained_on(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", LONG)
    write(tmp_path / "b.txt", "held out")
    report, documents = Texts([tmp_path]).examine(["held out"])
    assert [document.path.name for document in documents] == ["a.txt"]
    assert report.findings[0].kind == "leaked"


def test_little_text_is_refused(tmp_path: Path) -> None:
    report, _ = Texts([write(tmp_path / "a.txt", "short")]).examine()
    assert report.is_fatal
    assert report.verdict == (
        f"not fit for training: 5 characters are too few to learn from: give at least {LEAST:,}"
    )
    with pytest.raises(InputError, match="does not exist"):
        Texts([tmp_path / "nothing.txt"])
    (tmp_path / "bare").mkdir()
    with pytest.raises(InputError, match="holds no files"):
        Texts([tmp_path / "bare"])


def test_the_data_says_which_task_it_is_for(tmp_path: Path) -> None:
    table = write(tmp_path / "pairs.tsv", "en\tde\nHello\tHallo\n")
    text = write(tmp_path / "play.txt", LONG)
    english, german = write(tmp_path / "a.en", "Hello\n"), write(tmp_path / "a.de", "Hallo\n")
    tabbed = write(tmp_path / "pairs.txt", "Hello there\tHallo du\n" * 50)
    assert which_task([table]) == "translate"
    assert which_task([text]) == "generate"
    assert which_task([english, german]) == "translate"
    assert which_task([tabbed]) == "translate"
    assert which_task([tmp_path]) == "generate"
    assert which_task([text, english, german]) == "generate"
    assert which_task([tmp_path / "nothing.txt"]) == "translate"
