"""Sentences of two parts: but, because, if and that; and two people who do one thing."""

from random import Random

from clearhead.data.phrasebook.actions import event, join
from clearhead.data.phrasebook.clauses import deed, say, whole
from clearhead.data.phrasebook.english import EnglishVerb, Tense, be, state
from clearhead.data.phrasebook.hindi import Agreement, agree, conjugate, copula
from clearhead.data.phrasebook.people import FAMILY, NAMES, PRONOUNS, STRANGERS, SUBJECTS, Somebody
from clearhead.data.phrasebook.verbs import GO, Action
from clearhead.data.phrasebook.words import (
    CITIES,
    DISHES,
    DRINKS,
    FRUITS,
    GAMES,
    LANGUAGES,
    PLACES,
    Words,
)

__all__ = ["conditions", "contrasts", "couples", "reasons", "reports"]

_EXCUSES = (
    Words("ill", "बीमार"),
    Words("tired", "थका हुआ"),
    Words("busy", "व्यस्त"),
    Words("sad", "उदास"),
    Words("angry", "नाराज़"),
)


def _pronoun(subject: Somebody) -> Words:
    """The pronoun that stands for somebody who was named before."""
    english = {"my": "I", "our": "we", "your": "you", "his": "he", "her": "she", "their": "they"}
    word = english[subject.own]
    if word in ("I", "we", "you"):
        return Words(word, subject.hindi)
    return Words(word, "वे" if subject.who.is_plural else "वह")


def couples(draw: Random) -> Words:
    """Ravi and Meera are going to Delhi. Two women are feminine, any other two are not."""
    one, two = draw.sample(NAMES, 2)
    gender = one.who.gender if one.who.gender == two.who.gender else "m"
    both = f"{one.hindi} और {two.hindi}"
    english = f"{one.english} and {two.english}"
    subject = Somebody(english, "many", both, both, Agreement(gender, True), "their")
    tense: Tense = draw.choice(("progressive", "past", "future", "want to"))
    negative = draw.random() < 0.15
    action = event(draw, subject, is_definite=negative)
    if action.english in (one.english, two.english):
        return couples(draw)
    told = state(english, "many", action.verb.english, tense, is_negative=negative)
    return say(join(told, whole(action)), deed(subject, action, tense, is_negative=negative))


def contrasts(draw: Random) -> Words:
    """I like tea but I do not like coffee."""
    subject = draw.choice(SUBJECTS)
    group = draw.choice(
        (DRINKS, DISHES[:2] + DISHES[4:6], FRUITS[:4], FRUITS[:4], GAMES, LANGUAGES)
    )
    one, two = draw.sample(group, 2)
    again = _pronoun(subject).english
    is_many = not one.is_mass
    is_ = copula(Agreement("m", is_many))
    does = "does" if subject.person == "one" else "do"
    like = "likes" if subject.person == "one" else "like"
    first, second = one.in_english(is_plural=is_many), two.in_english(is_plural=is_many)
    return say(
        f"{subject.english} {like} {first} but {again} {does} not like {second}",
        f"{subject.ko} {one.in_hindi(is_plural=is_many)} पसंद {is_} "
        f"लेकिन {two.in_hindi(is_plural=is_many)} पसंद नहीं {is_}",
    )


def reasons(draw: Random) -> Words:
    """Ravi is not going to school because he is ill."""
    subject, excuse = draw.choice(SUBJECTS), draw.choice(_EXCUSES)
    place = draw.choice((*PLACES, *CITIES))
    again = _pronoun(subject)
    time = draw.choice((Words("", ""), Words("today", "आज")))
    action = Action(GO, place.whither.english, place.whither.hindi)
    told = state(subject.english, subject.person, GO.english, "progressive", is_negative=True)
    state_of = " ".join(agree(word, subject.who) for word in excuse.hindi.split())
    hindi = deed(subject, action, "progressive", is_negative=True, time=time.hindi)
    return say(
        join(
            *(told, action.english, time.english),
            *("because", again.english, be(subject.person), excuse.english),
        ),
        f"{hindi} क्योंकि {again.hindi} {state_of} {copula(subject.who)}",
    )


def conditions(draw: Random) -> Words:
    """If it rains tomorrow, Ravi will not go to the market."""
    subject, place = draw.choice(SUBJECTS), draw.choice((*PLACES, *CITIES))
    time = draw.choice((Words("", ""), Words("tomorrow", "कल"), Words("today", "आज")))
    action = Action(GO, place.whither.english, place.whither.hindi)
    told = state(subject.english, subject.person, GO.english, "future", is_negative=True)
    hindi = deed(subject, action, "future", is_negative=True)
    return say(
        f"{join('if it rains', time.english)}, {told} {action.english}",
        join("अगर", time.hindi, "बारिश होगी तो", hindi),
    )


def reports(draw: Random) -> Words:
    """I know that Ravi went home: मुझे पता है कि रवि घर गया."""
    speaker = draw.choice((*PRONOUNS, *NAMES))
    subject = draw.choice([p for p in (*NAMES, *FAMILY, *STRANGERS) if p is not speaker])
    kind = draw.choice(("know", "think", "say"))
    verb = EnglishVerb.parse({"think": "think thought thought"}.get(kind, f"{kind} {kind} {kind}"))
    told = state(speaker.english, speaker.person, verb, "present")
    hindi = {
        "know": f"{speaker.ko} पता है",
        "think": f"{speaker.ko} लगता है",
        "say": f"{speaker.hindi} {conjugate('कह', 'present', speaker.who)}",
    }[kind]
    tense: Tense = draw.choice(("progressive", "past", "future"))
    negative = draw.random() < 0.2
    action = event(draw, subject, is_definite=True)
    if speaker.english in action.english.split():
        return reports(draw)
    deeds = state(subject.english, subject.person, action.verb.english, tense, is_negative=negative)
    return say(
        join(told, "that", deeds, whole(action)),
        f"{hindi} कि {deed(subject, action, tense, is_negative=negative)}",
    )
