"""Every sentence pattern of the phrasebook, and how many pairs it gives.

Full stops are "." in English and "।" in Hindi; questions end with "?" in both.
"""

from collections.abc import Callable
from functools import cache
from random import Random

from clearhead.data.phrasebook import (
    bank,
    being,
    clauses,
    greetings,
    joined,
    living,
    occasions,
)
from clearhead.data.phrasebook.words import Words

__all__ = ["PATTERNS", "Pattern", "draw_pairs"]

Pattern = Callable[[Random], Words]
"""A sentence pattern draws one pair; the same source of chance gives the same pair."""

PATTERNS: dict[str, tuple[Pattern, int]] = {
    "habits": (clauses.habits, 4000),
    "events": (clauses.events, 7000),
    "questions": (clauses.questions, 3000),
    "question words": (clauses.question_words, 2000),
    "subjects asked": (clauses.subjects_asked, 800),
    "ability": (clauses.ability, 1200),
    "wishes": (clauses.wishes, 1500),
    "likes doing": (clauses.likes_doing, 1500),
    "duties": (clauses.duties, 2000),
    "commands": (clauses.commands, 2500),
    "companions": (clauses.companions, 800),
    "purposes": (clauses.purposes, 700),
    "locations": (being.locations, 1800),
    "there is": (being.there_is, 900),
    "buildings": (being.buildings, 500),
    "whereabouts": (being.whereabouts, 900),
    "descriptions": (being.descriptions, 2000),
    "moods": (being.moods, 800),
    "professions": (being.professions, 500),
    "comparisons": (being.comparisons, 900),
    "belongings": (being.belongings, 900),
    "names": (being.names, 150),
    "having": (living.having, 1200),
    "kin": (living.kin, 500),
    "likes": (living.likes, 1200),
    "needs": (living.needs, 1200),
    "feelings": (living.feelings, 500),
    "giving": (living.giving, 1000),
    "ages": (living.ages, 200),
    "prices": (living.prices, 500),
    "clocks": (occasions.clocks, 160),
    "days": (occasions.days, 60),
    "timetables": (occasions.timetables, 600),
    "weather": (occasions.weather, 400),
    "journeys": (occasions.journeys, 600),
    "banks": (bank.banks, 1200),
    "couples": (joined.couples, 700),
    "contrasts": (joined.contrasts, 500),
    "reasons": (joined.reasons, 500),
    "conditions": (joined.conditions, 400),
    "reports": (joined.reports, 700),
    "greetings": (greetings.greetings, 100),
    "health": (greetings.health, 120),
    "asking": (greetings.asking, 160),
}

MAX_DRAWS_PER_PAIR = 20
"""A small pattern repeats itself: after this many draws for each pair wanted, it is exhausted."""


@cache
def draw_pairs(name: str) -> tuple[Words, ...]:
    """Draw the pairs of one pattern, without repetition; always the same ones.

    >>> len(draw_pairs("buildings")), draw_pairs("days")[0].hindi.endswith("।")
    (500, True)
    """
    pattern, n_pairs = PATTERNS[name]
    draw = Random(name)
    found: dict[Words, None] = {}
    for _ in range(n_pairs * MAX_DRAWS_PER_PAIR):
        if len(found) == n_pairs:
            break
        found.setdefault(pattern(draw))
    return tuple(found)
