"""Sentences about clocks, days, timetables, weather and journeys."""

from random import Random

from clearhead.data.phrasebook.actions import join
from clearhead.data.phrasebook.clauses import deed, enquire, say
from clearhead.data.phrasebook.english import EnglishVerb, Tense, ask, state
from clearhead.data.phrasebook.hindi import Agreement, conjugate
from clearhead.data.phrasebook.people import SUBJECTS, Somebody
from clearhead.data.phrasebook.verbs import COME, GO, Action, Verb
from clearhead.data.phrasebook.words import CITIES, DAYS, HOURS, NUMBERS, PLACES, Words

__all__ = ["clocks", "days", "journeys", "timetables", "weather"]


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def _thing(english: str, hindi: str, feminine: bool) -> Somebody:
    return Somebody(english, "one", hindi, hindi, Agreement("f" if feminine else "m"), "its")


_START = Verb(EnglishVerb.parse("start started started"), "शुरू हो", takes_ne=False)
_END = Verb(EnglishVerb.parse("end ended ended"), "ख़त्म हो", takes_ne=False)
_OPEN = Verb(EnglishVerb.parse("open opened opened"), "खुल", takes_ne=False)
_CLOSE = Verb(EnglishVerb.parse("close closed closed"), "बंद हो", takes_ne=False)
_LEAVE = Verb(EnglishVerb.parse("leave left left"), "चल", takes_ne=False)
_TRAIN = _thing("the train", "ट्रेन", True)
_BUS = _thing("the bus", "बस", True)
_TIMETABLES = (
    (_TRAIN, (COME, _LEAVE)),
    (_BUS, (COME, _LEAVE)),
    (_thing("the film", "फ़िल्म", True), (_START, _END)),
    (_thing("the class", "कक्षा", True), (_START, _END)),
    (_thing("the shop", "दुकान", True), (_OPEN, _CLOSE)),
    (_thing("the bank", "बैंक", False), (_OPEN, _CLOSE)),
    (_thing("the office", "दफ़्तर", False), (_OPEN, _CLOSE)),
    (_thing("the museum", "संग्रहालय", False), (_OPEN, _CLOSE)),
    (_thing("the library", "पुस्तकालय", False), (_OPEN, _CLOSE)),
    (_thing("the temple", "मंदिर", False), (_OPEN, _CLOSE)),
    (_thing("the market", "बाज़ार", False), (_OPEN, _CLOSE)),
)
_SKIES = (
    (Words("hot", "गर्मी"), True),
    (Words("cold", "ठंड"), True),
    (Words("sunny", "धूप"), False),
)
_WHEN = (
    (Words("today", "आज"), "है"),
    (Words("now", "अभी"), "है"),
    (Words("yesterday", "कल"), "थी"),
    (Words("last week", "पिछले हफ़्ते"), "थी"),
    (Words("tomorrow", "कल"), "होगी"),
    (Words("next week", "अगले हफ़्ते"), "होगी"),
    *((Words(f"on {english}", f"{hindi} को"), "होगी") for english, hindi in DAYS),
)


def clocks(draw: Random) -> Words:
    """It is half past five: साढ़े पाँच बजे हैं, but एक बजा है."""
    english, hindi = draw.choice(HOURS)
    is_one = hindi.removesuffix(" बजे").split()[-1] in ("एक", "डेढ़")
    clock = hindi.removesuffix("बजे") + ("बजा है" if is_one else "बजे हैं")
    kind = draw.choice(("is", "now", "?", "not"))
    if kind == "?":
        return enquire(f"is it {english}", f"क्या {clock}")
    if kind == "not":
        head, _, tail = clock.partition(" बज")
        return say(f"it is not {english} now", f"अभी {head} नहीं बज{tail}")
    if kind == "now":
        return say(f"it is {english} now", f"अभी {clock}")
    return say(f"it is {english}", clock)


def days(draw: Random) -> Words:
    """Today is Monday. Yesterday was not Sunday."""
    day = draw.choice(DAYS)
    word, hindi, verb, is_ = draw.choice(
        (
            ("today", "आज", "is", "है"),
            ("tomorrow", "कल", "is", "है"),
            ("yesterday", "कल", "was", "था"),
        )
    )
    kind = draw.choice(("is", "not", "?"))
    if kind == "?":
        return enquire(f"{verb} {word} {day.english}", f"क्या {hindi} {day.hindi} {is_}")
    negative = kind == "not"
    return say(
        join(word, verb, "not" if negative else "", day.english),
        join(hindi, day.hindi, "नहीं" if negative else "", is_),
    )


def timetables(draw: Random) -> Words:
    """The shop opens at nine o'clock. When does the train come?"""
    subject, verbs = draw.choice(_TIMETABLES)
    verb = draw.choice(verbs)
    tense: Tense = draw.choice(("present", "present", "past", "future"))
    if draw.random() < 0.1:
        english = ask(subject.english, "one", verb.english, tense)
        asked = deed(subject, Action(verb, "", ""), tense, question="कब")
        return enquire(f"when {english}", asked)
    early, late = _split("seven eight nine ten"), _split("four five six seven eight nine")
    usual = early if verb is _OPEN else late if verb is _CLOSE else ()
    hour = draw.choice([h for h in HOURS if not usual or set(usual) & set(h.english.split())])
    negative = draw.random() < 0.2
    action = Action(verb, f"at {hour.english}", hour.hindi)
    english = state(subject.english, "one", verb.english, tense, is_negative=negative)
    return say(f"{english} {action.english}", deed(subject, action, tense, is_negative=negative))


def weather(draw: Random) -> Words:
    """It is raining in Delhi. It will be cold in Jaipur tomorrow."""
    places = [*CITIES, *(p for p in PLACES if p.english in ("the village", "the city"))]
    where = draw.choice(places).where
    if draw.random() < 0.5:
        return _rain(draw, where)
    sky, can_be_very = draw.choice(_SKIES)
    very = Words("very", "बहुत") if can_be_very and draw.random() < 0.4 else Words("", "")
    when, verb = draw.choice(_WHEN)
    be = {"है": "is", "थी": "was", "होगी": "will be"}[verb]
    negative = not very.english and draw.random() < 0.2
    be = be.replace("will", "will not") if negative else be
    not_ = "not" if negative and "will" not in be else ""
    return say(
        join("it", be, not_, very.english, sky.english, where.english, when.english),
        join(when.hindi, where.hindi, very.hindi, sky.hindi, "नहीं" if negative else "", verb),
    )


def _rain(draw: Random, where: Words) -> Words:
    tense: Tense = draw.choice(("progressive", "past", "future", "past progressive"))
    times: dict[Tense, tuple[Words, ...]] = {
        "progressive": (Words("now", "अभी"), Words("today", "आज"), Words("", "")),
        "past": (Words("yesterday", "कल"), Words("last week", "पिछले हफ़्ते"), Words("", "")),
        "past progressive": (Words("yesterday", "कल"), Words("", "")),
        "future": (Words("tomorrow", "कल"), Words("on Sunday", "रविवार को"), Words("", "")),
    }
    when = draw.choice(times[tense])
    rain = EnglishVerb.parse("rain rained rained")
    kind = draw.choice(("is", "is", "not", "?"))
    verb = conjugate("हो", tense, Agreement("f"), is_negative=kind == "not")
    hindi = join(when.hindi, where.hindi, "बारिश", verb)
    if kind == "?":
        english = ask("it", "one", rain, tense)
        return enquire(join(english, where.english, when.english), f"क्या {hindi}")
    english = state("it", "one", rain, tense, is_negative=kind == "not")
    return say(join(english, where.english, when.english), hindi)


def journeys(draw: Random) -> Words:
    """Tell of journeys: this train goes from Delhi to Mumbai. How far is Jaipur from Delhi?"""
    start, goal = draw.sample(CITIES, 2)
    kind = draw.choice(("vehicle", "people", "people", "far", "ticket"))
    if kind == "far":
        return enquire(
            f"how far is {start.english} from {goal.english}",
            f"{start.hindi} {goal.hindi} से कितनी दूर है",
        )
    if kind == "ticket":
        number = NUMBERS[draw.choice((50, 60, 70, 80, 90, 100))]
        return say(
            f"a ticket from {start.english} to {goal.english} costs {number.english} rupees",
            f"{start.hindi} से {goal.hindi} का टिकट {number.hindi} रुपये का है",
        )
    english = f"from {start.english} to {goal.english}"
    hindi = f"{start.hindi} से {goal.hindi}"
    subject = draw.choice(SUBJECTS if kind == "people" else (_TRAIN, _BUS))
    verb = draw.choice((GO, COME)) if kind == "people" else GO
    tense: Tense = draw.choice(("present", "progressive", "past", "future"))
    action = Action(verb, english, hindi)
    if draw.random() < 0.2 and subject.english != "I":
        asked = ask(subject.english, subject.person, verb.english, tense)
        return enquire(f"{asked} {english}", f"क्या {deed(subject, action, tense)}")
    told = state(subject.english, subject.person, verb.english, tense)
    return say(f"{told} {english}", deed(subject, action, tense))
