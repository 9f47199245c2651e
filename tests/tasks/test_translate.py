"""What can be asked of a translator, and that the answers hold what was asked for."""

import pytest
import torch

from clearhead.decoding import Hypothesis
from clearhead.errors import ConfigError, InputError
from clearhead.layers.tap import listen, taps
from clearhead.tasks import Translator
from clearhead.tasks.settings import read_settings
from tests.tasks.small_translator import Echo, random_translator

pytestmark = pytest.mark.usefixtures("unchecked")

TEXT = "The old man sees the small dog."


@pytest.fixture(scope="module")
def translator() -> Translator:
    return random_translator()


def test_an_unknown_setting_fails_with_the_nearest(translator: Translator) -> None:
    with pytest.raises(ConfigError, match="no setting 'n_beam': did you mean n_beams"):
        translator(TEXT, n_beam=2)
    with pytest.raises(ConfigError, match="did you mean glossary"):
        translator.stream(TEXT, glosary={})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_beams": 0}, "n_beams=0 must be at least 1"),
        ({"n_best": 9}, "n_best=9 answers need as many beams"),
        ({"max_length": 0}, "max_length=0 must be a number of tokens"),
        ({"max_length": 2.5}, "max_length=2.5 must be a number of tokens"),
        ({"max_length": 3, "min_length": 4}, "no answer is so short and so long"),
        ({"prefix": 3}, "prefix=3 must be a text"),
        ({"prefix": "der Hund " * 9, "max_length": 4}, "must begin with .* max_length=4"),
        ({"forbidden": [" "]}, "must be a list of texts that are not blank"),
        ({"stop": 7}, "stop=7 must be a list of texts"),
        ({"glossary": "terms.tsv"}, "must be a dictionary of terms"),
        ({"glossary": {"dog": " "}}, "'dog' → ' ', whose target holds no text"),
        ({"glossary": {"": "Hund"}}, "whose source holds no text"),
        ({"glossary": {"dog": "Hund"}, "temperature": 1.0}, "a glossary needs beam search"),
        ({"glossary": {"dog": "Zwergpudel"}, "max_length": 1}, "the required terms have"),
        ({"glossary": {"dog": "Hund"}, "forbidden": ["un"]}, "'Hund' must be in the answer, and"),
        ({"prefix": "Der Hund", "stop": "Hund"}, "'Der Hund' must be in the answer, and 'Hund'"),
    ],
)
def test_what_cannot_be_is_refused(
    translator: Translator, settings: dict[str, object], message: str
) -> None:
    with pytest.raises((ConfigError, InputError), match=message):
        translator("A big dog", **settings)


def test_one_text_or_several(translator: Translator) -> None:
    answers = translator([TEXT, "", "A dog"], n_beams=2)
    assert [translator(text, n_beams=2).text for text in (TEXT, "", "A dog")] == [
        answer.text for answer in answers
    ]
    assert answers[1].text == ""
    assert answers[1].flags == ()
    assert translator([]) == []


def test_a_log_probability_for_each_token(translator: Translator) -> None:
    answer = translator(TEXT, n_beams=3)
    assert len(answer.log_probs) == len(answer.tokens) + answer.is_finished
    assert answer.score == pytest.approx(sum(answer.log_probs) / len(answer.log_probs))
    assert max(answer.log_probs) < 0
    assert answer.source == TEXT


def test_the_longest_length_is_kept_and_told(translator: Translator) -> None:
    answer = translator(TEXT, max_length=4, min_length=4)
    assert len(answer.tokens) == 4
    assert not answer.is_finished
    assert any("was cut" in flag for flag in answer.flags)


def test_the_next_best_answers(translator: Translator) -> None:
    answer = translator(TEXT, n_beams=4, n_best=3)
    assert len(answer.others) == 2
    scores = [each.score for each in (answer, *answer.others)]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(each.tokens) for each in (answer, *answer.others)}) == 3
    assert answer.tokens == translator(TEXT, n_beams=4).tokens


def test_what_is_drawn_depends_on_the_seed(translator: Translator) -> None:
    drawn = [translator(TEXT, temperature=1.0, seed=seed, max_length=8) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0].tokens != drawn[2].tokens
    best = translator(TEXT, temperature=1.0, top_k=1, max_length=8)
    assert best.tokens == translator(TEXT, n_beams=1, max_length=8).tokens


@pytest.mark.parametrize("settings", [{"n_beams": 1}, {"n_beams": 3}, {"temperature": 1.0}])
def test_the_answer_begins_with_the_prefix(
    translator: Translator, settings: dict[str, object]
) -> None:
    answer = translator(TEXT, prefix=" Der  kleine ", **settings)
    assert answer.text.startswith("Der kleine")
    assert len(answer.log_probs) >= len(translator.tokenizer.encode("Der kleine"))
    long = "das rote Buch am Fluss " * 8  # longer than answers are by themselves
    assert translator("A dog", prefix=long, **settings).text.startswith(long.strip())


@pytest.mark.parametrize("settings", [{"n_beams": 1}, {"n_beams": 3}, {"temperature": 1.0}])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_forbidden_texts_do_not_appear(settings: dict[str, object], seed: int) -> None:
    translator = random_translator(seed=seed)
    free = translator(TEXT, **settings)
    word = free.text.split()[0]
    forbidden = [word[:2], free.text[-4:]]  # within a token, and across some
    answer = translator(TEXT, forbidden=forbidden, **settings)
    assert answer.tokens
    assert not any(text in answer.text for text in forbidden)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_spaces_make_a_forbidden_text_a_word(seed: int) -> None:
    translator = random_translator(seed=seed)
    words = translator(TEXT, n_beams=2).text.split()
    for word in {words[0], words[len(words) // 2]}:
        answer = translator(TEXT, n_beams=2, forbidden=f" {word}\n")
        assert answer.text
        assert word not in answer.text.split()
    settings = {"forbidden": [" es"], "prefix": "dieses"}
    assert translator(TEXT, **settings).text.startswith("dieses")
    with pytest.raises(InputError, match="'es' must be in the answer, and ' es' may not"):
        translator(TEXT, forbidden=[" es"], prefix="es")


def test_a_token_that_holds_a_forbidden_text_is_never_tried(translator: Translator) -> None:
    tokenizer = translator.tokenizer
    request = read_settings({"forbidden": ["Hu", " rot"]}, tokenizer).request("dog", [9])
    pieces = tokenizer.tokens(range(tokenizer.n_tokens))
    assert request.forbidden == {
        token for token, piece in enumerate(pieces) if "Hu" in piece or piece.startswith("▁rot")
    }
    assert len(request.forbidden) > 1
    assert tokenizer.encode("Hund")[0] in request.forbidden


@pytest.mark.parametrize("name", ["<eos>", "eos", "0x4", "pad"])
def test_names_of_tokens_are_texts_like_others(translator: Translator, name: str) -> None:
    assert translator(TEXT, forbidden=name, n_beams=2) == translator(TEXT, n_beams=2)


def test_the_answer_ends_before_a_stop_text(translator: Translator) -> None:
    free = translator(TEXT, n_beams=1)
    place = len(free.text) // 2
    stop = free.text[place : place + 3]
    answer = translator(TEXT, n_beams=1, stop=[stop, "never"])
    assert answer.text == free.text[: free.text.find(stop)].rstrip()
    assert answer.is_finished
    assert len(answer.tokens) < len(free.tokens)


def test_the_glossary_is_kept(translator: Translator) -> None:
    glossary = {"Small Dog": "kleiner Vogel", "dog": "Hund", "bird": "Haus"}
    answers = translator([TEXT, "A dog!", "A dogged bird-house", "Birds"], glossary=glossary)
    assert [answer.terms for answer in answers] == [
        ("kleiner Vogel",), ("Hund",), ("Haus",), ()
    ]  # fmt: skip
    for answer in answers:
        assert all(term in answer.text for term in answer.terms)
    assert answers[3] == translator("Birds")


def test_a_term_that_did_not_come_is_flagged() -> None:
    answer = Echo()(TEXT, glossary={"dog": "Hund"})
    assert answer.flags == (
        "The answer is a copy of the source.",
        "The glossary asks for “Hund”, which is missing in the answer.",
    )


def test_no_answer_at_all_is_empty_and_flagged(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator, "_generate", lambda requests: [[] for _ in requests])
    answer = translator(TEXT)
    assert (answer.text, answer.is_finished) == ("", False)
    assert "The answer is empty, but the source is not." in answer.flags


def test_doubtful_answers_carry_flags(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = translator.tokenizer.encode("Der alte Mann " + "liest das " * 5)
    found = Hypothesis(tokens, [-1.0] * (len(tokens) + 1), -1.0, True)
    monkeypatch.setattr(translator, "_generate", lambda requests: [[found] for _ in requests])
    flags = translator("Call 112 now.").flags
    assert len(flags) == 2
    assert "The number 112 of the source is missing" in flags[0]
    assert "repeats “liest das” 5 times" in flags[1]


def test_alignment_is_what_the_last_block_but_one_reads() -> None:
    """Against the models' own weights, looked up by hand; `<eos>` may have most, and is no word."""
    n_at_end = 0
    for seed in range(4):
        translator = random_translator(seed=seed)
        answer = translator(TEXT, n_beams=2, max_length=8, alignment=True)
        assert translator(TEXT, n_beams=2, max_length=8).alignment is None
        rows = cross_attention(translator, answer.tokens)
        n_at_end += int((rows.argmax(-1) == rows.shape[1] - 1).sum())
        rows = rows[:, :-1]
        assert answer.alignment is not None
        assert answer.alignment.source == translator.tokenizer.tokens(
            translator.tokenizer.encode(TEXT)
        )
        assert answer.alignment.places == rows.argmax(-1).tolist()
        assert answer.alignment.weights == pytest.approx(rows.amax(-1).tolist(), abs=1e-6)
    assert n_at_end > 0


def cross_attention(translator: Translator, answer: list[str]) -> torch.Tensor:
    """What the first of two blocks reads while it writes this answer, as a mean over its heads."""
    tokenizer, seen = translator.tokenizer, []
    tap = taps(translator.model)["decoder.blocks.0.cross_attention.weights"]

    def keep(weights: torch.Tensor) -> torch.Tensor:
        seen.append(weights)
        return weights

    source = [*tokenizer.encode(TEXT), tokenizer.eos]
    pieces = tokenizer.tokens(range(tokenizer.n_tokens))
    written = [tokenizer.bos, *(pieces.index(token) for token in answer)]
    with torch.no_grad(), listen({tap: keep}):
        translator.model(torch.tensor([source]), torch.tensor([written]))
    return seen[0][0].mean(0)[: len(answer)]


def test_how_an_answer_was_found_comes_with_it() -> None:
    translator = random_translator()
    plain = translator("The dog sees the house.", n_beams=3)
    assert plain.search is None
    told = translator("The dog sees the house.", n_beams=3, log=True)
    assert told.search is not None
    assert (told.text, told.score) == (plain.text, plain.score)
    path = told.search.path(told.search.best[0])
    eos = translator.tokenizer.eos
    written = [node.token for node in path if node.token != eos]
    assert translator.tokenizer.tokens(written) == told.tokens
    two = translator("The dog.\nThe house.", n_beams=2, log=True)
    assert [part.search is not None for part in two.sentences] == [True, True]
