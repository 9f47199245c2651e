"""An encoder by itself, looked at: its attention, its lens and its cost are the model's own."""

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from clearhead.config import BertConfig
from clearhead.errors import InputError
from clearhead.models import Bert
from clearhead.observe import views
from clearhead.observe.cost import costs
from clearhead.observe.lens import gap_lens
from clearhead.observe.reading import Reading
from clearhead.observe.watch import watch
from clearhead.text import Tokenizer

TOKENIZER = Tokenizer.train(["the old dog runs\n"] * 9, "char", has_mask=True)


def reading(text: str = "the dog", **changes: Any) -> Reading:
    torch.manual_seed(0)
    sizes = {"n_positions": 32, "n_layers": 2, "d_model": 16, "d_ff": 32, "n_heads": 4}
    model = Bert(BertConfig(n_tokens=TOKENIZER.n_tokens, **sizes | changes)).eval()
    tokens = [1, *TOKENIZER.encode_gaps([text, " x"]), 2]
    return Reading(model, tokens, TOKENIZER.tokens(tokens))


def test_attention_is_that_of_every_block() -> None:
    found = reading()
    weights = found.attention()
    n = len(found.tokens)
    assert weights.shape == (2, 4, n, n)
    assert torch.allclose(weights.sum(-1), torch.ones(2, 4, n), atol=1e-5)
    block: Any = found.model.encoder.blocks[0]
    x = found.model.embedding(torch.tensor([found.tokens])) + found.model.positions(n)
    x = found.model.embedding_norm(x + found.model.segments.weight[0])
    both = (block.self_attention.w_q, block.self_attention.w_k)  # their biases are zero
    q, k = ((x[0] @ w.T).view(n, 4, 4).transpose(0, 1) for w in both)
    expected = (q @ k.transpose(1, 2) / 2).softmax(-1)
    assert torch.allclose(weights[0], expected, atol=1e-5)


def test_heads_at_a_glance_and_one_by_itself() -> None:
    found = reading()
    every = views.reading_heads_view(found)
    assert len(every.data["heads"]) == 8
    assert "encoder" in every.title
    one = views.reading_heads_view(found, 1, 3)
    assert one.data["weights"] == found.attention()[1, 3].tolist()
    assert one.data["rows"][:4] == ["<bos>", "t", "h", "e"]
    with pytest.raises(InputError, match="no head 4 in block 0: encoder has blocks 0 to 1"):
        views.reading_heads_view(found, None, 4)


def test_the_lens_ends_with_what_the_model_says() -> None:
    found = reading()
    place = found.tokens.index(TOKENIZER.mask)
    lens = gap_lens(found, [place])
    assert lens.log_probs.shape == (2, 1, TOKENIZER.n_tokens)
    with torch.no_grad():
        logits = found.model(torch.tensor([found.tokens]))[0, place]
    assert torch.allclose(lens.log_probs[-1, 0], logits.log_softmax(-1), atol=1e-5)
    picture = views.gap_layers_view(found, [place], TOKENIZER.tokens)
    assert picture.data["ranks"][-1] == [0]
    assert len(picture.data["tokens"]) == 2


def test_cost_is_what_is_multiplied() -> None:
    found = reading()
    n = len(found.tokens)
    parts = costs(found.model, n, n_scored=n)
    assert sum(part.n_parameters for part in parts) == found.model.n_parameters
    # While somebody watches the weights, they are computed one by one, and counted.
    places = "encoder.blocks.*.self_attention.weights"
    with watch(found.model, places), FlopCounterMode(display=False) as counter:
        found.model.output(found.read())
    assert sum(part.read for part in parts) == counter.get_total_flops()
    assert "all" in views.cost_view(found.model, n).text


def test_candidates_of_gaps() -> None:
    gaps = [[("\u2581sat", 0.75), ("\u2581ran", 0.2)], [(".", 0.5), ("!", 0.25)]]
    picture = views.gaps_view("A cat <mask><mask>", gaps)
    assert picture.data["gaps"][0][0]["token"] == "sat"
    assert [one["written"] for one in picture.data["gaps"][1]] == [True, False]
    assert "0.750" in picture.text
    assert "\u2588" * 15 in picture.text
    assert "gap 2" in picture.svg
