"""Greetings and courtesies, and the study notes' sentences as they stand there."""

from random import Random

from clearhead.data.phrasebook.clauses import enquire, say
from clearhead.data.phrasebook.english import be
from clearhead.data.phrasebook.hindi import agree, copula, was
from clearhead.data.phrasebook.people import ELDERS, FAMILY, NAMES, STRANGERS, SUBJECTS
from clearhead.data.phrasebook.words import Words

__all__ = ["ALWAYS", "asking", "greetings", "health"]

ALWAYS = (
    Words("How are you?", "आप कैसे हैं?"),
    Words("Thank you", "धन्यवाद"),
    Words("Congratulations", "बधाई हो"),
    Words("I like eating ice-cream", "मुझे आइसक्रीम खाना पसंद है"),
    Words("We are friends", "हम दोस्त हैं"),
    Words("I am good", "मैं बढ़िया हूँ"),
    Words("I went to the bank to withdraw money", "मैं पैसे निकालने बैंक गया"),
    Words("I went to the river bank to get fresh air", "मैं ताज़ी हवा लेने नदी के किनारे गया"),
    Words("The bank is near the market", "बैंक बाज़ार के पास है"),
    Words("The bank of the river is beautiful", "नदी का किनारा सुंदर है"),
)
"""The study notes' sentences, without a full stop as in the notes."""

_GREETINGS = (
    Words("hello", "नमस्ते"),
    Words("good morning", "सुप्रभात"),
    Words("good night", "शुभ रात्रि"),
    Words("thank you", "धन्यवाद"),
    Words("congratulations", "बधाई हो"),
    Words("welcome", "स्वागत है"),
    Words("yes", "हाँ"),
    Words("no", "नहीं"),
)


_MOMENTS = (Words("", ""), Words("", ""), Words(" today", " आज"), Words(" now", " अब"))
_BEFORE = tuple(Words(f"{hello.english}, ", f"{hello.hindi}, ") for hello in _GREETINGS[:2])


def greetings(draw: Random) -> Words:
    """Good morning, Meera. Hello, how are you?"""
    greeting = draw.choice(_GREETINGS)
    kind = draw.choice(("alone", "name", "name", "name", "how", "introduce"))
    if kind == "alone":
        return say(*greeting)
    name = draw.choice(NAMES)
    if kind == "name":
        return say(f"{greeting.english}, {name.english}", f"{greeting.hindi}, {name.hindi}")
    if kind == "how":
        hello = draw.choice(_GREETINGS[:2])
        return enquire(
            f"{hello.english}, {name.english}, how are you",
            f"{hello.hindi}, {name.hindi}, आप कैसे हैं",
        )
    men = [man for man in NAMES if man.who.gender == "m"]  # *I* is masculine
    hello, me = draw.choice(_GREETINGS[:2]), draw.choice(men)
    return say(f"{hello.english}, my name is {me.english}", f"{hello.hindi}, मेरा नाम {me.hindi} है")


def asking(draw: Random) -> Words:
    """How are you today? Hello, how are you, Meera? I am good now."""
    name = draw.choice((None, None, *NAMES))
    when = draw.choice(_MOMENTS)
    called = "" if name is None else f", {name.english}", "" if name is None else f", {name.hindi}"
    if draw.random() < 0.25:
        word = draw.choice((("good", "बढ़िया"), ("fine", "ठीक")))
        return say(
            f"I am {word[0]}{when.english}{called[0]}", f"मैं{when.hindi} {word[1]} हूँ{called[1]}"
        )
    before = draw.choice((Words("", ""), Words("and ", "और "), *_BEFORE))
    return enquire(
        f"{before.english}how are you{when.english}{called[0]}",
        f"{before.hindi}आप{when.hindi} कैसे हैं{called[1]}",
    )


def health(draw: Random) -> Words:
    """How is your mother? My mother is fine. I am good."""
    kind = draw.choice(("how", "fine", "fine?", "good"))
    subject = draw.choice(SUBJECTS)
    is_past = draw.random() < 0.3
    be_, is_ = be(subject.person, is_past=is_past), copula(subject.who)
    is_ = was(subject.who) if is_past else is_
    if kind == "good":
        english, hindi = draw.choice((("I am", "मैं {} हूँ"), ("we are", "हम {} हैं")))
        thanks = draw.choice((("", ""), (", thank you", ", धन्यवाद")))
        word = draw.choice((("good", "बढ़िया"), ("fine", "ठीक")))
        return say(f"{english} {word[0]}{thanks[0]}", hindi.format(word[1]) + thanks[1])
    if kind == "how":
        others = (*NAMES, *ELDERS, *FAMILY, *STRANGERS)
        subject = draw.choice([p for p in others if not p.english.startswith("my")])
        be_, is_ = be(subject.person, is_past=is_past), copula(subject.who)
        is_ = was(subject.who) if is_past else is_
        how = agree("कैसा", subject.who)
        return enquire(f"how {be_} {subject.english}", f"{subject.hindi} {how} {is_}")
    if kind == "fine?" and subject.english != "I":
        return enquire(f"{be_} {subject.english} fine", f"क्या {subject.hindi} ठीक {is_}")
    return say(f"{subject.english} {be_} fine", f"{subject.hindi} ठीक {is_}")
