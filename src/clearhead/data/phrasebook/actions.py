"""Noun phrases and what people do with them, drawn at random: habits, and single events."""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from clearhead.data.phrasebook.english import indefinite
from clearhead.data.phrasebook.hindi import Agreement, agree
from clearhead.data.phrasebook.people import NAMES, STRANGERS, YOUNG, Somebody
from clearhead.data.phrasebook.verbs import (
    COME,
    DRIVE,
    FACING,
    FRAMES,
    GO,
    PASTIMES,
    TRAVEL,
    WORK,
    Action,
    Frame,
)
from clearhead.data.phrasebook.words import (
    ADJECTIVES,
    CITIES,
    FURNITURE,
    NUMBERS,
    PLACES,
    VEHICLES,
    Adjective,
    Noun,
    Words,
)

__all__ = [
    "NounPhrase",
    "event",
    "habit",
    "join",
    "noun_phrase",
    "others_than",
    "own_people",
    "suits",
    "things",
]


class NounPhrase(NamedTuple):
    """A noun with what belongs to it."""

    english: str
    hindi: str
    oblique: str
    who: Agreement


_COUNTED = {word.english: word.hindi for word in NUMBERS.values()} | {"a": "एक"}


def suits(noun: Noun, owner: Somebody) -> bool:
    """Whether the owner may well have such a thing: a sari is a woman's."""
    return noun.english != "sari" or owner.who.gender == "f"


def join(*parts: str) -> str:
    """Join the parts that are there.

    >>> join("मैं", "", "चाय")
    'मैं चाय'
    """
    return " ".join(part for part in parts if part)


def noun_phrase(
    noun: Noun,
    determiner: str = "",
    *,
    adjective: Adjective | None = None,
    is_plural: bool = False,
    owner: str = "",
) -> NounPhrase:
    """Put a determiner and an adjective before a noun.

    `determiner` is empty, a, the, this, that, own (with its English `owner`), or a number word.

    >>> from clearhead.data.phrasebook.words import THINGS
    >>> bag = next(noun for noun in THINGS if noun.english == "bag")
    >>> noun_phrase(bag, "this", adjective=ADJECTIVES["old"], is_plural=True)[:3]
    ('these old bags', 'ये पुराने थैले', 'इन पुराने थैलों')
    """
    who = Agreement(noun.gender, is_plural)
    direct = oblique = _COUNTED.get(determiner, "")
    english = determiner
    match determiner:
        case "own":
            english, direct = owner, agree("अपना", who)
            oblique = agree("अपना", who, is_oblique=True)
        case "this":
            english = "these" if is_plural else "this"
            direct, oblique = ("ये", "इन") if is_plural else ("यह", "इस")
        case "that":
            english = "those" if is_plural else "that"
            direct, oblique = ("वे", "उन") if is_plural else ("वह", "उस")
    words = join(adjective.english if adjective else "", noun.in_english(is_plural=is_plural))
    quality = adjective.agree(who) if adjective else ""
    oblique_quality = adjective.agree(who, is_oblique=True) if adjective else ""
    return NounPhrase(
        indefinite(words) if determiner == "a" else join(english, words),
        join(direct, quality, noun.in_hindi(is_plural=is_plural)),
        join(oblique, oblique_quality, noun.in_hindi(is_plural=is_plural, is_oblique=True)),
        who,
    )


def things(draw: Random, frame: Frame, subject: Somebody, *, is_definite: bool) -> NounPhrase:
    """Draw an object that suits the frame's verb; a definite one if English *a* would mislead."""
    noun = draw.choice(frame.nouns)
    has_adjective = frame.has_adjectives and noun.adjectives and draw.random() < 0.3
    adjective = ADJECTIVES[draw.choice(noun.adjectives)] if has_adjective else None
    if noun.is_mass:
        determiner = draw.choice(("", "", "the")) if noun.adjectives else ""
        return noun_phrase(noun, determiner, adjective=adjective)
    allowed = [word for word in frame.determiners if not (is_definite and word in ("a", "some"))]
    determiner = draw.choice(allowed)
    if determiner == "own" and not suits(noun, subject):
        determiner = "the"
    is_plural = determiner == "some" or (determiner in ("the", "this") and draw.random() < 0.3)
    if determiner == "own" and subject.own in ("our", "their") and noun not in FURNITURE:
        is_plural = True
    if determiner == "some":
        determiner = NUMBERS[draw.choice((2, 3, 4, 5, 6, 10))].english
    return noun_phrase(
        noun, determiner, adjective=adjective, is_plural=is_plural, owner=subject.own
    )


def _handle(draw: Random, subject: Somebody, is_definite: bool) -> Action:
    frame = draw.choice(FRAMES)
    what = things(draw, frame, subject, is_definite=is_definite)
    return Action(frame.verb, what.english, what.hindi, what.who)


def _handle_usually(draw: Random) -> Action:
    """Do something to things of a kind: eat rice, read books."""
    frame = draw.choice([frame for frame in FRAMES if frame.is_habit])
    noun = draw.choice(frame.nouns)
    has_adjective = frame.has_adjectives and noun.adjectives and draw.random() < 0.2
    adjective = ADJECTIVES[draw.choice(noun.adjectives)] if has_adjective else None
    what = noun_phrase(noun, adjective=adjective, is_plural=not noun.is_mass)
    return Action(frame.verb, what.english, what.hindi, what.who)


def others_than(subject: Somebody, people: Iterable[Somebody]) -> list[Somebody]:
    """Those who can be told from the subject, in Hindi too: लड़के are one boy's case, and boys."""
    return [one for one in people if subject.hindi not in (one.hindi, one.oblique)]


def own_people(draw: Random, subject: Somebody) -> Words:
    """Draw people who belong to the subject, with the Hindi oblique: his friends, अपने दोस्तों."""
    people = [Words("friend", "अपने दोस्त"), Words("friends", "अपने दोस्तों")]
    if not subject.english.startswith(("my ", "your ")):
        people += [
            Words("mother", "अपनी माँ"),
            Words("father", "अपने पिताजी"),
            Words("brother", "अपने भाई"),
            Words("sister", "अपनी बहन"),
        ]
    english, hindi = draw.choice(people)
    return Words(f"{subject.own} {english}", hindi)


def _face(draw: Random, subject: Somebody) -> Action:
    facing = draw.choice(FACING)
    if draw.random() < 0.4:
        english, hindi = own_people(draw, subject)
    else:
        other = draw.choice(others_than(subject, (*NAMES, *STRANGERS)))
        english, hindi = other.english, other.oblique
    return Action(
        facing.verb, english, join(hindi, facing.postposition, facing.object), facing.what
    )


def _move(draw: Random) -> Action:
    place = draw.choice((*PLACES, *CITIES))
    verb = draw.choice((GO, GO, COME))
    return Action(verb, place.whither.english, place.whither.hindi)


def _travel(draw: Random) -> Action:
    vehicle = draw.choice(VEHICLES)
    if draw.random() < 0.3:
        return Action(TRAVEL, vehicle.english, vehicle.hindi, Agreement("f"))
    city = draw.choice(CITIES)
    return Action(
        draw.choice((GO, COME)),
        join(city.whither.english, vehicle.english),
        join(vehicle.hindi, city.whither.hindi),
    )


def _pass_time(draw: Random, subject: Somebody) -> Action:
    is_young = subject in YOUNG
    return draw.choice([done for done in PASTIMES if not (is_young and done.verb is DRIVE)])


def _work(draw: Random, subject: Somebody) -> Action:
    if subject in YOUNG:
        return _pass_time(draw, subject)
    names = ("hospital", "station", "library", "office", "hotel", "shop", "museum", "bank")
    place = draw.choice([place for place in PLACES if place.english.endswith(names)])
    return Action(WORK, place.where.english, place.where.hindi)


def habit(draw: Random, subject: Somebody) -> Action:
    """Draw something that the subject may do every day."""
    return draw.choices(
        (
            lambda: _handle_usually(draw),
            lambda: _pass_time(draw, subject),
            lambda: _face(draw, subject),
            lambda: _move(draw),
            lambda: _work(draw, subject),
        ),
        (9, 8, 3, 4, 2),
    )[0]()


def event(draw: Random, subject: Somebody, *, is_definite: bool = False) -> Action:
    """Draw something that the subject may do once."""
    return draw.choices(
        (
            lambda: _handle(draw, subject, is_definite),
            lambda: _pass_time(draw, subject),
            lambda: _face(draw, subject),
            lambda: _move(draw),
            lambda: _travel(draw),
            lambda: _work(draw, subject),
        ),
        (10, 8, 4, 4, 2, 1),
    )[0]()
