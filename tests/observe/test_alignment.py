"""The weights that are shown are those of the model, put together word by word."""

from pathlib import Path

import pytest
import torch

from clearhead.errors import InputError
from clearhead.layers.tap import listen, taps
from clearhead.models import Transformer, TransformerConfig
from clearhead.observe import CrossAttention, cross_attention
from clearhead.observe.forced import force
from clearhead.tasks import Translator
from clearhead.text import Tokenizer

SOURCE, TARGET = "I like eating ice-cream", "मुझे आइसक्रीम खाना पसंद है"


@pytest.fixture(scope="module")
def translator() -> Translator:
    torch.manual_seed(0)
    tokenizer = Tokenizer.train([SOURCE, TARGET] * 3, "bpe", 512)
    config = TransformerConfig.preset("tiny", tokenizer.n_tokens, pad=tokenizer.pad)
    return Translator(Transformer(config), tokenizer, {})


def look(translator: Translator, source: str, target: str) -> CrossAttention:
    return cross_attention(force(translator.model, translator.tokenizer, source, target))


def test_words_are_whole_and_rows_sum_to_one(translator: Translator) -> None:
    seen = look(translator, SOURCE, TARGET)
    assert seen.source == [*SOURCE.split(), "<eos>"]
    assert seen.target == [*TARGET.split(), "<eos>"]
    assert seen.weights.shape == (4, 4, 6, 5)
    assert torch.allclose(seen.weights.sum(-1), torch.ones(4, 4, 6), atol=1e-6)
    block, head = seen.sharpest()
    assert 0 <= block < 4
    assert 0 <= head < 4


def test_a_word_of_several_pieces_has_their_sum_and_their_mean(translator: Translator) -> None:
    """Against the model's own weights, added up by hand."""
    tokenizer, model = translator.tokenizer, translator.model
    read = [*tokenizer.encode("ice-cream zq"), tokenizer.eos]
    written = [*tokenizer.encode("zq है"), tokenizer.eos]
    pieces = tokenizer.tokens(read)
    cut = pieces.index("▁", 1) if "▁" in pieces[1:] else pieces.index("▁z")
    own: list[torch.Tensor] = []
    tap = taps(model)["decoder.blocks.2.cross_attention.weights"]

    def keep(weights: torch.Tensor) -> torch.Tensor:
        own.append(weights)
        return weights

    with torch.no_grad(), listen({tap: keep}):
        model(torch.tensor([read]), torch.tensor([[tokenizer.bos, *written[:-1]]]))
    weights = own[0][0, 1]
    n_first = next(n for n, piece in enumerate(tokenizer.tokens(written)) if piece == "▁है")
    expected = weights[:n_first, :cut].sum(1).mean()
    seen = look(translator, "ice-cream zq", "zq है")
    assert seen.weights[2, 1, 0, 0] == pytest.approx(float(expected), abs=1e-6)


def test_nothing_to_look_at_is_refused(translator: Translator) -> None:
    with pytest.raises(InputError, match="at least one word"):
        look(translator, "  ", TARGET)


def test_sharpest_finds_the_head_that_decides(translator: Translator, tmp_path: Path) -> None:
    seen = look(translator, SOURCE, TARGET)
    seen.weights[3, 2] = 0
    seen.weights[3, 2, :, 1] = 1
    assert seen.sharpest() == (3, 2)
