"""Hindi agreement and conjugation: how a noun, an adjective and a verb change their endings.

Feminine plural verbs are nasalised once, on the last word that can show it: गईं, but गई हैं.
"""

from typing import Literal, NamedTuple

from clearhead.data.phrasebook.english import Tense

__all__ = [
    "Agreement",
    "Gender",
    "agree",
    "command",
    "conjugate",
    "copula",
    "decline",
    "future",
    "infinitive",
    "perfective",
    "request",
    "subjunctive",
    "was",
]

Gender = Literal["m", "f"]

VOWELS = "ािीुूेैोौअआइईउऊएऐओऔ"
IRREGULAR_PERFECTIVES = {
    "कर": "किया",
    "जा": "गया",
    "दे": "दिया",
    "पी": "पिया",
    "ले": "लिया",
    "हो": "हुआ",
}
IRREGULAR_SUBJUNCTIVES = {
    "दे": ("दूँ", "दे", "दें"),
    "ले": ("लूँ", "ले", "लें"),
    "हो": ("होऊँ", "हो", "हों"),
}
IRREGULAR_REQUESTS = {"कर": "कीजिए", "दे": "दीजिए", "पी": "पीजिए", "ले": "लीजिए"}
IRREGULAR_COMMANDS = {"दे": "दो", "पी": "पियो", "ले": "लो"}


class Agreement(NamedTuple):
    """What a verb or an adjective agrees with. आप, and elders by respect, are plural."""

    gender: Gender = "m"
    is_plural: bool = False
    is_speaker: bool = False


def agree(word: str, who: Agreement, *, is_oblique: bool = False) -> str:
    """Give the last word's -ा the ending of `who`; a word without -ा stays as it is.

    Masculine -ा, plural and oblique -े, feminine -ी; after a vowel ए and ई; -िया makes -ी.

    >>> [agree(word, Agreement("f")) for word in ("बड़ा", "नया", "किया", "हुआ", "लाल")]
    ['बड़ी', 'नई', 'की', 'हुई', 'लाल']
    >>> agree("बड़ा", Agreement("m", True)), agree("नया", Agreement("m"), is_oblique=True)
    ('बड़े', 'नए')
    """
    if not word.endswith(("ा", "आ")):
        return word
    if who.gender == "m" and not who.is_plural and not is_oblique:
        return word
    is_feminine = who.gender == "f"
    if word.endswith("िया"):
        return word[:-3] + ("ी" if is_feminine else "िए")
    if word.endswith("या"):
        return word[:-2] + ("ई" if is_feminine else "ए")
    if word.endswith("आ"):
        return word[:-1] + ("ई" if is_feminine else "ए")
    return word[:-1] + ("ी" if is_feminine else "े")


def decline(noun: str, gender: Gender, *, is_plural: bool, is_oblique: bool) -> str:
    """Decline a noun by its gender and its last letter.

    >>> [decline("लड़का", "m", is_plural=p, is_oblique=o) for p, o in ((0, 1), (1, 0), (1, 1))]
    ['लड़के', 'लड़के', 'लड़कों']
    >>> [decline("घर", "m", is_plural=p, is_oblique=o) for p, o in ((0, 1), (1, 0), (1, 1))]
    ['घर', 'घर', 'घरों']
    >>> [decline("नदी", "f", is_plural=p, is_oblique=o) for p, o in ((0, 1), (1, 0), (1, 1))]
    ['नदी', 'नदियाँ', 'नदियों']
    >>> [decline(word, "f", is_plural=True, is_oblique=False) for word in ("मेज़", "छात्रा", "चिड़िया")]
    ['मेज़ें', 'छात्राएँ', 'चिड़ियाँ']
    """
    if not is_plural:
        can_change = gender == "m" and noun.endswith("ा")
        return noun[:-1] + "े" if can_change and is_oblique else noun
    if gender == "m" and not is_oblique:
        return noun[:-1] + "े" if noun.endswith("ा") else noun
    if noun.endswith("िया"):
        return noun[:-1] + ("ों" if is_oblique else "ाँ")
    if noun.endswith(("ी", "ई")):
        short = noun[:-1] + ("ि" if noun.endswith("ी") else "इ")
        return short + ("यों" if is_oblique else "याँ")
    if gender == "m" and noun.endswith("ा"):
        return noun[:-1] + "ों"
    if noun[-1] in VOWELS:
        return noun + ("ओं" if is_oblique else "एँ")
    return noun + ("ों" if is_oblique else "ें")


def copula(who: Agreement) -> str:
    """The present of होना: मैं हूँ, वह है, हम, आप and वे हैं.

    >>> copula(Agreement()), copula(Agreement("f", True)), copula(Agreement(is_speaker=True))
    ('है', 'हैं', 'हूँ')
    """
    return "हैं" if who.is_plural else "हूँ" if who.is_speaker else "है"


def was(who: Agreement) -> str:
    """The past of होना: था, थे, थी, थीं.

    >>> was(Agreement()), was(Agreement("m", True)), was(Agreement("f", True))
    ('था', 'थे', 'थीं')
    """
    return _nasalise(agree("था", who), who)


def perfective(stem: str, who: Agreement, *, is_last: bool = True) -> str:
    """The perfective participle: -ा after a consonant, -या after a vowel, six verbs by heart.

    >>> [perfective(stem, Agreement("f")) for stem in ("बोल", "खा", "पी", "जा", "कर")]
    ['बोली', 'खाई', 'पी', 'गई', 'की']
    >>> they = Agreement("f", True)
    >>> perfective("जा", they), perfective("जा", they, is_last=False)
    ('गईं', 'गई')
    """
    before, verb = _split(stem)
    regular = verb + ("या" if verb[-1] in VOWELS else "ा")
    form = agree(IRREGULAR_PERFECTIVES.get(verb, regular), who)
    return before + (_nasalise(form, who) if is_last else form)


def subjunctive(stem: str, who: Agreement) -> str:
    """The subjunctive: मैं पढ़ूँ, वह पढ़े, हम पढ़ें; after a vowel ऊँ, ए, एँ; पी becomes पि.

    >>> we = Agreement("m", True)
    >>> [subjunctive(stem, we) for stem in ("पढ़", "जा", "पी", "दे", "हो")]
    ['पढ़ें', 'जाएँ', 'पिएँ', 'दें', 'हों']
    """
    before, verb = _split(stem)
    index = 2 if who.is_plural else 0 if who.is_speaker else 1
    if verb in IRREGULAR_SUBJUNCTIVES:
        return before + IRREGULAR_SUBJUNCTIVES[verb][index]
    if verb[-1] in VOWELS:
        return (
            before
            + verb.removesuffix("ी")
            + ("ि" if verb.endswith("ी") else "")
            + (
                "ऊँ",
                "ए",
                "एँ",
            )[index]
        )
    return before + verb + ("ूँ", "े", "ें")[index]


def future(stem: str, who: Agreement) -> str:
    """The future is the subjunctive with -गा, which agrees like an adjective.

    >>> future("जा", Agreement(is_speaker=True)), future("पढ़", Agreement("f", True))
    ('जाऊँगा', 'पढ़ेंगी')
    """
    return subjunctive(stem, who) + agree("गा", who)


def infinitive(stem: str, who: Agreement | None = None, *, is_oblique: bool = False) -> str:
    """The infinitive; under obligation it agrees with the object: किताब पढ़नी है.

    >>> infinitive("पढ़"), infinitive("पढ़", Agreement("f")), infinitive("पढ़", is_oblique=True)
    ('पढ़ना', 'पढ़नी', 'पढ़ने')
    """
    return agree(stem + "ना", who or Agreement(), is_oblique=is_oblique)


def request(stem: str, *, is_negative: bool = False) -> str:
    """Ask politely, as one speaks to आप.

    >>> [request(stem) for stem in ("पढ़", "जा", "काम कर", "पी")]
    ['पढ़िए', 'जाइए', 'काम कीजिए', 'पीजिए']
    """
    before, verb = _split(stem)
    regular = verb + ("इए" if verb[-1] in VOWELS else "िए")
    return before + ("मत " if is_negative else "") + IRREGULAR_REQUESTS.get(verb, regular)


def command(stem: str, *, is_negative: bool = False) -> str:
    """Ask plainly, as one speaks to तुम.

    >>> [command(stem) for stem in ("पढ़", "जा", "दे", "पी")]
    ['पढ़ो', 'जाओ', 'दो', 'पियो']
    >>> command("बंद कर", is_negative=True)
    'बंद मत करो'
    """
    before, verb = _split(stem)
    regular = verb + ("ओ" if verb[-1] in VOWELS else "ो")
    return before + ("मत " if is_negative else "") + IRREGULAR_COMMANDS.get(verb, regular)


def conjugate(stem: str, tense: Tense, who: Agreement, *, is_negative: bool = False) -> str:
    """Conjugate a verb with its auxiliaries; it agrees with `who`, subject or object.

    नहीं stands before the verb proper (बंद नहीं किया), and with it the habitual present, सकना and
    चाहना drop their auxiliary: नहीं जाता, नहीं जा सकतीं.

    >>> she = Agreement("f")
    >>> [conjugate("जा", tense, she) for tense in ("present", "progressive", "past", "future")]
    ['जाती है', 'जा रही है', 'गई', 'जाएगी']
    >>> conjugate("जा", "present", Agreement("f", True), is_negative=True)
    'नहीं जातीं'
    """
    before, stem = _split(stem)
    verb = {
        "present": lambda: _habitual(stem, who, is_negative),
        "progressive": lambda: f"{stem} {agree('रहा', who)} {copula(who)}",
        "past progressive": lambda: f"{stem} {agree('रहा', who)} {was(who)}",
        "used to": lambda: f"{stem}{agree('ता', who)} {was(who)}",
        "past": lambda: perfective(stem, who),
        "perfect": lambda: f"{perfective(stem, who, is_last=False)} {copula(who)}",
        "future": lambda: future(stem, who),
        "can": lambda: f"{stem} {_habitual('सक', who, is_negative)}",
        "want to": lambda: f"{infinitive(stem)} {_habitual('चाह', who, is_negative)}",
    }[tense]()
    return before + ("नहीं " if is_negative else "") + verb


def _habitual(stem: str, who: Agreement, is_negative: bool) -> str:
    participle = stem + agree("ता", who)
    return _nasalise(participle, who) if is_negative else f"{participle} {copula(who)}"


def _nasalise(form: str, who: Agreement) -> str:
    return form + "ं" if who.gender == "f" and who.is_plural else form


def _split(stem: str) -> tuple[str, str]:
    """Split a compound verb (काम कर) into what stands before its verb, and the verb."""
    before, space, verb = stem.rpartition(" ")
    return before + space, verb
