"""ROUGE is Google's on English texts, and counts words of other scripts, too."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.errors import InputError
from clearhead.tasks.summarise.rouge import rouge_l, rouge_n, score_summaries, words

rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
KINDS = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
PAIRS = [
    ("The dog sleeps.", "A dog sleeps near the dog-house."),
    ("We show 3.5% fewer errors; don't we?", "Errors fall by 3.5 percent, we show."),
    ("", "Nothing was written."),
    ("snake_case and CamelCase", "Snake case and camelcase"),
    ("the the the the", "the cat and the dog"),
    ("Nothing in common", "with this one"),
]
ascii_texts = st.text(st.sampled_from("ab c. AB_d1\t-"), max_size=60)


@settings(max_examples=200, deadline=None)
@given(ascii_texts, ascii_texts)
def test_any_ascii_pair_scores_as_there(answer: str, reference: str) -> None:
    scorer = rouge_scorer.RougeScorer(list(KINDS), use_stemmer=False)
    theirs = scorer.score(reference, answer)
    ours = words(answer), words(reference)
    found = {"rouge1": rouge_n(*ours, 1), "rouge2": rouge_n(*ours, 2), "rougeL": rouge_l(*ours)}
    for kind, value in found.items():
        assert value == pytest.approx(theirs[kind].fmeasure, abs=1e-12), kind


def test_the_mean_of_english_pairs_is_theirs() -> None:
    scorer = rouge_scorer.RougeScorer(list(KINDS), use_stemmer=False)
    answers, references = zip(*PAIRS, strict=True)
    ours = {score.name: score.value for score in score_summaries(answers, references)}
    for kind, name in KINDS.items():
        theirs = [scorer.score(r, a)[kind].fmeasure for a, r in PAIRS]
        assert ours[name] == pytest.approx(100 * sum(theirs) / len(theirs))
    assert ours["ROUGE-1"] > ours["ROUGE-2"] > 0


def test_other_scripts_have_words() -> None:
    assert words("Übermäßig größe") == ["übermäßig", "größe"]
    assert words("हिन्दी में सारांश") == ["हिन्दी", "में", "सारांश"]
    assert words("研究の要約 ok 12") == ["研", "究", "の", "要", "約", "ok", "12"]
    (one, two, _) = score_summaries(["研究の要約"], ["研究の概要"])
    assert one.value == pytest.approx(80)  # 研 究 の 要 of five
    assert two.value == pytest.approx(50)
    assert "no stemming" in one.signature


def test_as_many_of_both_are_needed() -> None:
    with pytest.raises(InputError, match="2 summaries and 1 references cannot be compared"):
        score_summaries(["a", "b"], ["a"])
    with pytest.raises(InputError, match="at least one"):
        score_summaries([], [])
