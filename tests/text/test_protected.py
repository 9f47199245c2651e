"""Numbers, addresses, placeholders and tags are found and compared; doubtful answers have flags."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clearhead.text.protected import Flag, Protected, added, find, flags, missing

PLACEHOLDERS = (
    "%s %d %i %5.2f %-10s %ld %(name)s %(n)d %1$s %2$d %@ %% %Y %{count} %<a>s "
    "{name} {0} {} {n:.2f} {user.name} {नाम} {{x}} ${name} $1 \\n"
)
HOSTILE = (
    'a 1 1. < <a { {{ % %( %1 $ & &a a@ a. a.com/ www. https:// https://. <!-- <a|b=" |b=c 1|000| '
    "100| | 漢 a|b|"
)


def parts(text: str) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in find(text)]


def lost(source: str, answer: str) -> list[str]:
    return [part.text for part in missing(source, answer)]


def kinds(source: str, answer: str) -> list[str]:
    return [flag.kind for flag in flags(source, answer)]


@pytest.mark.parametrize(
    "text",
    PLACEHOLDERS.split(),
)
def test_placeholders(text: str) -> None:
    assert parts(f"a {text} b") == [("placeholder", text)]
    assert parts(f"„{text}“, b") == [("placeholder", text)]
    assert lost(f"a {text} b", "x y") == [text]
    assert lost(f"a {text} b", f"x y {text}") == []


@pytest.mark.parametrize(
    "text",
    ["50 % discount", "100% de", "20%ige Lösung", "10%d'accord", "{ a, b }", "a $ b", "C:\\new"],
)
def test_what_is_no_placeholder(text: str) -> None:
    assert "placeholder" not in dict(parts(text))


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org",
        "http://a.b/c?d=e&f=g#h",
        "https://en.wikipedia.org/wiki/Tamil_(language)",
        "https://hi.wikipedia.org/wiki/हिन्दी",
        "www.example.org/a",
        "example.com/path/to.html",
        "ftp://a.b.c:21/d",
    ],
)
def test_addresses(url: str) -> None:
    for text in (f"See {url}.", f"({url})", f"“{url}”, yes", f"看{url}。好", f"<{url}>", f"{url}?"):
        assert parts(text) == [("url", url)], text


@pytest.mark.parametrize("email", ["a@b.org", "john.doe+tag@mail.example.co.uk", "x_1@a-b.de"])
def test_email_addresses(email: str) -> None:
    for text in (f"Write to {email}.", f"<{email}>", f"邮箱{email}请", f"({email})"):
        assert parts(text) == [("email", email)], text
    assert lost(email, email.upper()) == []


@pytest.mark.parametrize(
    "tag",
    ["<b>", "</b>", "<br/>", "<br />", '<a href="x y" id=z>', "<x:y a='b'>", "<1>", "<!-- c -->"],
)
def test_tags(tag: str) -> None:
    assert parts(f"a{tag}b") == [("tag", tag)]


def test_entities_and_what_is_no_tag() -> None:
    found = parts("&nbsp;a &#169;&#x1F600; AT&T; R&D")
    assert found == [("entity", "&nbsp;"), ("entity", "&#169;"), ("entity", "&#x1F600;")]
    assert parts("if a <b and c> d, x < y") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("१२३", "123"),
        ("٣٤٥", "345"),
        ("１２３", "123"),
        ("1,000.5", "1.000,5"),
        ("1,000.5", "1 000,5"),
        ("1,000.5", "1\u202f000,5"),
        ("1'000.5", "1’000,5"),
        ("10,000", "10 000"),
        ("1,234,567", "1 234 567"),
        ("1,00,000", "100,000"),
        ("१,००,०००", "100.000"),
        ("١٬٢٣٤٫٥", "1234.5"),
        ("3.14", "3,14"),
        ("1,234", "1.234"),
        ("0.125", "0,125"),
        ("25.00", "25"),
        ("007", "7"),
        ("31.12.2016", "31/12/2016"),
        ("31.12.2016", "2016-12-31"),
        ("22:30", "22 Uhr 30"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_the_same_number_in_another_way(one: str, other: str) -> None:
    for source, answer in ((one, other), (other, one)):
        assert missing(f"a {source} b", f"c {answer}.") == []
        assert added(f"a {source} b", f"c {answer}.") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("314", "3.14"),
        ("2016", "2017"),
        ("1.2.3", "1.2.4"),
        ("1234.567", "1234567"),
        ("0.5", "5"),
        ("20", "200"),
    ],
)
def test_another_number(one: str, other: str) -> None:
    assert lost(f"a {one} b", f"c {other} d") == [one]
    assert [part.text for part in added(f"a {one} b", f"c {other}.")] in ([other], [])


def test_numbers_that_stand_side_by_side() -> None:
    assert kinds("I ate 3 200 g steaks.", "Ich aß 3 Steaks mit je 200 g.") == []
    assert kinds("In 2016 500 people came.", "2016 kamen 500 Leute.") == []
    assert lost("10 000 and 10 000", "10,000") == ["10 000"]
    assert lost('<a b="10 000"> 10,000', "x") == ['<a b="10 000">', "10,000"]


def test_small_numbers_may_become_words() -> None:
    for n in range(13):
        assert missing(f"{n} dogs", "Hunde") == []
        assert added("dogs", f"{n} Hunde") == []
    assert lost("13 dogs", "dreizehn Hunde") == ["13"]
    assert lost("१२ कुत्ते, १३ कुत्ते", "Hunde") == ["१३"]
    assert lost("2.5 dogs", "Hunde") == ["2.5"]


def test_what_occurs_twice_must_be_there_twice() -> None:
    assert missing("{a} and {a}", "{a}") == [Protected("placeholder", "{a}", 8, 11)]
    assert lost("<b>x</b> <b>y</b>", "<b>x</b>") == ["<b>", "</b>"]
    assert added("{a}", "{a} {b} {a}") == [
        Protected("placeholder", "{b}", 4, 7),
        Protected("placeholder", "{a}", 8, 11),
    ]


def test_a_dollar_is_money_or_a_placeholder() -> None:
    assert lost("Replace $1 by $2.", "Ersetze $2.") == ["$1"]
    assert kinds("It costs $5.", "Es kostet 5 Dollar.") == []
    assert kinds("Es kostet 5 Dollar.", "It costs $5.") == []
    assert parts("$5.50, $50, US$5") == [("number", "5.50"), ("number", "50"), ("number", "5")]


@settings(max_examples=100)
@given(
    text=st.text(max_size=50)
    | st.text(st.sampled_from("a1२.,% s${}()<>/=\"'&;#@:\\n hwtp\u00a0"), max_size=50)
)
@example(text="1" * 5000)
@example(text="<a b=c>10 000</a> 10000")
def test_what_is_found_stands_there(text: str) -> None:
    end = 0
    for part in find(text):
        assert part.start >= end
        assert part.text == text[part.start : part.end]
        assert part.text
        end = part.end
    assert missing(text, text) == added(text, text) == []
    assert missing(text, "") == added("", text)
    assert {flag.kind for flag in flags(text, text)} <= {"copy"}


GOOD = [
    ("A dog runs through the grass.", "Ein Hund rennt durch das Gras."),
    ("I like ice cream.", "मुझे आइसक्रीम पसंद है।"),
    ("Hello!", "你好！"),
    (
        "我喜欢在公园里和朋友们一起吃冰淇淋。",
        "I like to eat ice cream in the park together with my friends.",
    ),
    ("Hello, {name}! You have 25 <b>new</b> mails.", "नमस्ते, {name}! आपको २५ <b>नए</b> मेल मिले।"),
    ("No, no, no, no, no!", "Nein, nein, nein, nein, nein!"),
    ("哈哈哈哈哈哈", "ha ha ha ha ha ha"),
    ("very, very, very good", "sehr, sehr, sehr gut"),
    ("New York Times", "New York Times"),
    ("OK", "OK"),
    ("Barack Obama, Angela Merkel", "Barack Obama, Angela Merkel"),
    ("https://a.org/b {name} %s a@b.org", "https://a.org/b {name} %s a@b.org"),
    ("__________ and ..........", "__________ und .........."),
    ("1000000000000", "1,000,000,000,000"),
    ("", ""),
    ("Yes.", "Ja, natürlich, das ist richtig."),
]


@pytest.mark.parametrize(("source", "answer"), GOOD)
def test_a_good_answer_has_no_flag(source: str, answer: str) -> None:
    assert flags(source, answer) == []


def test_an_empty_answer() -> None:
    expected = [Flag("empty", "The answer is empty, but the source is not.")]
    assert flags("See 2016.", "") == flags("See 2016.", " \n") == expected
    assert flags(" ", "") == []


@pytest.mark.parametrize(
    ("source", "answer", "phrase"),
    [
        ("A man walks.", "Ein Mann Mann Mann Mann Mann geht.", "“mann” 5 times"),
        (
            "A man walks.",
            "Ein Hund und ein Hund und ein Hund und ein Hund und",
            "“ein hund und” 4 times",
        ),
        ("No, no, no, no!", "Nein, nein, nein, nein, nein, nein!", "“nein” 6 times"),
        ("A man walks.", "一个男人一个男人一个男人一个男人一个男人", "“一个男人” 5 times"),
        ("Ha!", "哈哈哈哈哈哈哈哈哈哈哈哈", "“哈” 12 times"),
        ("A man.", "वह वह वह वह वह", "“वह” 5 times"),
        ("A man.", "a b c d e f g h " * 4, "“a b c d e f g h” 4 times"),
    ],
)
def test_runaway_repetition(source: str, answer: str, phrase: str) -> None:
    (flag,) = flags(source, answer)
    assert flag == Flag("repetition", f"The answer repeats {phrase} in a row.")
    assert flags(answer, answer) in ([], [Flag("copy", "The answer is a copy of the source.")])


def test_an_answer_that_is_far_too_long() -> None:
    answer = (
        "Then he went on, and nobody could say where this would lead, or why it had begun at all."
    )
    (flag,) = flags("Ja.", answer)
    assert flag.kind == "repetition"
    assert flag.detail == (
        f"The answer is far longer than expected: {len(answer)} characters for 3 of the source."
    )


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("A dog runs.", "a dog runs"),
        ("See {name} at the big house.", "see {name} at the big house."),
        ("मुझे आइसक्रीम पसंद है।", "मुझे आइसक्रीम पसंद है।"),
        ("我喜欢吃苹果", "我喜欢吃苹果"),
        ("ฉันชอบกินไอศกรีมในสวนสาธารณะ", "ฉันชอบกินไอศกรีมในสวนสาธารณะ"),
    ],
)
def test_a_copy_of_the_source(source: str, answer: str) -> None:
    assert flags(source, answer) == [Flag("copy", "The answer is a copy of the source.")]


def test_each_flag_is_a_sentence() -> None:
    found = flags("Visit https://a.org in 2016, {x}.", "Besuche <b>2017</b>.")
    assert [flag.detail for flag in found] == [
        "The address https://a.org of the source is missing in the answer.",
        "The number 2016 of the source is missing in the answer.",
        "The placeholder {x} of the source is missing in the answer.",
        "The answer has the tag <b>, which the source lacks.",
        "The answer has the number 2017, which the source lacks.",
        "The answer has the tag </b>, which the source lacks.",
    ]


def test_a_usual_sentence_is_cheap() -> None:
    source = "A man in a blue shirt stands on a ladder at 10:30 in 2016, see https://a.org/x."
    answer = (
        "Ein Mann in einem blauen Hemd steht 2016 um 10:30 auf einer Leiter, siehe https://a.org/x."
    )
    times = []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(20):
            assert flags(source, answer) == []
        times.append(time.process_time() - begin)
    assert min(times) < 0.02  # 1 ms each


@pytest.mark.parametrize(
    "unit",
    HOSTILE.split(),
)
def test_time_grows_with_the_length_only(unit: str) -> None:
    """If it grew with the square, this would take minutes."""
    text = unit.replace("|", " ") * (60_000 // len(unit))
    begin = time.process_time()
    flags(text, text[:30_000])
    assert time.process_time() - begin < 2
