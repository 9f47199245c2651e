"""Verbs, what may be done to what (nobody drinks bread), and fixed things that people do."""

from dataclasses import dataclass
from typing import NamedTuple

from clearhead.data.phrasebook.english import EnglishVerb
from clearhead.data.phrasebook.hindi import Agreement
from clearhead.data.phrasebook.words import (
    CLOTHES,
    DISHES,
    DRINKS,
    FRUITS,
    FURNITURE,
    GAMES,
    LANGUAGES,
    TEXTS,
    THINGS,
    Noun,
)

__all__ = [
    "COME",
    "DRIVE",
    "EAT",
    "FACING",
    "FRAMES",
    "GIVE",
    "GO",
    "LIVE",
    "PASTIMES",
    "SIT",
    "SKILLS",
    "TRAVEL",
    "WORK",
    "Action",
    "Facing",
    "Frame",
    "Verb",
]


@dataclass(frozen=True)
class Verb:
    """A verb in both languages; a transitive one takes ने in the perfective."""

    english: EnglishVerb
    stem: str
    takes_ne: bool = True
    particle: str = ""
    """An English word that follows the verb: look *for*."""


class Action(NamedTuple):
    """A verb with its complements: what somebody does."""

    verb: Verb
    english: str
    """What follows the English verb."""
    hindi: str
    """What stands before the Hindi verb."""
    what: Agreement = Agreement()
    """The object with which a perfective verb and an obligation agree."""


class Frame(NamedTuple):
    """A verb and the nouns that suit it.

    `determiners` may name: a, the, this, own (his own), some (a number of them).
    """

    verb: Verb
    nouns: tuple[Noun, ...]
    is_habit: bool = True
    determiners: tuple[str, ...] = ("a", "the", "this", "some")
    has_adjectives: bool = True


class Facing(NamedTuple):
    """A verb that people do to people: Hindi joins them by a postposition."""

    verb: Verb
    postposition: str
    object: str = ""
    """The noun of the Hindi verb: किसी की *मदद* करना."""
    what: Agreement = Agreement()


def _verb(forms: str, stem: str, *, takes_ne: bool = True, particle: str = "") -> Verb:
    return Verb(EnglishVerb.parse(forms), stem, takes_ne, particle)


def _pick(nouns: tuple[Noun, ...], names: str) -> tuple[Noun, ...]:
    return tuple(noun for noun in nouns if noun.english in names.split())


_A_THE_THIS_OWN = ("a", "the", "this", "own")
_THE_THIS_OWN = ("the", "this", "own")
_MANUFACTURED = (*_pick(TEXTS, "book newspaper"), *THINGS, *CLOTHES)
_WHEELS = _pick(FURNITURE, "car bicycle")

EAT = _verb("eat ate eaten", "खा")
DRINK = _verb("drink drank drunk", "पी")
COOK = _verb("cook cooked cooked", "पका")
MAKE = _verb("make made made", "बना")
BUY = _verb("buy bought bought", "ख़रीद")
SELL = _verb("sell sold sold", "बेच")
BRING = _verb("bring brought brought", "ला", takes_ne=False)
READ = _verb("read read read", "पढ़")
WRITE = _verb("write wrote written", "लिख")
LOOK_AT = _verb("look looked looked", "देख", particle="at")
WASH = _verb("wash washed washed", "धो")
OPEN = _verb("open opened opened", "खोल")
CLOSE = _verb("close closed closed", "बंद कर")
CLEAN = _verb("clean cleaned cleaned", "साफ़ कर")
LOOK_FOR = _verb("look looked looked", "ढूँढ़", particle="for")
LEARN = _verb("learn learned learned", "सीख")
TEACH = _verb("teach taught taught", "पढ़ा")
SPEAK = _verb("speak spoke spoken", "बोल", takes_ne=False)
PLAY = _verb("play played played", "खेल")
GIVE = _verb("give gave given", "दे")
GO = _verb("go went gone", "जा", takes_ne=False)
COME = _verb("come came come", "आ", takes_ne=False)
LIVE = _verb("live lived lived", "रह", takes_ne=False)
SIT = _verb("sit sits sat sat sitting", "बैठ", takes_ne=False)
WORK = _verb("work worked worked", "काम कर")
TRAVEL = _verb("travel travels travelled travelled travelling", "यात्रा कर")
WATCH = _verb("watch watched watched", "देख")
LISTEN = _verb("listen listened listened", "सुन", particle="to")
SING = _verb("sing sang sung", "गा")
TAKE = _verb("take took taken", "खींच")
FLY = _verb("fly flies flew flown flying", "उड़ा")
RIDE = _verb("ride rode ridden", "चला")
DRIVE = _verb("drive drove driven", "चला")
HAVE_MEAL = _verb("have has had had having", "कर")
STUDY = _verb("study studies studied studied studying", "पढ़ाई कर")
REST = _verb("rest rested rested", "आराम कर")
SLEEP = _verb("sleep slept slept", "सो", takes_ne=False)
SWIM = _verb("swim swims swam swum swimming", "तैर", takes_ne=False)
WALK = _verb("walk walked walked", "टहल", takes_ne=False)
RUN = _verb("run runs ran run running", "दौड़", takes_ne=False)
PLAY_ABOUT = _verb("play played played", "खेल", takes_ne=False)

FRAMES = (
    Frame(EAT, (*_pick(DISHES, "rice bread fish food yoghurt ice-cream fruit"), *FRUITS)),
    Frame(DRINK, DRINKS),
    Frame(COOK, _pick(DISHES, "rice fish food soup"), has_adjectives=False),
    Frame(MAKE, (*_pick(DRINKS, "tea coffee juice lassi"), *_pick(DISHES, "bread soup"))),
    Frame(BUY, (*FRUITS, *_pick(DISHES, "rice bread fish"), *_pick(DRINKS, "milk juice"))),
    Frame(BUY, (*_MANUFACTURED, *_WHEELS, *_pick(FURNITURE, "table chair bed house")), False),
    Frame(SELL, (*FRUITS, *_pick(THINGS, "flower toy bag"), *CLOTHES)),
    Frame(SELL, (*_WHEELS, *_pick(FURNITURE, "house table")), False, _THE_THIS_OWN),
    Frame(BRING, (*FRUITS, *_pick(DRINKS, "tea water milk")), has_adjectives=False),
    Frame(BRING, (*_MANUFACTURED,), False, _A_THE_THIS_OWN, has_adjectives=False),
    Frame(READ, TEXTS),
    Frame(WRITE, _pick(TEXTS, "book letter story poem"), determiners=("a", "the", "this")),
    Frame(LOOK_AT, (*_pick(THINGS, "picture flower"), *_pick(FURNITURE, "house car")), False),
    Frame(WASH, (*CLOTHES, *_pick(THINGS, "cup bag"), *_WHEELS), False, _THE_THIS_OWN),
    Frame(OPEN, _pick(FURNITURE, "door window box"), False, ("the", "this")),
    Frame(CLOSE, _pick(FURNITURE, "door window box"), False, ("the", "this")),
    Frame(CLEAN, _pick(FURNITURE, "room house table window car"), False, _THE_THIS_OWN),
    Frame(LOOK_FOR, _MANUFACTURED, False, _A_THE_THIS_OWN),
    Frame(LEARN, LANGUAGES),
    Frame(TEACH, LANGUAGES),
    Frame(PLAY, GAMES),
)
_MANY = Agreement("m", True)
_FEMININE = Agreement("f")
_MANY_FEMININE = Agreement("f", True)
PASTIMES = (
    Action(WATCH, "films", "फ़िल्में", _MANY_FEMININE),
    Action(WATCH, "television", "टीवी"),
    Action(LISTEN, "music", "संगीत"),
    Action(LISTEN, "the radio", "रेडियो"),
    Action(SING, "songs", "गाने", _MANY),
    Action(TAKE, "pictures", "तस्वीरें", _MANY_FEMININE),
    Action(WASH, "clothes", "कपड़े", _MANY),
    Action(FLY, "kites", "पतंगें", _MANY_FEMININE),
    Action(RIDE, "a bicycle", "साइकिल", _FEMININE),
    Action(DRIVE, "a car", "गाड़ी", _FEMININE),
    Action(HAVE_MEAL, "breakfast", "नाश्ता"),
    Action(STUDY, "at home", "घर पर", _FEMININE),
    Action(STUDY, "in the library", "पुस्तकालय में", _FEMININE),
    Action(REST, "at home", "घर पर"),
    Action(SLEEP, "in the room", "कमरे में"),
    Action(SWIM, "in the river", "नदी में"),
    Action(WALK, "in the garden", "बगीचे में"),
    Action(WALK, "in the park", "पार्क में"),
    Action(RUN, "in the park", "पार्क में"),
    Action(PLAY_ABOUT, "in the garden", "बगीचे में"),
    Action(GO, "home", "घर"),
    Action(COME, "home", "घर"),
)
SKILLS = (
    *(Action(SPEAK, noun.english, noun.hindi, _FEMININE) for noun in LANGUAGES),
    *(action for action in PASTIMES if action.verb in (RIDE, DRIVE, SING, FLY, SWIM)),
)
FACING = (
    Facing(_verb("meet met met", "मिल", takes_ne=False), "से"),
    Facing(_verb("help helped helped", "कर"), "की", "मदद", _FEMININE),
    Facing(_verb("talk talked talked", "कर", particle="to"), "से", "बात", _FEMININE),
    Facing(_verb("wait waited waited", "कर", particle="for"), "का", "इंतज़ार"),
    Facing(_verb("call called called", "कर"), "को", "फ़ोन"),
)
