"""Exact match and F1 beside their definition, and the baselines by hand."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.data.question_files import Question, Span
from clearhead.errors import InputError
from clearhead.tasks.answer.baselines import first_sentence, word_overlap
from clearhead.tasks.answer.evaluate import mark, mean, score_answers
from clearhead.tasks.answer.measure import exact_match, f1, plain_words

WORDS = st.lists(st.sampled_from(["the", "A", "cat", "Cat's", "an", "1973,", "dog-house", "è"]))


def official(answer: str, reference: str) -> tuple[float, float]:
    """The two measures of Rajpurkar et al. 2016, written down from their definition."""

    def words(text: str) -> list[str]:
        kept = "".join(c for c in text.lower() if c not in set(string.punctuation))
        return [word for word in re.split(r"\s+", kept) if word and word not in {"a", "an", "the"}]

    mine, theirs = Counter(words(answer)), Counter(words(reference))
    is_same = float(words(answer) == words(reference))
    if not mine or not theirs:
        return is_same, is_same
    n_same = sum(min(mine[word], theirs[word]) for word in set(mine) | set(theirs))
    if n_same == 0:
        return is_same, 0.0
    precision, recall = n_same / sum(mine.values()), n_same / sum(theirs.values())
    return is_same, 2 * precision * recall / (precision + recall)


@given(WORDS, WORDS, WORDS)
def test_the_measures_are_squads(answer: list[str], one: list[str], two: list[str]) -> None:
    texts = " ".join(answer), [" ".join(one), " ".join(two)]
    pairs = [official(texts[0], reference) for reference in texts[1]]
    assert exact_match(*texts) == max(same for same, _ in pairs)
    assert f1(*texts) == pytest.approx(max(value for _, value in pairs))


def test_small_cases_by_hand() -> None:
    assert exact_match("The Cat!", ["cat"]) == 1
    assert exact_match("theatre", ["atre"]) == 0  # only whole words are articles
    assert f1("in ottobre 1973", ["ottobre 1973", "1973"]) == pytest.approx(0.8)
    assert (exact_match("", []), f1("", []), f1("Rome", [])) == (1, 1, 0)
    assert exact_match("«l'Égypte»", ["l’E\u0301gypte"], plain_words) == 1
    assert exact_match("the cat", ["cat"], plain_words) == 0
    assert f1("北京市", ["北京"], plain_words) == pytest.approx(0.8)


def test_baselines_by_hand() -> None:
    context = "A war began. In 1973 the OPEC states stopped it. Later Ada Lovelace King came back."
    assert first_sentence(context) == "A war began."
    assert word_overlap("Which states stopped the war?", context) == "1973"
    assert word_overlap("Who came back later?", context) == "Ada Lovelace King"
    assert word_overlap("When did the war begin?", "It rained.") == "It rained."
    assert first_sentence("no end") == "no end"


def test_scores_have_their_baselines_beside_them() -> None:
    context = "Rome is old. Anna Bianchi likes it."
    questions = [
        Question(1, "Who likes Rome?", context, (Span("Anna Bianchi", 13), Span("Anna", 13))),
        Question(2, "Who hates Rome?", context, ()),
    ]
    scores = {s.name: s.value for s in score_answers(questions, ["Anna", "Rome"])}
    assert (scores["exact match"], scores["F1"]) == (50, 50)
    assert scores["F1 where there is an answer"] == 100
    assert scores["right refusals"] == 0
    assert scores["exact match of never answering"] == 50
    assert scores["exact match of the first sentence"] == 0
    assert scores["F1 of word overlap"] == 0  # "Rome is old" has as many words as the other
    answered = {s.name for s in score_answers(questions[:1], ["Anna"])}
    assert "right refusals" not in answered
    assert mean(mark(questions, ["Anna", ""])) == 100
    with pytest.raises(InputError, match="1 answers and 2 questions cannot be compared"):
        mark(questions, ["Anna"])
