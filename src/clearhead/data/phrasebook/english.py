"""English conjugation: third persons, auxiliaries, questions with *do*, articles and plurals."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["EnglishVerb", "Person", "Tense", "ask", "be", "have", "indefinite", "plural", "state"]

Tense = Literal[
    "present",
    "progressive",
    "past progressive",
    "used to",
    "past",
    "perfect",
    "future",
    "can",
    "want to",
]
Person = Literal["I", "one", "many"]
"""Who acts, as far as an English verb can tell: I, one other, or several (*you* among them)."""


@dataclass(frozen=True)
class EnglishVerb:
    """A verb by its five forms."""

    base: str
    third: str
    past: str
    participle: str
    ing: str

    @classmethod
    def parse(cls, forms: str) -> "EnglishVerb":
        """Read the five forms, or three (base, past, participle) when the rest is regular.

        >>> EnglishVerb.parse("write wrote written").ing
        'writing'
        >>> EnglishVerb.parse("run runs ran run running").third
        'runs'
        """
        words = forms.split()
        if len(words) == 5:
            return cls(*words)
        base, past, participle = words
        ends_in_hiss = base.endswith(("s", "sh", "ch", "x", "o"))
        stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
        return cls(base, base + ("es" if ends_in_hiss else "s"), past, participle, stem + "ing")


def be(person: Person, *, is_past: bool = False) -> str:
    """Conjugate *to be*.

    >>> be("I"), be("one"), be("many"), be("I", is_past=True), be("many", is_past=True)
    ('am', 'is', 'are', 'was', 'were')
    """
    if is_past:
        return "were" if person == "many" else "was"
    return {"I": "am", "one": "is", "many": "are"}[person]


def have(person: Person) -> str:
    """Conjugate *to have*.

    >>> have("I"), have("one")
    ('have', 'has')
    """
    return "has" if person == "one" else "have"


def state(
    subject: str, person: Person, verb: EnglishVerb, tense: Tense, *, is_negative: bool = False
) -> str:
    """Say a subject with its verb: a statement up to the verb's complement.

    >>> go = EnglishVerb.parse("go went gone")
    >>> state("Ravi", "one", go, "present"), state("Ravi", "one", go, "present", is_negative=True)
    ('Ravi goes', 'Ravi does not go')
    >>> state("I", "I", go, "can", is_negative=True)
    'I cannot go'
    """
    if tense == "present" and not is_negative:
        return f"{subject} {verb.third if person == 'one' else verb.base}"
    if tense == "past" and not is_negative:
        return f"{subject} {verb.past}"
    if tense == "want to" and not is_negative:
        return f"{subject} {'wants' if person == 'one' else 'want'} to {verb.base}"
    auxiliary, main = _parts(person, verb, tense)
    negation = "" if not is_negative else "not" if auxiliary == "can" else " not"
    return f"{subject} {auxiliary}{negation} {main}"


def ask(subject: str, person: Person, verb: EnglishVerb, tense: Tense) -> str:
    """Ask with the auxiliary first, without a capital: a question word may stand before it.

    >>> go = EnglishVerb.parse("go went gone")
    >>> ask("Ravi", "one", go, "past"), ask("you", "many", go, "progressive")
    ('did Ravi go', 'are you going')
    """
    auxiliary, main = _parts(person, verb, tense)
    return f"{auxiliary} {subject} {main}"


def _parts(person: Person, verb: EnglishVerb, tense: Tense) -> tuple[str, str]:
    """(auxiliary, main verb) where English needs both: in questions and under *not*."""
    does = "does" if person == "one" else "do"
    return {
        "present": (does, verb.base),
        "progressive": (be(person), verb.ing),
        "past progressive": (be(person, is_past=True), verb.ing),
        "used to": ("used", f"to {verb.base}"),
        "past": ("did", verb.base),
        "perfect": (have(person), verb.participle),
        "future": ("will", verb.base),
        "can": ("can", verb.base),
        "want to": (does, f"want to {verb.base}"),
    }[tense]


def indefinite(words: str) -> str:
    """Put *a* or *an* before some words, by their first letter.

    >>> indefinite("old book"), indefinite("book")
    ('an old book', 'a book')
    """
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def plural(noun: str) -> str:
    """Form a regular plural.

    >>> [plural(noun) for noun in ("book", "box", "story", "toy", "mango")]
    ['books', 'boxes', 'stories', 'toys', 'mangoes']
    """
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh", "mango")) else "s")
