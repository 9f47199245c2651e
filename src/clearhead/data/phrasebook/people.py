"""Who speaks, acts and is spoken of: pronouns, names and family, with their Hindi cases."""

from dataclasses import dataclass

from clearhead.data.phrasebook.english import Person
from clearhead.data.phrasebook.hindi import Agreement, Gender

__all__ = [
    "ELDERS",
    "FAMILY",
    "NAMES",
    "PEOPLE",
    "PRONOUNS",
    "STRANGERS",
    "SUBJECTS",
    "YOUNG",
    "Somebody",
]


@dataclass(frozen=True)
class Somebody:
    """A person or several, in every case that a sentence may ask for.

    *I*, *we*, *you* and *they* are masculine, so that an English sentence has one translation.
    """

    english: str
    person: Person
    hindi: str
    oblique: str
    who: Agreement
    own: str
    """The English possessive that points back at this subject: my, his, their. Hindi: अपना."""
    object: str = ""
    possessive: str = ""
    ergative: str = ""
    dative: str = ""
    genitive: str = ""
    is_name: bool = False

    @property
    def me(self) -> str:
        """The English object: me, him, Ravi."""
        return self.object or self.english

    @property
    def my(self) -> str:
        """The English possessive: my, his, Ravi's, the boys'."""
        return self.possessive or self.english + ("'" if self.english.endswith("s") else "'s")

    @property
    def ne(self) -> str:
        """The subject of a transitive perfective verb: मैंने, रवि ने."""
        return self.ergative or f"{self.oblique} ने"

    @property
    def ko(self) -> str:
        """The one who likes, wants, must: मुझे, रवि को."""
        return self.dative or f"{self.oblique} को"

    @property
    def ka(self) -> str:
        """The owner, in the form that agrees like an adjective: मेरा, रवि का."""
        return self.genitive or f"{self.oblique} का"

    @property
    def post(self) -> str:
        """The owner before a postposition such as पास: मेरे, रवि के."""
        return self.ka[:-1] + "े"


def _one(english: str, hindi: str, gender: Gender, oblique: str = "") -> Somebody:
    own = "his" if gender == "m" else "her"
    return Somebody(english, "one", hindi, oblique or hindi, Agreement(gender), own)


def _elder(english: str, hindi: str, gender: Gender) -> Somebody:
    """One person in English, plural by respect in Hindi."""
    own = "his" if gender == "m" else "her"
    return Somebody(english, "one", hindi, hindi, Agreement(gender, True), own)


def _many(english: str, hindi: str, gender: Gender, oblique: str) -> Somebody:
    return Somebody(english, "many", hindi, oblique, Agreement(gender, True), "their")


def _name(english: str, hindi: str, gender: Gender) -> Somebody:
    own = "his" if gender == "m" else "her"
    return Somebody(english, "one", hindi, hindi, Agreement(gender), own, is_name=True)


PRONOUNS = (
    Somebody(
        *("I", "I", "मैं", "मुझ", Agreement(is_speaker=True), "my"),
        *("me", "my", "मैंने", "मुझे", "मेरा"),
    ),
    Somebody(
        *("we", "many", "हम", "हम", Agreement("m", True), "our"),
        *("us", "our", "हमने", "हमें", "हमारा"),
    ),
    Somebody(
        *("you", "many", "आप", "आप", Agreement("m", True), "your"),
        *("you", "your", "आपने", "आपको", "आपका"),
    ),
    Somebody(
        *("he", "one", "वह", "उस", Agreement("m"), "his"),
        *("him", "his", "उसने", "उसे", "उसका"),
    ),
    Somebody(
        *("she", "one", "वह", "उस", Agreement("f"), "her"),
        *("her", "her", "उसने", "उसे", "उसका"),
    ),
    Somebody(
        *("they", "many", "वे", "उन", Agreement("m", True), "their"),
        *("them", "their", "उन्होंने", "उन्हें", "उनका"),
    ),
)
NAMES = (
    _name("Ravi", "रवि", "m"),
    _name("Amit", "अमित", "m"),
    _name("Rohan", "रोहन", "m"),
    _name("Arjun", "अर्जुन", "m"),
    _name("Vijay", "विजय", "m"),
    _name("Meera", "मीरा", "f"),
    _name("Sita", "सीता", "f"),
    _name("Anita", "अनीता", "f"),
    _name("Priya", "प्रिया", "f"),
    _name("Neha", "नेहा", "f"),
)
ELDERS = (
    _elder("my father", "मेरे पिताजी", "m"),
    _elder("my mother", "मेरी माँ", "f"),
    _elder("my grandfather", "मेरे दादाजी", "m"),
    _elder("my grandmother", "मेरी दादी", "f"),
    _elder("your mother", "आपकी माँ", "f"),
    _elder("your father", "आपके पिताजी", "m"),
)
FAMILY = (
    _one("my brother", "मेरा भाई", "m", "मेरे भाई"),
    _one("my sister", "मेरी बहन", "f"),
    _one("my son", "मेरा बेटा", "m", "मेरे बेटे"),
    _one("my daughter", "मेरी बेटी", "f"),
    _one("your brother", "आपका भाई", "m", "आपके भाई"),
    _one("your sister", "आपकी बहन", "f"),
    _many("my brothers", "मेरे भाई", "m", "मेरे भाइयों"),
    _many("my sisters", "मेरी बहनें", "f", "मेरी बहनों"),
    _many("my friends", "मेरे दोस्त", "m", "मेरे दोस्तों"),
)
_CHILDREN = ("the boy", "the girl", "the children")
STRANGERS = (
    _one("the boy", "लड़का", "m", "लड़के"),
    _one("the girl", "लड़की", "f"),
    _one("the man", "आदमी", "m"),
    _one("the woman", "औरत", "f"),
    _many("the boys", "लड़के", "m", "लड़कों"),
    _many("the girls", "लड़कियाँ", "f", "लड़कियों"),
    _many("the women", "औरतें", "f", "औरतों"),
    _many("the children", "बच्चे", "m", "बच्चों"),
)
YOUNG = tuple(one for one in STRANGERS if one.english.removesuffix("s") in _CHILDREN)
"""Those who own no car and do not go to work."""
PEOPLE = (*PRONOUNS, *NAMES, *ELDERS, *FAMILY, *STRANGERS)
SUBJECTS = (*PRONOUNS, *PRONOUNS, *PEOPLE)
"""Whom a sentence is about: pronouns three times as often as any other person."""
