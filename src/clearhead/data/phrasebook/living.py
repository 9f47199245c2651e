"""Sentences about what people have, like, need, feel, give and pay, and how old they are."""

from random import Random

from clearhead.data.phrasebook.actions import NounPhrase, join, noun_phrase, others_than, suits
from clearhead.data.phrasebook.clauses import deed, enquire, say
from clearhead.data.phrasebook.english import Tense, be, have, state
from clearhead.data.phrasebook.hindi import Agreement, agree, copula, perfective, was
from clearhead.data.phrasebook.people import (
    ELDERS,
    FAMILY,
    NAMES,
    PRONOUNS,
    STRANGERS,
    SUBJECTS,
    YOUNG,
    Somebody,
)
from clearhead.data.phrasebook.verbs import GIVE, Action
from clearhead.data.phrasebook.words import (
    ADJECTIVES,
    ANIMALS,
    CLOTHES,
    DISHES,
    DRINKS,
    FRUITS,
    FURNITURE,
    GAMES,
    KIN,
    LANGUAGES,
    NUMBERS,
    TEXTS,
    THINGS,
    Noun,
    Words,
)

__all__ = ["ages", "feelings", "giving", "having", "kin", "likes", "needs", "prices"]

_FEELINGS = (
    (Words("hungry", "भूख"), "लगी", ""),
    (Words("thirsty", "प्यास"), "लगी", ""),
    (Words("cold", "ठंड"), "लग रही", ""),
    (Words("hot", "गर्मी"), "लग रही", ""),
    (Words("sleepy", "नींद"), "आ रही", ""),
    (Words("a fever", "बुख़ार"), "", "have"),
    (Words("a headache", "दर्द"), "", "have"),
    (Words("a cold", "ज़ुकाम"), "", "have"),
)
_OWNED = (*THINGS, *TEXTS[:1], *CLOTHES, *FURNITURE[:3], *FURNITURE[8:10], *ANIMALS[:4])
_FOR_THE_YOUNG = (*THINGS, *TEXTS[:1], *CLOTHES[2:], *FURNITURE[9:10], *ANIMALS[:2])
_LIKED = (*FURNITURE[:6], *FURNITURE[8:])
_PORTABLE = (*THINGS, *TEXTS[:3], *CLOTHES, *FRUITS)


def _does(subject: Somebody) -> str:
    return "does" if subject.person == "one" else "do"


def _maybe_adjective(draw: Random, noun: Noun, determiner: str, is_plural: bool) -> NounPhrase:
    has_adjective = noun.adjectives and draw.random() < 0.3
    adjective = ADJECTIVES[draw.choice(noun.adjectives)] if has_adjective else None
    return noun_phrase(noun, determiner, adjective=adjective, is_plural=is_plural)


def having(draw: Random) -> Words:
    """I have a new car: मेरे पास एक नई गाड़ी है."""
    subject = draw.choice(SUBJECTS)
    noun = draw.choice(_FOR_THE_YOUNG if subject in YOUNG else _OWNED)
    if not suits(noun, subject):
        return having(draw)
    near = f"{subject.post} पास"
    kind = draw.choice(("has", "has", "had", "not", "?", "how many", "many", "many"))
    if kind == "how many":
        many = noun_phrase(noun, is_plural=True)
        return enquire(
            f"how many {many.english} {_does(subject)} {subject.english} have",
            f"{near} {agree('कितना', many.who)} {many.hindi} हैं",
        )
    if kind == "many":
        number = NUMBERS[draw.choice((2, 3, 4, 5, 6, 7, 8, 9, 10))].english
        many = _maybe_adjective(draw, noun, number, True)
        return say(
            f"{subject.english} {have(subject.person)} {many.english}", f"{near} {many.hindi} हैं"
        )
    what = _maybe_adjective(draw, noun, "a", False)
    bare = what.hindi.removeprefix("एक ")
    if kind == "not":
        return say(
            f"{subject.english} {_does(subject)} not have {what.english}", f"{near} {bare} नहीं है"
        )
    if kind == "?":
        return enquire(
            f"{_does(subject)} {subject.english} have {what.english}", f"क्या {near} {bare} है"
        )
    verb, hindi = ("had", was(what.who)) if kind == "had" else (have(subject.person), "है")
    return say(f"{subject.english} {verb} {what.english}", f"{near} {what.hindi} {hindi}")


def kin(draw: Random) -> Words:
    """I have two brothers: मेरे दो भाई हैं, without पास."""
    subject = draw.choice(SUBJECTS)
    noun = draw.choice(KIN[:2] if subject in YOUNG else KIN)
    kind = draw.choice(("one", "many", "many", "not", "?", "how many"))
    one, many = Agreement(noun.gender), Agreement(noun.gender, True)
    a = noun_phrase(noun, "a").english
    several = noun.in_english(is_plural=True)
    hindi = noun.in_hindi(is_plural=True)
    number = NUMBERS[draw.choice((2, 3, 4, 5))]
    whose = agree(subject.ka, one)
    if kind == "one":
        return say(f"{subject.english} {have(subject.person)} {a}", f"{whose} एक {noun.hindi} है")
    if kind == "not":
        return say(
            f"{subject.english} {_does(subject)} not have {a}", f"{whose} कोई {noun.hindi} नहीं है"
        )
    if kind == "?":
        return enquire(
            f"{_does(subject)} {subject.english} have {a}", f"क्या {whose} कोई {noun.hindi} है"
        )
    whose = agree(subject.ka, many)
    if kind == "how many":
        return enquire(
            f"how many {several} {_does(subject)} {subject.english} have",
            f"{whose} {agree('कितना', many)} {hindi} हैं",
        )
    return say(
        f"{subject.english} {have(subject.person)} {number.english} {several}",
        f"{whose} {number.hindi} {hindi} हैं",
    )


def likes(draw: Random) -> Words:
    """I like mangoes: मुझे आम पसंद हैं."""
    subject = draw.choice(SUBJECTS)
    kinds = (DISHES, FRUITS, DRINKS, TEXTS, THINGS, CLOTHES, _LIKED, GAMES, LANGUAGES, ANIMALS)
    noun = draw.choice(draw.choice(kinds))
    is_plural = not noun.is_mass and draw.random() < 0.5
    determiner = "this" if noun.adjectives and (draw.random() < 0.3 or noun in FURNITURE) else ""
    if not noun.is_mass and not is_plural:
        determiner = "this"
    what = _maybe_adjective(draw, noun, determiner, is_plural)
    hindi = f"{subject.ko} {what.hindi} पसंद"
    is_ = copula(what.who)
    kind = draw.choice(("like", "like", "not", "?", "liked"))
    if kind == "?":
        return enquire(
            f"{_does(subject)} {subject.english} like {what.english}", f"क्या {hindi} {is_}"
        )
    if kind == "not":
        return say(
            f"{subject.english} {_does(subject)} not like {what.english}", f"{hindi} नहीं {is_}"
        )
    if kind == "liked" and determiner:
        return say(
            f"{subject.english} liked {what.english}", f"{hindi} {perfective('आ', what.who)}"
        )
    like = "likes" if subject.person == "one" else "like"
    return say(f"{subject.english} {like} {what.english}", f"{hindi} {is_}")


def needs(draw: Random) -> Words:
    """I want tea: मुझे चाय चाहिए. I need a pen: मुझे एक पेन की ज़रूरत है."""
    subject = draw.choice(SUBJECTS)
    noun = draw.choice(draw.choice((DISHES, FRUITS, DRINKS, THINGS, CLOTHES[2:], FURNITURE[:3])))
    is_plural = noun in FRUITS and draw.random() < 0.5
    number = NUMBERS[draw.choice((2, 3, 4, 5, 6, 10, 12))].english
    determiner = "" if noun.is_mass else number if is_plural else "a"
    what = _maybe_adjective(draw, noun, determiner, is_plural)
    verb, hindi = draw.choice(
        (
            ("want", f"{subject.ko} {what.hindi} चाहिए"),
            ("need", f"{subject.ko} {what.oblique} की ज़रूरत है"),
        )
    )
    if draw.random() < 0.2 and subject.english != "I":
        return enquire(f"{_does(subject)} {subject.english} {verb} {what.english}", f"क्या {hindi}")
    if draw.random() < 0.2 and noun.is_mass:
        head, _, tail = hindi.rpartition(" चाहिए" if verb == "want" else " है")
        end = "चाहिए" if verb == "want" else "है"
        return say(
            f"{subject.english} {_does(subject)} not {verb} {what.english}",
            join(head, tail, "नहीं", end),
        )
    ending = "s" if subject.person == "one" else ""
    return say(f"{subject.english} {verb}{ending} {what.english}", hindi)


def feelings(draw: Random) -> Words:
    """I am hungry: मुझे भूख लगी है. I have a headache: मेरे सिर में दर्द है."""
    subject = draw.choice(SUBJECTS)
    (english, noun), participle, have_or_be = draw.choice(_FEELINGS)
    kind = draw.choice(("is", "is", "was", "not", "?"))
    is_have = have_or_be == "have"
    whom = f"{subject.post} सिर में" if noun == "दर्द" else subject.ko
    past = "था" if is_have else "थी"
    verb = have(subject.person) if is_have else be(subject.person)
    if kind == "was":
        was_ = "had" if is_have else be(subject.person, is_past=True)
        return say(f"{subject.english} {was_} {english}", join(whom, noun, participle, past))
    if kind == "not":
        verb = f"{_does(subject)} not have" if is_have else f"{verb} not"
        return say(f"{subject.english} {verb} {english}", join(whom, noun, "नहीं", participle, "है"))
    if kind == "?" and subject.english != "I":
        asked = f"{verb} {subject.english}"
        if is_have:
            asked = f"{_does(subject)} {subject.english} have"
        return enquire(f"{asked} {english}", join("क्या", whom, noun, participle, "है"))
    return say(f"{subject.english} {verb} {english}", join(whom, noun, participle, "है"))


def giving(draw: Random) -> Words:
    """Ravi gave Meera a book. Please give me two mangoes."""
    noun = draw.choice(_PORTABLE)
    is_plural = draw.random() < 0.3
    number = NUMBERS[draw.choice((2, 3, 4, 5, 6))].english
    determiner = number if is_plural else draw.choice(("a", "a", "this"))
    what = _maybe_adjective(draw, noun, determiner, is_plural)
    if draw.random() < 0.2:
        to = draw.choice((*PRONOUNS[:2], *PRONOUNS[3:], *NAMES))
        return say(f"please give {to.me} {what.english}", f"कृपया {to.ko} {what.hindi} दीजिए")
    subject = draw.choice(SUBJECTS)
    others = [*NAMES, *STRANGERS]
    if subject not in PRONOUNS:
        others += PRONOUNS
    elif subject.english not in ("I", "we"):
        others += [PRONOUNS[0], PRONOUNS[1]]
    to = draw.choice(others_than(subject, others))
    tense: Tense = draw.choice(("past", "past", "future", "progressive", "want to"))
    action = Action(GIVE, f"{to.me} {what.english}", f"{to.ko} {what.hindi}", what.who)
    english = state(subject.english, subject.person, GIVE.english, tense)
    return say(f"{english} {action.english}", deed(subject, action, tense))


def ages(draw: Random) -> Words:
    """My sister is twelve years old: बारह साल की है."""
    old = (40, 50, 60, 70, 80, 90)
    young = (5, 6, 7, 8, 9, 10, 11, 12, 15)
    grown = (15, 18, 20, 25, 30)
    groups = ((ELDERS, old), (STRANGERS[:2], young), ((*PRONOUNS, *NAMES, *FAMILY[:6]), grown))
    people, years = draw.choices(groups, (2, 1, 4))[0]
    subject = draw.choice(people)
    of = agree("का", subject.who)
    if draw.random() < 0.15 and not subject.my.startswith("my"):
        return enquire(
            f"how old {be(subject.person)} {subject.english}",
            f"{subject.hindi} कितने साल {of} {copula(subject.who)}",
        )
    number = NUMBERS[draw.choice(years)]
    return say(
        f"{subject.english} {be(subject.person)} {number.english} years old",
        f"{subject.hindi} {number.hindi} साल {of} {copula(subject.who)}",
    )


def prices(draw: Random) -> Words:
    """Ask and tell prices: this book costs fifty rupees: पचास रुपये की है."""
    noun = draw.choice((*THINGS, *TEXTS[:2], *CLOTHES, *FRUITS))
    is_plural = draw.random() < 0.35
    what = _maybe_adjective(draw, noun, draw.choice(("this", "that")), is_plural)
    of = agree("का", what.who)
    if draw.random() < 0.25:
        return enquire(
            f"how much {'are' if is_plural else 'is'} {what.english}",
            f"{what.hindi} कितने {of} {copula(what.who)}",
        )
    number = NUMBERS[draw.choice((5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100))]
    return say(
        f"{what.english} cost{'' if is_plural else 's'} {number.english} rupees",
        f"{what.hindi} {number.hindi} रुपये {of} {copula(what.who)}",
    )
