"""Words that belong together are found, and so is the head that reads them."""

import random

import pytest
import torch

from clearhead.errors import InputError
from clearhead.observe import put
from clearhead.observe.alignment import agreements, cross_attention, find_aligner
from clearhead.observe.edit import Edit, edit
from clearhead.observe.forced import force
from clearhead.observe.heads import head_statistics
from clearhead.observe.lexicon import Lexicon
from tests.tasks.small_translator import random_translator

WORDS = {"dog": "Hund", "house": "Haus", "old": "alt", "sees": "sieht", "the": "das", "red": "rot"}


def made_up(n_pairs: int) -> list[tuple[list[str], list[str]]]:
    """Word by word, in another order."""
    draw = random.Random(0)
    pairs = []
    for _ in range(n_pairs):
        words = draw.sample(sorted(WORDS), 4)
        shuffled = draw.sample(words, 4)
        pairs.append((words, [WORDS[word] for word in shuffled]))
    return pairs


def test_a_dictionary_is_learned_from_pairs_alone() -> None:
    pairs = made_up(200)
    lexicon = Lexicon.learn(pairs)
    for source, target in pairs[:20]:
        links = lexicon.links(source, target)
        assert len(links) == 4
        assert all(WORDS[source[s]] == target[t] for t, s in links)
    for word in WORDS:
        given = {t: p for (s, t), p in lexicon.forward.items() if s == word}
        assert sum(given.values()) == pytest.approx(1.0)
    assert Lexicon.learn([(["Dog"], ["Hund"])]).links(["dog"], ["hund"]) == [(0, 0)]


def test_unknown_and_repeated_words_have_no_link() -> None:
    lexicon = Lexicon.learn(made_up(200))
    assert lexicon.links(["bird"], ["Vogel"]) == []
    assert lexicon.links(["dog", "dog", "red"], ["Hund", "rot"]) == [(1, 2)]
    with pytest.raises(InputError, match="no pairs"):
        Lexicon.learn([([], ["x"])])


def test_the_head_that_reads_the_right_words_is_found() -> None:
    """One head of a random model is made to read the word that belongs there."""
    translator = random_translator()
    texts = [("The old dog", "Der alte Hund"), ("A red house", "Ein rotes Haus")]
    pairs = [force(translator.model, translator.tokenizer, *each) for each in texts]
    lexicon = Lexicon.learn(
        [(s.split(), t.split()) for s, t in texts] * 3 + [(["old"], ["alte"])] * 9
    )
    pair, seen = pairs[0], cross_attention(pairs[0])
    links = lexicon.links(seen.source[:-1], seen.target[:-1])
    assert (1, 1) in links

    def read_the_same_word(weights: torch.Tensor) -> torch.Tensor:
        changed = torch.full_like(weights, 0.01)
        for t, s in links:
            place = pair.target_tokens.index(f"▁{seen.target[t]}")
            changed[..., place, pair.source_tokens.index(f"▁{seen.source[s]}")] = 0.9
        return changed

    aligning = Edit(read_the_same_word, {"head": 1})
    with edit(translator.model, {"decoder.blocks.1.cross_attention.weights": aligning}):
        found = find_aligner([pair], lexicon)
        shares, n_links = agreements([pair], lexicon)
        heads = head_statistics([pair], lexicon=lexicon)
    assert (found.block, found.head, found.agreement) == (1, 1, 1.0)
    assert found.n_links == n_links == len(links)
    assert float(shares.max()) == 1.0
    aligned = {(h.block, h.head): h.alignment for h in heads if h.kind == "cross"}
    assert aligned[1, 1] == 1.0
    assert all(h.alignment is None for h in heads if h.kind != "cross")
    assert put(0.5).where == {}
