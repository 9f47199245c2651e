"""What stands around texts, compared with what BERT's own rules add."""

import tokenizers
from tokenizers.processors import BertProcessing

from clearhead.text import ForeignTokenizer, Tokenizer
from clearhead.text.framing import Framing

VOCABULARY = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "dog": 5, "who": 6}


def _bert() -> ForeignTokenizer:
    rules = tokenizers.Tokenizer(tokenizers.models.WordLevel(VOCABULARY, "[UNK]"))
    rules.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    rules.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return ForeignTokenizer(rules, {"pad": 0, "unk": 1, "cls": 2, "sep": 3})


def test_frames_as_bert_does() -> None:
    tokenizer = _bert()
    framing = Framing.of(tokenizer)
    one, two = tokenizer.encode("who"), tokenizer.encode("a dog")
    assert framing.around(two)[0] == tokenizer.encode("a dog", with_specials=True)
    both = tokenizer.rules.encode("who", "a dog")
    assert framing.around(one, two) == (both.ids, both.type_ids)
    assert framing.n_around(2) == len(both.ids) - 3


def test_frames_with_our_own_tokens() -> None:
    tokenizer = Tokenizer.train(["a dog"], "char")
    tokens = tokenizer.encode("a")
    assert Framing.of(tokenizer).around(tokens) == (
        [tokenizer.bos, *tokens, tokenizer.eos],
        [0] * 3,
    )
