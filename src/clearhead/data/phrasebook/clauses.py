"""Sentences about what people do: tenses, questions, likes, wishes, duties, requests, reasons."""

from random import Random

from clearhead.data.phrasebook.actions import event, habit, join, others_than, own_people
from clearhead.data.phrasebook.english import Tense, ask, state
from clearhead.data.phrasebook.hindi import (
    Agreement,
    command,
    conjugate,
    future,
    infinitive,
    perfective,
    request,
    subjunctive,
)
from clearhead.data.phrasebook.people import NAMES, PRONOUNS, STRANGERS, SUBJECTS, Somebody
from clearhead.data.phrasebook.verbs import COME, FRAMES, GO, LIVE, SKILLS, Action
from clearhead.data.phrasebook.words import (
    CITIES,
    HABIT_TIMES,
    HOURS,
    PAST_TIMES,
    PLACES,
    TIMES_TO_COME,
    VEHICLES,
    Words,
)

__all__ = [
    "ability",
    "commands",
    "companions",
    "deed",
    "duties",
    "enquire",
    "events",
    "habits",
    "likes_doing",
    "purposes",
    "question_words",
    "questions",
    "say",
    "subjects_asked",
    "whole",
    "wishes",
]

NO_TIME = Words("", "")
_WE = Agreement("m", True)
_AT_HOURS = tuple(
    Words(f"at {english}", hindi) for english, hindi in HOURS if "quarter" not in english
)
_BY_THE_CLOCK = ("जा", "आ", "पी", "टहल", "दौड़", "तैर", "सो", "खेल", "पढ़ाई कर", "आराम कर")
_DONE_TO_THINGS = [frame.verb for frame in FRAMES]
_AT_NO_FIXED_TIME = ("खोल", "बंद कर", "ढूँढ़")
_TIMES: dict[Tense, tuple[Words, ...]] = {
    "present": HABIT_TIMES,
    "progressive": (Words("now", "अभी"), Words("today", "आज")),
    "past": PAST_TIMES,
    "past progressive": PAST_TIMES[:3],
    "future": TIMES_TO_COME,
}
_ERRANDS = {
    "the market": (
        Words("buy fruit", "फल ख़रीदने"),
        Words("buy flowers", "फूल ख़रीदने"),
        Words("buy fish", "मछली ख़रीदने"),
    ),
    "the shop": (
        Words("buy bread", "रोटी ख़रीदने"),
        Words("buy milk", "दूध ख़रीदने"),
        Words("buy a bag", "एक थैला ख़रीदने"),
    ),
    "the library": (Words("read books", "किताबें पढ़ने"), Words("study Hindi", "हिंदी पढ़ने")),
    "the park": (Words("play cricket", "क्रिकेट खेलने"), Words("fly kites", "पतंगें उड़ाने")),
    "the hospital": (Words("meet the doctor", "डॉक्टर से मिलने"), Words("see Ravi", "रवि को देखने")),
    "the station": (Words("buy tickets", "टिकट ख़रीदने"), Words("meet Meera", "मीरा से मिलने")),
    "school": (Words("learn English", "अंग्रेज़ी सीखने"), Words("teach Hindi", "हिंदी पढ़ाने")),
    "the museum": (Words("see pictures", "तस्वीरें देखने"), Words("see the toys", "खिलौने देखने")),
    "the hotel": (Words("eat fish", "मछली खाने"), Words("meet Amit", "अमित से मिलने")),
}


def say(english: str, hindi: str) -> Words:
    """End a statement.

    >>> say("he is here", "वह यहाँ है")
    Words(english='He is here.', hindi='वह यहाँ है।')
    """
    return Words(english[0].upper() + english[1:] + ".", hindi + "।")


def enquire(english: str, hindi: str) -> Words:
    """End a question."""
    return Words(english[0].upper() + english[1:] + "?", hindi + "?")


def whole(action: Action) -> str:
    """What follows the English verb, its particle included."""
    return join(action.verb.particle, action.english)


def deed(
    subject: Somebody,
    action: Action,
    tense: Tense,
    *,
    is_negative: bool = False,
    time: str = "",
    question: str = "",
) -> str:
    """Say in Hindi what somebody does: subject, time, object, question word, verb.

    With ने the verb agrees with the object, else with the subject.
    """
    is_ergative = action.verb.takes_ne and tense in ("past", "perfect")
    who = action.what if is_ergative else subject.who
    verb = conjugate(action.verb.stem, tense, who, is_negative=is_negative)
    return join(subject.ne if is_ergative else subject.hindi, time, action.hindi, question, verb)


def _time(draw: Random, tense: Tense, action: Action) -> Words:
    """Draw a time that suits the tense and the deed, or none."""
    is_timeless = action.verb.stem in _AT_NO_FIXED_TIME or action.english == "breakfast"
    if tense not in _TIMES or is_timeless or draw.random() < 0.6:
        return NO_TIME
    has_hours = tense in ("present", "future") and action.verb.stem in _BY_THE_CLOCK
    return draw.choice((*_TIMES[tense], *_AT_HOURS) if has_hours else _TIMES[tense])


def _tell(draw: Random, subject: Somebody, action: Action, tense: Tense, negative: bool) -> Words:
    time = _time(draw, tense, action)
    english = state(
        subject.english, subject.person, action.verb.english, tense, is_negative=negative
    )
    return say(
        join(english, whole(action), time.english),
        deed(subject, action, tense, is_negative=negative, time=time.hindi),
    )


def habits(draw: Random) -> Words:
    """Ravi drinks tea every day."""
    subject = draw.choice(SUBJECTS)
    if draw.random() < 0.15:
        city = draw.choice(CITIES)
        action = Action(LIVE, city.where.english, city.where.hindi)
        english = state(subject.english, subject.person, LIVE.english, "present")
        return say(join(english, action.english), deed(subject, action, "present"))
    tense: Tense = draw.choices(("present", "used to"), (5, 1))[0]
    negative = tense == "present" and draw.random() < 0.3
    return _tell(draw, subject, habit(draw, subject), tense, negative)


def events(draw: Random) -> Words:
    """Ravi is reading a book. Meera wrote a letter yesterday."""
    subject = draw.choice(SUBJECTS)
    tense: Tense = draw.choices(
        ("progressive", "past", "future", "past progressive", "perfect"), (5, 6, 5, 2, 3)
    )[0]
    negative = draw.random() < 0.25
    action = event(draw, subject, is_definite=negative)
    return _tell(draw, subject, action, tense, negative)


def questions(draw: Random) -> Words:
    """Is Ravi reading a book?"""
    subject = draw.choice([person for person in SUBJECTS if person.english != "I"])
    tense: Tense = draw.choices(
        ("present", "progressive", "past", "future", "perfect", "can", "want to"),
        (4, 4, 4, 4, 2, 2, 2),
    )[0]
    action = (habit if tense == "present" else event)(draw, subject)
    time = _time(draw, tense, action)
    english = ask(subject.english, subject.person, action.verb.english, tense)
    return enquire(
        join(english, whole(action), time.english),
        join("क्या", deed(subject, action, tense, time=time.hindi)),
    )


def question_words(draw: Random) -> Words:
    """When will you go to Delhi? What is Ravi eating?"""
    subject = draw.choice([person for person in SUBJECTS if person.english != "I"])
    word = draw.choice(("when", "why", "what", "where", "how"))
    tense: Tense = draw.choice(("present", "progressive", "past", "future"))
    if word == "when" and tense == "progressive":
        tense = "future"
    if word == "how":
        place = draw.choice((*PLACES, *CITIES))
        action = Action(GO, place.whither.english, place.whither.hindi)
        if tense == "progressive":
            tense = "future"
    elif word == "where" and draw.random() < 0.5:
        action = draw.choice((Action(GO, "", ""), Action(LIVE, "", "")))
        if action.verb is LIVE:
            tense = "present"
    else:
        action = (habit if tense == "present" else event)(draw, subject, **_definite(tense))
        if word not in _suitable_words(action):
            word = "why"
        if word == "what":
            return _ask_what(subject, action, tense)
    hindi = {"when": "कब", "why": "क्यों", "where": "कहाँ", "how": "कैसे"}[word]
    english = ask(subject.english, subject.person, action.verb.english, tense)
    return enquire(join(word, english, whole(action)), deed(subject, action, tense, question=hindi))


def _definite(tense: Tense) -> dict[str, bool]:
    return {} if tense == "present" else {"is_definite": True}


def _suitable_words(action: Action) -> tuple[str, ...]:
    """The question words that an action may answer: what is for things, where is for doings."""
    if action.verb in _DONE_TO_THINGS:
        is_odd = action.verb.particle or action.verb.stem in _AT_NO_FIXED_TIME
        return ("when", "why", "what") if is_odd else ("when", "why", "what", "where")
    return ("when", "why")


def _ask_what(subject: Somebody, action: Action, tense: Tense) -> Words:
    english = ask(subject.english, subject.person, action.verb.english, tense)
    anything = Action(action.verb, "", "क्या")
    return enquire(join("what", english, action.verb.particle), deed(subject, anything, tense))


def subjects_asked(draw: Random) -> Words:
    """Who is reading the book? The object comes first: किताब कौन पढ़ रहा है?"""
    tense: Tense = draw.choice(("present", "progressive", "past", "future"))
    stranger = Somebody("who", "one", "कौन", "किस", Agreement(), "his", ergative="किसने")
    action = (habit if tense == "present" else event)(draw, stranger, **_definite(tense))
    if "his" in action.english.split():
        return subjects_asked(draw)
    is_ergative = action.verb.takes_ne and tense == "past"
    verb = conjugate(action.verb.stem, tense, action.what if is_ergative else stranger.who)
    return enquire(
        join(state("who", "one", action.verb.english, tense), whole(action)),
        join(action.hindi, stranger.ne if is_ergative else stranger.hindi, verb),
    )


def ability(draw: Random) -> Words:
    """Meera can speak Hindi."""
    subject = draw.choice(SUBJECTS)
    negative = draw.random() < 0.35
    action = draw.choice((draw.choice(SKILLS), event(draw, subject, is_definite=negative)))
    return _tell(draw, subject, action, "can", negative)


def wishes(draw: Random) -> Words:
    """Meera wants to go to Delhi."""
    subject = draw.choice(SUBJECTS)
    negative = draw.random() < 0.3
    action = event(draw, subject, is_definite=negative)
    return _tell(draw, subject, action, "want to", negative)


def likes_doing(draw: Random) -> Words:
    """I like eating ice-cream. The infinitive stands as the verb's object: खाना पसंद है."""
    subject = draw.choice(SUBJECTS)
    action = habit(draw, subject)
    if action.verb is COME:
        return likes_doing(draw)
    verb = f"{action.verb.english.ing} {whole(action)}"
    hindi = join(subject.ko, action.hindi, infinitive(action.verb.stem))
    kind = draw.random()
    is_one = subject.person == "one"
    if kind < 0.2 and subject.english != "I":
        does = "does" if is_one else "do"
        return enquire(f"{does} {subject.english} like {verb}", f"क्या {hindi} पसंद है")
    if kind < 0.45:
        does = "does" if is_one else "do"
        return say(f"{subject.english} {does} not like {verb}", f"{hindi} पसंद नहीं है")
    return say(f"{subject.english} {'likes' if is_one else 'like'} {verb}", f"{hindi} पसंद है")


def duties(draw: Random) -> Words:
    """I have to read this book. The infinitive agrees with its object: किताब पढ़नी है."""
    subject = draw.choice(SUBJECTS)
    action = event(draw, subject, is_definite=True)
    what = action.what if action.verb.takes_ne or action.verb.stem == "ला" else Agreement()
    is_one = subject.person == "one"
    kind = draw.choice(("have", "should", "should not", "must", "had", "every day"))
    if kind == "every day":
        action = habit(draw, subject)
        what = action.what if action.verb.takes_ne or action.verb.stem == "ला" else Agreement()
    has = "has" if is_one else "have"
    english, auxiliary = {
        "have": (f"{has} to", "हैं" if what.is_plural else "है"),
        "should": ("should", "चाहिए"),
        "should not": ("should not", "चाहिए"),
        "must": ("must", future("हो", what)),
        "had": ("had to", perfective("पड़", what)),
        "every day": (f"{has} to", conjugate("पड़", "present", what)),
    }[kind]
    time = Words("every day", "हर दिन") if kind == "every day" else NO_TIME
    before, _, verb = f" {action.verb.stem}".rpartition(" ")
    not_ = "नहीं" if kind == "should not" else ""
    return say(
        join(subject.english, english, action.verb.english.base, whole(action), time.english),
        join(
            *(subject.ko, time.hindi, action.hindi, before.strip(), not_),
            *(infinitive(verb, what), auxiliary),
        ),
    )


def commands(draw: Random) -> Words:
    """Please open the door. Do not open the door. Let us go home."""
    you = next(person for person in PRONOUNS if person.english == "you")
    kind = draw.choice(("please", "plain", "please not", "not", "let us"))
    action = event(draw, you, is_definite=kind in ("please not", "not"))
    if kind == "let us":
        action = event(draw, PRONOUNS[1])
    base = join(action.verb.english.base, whole(action))
    stem = action.verb.stem
    english, hindi = {
        "please": (f"please {base}", f"कृपया {action.hindi} {request(stem)}"),
        "plain": (base, f"{action.hindi} {command(stem)}"),
        "please not": (
            f"please do not {base}",
            f"कृपया {action.hindi} {request(stem, is_negative=True)}",
        ),
        "not": (f"do not {base}", f"{action.hindi} {command(stem, is_negative=True)}"),
        "let us": (f"let us {base}", f"आइए, {action.hindi} {subjunctive(stem, _WE)}"),
    }[kind]
    return say(english, hindi)


def companions(draw: Random) -> Words:
    """Ravi is going to Delhi by train with his friends."""
    subject = draw.choice(SUBJECTS)
    tense: Tense = draw.choice(("progressive", "past", "future", "want to"))
    other = draw.choice(others_than(subject, (*NAMES, *STRANGERS)))
    english, hindi = other.english, other.oblique
    if draw.random() < 0.6:
        english, hindi = own_people(draw, subject)
    place = draw.choice((*CITIES, *CITIES, *PLACES))
    vehicle = draw.choice(VEHICLES) if place in CITIES and draw.random() < 0.5 else NO_TIME
    action = Action(
        GO,
        join(place.whither.english, vehicle.english, "with", english),
        join(hindi, "के साथ", vehicle.hindi, place.whither.hindi),
    )
    return _tell(draw, subject, action, tense, False)


def purposes(draw: Random) -> Words:
    """Ravi went to the market to buy fruit: ख़रीदने बाज़ार गया."""
    subject = draw.choice(SUBJECTS)
    name = draw.choice(tuple(_ERRANDS))
    place = next(place for place in PLACES if place.english == name)
    errands = [e for e in _ERRANDS[name] if not (subject.is_name and subject.english in e.english)]
    english, hindi = draw.choice(errands)
    tense: Tense = draw.choice(("present", "progressive", "past", "future", "want to"))
    action = Action(GO, f"{place.whither.english} to {english}", f"{hindi} {place.whither.hindi}")
    return _tell(draw, subject, action, tense, draw.random() < 0.2)
