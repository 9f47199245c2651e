"""Sentences about what is: where things are, how they are, whose they are, who people are."""

from random import Random

from clearhead.data.phrasebook.actions import join, noun_phrase, suits
from clearhead.data.phrasebook.clauses import enquire, say
from clearhead.data.phrasebook.english import Person, be
from clearhead.data.phrasebook.hindi import Agreement, agree, copula, was
from clearhead.data.phrasebook.people import (
    ELDERS,
    FAMILY,
    NAMES,
    PEOPLE,
    PRONOUNS,
    STRANGERS,
    SUBJECTS,
    YOUNG,
)
from clearhead.data.phrasebook.words import (
    ADJECTIVES,
    ANIMALS,
    CITIES,
    CLOTHES,
    DISHES,
    DRINKS,
    FRUITS,
    FURNITURE,
    NUMBERS,
    PLACES,
    TEXTS,
    THINGS,
    VERY,
    Adjective,
    Noun,
    Words,
)

__all__ = [
    "belongings",
    "buildings",
    "comparisons",
    "descriptions",
    "locations",
    "moods",
    "names",
    "professions",
    "tell_or_ask",
    "there_is",
    "whereabouts",
]

_MOODS = (
    Adjective("happy", "ख़ुश"),
    Adjective("sad", "उदास"),
    Adjective("tired", "थका हुआ"),
    Adjective("busy", "व्यस्त"),
    Adjective("ill", "बीमार"),
    Adjective("ready", "तैयार"),
    Adjective("angry", "नाराज़"),
    Adjective("worried", "परेशान"),
    Adjective("alone", "अकेला"),
    Adjective("clever", "होशियार"),
    Adjective("honest", "ईमानदार"),
)
_PROFESSIONS = (
    (Noun("student", "छात्र", "m"), Noun("student", "छात्रा", "f")),
    (Noun("doctor", "डॉक्टर", "m"), Noun("doctor", "डॉक्टर", "f")),
    (Noun("teacher", "अध्यापक", "m"), Noun("teacher", "अध्यापिका", "f")),
    (Noun("farmer", "किसान", "m"), Noun("farmer", "किसान", "f")),
    (Noun("singer", "गायक", "m"), Noun("singer", "गायिका", "f")),
    (Noun("writer", "लेखक", "m"), Noun("writer", "लेखिका", "f")),
    (Noun("engineer", "इंजीनियर", "m"), Noun("engineer", "इंजीनियर", "f")),
    (Noun("lawyer", "वकील", "m"), Noun("lawyer", "वकील", "f")),
)
_SIZES = (
    Adjective("tall", "लंबा", "taller"),
    Adjective("old", "बड़ा", "older"),
    Adjective("young", "छोटा", "younger"),
    Adjective("clever", "होशियार", "cleverer"),
)
_SMALL = (*THINGS, *TEXTS[:3], *CLOTHES)
_DESCRIBED = (*_SMALL, *TEXTS[3:], *FURNITURE, *ANIMALS)
_RELATIONS = (
    (Words("on", "पर"), "table chair bed", "small"),
    (Words("on", "पर"), "table", "fruit"),
    (Words("in", "में"), "box bag", "fruit"),
    (Words("in", "में"), "box bag room car", "small"),
    (Words("under", "के नीचे"), "table chair bed", "any"),
    (Words("near", "के पास"), "table chair bed door window", "any"),
    (Words("behind", "के पीछे"), "door chair", "any"),
    (Words("in", "में"), "room house car", "animal"),
    (Words("under", "के नीचे"), "tree car", "animal"),
)
_NEAR = (
    Words("near", "के पास"),
    Words("behind", "के पीछे"),
    Words("in front of", "के सामने"),
    Words("far from", "से दूर"),
)


def tell_or_ask(
    draw: Random,
    subject: Words,
    person: Person,
    who: Agreement,
    rest: Words,
    *,
    kinds: tuple[str, ...] = ("is", "is", "is", "was", "is not", "was not", "is?", "was?"),
) -> Words:
    """Say that the subject is or was something, is it not, or ask whether it is."""
    kind = draw.choice(kinds)
    is_past = kind.startswith("was")
    verb, hindi_verb = be(person, is_past=is_past), was(who) if is_past else copula(who)
    if kind.endswith("?"):
        return enquire(
            join(verb, subject.english, rest.english),
            join("क्या", subject.hindi, rest.hindi, hindi_verb),
        )
    is_negative = kind.endswith("not")
    return say(
        join(subject.english, verb, "not" if is_negative else "", rest.english),
        join(subject.hindi, rest.hindi, "नहीं" if is_negative else "", hindi_verb),
    )


def _place_for(draw: Random) -> tuple[Noun, Words]:
    """Draw a thing or an animal, and where it may be."""
    relation, places, kind = draw.choice(_RELATIONS)
    pets = ANIMALS[:2]
    groups = {"small": _SMALL, "fruit": FRUITS, "any": (*_SMALL, *pets), "animal": pets}
    nouns = groups[kind]
    name = draw.choice(places.split())
    place = next(noun for noun in (*FURNITURE, *THINGS) if noun.english == name)
    noun = draw.choice([noun for noun in nouns if noun.english != name])
    where = noun_phrase(place, "the")
    return noun, Words(f"{relation.english} {where.english}", f"{where.oblique} {relation.hindi}")


def locations(draw: Random) -> Words:
    """The book is on the table."""
    noun, where = _place_for(draw)
    is_plural = draw.random() < 0.25
    has_adjective = draw.random() < 0.2
    adjective = ADJECTIVES[draw.choice(noun.adjectives)] if has_adjective else None
    owner = draw.choice(SUBJECTS)
    what = noun_phrase(noun, "the", adjective=adjective, is_plural=is_plural)
    subject = Words(what.english, what.hindi)
    if draw.random() < 0.4 and noun in _DESCRIBED and suits(noun, owner):
        bare = noun_phrase(noun, adjective=adjective, is_plural=is_plural)
        subject = Words(f"{owner.my} {bare.english}", f"{agree(owner.ka, what.who)} {bare.hindi}")
    person: Person = "many" if is_plural else "one"
    if draw.random() < 0.15:
        return enquire(
            join("where", be(person), subject.english),
            join(subject.hindi, "कहाँ", copula(what.who)),
        )
    return tell_or_ask(draw, subject, person, what.who, where)


def there_is(draw: Random) -> Words:
    """There is a book on the table: the place comes first, मेज़ पर एक किताब है."""
    noun, where = _place_for(draw)
    number = NUMBERS[draw.choice((2, 3, 4) if noun in ANIMALS else range(2, 11))].english
    determiner = draw.choice(("a", "a", number))
    has_adjective = draw.random() < 0.3
    adjective = ADJECTIVES[draw.choice(noun.adjectives)] if has_adjective else None
    what = noun_phrase(noun, determiner, adjective=adjective, is_plural=determiner != "a")
    person: Person = "one" if determiner == "a" else "many"
    is_past = draw.random() < 0.3
    if draw.random() < 0.2:
        many = noun_phrase(noun, is_plural=True)
        return enquire(
            f"how many {many.english} are there {where.english}",
            f"{where.hindi} {agree('कितना', many.who)} {many.hindi} हैं",
        )
    return say(
        f"there {be(person, is_past=is_past)} {what.english} {where.english}",
        f"{where.hindi} {what.hindi} {was(what.who) if is_past else copula(what.who)}",
    )


def buildings(draw: Random) -> Words:
    """The bank is near the market."""
    places = [
        place for place in PLACES if place.english not in ("the village", "the city", "school")
    ]
    one, other = draw.sample(places, 2)
    relation = draw.choice(_NEAR)
    subject = Words(one.english, one.hindi)
    if draw.random() < 0.1:
        return enquire(f"where is {one.english}", f"{one.hindi} कहाँ है")
    rest = Words(f"{relation.english} {other.english}", f"{other.oblique} {relation.hindi}")
    return tell_or_ask(draw, subject, "one", Agreement(one.gender), rest)


def whereabouts(draw: Random) -> Words:
    """My brother is at the station."""
    subject = draw.choice(SUBJECTS)
    place = draw.choice((*PLACES, *CITIES))
    where = draw.choice((place.where, place.where, Words("at home", "घर पर")))
    if draw.random() < 0.12:
        is_past = draw.random() < 0.5
        return enquire(
            join("where", be(subject.person, is_past=is_past), subject.english),
            join(subject.hindi, "कहाँ", was(subject.who) if is_past else copula(subject.who)),
        )
    return tell_or_ask(
        draw, Words(subject.english, subject.hindi), subject.person, subject.who, where
    )


def descriptions(draw: Random) -> Words:
    """Tell how things are: this house is very big. Ravi's hats are black."""
    noun = draw.choice((*_DESCRIBED, *FRUITS, *DISHES, *DRINKS))
    adjective = ADJECTIVES[draw.choice(noun.adjectives)]
    is_plural = not noun.is_mass and draw.random() < 0.35
    person: Person = "many" if is_plural else "one"
    what = noun_phrase(noun, draw.choice(("the", "this", "that")), is_plural=is_plural)
    subject = Words(what.english, what.hindi)
    if draw.random() < 0.4 and noun in _DESCRIBED:
        owner = draw.choice([person for person in PEOPLE if suits(noun, person)])
        bare = noun_phrase(noun, is_plural=is_plural)
        subject = Words(f"{owner.my} {bare.english}", f"{agree(owner.ka, what.who)} {bare.hindi}")
    is_shade = adjective.english in ("red", "black", "white", "blue", "green", "yellow")
    very = VERY if draw.random() < 0.3 and not is_shade else Words("", "")
    rest = Words(join(very.english, adjective.english), join(very.hindi, adjective.agree(what.who)))
    return tell_or_ask(draw, subject, person, what.who, rest)


def moods(draw: Random) -> Words:
    """My sister is very tired."""
    subject = draw.choice(SUBJECTS)
    mood = draw.choice(_MOODS)
    can_be_very = mood.english not in ("ready", "alone")
    very = VERY if can_be_very and draw.random() < 0.25 else Words("", "")
    rest = Words(join(very.english, mood.english), join(very.hindi, mood.agree(subject.who)))
    kinds = ("is", "is", "was", "is not") + (("is?", "was?") if subject.english != "I" else ())
    whom = Words(subject.english, subject.hindi)
    return tell_or_ask(draw, whom, subject.person, subject.who, rest, kinds=kinds)


def professions(draw: Random) -> Words:
    """My mother is a teacher. They are students."""
    subject = draw.choice([person for person in SUBJECTS if person.english != "the children"])
    pair = _PROFESSIONS[0] if subject in YOUNG else draw.choice(_PROFESSIONS)
    noun = pair[0] if subject.who.gender == "m" else pair[1]
    is_plural = subject.person == "many" and subject.english != "you"
    what = noun_phrase(noun, "" if is_plural else "a", is_plural=is_plural)
    has_feminine = pair[0].hindi != pair[1].hindi  # वकील is said of women too, without an ending
    rest = Words(what.english, noun.in_hindi(is_plural=is_plural and has_feminine))
    if draw.random() < 0.1 and is_plural and subject.english != "my friends":
        rest = Words("friends", "दोस्त")
    is_mine = subject.my.startswith("my")
    kinds = ("is", "is", "was", "is not") + (() if is_mine else ("is?",))
    whom = Words(subject.english, subject.hindi)
    return tell_or_ask(draw, whom, subject.person, subject.who, rest, kinds=kinds)


def comparisons(draw: Random) -> Words:
    """Compare: this house is bigger than that house. Ravi is taller than Amit."""
    if draw.random() < 0.5:
        equals = (*NAMES, *PRONOUNS[:1], *FAMILY[:2], *FAMILY[4:6])
        one, two = draw.sample((*equals, *PRONOUNS[3:5]), 2)
        size = draw.choice(_SIZES)
        than = f"{two.oblique}से" if two in PRONOUNS else f"{two.oblique} से"
        rest = Words(f"{size.comparative} than {two.me}", f"{than} {size.agree(one.who)}")
        kinds = ("is", "is", "is not") + (("is?",) if one.english != "I" else ())
        whom = Words(one.english, one.hindi)
        return tell_or_ask(draw, whom, one.person, one.who, rest, kinds=kinds)
    noun = draw.choice(_DESCRIBED)
    sizes = [ADJECTIVES[name] for name in noun.adjectives if ADJECTIVES[name].comparative]
    if not sizes:
        return comparisons(draw)
    size = draw.choice(sizes)
    that, this = noun_phrase(noun, "that"), noun_phrase(noun, "this")
    subject = Words(this.english, this.hindi)
    than_that = Words(that.english, that.oblique)
    if draw.random() < 0.6:
        one, two = draw.sample([person for person in PEOPLE if suits(noun, person)], 2)
        subject = Words(f"{one.my} {noun.english}", f"{agree(one.ka, this.who)} {noun.hindi}")
        owner = agree(two.ka, this.who, is_oblique=True)
        oblique = noun.in_hindi(is_oblique=True)
        than_that = Words(f"{two.my} {noun.english}", f"{owner} {oblique}")
    rest = Words(
        f"{size.comparative} than {than_that.english}",
        f"{than_that.hindi} से {size.agree(this.who)}",
    )
    return tell_or_ask(draw, subject, "one", this.who, rest, kinds=("is", "is", "is not", "is?"))


def belongings(draw: Random) -> Words:
    """Tell whose things are: this is Ravi's book. Whose book is this?"""
    noun = draw.choice([noun for noun in _DESCRIBED if noun.english not in ("door", "window")])
    is_plural = draw.random() < 0.3
    owner = draw.choice([person for person in PEOPLE if suits(noun, person)])
    what = noun_phrase(noun, is_plural=is_plural)
    person: Person = "many" if is_plural else "one"
    near = draw.random() < 0.6
    this = {
        (True, False): Words("this", "यह"),
        (True, True): Words("these", "ये"),
        (False, False): Words("that", "वह"),
        (False, True): Words("those", "वे"),
    }[near, is_plural]
    if draw.random() < 0.2:
        return enquire(
            f"whose {what.english} {be(person)} {this.english}",
            f"{this.hindi} {agree('किसका', what.who)} {what.hindi} {copula(what.who)}",
        )
    rest = Words(f"{owner.my} {what.english}", f"{agree(owner.ka, what.who)} {what.hindi}")
    return tell_or_ask(draw, this, person, what.who, rest, kinds=("is", "is", "is not", "is?"))


def names(draw: Random) -> Words:
    """My brother's name is Ravi. Hindi says the oblique: मेरे भाई का नाम."""
    people = (*PRONOUNS[:1], *PRONOUNS[2:5], *ELDERS, *FAMILY[:6], *STRANGERS[:4])
    subject = draw.choice(people)
    whose = f"{subject.my} name"
    hindi = f"{subject.ka} नाम"
    is_mine = subject.my.startswith("my")
    if draw.random() < 0.2 and not is_mine:
        return enquire(f"what is {whose}", f"{hindi} क्या है")
    fitting = [name for name in NAMES if name.who.gender == subject.who.gender]
    name = draw.choice(fitting)
    rest = Words(name.english, name.hindi)
    kinds = ("is",) if is_mine else ("is", "is", "is not", "is?")
    return tell_or_ask(draw, Words(whose, hindi), "one", Agreement(), rest, kinds=kinds)
