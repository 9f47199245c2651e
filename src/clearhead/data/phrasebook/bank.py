"""One English word in two senses: a bank for money (बैंक) and a river's bank (नदी का किनारा).

What one goes there for decides the sense, even when the river is not named.
"""

from random import Random

from clearhead.data.phrasebook.actions import join
from clearhead.data.phrasebook.clauses import deed, enquire, say
from clearhead.data.phrasebook.english import EnglishVerb, Tense, ask, state
from clearhead.data.phrasebook.hindi import Agreement, agree
from clearhead.data.phrasebook.people import SUBJECTS
from clearhead.data.phrasebook.verbs import GO, SIT, Action, Verb
from clearhead.data.phrasebook.words import ADJECTIVES, Words

__all__ = ["banks"]

_AT_THE_BANK = (
    Words("withdraw money", "पैसे निकालने"),
    Words("deposit money", "पैसे जमा करने"),
    Words("open an account", "खाता खोलने"),
    Words("take a loan", "क़र्ज़ लेने"),
)
_AT_THE_RIVER = (
    Words("get fresh air", "ताज़ी हवा लेने"),
    Words("watch the sunset", "सूर्यास्त देखने"),
    Words("catch fish", "मछली पकड़ने"),
    Words("see the boats", "नावें देखने"),
)
_KEEP = Verb(EnglishVerb.parse("keep kept kept"), "रख")
_FLOURISH = EnglishVerb.parse("grow grew grown")
_RIVERSIDE = (
    (Words("the boat", "नाव"), "one", Agreement("f")),
    (Words("the boats", "नावें"), "many", Agreement("f", True)),
    (Words("the temple", "मंदिर"), "one", Agreement()),
    (Words("the village", "गाँव"), "one", Agreement()),
    (Words("the tree", "पेड़"), "one", Agreement()),
    (Words("the trees", "पेड़"), "many", Agreement("m", True)),
    (Words("the garden", "बगीचा"), "one", Agreement()),
    (Words("the hotel", "होटल"), "one", Agreement()),
)
_RIVER_BANK = ("the river bank", "the bank of the river")


def banks(draw: Random) -> Words:
    """I went to the bank to withdraw money. I went to the river bank to get fresh air."""
    kind = draw.choices((_errand, _savings, _seat, _riverside, _view), (8, 3, 3, 2, 2))[0]
    return kind(draw)


def _errand(draw: Random) -> Words:
    subject = draw.choice(SUBJECTS)
    if draw.random() < 0.5:
        purpose, place = draw.choice(_AT_THE_BANK), Words("the bank", "बैंक")
    else:
        bank = draw.choice(("the bank", *_RIVER_BANK))
        purpose, place = draw.choice(_AT_THE_RIVER), Words(bank, "नदी के किनारे")
    tense: Tense = draw.choice(("present", "progressive", "past", "past", "future", "want to"))
    action = Action(
        GO, f"to {place.english} to {purpose.english}", f"{purpose.hindi} {place.hindi}"
    )
    if draw.random() < 0.2 and subject.english != "I":
        english = ask(subject.english, subject.person, GO.english, tense)
        return enquire(f"{english} {action.english}", f"क्या {deed(subject, action, tense)}")
    english = state(subject.english, subject.person, GO.english, tense)
    return say(f"{english} {action.english}", deed(subject, action, tense))


def _savings(draw: Random) -> Words:
    """Tell of money in the bank: पैसे are many."""
    subject = draw.choice(SUBJECTS)
    many = Agreement("m", True)
    if draw.random() < 0.4:
        verb, hindi = draw.choice((("is", "हैं"), ("was", "थे"), ("is not", "नहीं हैं")))
        whose = agree(subject.ka, many)
        return say(f"{subject.my} money {verb} in the bank", f"{whose} पैसे बैंक में {hindi}")
    tense: Tense = draw.choice(("present", "past", "future", "want to"))
    negative = tense != "want to" and draw.random() < 0.3
    action = Action(_KEEP, f"{subject.own} money in the bank", "अपने पैसे बैंक में", many)
    english = state(subject.english, subject.person, _KEEP.english, tense, is_negative=negative)
    return say(f"{english} {action.english}", deed(subject, action, tense, is_negative=negative))


def _seat(draw: Random) -> Words:
    """Sit by the river; *is sitting* is a state in Hindi: बैठा है."""
    subject, bank = draw.choice(SUBJECTS), draw.choice(_RIVER_BANK)
    english: Tense
    hindi: Tense
    english, hindi = draw.choice(
        (("progressive", "perfect"), ("past", "past"), ("future", "future"), ("present", "present"))
    )
    action = Action(SIT, f"on {bank}", "नदी के किनारे")
    told = state(subject.english, subject.person, SIT.english, english)
    return say(f"{told} {action.english}", deed(subject, action, hindi))


def _riverside(draw: Random) -> Words:
    (english, hindi), person, who = draw.choice(_RIVERSIDE)
    bank = draw.choice(_RIVER_BANK)
    is_many = person == "many"
    kind = draw.choice(("is", "was", "is?", "is not"))
    verb = {"was": "were" if is_many else "was"}.get(kind, "are" if is_many else "is")
    is_ = agree("था", who) + ("ं" if who == Agreement("f", True) else "")
    if kind != "was":
        is_ = "हैं" if is_many else "है"
    if kind == "is?":
        return enquire(f"{verb} {english} on {bank}", f"क्या {hindi} नदी के किनारे {is_}")
    negative = kind == "is not"
    return say(
        join(english, verb, "not" if negative else "", "on", bank),
        join(hindi, "नदी के किनारे", "नहीं" if negative else "", is_),
    )


def _view(draw: Random) -> Words:
    """The bank of the river is beautiful. Flowers grow on the river bank."""
    bank = draw.choice(_RIVER_BANK)
    if draw.random() < 0.3:
        english, hindi = draw.choice((("trees", "पेड़"), ("flowers", "फूल")))
        tense: Tense
        tense, verb = draw.choice((("present", "उगते हैं"), ("future", "उगेंगे"), ("past", "उगे")))
        told = state(english, "many", _FLOURISH, tense)
        return say(f"{told} on {bank}", f"नदी के किनारे {hindi} {verb}")
    names = ("beautiful", "clean", "dirty", "green", "big")
    adjective = ADJECTIVES[draw.choice(names)]
    very = Words("very", "बहुत") if draw.random() < 0.4 else Words("", "")
    verb, hindi = draw.choice((("is", "है"), ("was", "था"), ("is not", "नहीं है")))
    return say(
        join(bank, verb, very.english, adjective.english),
        join("नदी का किनारा", very.hindi, adjective.hindi, hindi),
    )
