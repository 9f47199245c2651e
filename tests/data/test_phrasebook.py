"""The phrasebook: its size, its promises, and its Hindi against sentences written by hand."""

import hashlib
import re
import unicodedata
from collections import Counter
from functools import cache
from itertools import pairwise
from random import Random

import pytest

from clearhead.data.phrasebook import ALWAYS, FEWEST_USES, phrasebook
from clearhead.data.phrasebook.actions import noun_phrase
from clearhead.data.phrasebook.clauses import deed, say, whole
from clearhead.data.phrasebook.english import EnglishVerb, Tense, state
from clearhead.data.phrasebook.grammar import PATTERNS, draw_pairs
from clearhead.data.phrasebook.hindi import (
    Agreement,
    command,
    conjugate,
    infinitive,
    request,
    subjunctive,
)
from clearhead.data.phrasebook.people import PEOPLE
from clearhead.data.phrasebook.verbs import FACING, FRAMES, PASTIMES, SKILLS, Action
from clearhead.data.phrasebook.words import ADJECTIVES

PAIRS = phrasebook()

SPEAKER = Agreement(is_speaker=True)
HE, SHE = Agreement("m"), Agreement("f")
THEY, THEY_FEMININE = Agreement("m", True), Agreement("f", True)
EVERYBODY = (SPEAKER, HE, SHE, THEY, THEY_FEMININE)

# Rows: I (a man), he, she, they, they (women). With ने these are what the verb agrees with.
TABLES: dict[tuple[str, Tense], str] = {
    ("जा", "present"): "जाता हूँ, जाता है, जाती है, जाते हैं, जाती हैं",
    ("जा", "progressive"): "जा रहा हूँ, जा रहा है, जा रही है, जा रहे हैं, जा रही हैं",
    ("जा", "past progressive"): "जा रहा था, जा रहा था, जा रही थी, जा रहे थे, जा रही थीं",
    ("जा", "used to"): "जाता था, जाता था, जाती थी, जाते थे, जाती थीं",
    ("जा", "past"): "गया, गया, गई, गए, गईं",
    ("जा", "perfect"): "गया हूँ, गया है, गई है, गए हैं, गई हैं",
    ("जा", "future"): "जाऊँगा, जाएगा, जाएगी, जाएँगे, जाएँगी",
    ("जा", "can"): "जा सकता हूँ, जा सकता है, जा सकती है, जा सकते हैं, जा सकती हैं",
    ("जा", "want to"): "जाना चाहता हूँ, जाना चाहता है, जाना चाहती है, जाना चाहते हैं, जाना चाहती हैं",
    ("आ", "present"): "आता हूँ, आता है, आती है, आते हैं, आती हैं",
    ("आ", "progressive"): "आ रहा हूँ, आ रहा है, आ रही है, आ रहे हैं, आ रही हैं",
    ("आ", "past"): "आया, आया, आई, आए, आईं",
    ("आ", "perfect"): "आया हूँ, आया है, आई है, आए हैं, आई हैं",
    ("आ", "future"): "आऊँगा, आएगा, आएगी, आएँगे, आएँगी",
    ("खा", "present"): "खाता हूँ, खाता है, खाती है, खाते हैं, खाती हैं",
    ("खा", "progressive"): "खा रहा हूँ, खा रहा है, खा रही है, खा रहे हैं, खा रही हैं",
    ("खा", "past"): "खाया, खाया, खाई, खाए, खाईं",
    ("खा", "future"): "खाऊँगा, खाएगा, खाएगी, खाएँगे, खाएँगी",
    ("पी", "present"): "पीता हूँ, पीता है, पीती है, पीते हैं, पीती हैं",
    ("पी", "progressive"): "पी रहा हूँ, पी रहा है, पी रही है, पी रहे हैं, पी रही हैं",
    ("पी", "past"): "पिया, पिया, पी, पिए, पीं",
    ("पी", "future"): "पिऊँगा, पिएगा, पिएगी, पिएँगे, पिएँगी",
    ("कर", "present"): "करता हूँ, करता है, करती है, करते हैं, करती हैं",
    ("कर", "progressive"): "कर रहा हूँ, कर रहा है, कर रही है, कर रहे हैं, कर रही हैं",
    ("कर", "past"): "किया, किया, की, किए, कीं",
    ("कर", "future"): "करूँगा, करेगा, करेगी, करेंगे, करेंगी",
    ("दे", "present"): "देता हूँ, देता है, देती है, देते हैं, देती हैं",
    ("दे", "progressive"): "दे रहा हूँ, दे रहा है, दे रही है, दे रहे हैं, दे रही हैं",
    ("दे", "past"): "दिया, दिया, दी, दिए, दीं",
    ("दे", "future"): "दूँगा, देगा, देगी, देंगे, देंगी",
    ("ले", "present"): "लेता हूँ, लेता है, लेती है, लेते हैं, लेती हैं",
    ("ले", "progressive"): "ले रहा हूँ, ले रहा है, ले रही है, ले रहे हैं, ले रही हैं",
    ("ले", "past"): "लिया, लिया, ली, लिए, लीं",
    ("ले", "future"): "लूँगा, लेगा, लेगी, लेंगे, लेंगी",
    ("पढ़", "present"): "पढ़ता हूँ, पढ़ता है, पढ़ती है, पढ़ते हैं, पढ़ती हैं",
    ("पढ़", "progressive"): "पढ़ रहा हूँ, पढ़ रहा है, पढ़ रही है, पढ़ रहे हैं, पढ़ रही हैं",
    ("पढ़", "past"): "पढ़ा, पढ़ा, पढ़ी, पढ़े, पढ़ीं",
    ("पढ़", "future"): "पढ़ूँगा, पढ़ेगा, पढ़ेगी, पढ़ेंगे, पढ़ेंगी",
    ("लिख", "present"): "लिखता हूँ, लिखता है, लिखती है, लिखते हैं, लिखती हैं",
    ("लिख", "progressive"): "लिख रहा हूँ, लिख रहा है, लिख रही है, लिख रहे हैं, लिख रही हैं",
    ("लिख", "past"): "लिखा, लिखा, लिखी, लिखे, लिखीं",
    ("लिख", "future"): "लिखूँगा, लिखेगा, लिखेगी, लिखेंगे, लिखेंगी",
    ("हो", "past"): "हुआ, हुआ, हुई, हुए, हुईं",
}
NEGATIVES: dict[tuple[str, Tense], str] = {
    ("जा", "present"): "नहीं जाता, नहीं जाता, नहीं जाती, नहीं जाते, नहीं जातीं",
    ("जा", "can"): "नहीं जा सकता, नहीं जा सकता, नहीं जा सकती, नहीं जा सकते, नहीं जा सकतीं",
    ("जा", "past"): "नहीं गया, नहीं गया, नहीं गई, नहीं गए, नहीं गईं",
    ("बंद कर", "past"): "बंद नहीं किया, बंद नहीं किया, बंद नहीं की, बंद नहीं किए, बंद नहीं कीं",
}

# (subject, determiner noun, tense, English, Hindi), with the verb that the English sentence shows
GOLD = """
I|drink|tea|present|I drink tea.|मैं चाय पीता हूँ।
she|drink|tea|present|She drinks tea.|वह चाय पीती है।
my mother|drink|tea|present|My mother drinks tea.|मेरी माँ चाय पीती हैं।
she|drink|tea|past|She drank tea.|उसने चाय पी।
he|drink|water|past|He drank water.|उसने पानी पिया।
they|drink|milk|future|They will drink milk.|वे दूध पिएँगे।
we|drink|coffee|perfect|We have drunk coffee.|हमने कॉफ़ी पी है।
you|eat|rice|progressive|You are eating rice.|आप चावल खा रहे हैं।
Ravi|eat|a apple|past|Ravi ate an apple.|रवि ने एक सेब खाया।
the boy|eat|bread|past|The boy ate bread.|लड़के ने रोटी खाई।
the boys|eat|two banana|past|The boys ate two bananas.|लड़कों ने दो केले खाए।
my daughter|eat|ice-cream|want to|My daughter wants to eat ice-cream.|मेरी बेटी आइसक्रीम खाना चाहती है।
Meera|read|a book|past|Meera read a book.|मीरा ने एक किताब पढ़ी।
Meera|read|two book|past|Meera read two books.|मीरा ने दो किताबें पढ़ीं।
my brother|read|this book|perfect|My brother has read this book.|मेरे भाई ने यह किताब पढ़ी है।
the girls|read|two story|perfect|The girls have read two stories.|लड़कियों ने दो कहानियाँ पढ़ी हैं।
I|read|the newspaper|past|I read the newspaper.|मैंने अख़बार पढ़ा।
you|read|the newspaper|future|You will read the newspaper.|आप अख़बार पढ़ेंगे।
the women|write|two poem|past|The women wrote two poems.|औरतों ने दो कविताएँ लिखीं।
my father|write|a letter|progressive|My father is writing a letter.|मेरे पिताजी एक चिट्ठी लिख रहे हैं।
my mother|read|a book|past progressive|My mother was reading a book.|मेरी माँ एक किताब पढ़ रही थीं।
they|write|a story|past|They wrote a story.|उन्होंने एक कहानी लिखी।
the children|bring|two mango|past|The children brought two mangoes.|बच्चे दो आम लाए।
Sita|open|the door|past|Sita opened the door.|सीता ने दरवाज़ा खोला।
Sita|close|the window|past|Sita closed the window.|सीता ने खिड़की बंद की।
Amit|clean|the room|future|Amit will clean the room.|अमित कमरा साफ़ करेगा।
Neha|wash|this shirt|past|Neha washed this shirt.|नेहा ने यह कमीज़ धोई।
the man|buy|a car|past|The man bought a car.|आदमी ने एक गाड़ी ख़रीदी।
the man|buy|two hat|past|The man bought two hats.|आदमी ने दो टोपियाँ ख़रीदीं।
my sisters|play|cricket|used to|My sisters used to play cricket.|मेरी बहनें क्रिकेट खेलती थीं।
my friends|learn|Hindi|past|My friends learned Hindi.|मेरे दोस्तों ने हिंदी सीखी।
my grandfather|teach|English|can|My grandfather can teach English.|मेरे दादाजी अंग्रेज़ी पढ़ा सकते हैं।
Priya|look|the key|progressive|Priya is looking for the key.|प्रिया चाबी ढूँढ़ रही है।
my son|make|juice|future|My son will make juice.|मेरा बेटा जूस बनाएगा।
"""

# Sentences of the small patterns, which a few thousand draws exhaust.
SMALL = """
kin|I have two brothers.|मेरे दो भाई हैं।
kin|Ravi has a sister.|रवि की एक बहन है।
kin|She has three sons.|उसके तीन बेटे हैं।
kin|I do not have a sister.|मेरी कोई बहन नहीं है।
kin|How many daughters do you have?|आपकी कितनी बेटियाँ हैं?
feelings|I am hungry.|मुझे भूख लगी है।
feelings|The children were thirsty.|बच्चों को प्यास लगी थी।
feelings|She has a fever.|उसे बुख़ार है।
feelings|My brother has a headache.|मेरे भाई के सिर में दर्द है।
feelings|Are you cold?|क्या आपको ठंड लग रही है?
ages|My sister is twenty years old.|मेरी बहन बीस साल की है।
ages|My father is sixty years old.|मेरे पिताजी साठ साल के हैं।
ages|How old are you?|आप कितने साल के हैं?
clocks|It is five o'clock.|पाँच बजे हैं।
clocks|It is one o'clock.|एक बजा है।
clocks|It is half past one.|डेढ़ बजा है।
clocks|It is half past two.|ढाई बजे हैं।
clocks|It is quarter to ten.|पौने दस बजे हैं।
clocks|Is it half past six?|क्या साढ़े छह बजे हैं?
days|Today is Monday.|आज सोमवार है।
days|Yesterday was not Sunday.|कल रविवार नहीं था।
days|Is tomorrow Friday?|क्या कल शुक्रवार है?
names|My name is Ravi.|मेरा नाम रवि है।
names|What is your name?|आपका नाम क्या है?
names|My brother's name is Amit.|मेरे भाई का नाम अमित है।
names|Is your sister's name Neha?|क्या आपकी बहन का नाम नेहा है?
health|How is your mother?|आपकी माँ कैसी हैं?
health|I am good.|मैं बढ़िया हूँ।
health|The girls are fine.|लड़कियाँ ठीक हैं।
asking|How are you today, Arjun?|आप आज कैसे हैं, अर्जुन?
asking|And how are you, Rohan?|और आप कैसे हैं, रोहन?
asking|I am good today, Vijay.|मैं आज बढ़िया हूँ, विजय।
moods|I am tired.|मैं थका हुआ हूँ।
moods|My sisters are tired.|मेरी बहनें थकी हुई हैं।
moods|Was he alone?|क्या वह अकेला था?
moods|My mother was very happy.|मेरी माँ बहुत ख़ुश थीं।
professions|She is a teacher.|वह अध्यापिका है।
professions|They are students.|वे छात्र हैं।
professions|The girls are students.|लड़कियाँ छात्राएँ हैं।
professions|You are a doctor.|आप डॉक्टर हैं।
buildings|The bank is near the market.|बैंक बाज़ार के पास है।
buildings|The shop was behind the airport.|दुकान हवाई अड्डे के पीछे थी।
greetings|Good morning, Meera.|सुप्रभात, मीरा।
greetings|Congratulations, Ravi.|बधाई हो, रवि।
banks|The bank of the river is beautiful.|नदी का किनारा सुंदर है।
banks|I went to the bank to withdraw money.|मैं पैसे निकालने बैंक गया।
banks|She went to the bank to catch fish.|वह मछली पकड़ने नदी के किनारे गई।
banks|The girls are sitting on the river bank.|लड़कियाँ नदी के किनारे बैठी हैं।
banks|Ravi keeps his money in the bank.|रवि अपने पैसे बैंक में रखता है।
"""


def rows(text: str) -> list[list[str]]:
    """The fields of each line."""
    return [line.split("|") for line in text.strip().splitlines()]


def words(sentence: str) -> list[str]:
    """The words of a sentence, in lower case and without punctuation."""
    return re.sub(r"[.,?।]", " ", sentence.lower()).split()


def action(verb: str, what: str) -> Action:
    """A verb with a noun phrase, written as `determiner noun`."""
    determiner, _, name = what.rpartition(" ")
    frame, noun = next(
        (frame, noun)
        for frame in FRAMES
        for noun in frame.nouns
        if frame.verb.english.base == verb and noun.english == name
    )
    phrase = noun_phrase(noun, determiner, is_plural=determiner == "two")
    return Action(frame.verb, phrase.english, phrase.hindi, phrase.who)


@cache
def language(name: str) -> dict[str, str]:
    """(Nearly) everything that a small pattern can say."""
    draw = Random(1)
    return dict(PATTERNS[name][0](draw) for _ in range(15_000))


def without_stop(pair: tuple[str, str]) -> tuple[str, str]:
    return pair[0].removesuffix("."), pair[1].removesuffix("।")


def test_there_are_enough_distinct_pairs() -> None:
    assert len(PAIRS) >= 20_000
    assert len(set(PAIRS)) == len(PAIRS)


def test_every_english_sentence_has_one_translation() -> None:
    twice = [english for english, n in Counter(english for english, _ in PAIRS).items() if n > 1]
    assert twice == []


def test_the_order_depends_on_the_seed_alone() -> None:
    assert phrasebook() == PAIRS
    other = phrasebook(seed=1)
    assert other != PAIRS
    assert sorted(other) == sorted(PAIRS)


def test_the_notes_sentences_are_there() -> None:
    assert set(ALWAYS) <= set(PAIRS)
    assert set(ALWAYS) >= {
        ("How are you?", "आप कैसे हैं?"),
        ("Thank you", "धन्यवाद"),
        ("Congratulations", "बधाई हो"),
        ("I like eating ice-cream", "मुझे आइसक्रीम खाना पसंद है"),
        ("We are friends", "हम दोस्त हैं"),
        ("I am good", "मैं बढ़िया हूँ"),
    }


def test_text_is_normalised_and_in_its_script() -> None:
    english_text = re.compile(r"[A-Za-z][A-Za-z' ,-]*[.?]?")
    hindi_text = re.compile(r"[\u0900-\u0963][\u0900-\u0963 ,-]*[।?]?")
    for english, hindi in PAIRS:
        assert unicodedata.is_normalized("NFC", english + hindi)
        assert english_text.fullmatch(english), english
        assert hindi_text.fullmatch(hindi), hindi
        assert "  " not in english + hindi


def test_both_sides_end_alike() -> None:
    ends = {".": "।", "?": "?"}
    n_without = 0
    for english, hindi in PAIRS:
        n_without += english[-1] not in ends
        if hindi[-1] in ends.values() or english[-1] in ends:
            assert ends.get(english[-1]) == hindi[-1], english
    assert 0.1 < n_without / len(PAIRS) < 0.2


def test_words_do_not_repeat_by_accident() -> None:
    """Only the infinitives of खाना खाना (eat food) and गाने गाना (sing songs) may."""
    found = [
        (english, hindi)
        for english, hindi in PAIRS
        for side in (words(english), words(hindi))
        if any(one == two and one not in ("खाना", "गाने") for one, two in pairwise(side))
    ]
    assert found == []


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_contributes(name: str) -> None:
    pairs = draw_pairs(name)
    assert len(set(pairs)) == len(pairs) >= 0.9 * PATTERNS[name][1]
    found = {without_stop(pair) for pair in pairs} & {without_stop(pair) for pair in PAIRS}
    assert len(found) > 0.9 * len(pairs)


def test_held_out_sentences_hold_no_unseen_word() -> None:
    held_out: list[tuple[str, str]] = []
    rest: list[tuple[str, str]] = []
    for pair in PAIRS:
        is_held_out = hashlib.sha256(pair[0].encode()).digest()[0] < 256 * 0.05
        (held_out if is_held_out else rest).append(pair)
    assert 0.03 < len(held_out) / len(PAIRS) < 0.07
    for side in (0, 1):
        seen = {word for pair in rest for word in words(pair[side])}
        assert {word for pair in held_out for word in words(pair[side])} <= seen


def test_every_word_is_used_often() -> None:
    for side, n_words in ((0, 300), (1, 500)):
        counts = Counter(word for pair in PAIRS for word in words(pair[side]))
        assert len(counts) > n_words
        assert [word for word, n in counts.items() if n < FEWEST_USES] == []


@pytest.mark.parametrize("key", TABLES, ids=" ".join)
def test_conjugation(key: tuple[str, Tense]) -> None:
    assert [conjugate(*key, who) for who in EVERYBODY] == TABLES[key].split(", ")


@pytest.mark.parametrize("key", NEGATIVES, ids=" ".join)
def test_negation(key: tuple[str, Tense]) -> None:
    forms = [conjugate(*key, who, is_negative=True) for who in EVERYBODY]
    assert forms == NEGATIVES[key].split(", ")


def test_moods_of_the_verb() -> None:
    stems = ("जा", "खा", "पी", "कर", "दे", "ले", "आ", "पढ़", "लिख")
    requests = "जाइए खाइए पीजिए कीजिए दीजिए लीजिए आइए पढ़िए लिखिए"
    assert " ".join(request(stem) for stem in stems) == requests
    assert " ".join(command(stem) for stem in stems) == "जाओ खाओ पियो करो दो लो आओ पढ़ो लिखो"
    wishes = "जाएँ खाएँ पिएँ करें दें लें आएँ पढ़ें लिखें"
    assert " ".join(subjunctive(stem, THEY) for stem in stems) == wishes
    forms = "पढ़ना पढ़ना पढ़नी पढ़ने पढ़नी"
    assert " ".join(infinitive("पढ़", who) for who in EVERYBODY) == forms


@pytest.mark.parametrize(("who", "verb", "what", "tense", "english", "hindi"), rows(GOLD))
def test_sentences(who: str, verb: str, what: str, tense: Tense, english: str, hindi: str) -> None:
    subject = next(person for person in PEOPLE if person.english == who)
    does = action(verb, what)
    told = state(subject.english, subject.person, does.verb.english, tense)
    assert say(f"{told} {whole(does)}", deed(subject, does, tense)) == (english, hindi)


@pytest.mark.parametrize(("name", "english", "hindi"), rows(SMALL))
def test_small_patterns(name: str, english: str, hindi: str) -> None:
    assert language(name)[english] == hindi


@pytest.mark.parametrize(
    ("determiner", "is_plural", "forms"),
    [
        ("a", False, ("a new chair", "एक नई कुर्सी", "एक नई कुर्सी")),
        ("this", False, ("this new chair", "यह नई कुर्सी", "इस नई कुर्सी")),
        ("that", True, ("those new chairs", "वे नई कुर्सियाँ", "उन नई कुर्सियों")),
        ("own", True, ("his new chairs", "अपनी नई कुर्सियाँ", "अपनी नई कुर्सियों")),
        ("five", True, ("five new chairs", "पाँच नई कुर्सियाँ", "पाँच नई कुर्सियों")),
    ],
)
def test_noun_phrases(determiner: str, is_plural: bool, forms: tuple[str, str, str]) -> None:
    chair = next(noun for frame in FRAMES for noun in frame.nouns if noun.english == "chair")
    phrase = noun_phrase(
        chair, determiner, adjective=ADJECTIVES["new"], is_plural=is_plural, owner="his"
    )
    assert phrase[:3] == forms


def test_people_in_every_case() -> None:
    cases = {p.english: (p.ne, p.ko, p.ka, p.post) for p in PEOPLE}
    assert cases["I"] == ("मैंने", "मुझे", "मेरा", "मेरे")
    assert cases["they"] == ("उन्होंने", "उन्हें", "उनका", "उनके")
    assert cases["the boy"] == ("लड़के ने", "लड़के को", "लड़के का", "लड़के के")
    assert cases["my brothers"][0] == "मेरे भाइयों ने"
    assert cases["Meera"] == ("मीरा ने", "मीरा को", "मीरा का", "मीरा के")


def test_english_verbs() -> None:
    verbs = {frame.verb.english for frame in FRAMES} | {facing.verb.english for facing in FACING}
    verbs |= {done.verb.english for done in (*PASTIMES, *SKILLS)}
    forms = {verb.base: (verb.third, verb.ing) for verb in verbs}
    assert forms["wash"] == ("washes", "washing")
    assert forms["close"] == ("closes", "closing")
    assert forms["study"] == ("studies", "studying")
    assert forms["fly"] == ("flies", "flying")
    assert forms["swim"] == ("swims", "swimming")
    assert forms["have"] == ("has", "having")
    assert EnglishVerb.parse("go went gone").third == "goes"
