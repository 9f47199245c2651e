"""Nouns, adjectives, numbers, times and places: the phrasebook's words in both languages."""

from dataclasses import dataclass
from typing import NamedTuple

from clearhead.data.phrasebook.english import plural
from clearhead.data.phrasebook.hindi import Agreement, Gender, agree, decline

__all__ = [
    "ADJECTIVES",
    "ANIMALS",
    "CITIES",
    "CLOTHES",
    "DAYS",
    "DISHES",
    "DRINKS",
    "FRUITS",
    "FURNITURE",
    "GAMES",
    "HABIT_TIMES",
    "HOURS",
    "KIN",
    "LANGUAGES",
    "NUMBERS",
    "PAST_TIMES",
    "PLACES",
    "TEXTS",
    "THINGS",
    "TIMES_TO_COME",
    "VEHICLES",
    "VERY",
    "Adjective",
    "Noun",
    "Place",
    "Words",
]


class Words(NamedTuple):
    """The same words in both languages."""

    english: str
    hindi: str


@dataclass(frozen=True)
class Adjective:
    """An adjective with its English comparative; the Hindi one declines if it ends in -ा."""

    english: str
    hindi: str
    comparative: str = ""

    def agree(self, who: Agreement, *, is_oblique: bool = False) -> str:
        """Decline every word of the adjective: थका हुआ, थकी हुई."""
        return " ".join(agree(word, who, is_oblique=is_oblique) for word in self.hindi.split())


@dataclass(frozen=True)
class Noun:
    """A noun, the adjectives that suit it, and whether English counts it."""

    english: str
    hindi: str
    gender: Gender
    adjectives: tuple[str, ...] = ()
    english_plural: str = ""
    is_mass: bool = False

    def in_english(self, *, is_plural: bool = False) -> str:
        """Singular or plural."""
        return (self.english_plural or plural(self.english)) if is_plural else self.english

    def in_hindi(self, *, is_plural: bool = False, is_oblique: bool = False) -> str:
        """Singular or plural, direct or oblique."""
        return decline(self.hindi, self.gender, is_plural=is_plural, is_oblique=is_oblique)


@dataclass(frozen=True)
class Place:
    """A place: where one is, and where one goes."""

    english: str
    """With its article: the market, Delhi."""
    hindi: str
    gender: Gender
    preposition: str = "in"
    postposition: str = "में"
    direction: str = ""
    """What follows the oblique in *go to*: mostly nothing."""

    @property
    def oblique(self) -> str:
        """The form before a postposition."""
        return decline(self.hindi, self.gender, is_plural=False, is_oblique=True)

    @property
    def where(self) -> Words:
        """In the market, at the station."""
        return Words(f"{self.preposition} {self.english}", f"{self.oblique} {self.postposition}")

    @property
    def whither(self) -> Words:
        """To the market."""
        return Words(f"to {self.english}", f"{self.oblique} {self.direction}".strip())


ADJECTIVES = {
    adjective.english: adjective
    for adjective in (
        Adjective("good", "अच्छा", "better"),
        Adjective("bad", "ख़राब"),
        Adjective("big", "बड़ा", "bigger"),
        Adjective("small", "छोटा", "smaller"),
        Adjective("new", "नया", "newer"),
        Adjective("old", "पुराना", "older"),
        Adjective("beautiful", "सुंदर", "more beautiful"),
        Adjective("cheap", "सस्ता", "cheaper"),
        Adjective("expensive", "महँगा", "more expensive"),
        Adjective("clean", "साफ़", "cleaner"),
        Adjective("dirty", "गंदा", "dirtier"),
        Adjective("hot", "गरम"),
        Adjective("cold", "ठंडा"),
        Adjective("sweet", "मीठा", "sweeter"),
        Adjective("fresh", "ताज़ा"),
        Adjective("red", "लाल"),
        Adjective("black", "काला"),
        Adjective("white", "सफ़ेद"),
        Adjective("blue", "नीला"),
        Adjective("green", "हरा"),
        Adjective("yellow", "पीला"),
        Adjective("long", "लंबा", "longer"),
        Adjective("heavy", "भारी", "heavier"),
        Adjective("interesting", "दिलचस्प", "more interesting"),
        Adjective("tasty", "स्वादिष्ट"),
    )
}
VERY = Words("very", "बहुत")


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_DISH = _split("hot tasty good")
_FRUIT = _split("sweet good big small")
_TEXT = _split("new old long interesting good")
_THING = _split("new old big small beautiful cheap expensive")
_CLOTH = _split("new old red black white blue green yellow beautiful cheap expensive clean dirty")
_HOUSE = _split("big small clean dirty new old")

DISHES = (
    Noun("rice", "चावल", "m", _split("hot tasty"), is_mass=True),
    Noun("bread", "रोटी", "f", _split("hot fresh"), is_mass=True),
    Noun("fish", "मछली", "f", _split("fresh tasty"), is_mass=True),
    Noun("food", "खाना", "m", _DISH, is_mass=True),
    Noun("yoghurt", "दही", "m", _split("fresh sweet"), is_mass=True),
    Noun("ice-cream", "आइसक्रीम", "f", _split("tasty cold"), is_mass=True),
    Noun("fruit", "फल", "m", _split("fresh sweet"), is_mass=True),
    Noun("soup", "सूप", "m", _DISH, is_mass=True),
)
FRUITS = (
    Noun("apple", "सेब", "m", (*_FRUIT, "red", "green")),
    Noun("banana", "केला", "m", (*_FRUIT, "yellow")),
    Noun("mango", "आम", "m", (*_FRUIT, "yellow")),
    Noun("orange", "संतरा", "m", _FRUIT),
    Noun("egg", "अंडा", "m", _split("fresh white small")),
    Noun("biscuit", "बिस्कुट", "m", _split("sweet good tasty")),
)
DRINKS = (
    Noun("tea", "चाय", "f", _split("hot good sweet"), is_mass=True),
    Noun("coffee", "कॉफ़ी", "f", _split("hot cold good"), is_mass=True),
    Noun("water", "पानी", "m", _split("cold clean hot"), is_mass=True),
    Noun("milk", "दूध", "m", _split("hot cold fresh"), is_mass=True),
    Noun("juice", "जूस", "m", _split("fresh cold sweet"), is_mass=True),
    Noun("lassi", "लस्सी", "f", _split("cold sweet tasty"), is_mass=True),
)
TEXTS = (
    Noun("book", "किताब", "f", _split("new old interesting good heavy")),
    Noun("newspaper", "अख़बार", "m", _split("new old")),
    Noun("letter", "चिट्ठी", "f", _split("long old new")),
    Noun("story", "कहानी", "f", _TEXT),
    Noun("poem", "कविता", "f", _split("beautiful long new old good")),
)
THINGS = (
    Noun("pen", "पेन", "m", (*_split("new old cheap expensive red black blue"),)),
    Noun("notebook", "कॉपी", "f", _split("new old red blue")),
    Noun("bag", "थैला", "m", (*_THING, "heavy", "black", "red")),
    Noun("key", "चाबी", "f", _split("new old small")),
    Noun("phone", "फ़ोन", "m", (*_THING, "black", "white")),
    Noun("watch", "घड़ी", "f", _THING),
    Noun("umbrella", "छाता", "m", (*_THING, "black", "yellow")),
    Noun("picture", "तस्वीर", "f", _split("new old big small beautiful")),
    Noun("cup", "प्याला", "m", _split("new old big small white blue clean dirty")),
    Noun("toy", "खिलौना", "m", (*_THING, "red")),
    Noun("ball", "गेंद", "f", _split("new old red white big small")),
    Noun("flower", "फूल", "m", _split("beautiful red white yellow fresh")),
)
CLOTHES = (
    Noun("shirt", "कमीज़", "f", _CLOTH),
    Noun("sari", "साड़ी", "f", _CLOTH),
    Noun("coat", "कोट", "m", (*_CLOTH, "heavy")),
    Noun("hat", "टोपी", "f", _CLOTH),
    Noun("sweater", "स्वेटर", "m", _CLOTH),
)
FURNITURE = (
    Noun("table", "मेज़", "f", (*_THING, "heavy", "clean", "dirty")),
    Noun("chair", "कुर्सी", "f", (*_THING, "heavy", "clean", "dirty")),
    Noun("bed", "पलंग", "m", (*_THING, "heavy")),
    Noun("box", "डिब्बा", "m", _split("new old big small heavy")),
    Noun("room", "कमरा", "m", _HOUSE),
    Noun("house", "घर", "m", (*_HOUSE, "beautiful", "cheap", "expensive")),
    Noun("door", "दरवाज़ा", "m", _split("big small new old heavy")),
    Noun("window", "खिड़की", "f", _HOUSE),
    Noun("car", "गाड़ी", "f", (*_CLOTH, "big", "small")),
    Noun("bicycle", "साइकिल", "f", (*_THING, "red", "blue")),
    Noun("tree", "पेड़", "m", _split("big small old green beautiful")),
)
ANIMALS = (
    Noun("dog", "कुत्ता", "m", _split("big small black white")),
    Noun("cat", "बिल्ली", "f", _split("big small black white beautiful")),
    Noun("cow", "गाय", "f", _split("white black big")),
    Noun("horse", "घोड़ा", "m", _split("white black beautiful")),
    Noun("bird", "चिड़िया", "f", _split("small yellow beautiful blue")),
)
LANGUAGES = (
    Noun("Hindi", "हिंदी", "f", is_mass=True),
    Noun("English", "अंग्रेज़ी", "f", is_mass=True),
    Noun("Tamil", "तमिल", "f", is_mass=True),
    Noun("Punjabi", "पंजाबी", "f", is_mass=True),
)
GAMES = (
    Noun("cricket", "क्रिकेट", "m", is_mass=True),
    Noun("football", "फ़ुटबॉल", "m", is_mass=True),
    Noun("hockey", "हॉकी", "f", is_mass=True),
    Noun("tennis", "टेनिस", "m", is_mass=True),
)
KIN = (
    Noun("brother", "भाई", "m"),
    Noun("sister", "बहन", "f"),
    Noun("son", "बेटा", "m"),
    Noun("daughter", "बेटी", "f"),
    Noun("child", "बच्चा", "m", english_plural="children"),
)

CITIES = (
    Place("Delhi", "दिल्ली", "f"),
    Place("Mumbai", "मुंबई", "f"),
    Place("Jaipur", "जयपुर", "m"),
    Place("Varanasi", "वाराणसी", "f"),
    Place("Lucknow", "लखनऊ", "m"),
    Place("Chennai", "चेन्नई", "m"),
)
PLACES = (
    Place("the market", "बाज़ार", "m"),
    Place("the hospital", "अस्पताल", "m"),
    Place("the station", "स्टेशन", "m", "at", "पर"),
    Place("the airport", "हवाई अड्डा", "m", "at", "पर"),
    Place("the temple", "मंदिर", "m"),
    Place("the library", "पुस्तकालय", "m"),
    Place("the garden", "बगीचा", "m", direction="में"),
    Place("the park", "पार्क", "m"),
    Place("the office", "दफ़्तर", "m"),
    Place("the hotel", "होटल", "m"),
    Place("the shop", "दुकान", "f", "at", "पर"),
    Place("the museum", "संग्रहालय", "m"),
    Place("the village", "गाँव", "m"),
    Place("the city", "शहर", "m"),
    Place("the post office", "डाकघर", "m"),
    Place("the bank", "बैंक", "m"),
    Place("school", "स्कूल", "m", "at"),
)
VEHICLES = (
    Words("by train", "ट्रेन से"),
    Words("by bus", "बस से"),
    Words("by car", "गाड़ी से"),
    Words("by taxi", "टैक्सी से"),
    Words("by plane", "हवाई जहाज़ से"),
)

NUMBERS = {
    2: Words("two", "दो"),
    3: Words("three", "तीन"),
    4: Words("four", "चार"),
    5: Words("five", "पाँच"),
    6: Words("six", "छह"),
    7: Words("seven", "सात"),
    8: Words("eight", "आठ"),
    9: Words("nine", "नौ"),
    10: Words("ten", "दस"),
    11: Words("eleven", "ग्यारह"),
    12: Words("twelve", "बारह"),
    15: Words("fifteen", "पंद्रह"),
    18: Words("eighteen", "अठारह"),
    20: Words("twenty", "बीस"),
    25: Words("twenty-five", "पच्चीस"),
    30: Words("thirty", "तीस"),
    40: Words("forty", "चालीस"),
    50: Words("fifty", "पचास"),
    60: Words("sixty", "साठ"),
    70: Words("seventy", "सत्तर"),
    80: Words("eighty", "अस्सी"),
    90: Words("ninety", "नब्बे"),
    100: Words("a hundred", "सौ"),
}
DAYS = (
    Words("Monday", "सोमवार"),
    Words("Tuesday", "मंगलवार"),
    Words("Wednesday", "बुधवार"),
    Words("Thursday", "गुरुवार"),
    Words("Friday", "शुक्रवार"),
    Words("Saturday", "शनिवार"),
    Words("Sunday", "रविवार"),
)


def _hours() -> list[Words]:
    """Clock times without their *at*: सवा, साढ़े and पौने, but डेढ़ and ढाई."""
    hours = {1: Words("one", "एक")} | {n: NUMBERS[n] for n in range(2, 13)}
    found = []
    for number, hour in hours.items():
        half = {1: "डेढ़", 2: "ढाई"}.get(number, f"साढ़े {hour.hindi}")
        found.append(Words(f"{hour.english} o'clock", f"{hour.hindi} बजे"))
        found.append(Words(f"half past {hour.english}", f"{half} बजे"))
        found.append(Words(f"quarter past {hour.english}", f"सवा {hour.hindi} बजे"))
        if number > 1:  # a quarter to one has a word of its own
            found.append(Words(f"quarter to {hour.english}", f"पौने {hour.hindi} बजे"))
    return found


HOURS = tuple(_hours())
HABIT_TIMES = (
    Words("every day", "हर दिन"),
    Words("every morning", "हर सुबह"),
    Words("every evening", "हर शाम"),
    Words("every week", "हर हफ़्ते"),
    Words("in the morning", "सुबह"),
    Words("in the afternoon", "दोपहर को"),
    Words("in the evening", "शाम को"),
    *(Words(f"every {english}", f"हर {hindi}") for english, hindi in DAYS),
)
PAST_TIMES = (
    Words("yesterday", "कल"),
    Words("this morning", "आज सुबह"),
    Words("yesterday evening", "कल शाम को"),
    Words("two days ago", "दो दिन पहले"),
    Words("last week", "पिछले हफ़्ते"),
    *(Words(f"on {english}", f"{hindi} को") for english, hindi in DAYS),
)
TIMES_TO_COME = (
    Words("today", "आज"),
    Words("tomorrow", "कल"),
    Words("tomorrow morning", "कल सुबह"),
    Words("this evening", "आज शाम को"),
    Words("next week", "अगले हफ़्ते"),
    *(Words(f"on {english}", f"{hindi} को") for english, hindi in DAYS),
)
