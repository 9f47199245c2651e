"""What must always hold for GPT: positions of its own, and a limit that they set."""

from dataclasses import replace

import pytest
import torch

from clearhead.config import GPTConfig
from clearhead.engine.shape import why_not
from clearhead.errors import ConfigError, InputError
from clearhead.models import GPT, build

CONFIG = GPTConfig(n_tokens=23, n_positions=9, n_layers=2, d_model=16, d_ff=24, n_heads=4)


def make(config: GPTConfig = CONFIG) -> GPT:
    model = GPT(config).eval()
    for parameter in model.parameters():  # biases and norms too, so that none is 0 or 1
        parameter.data.add_(torch.randn_like(parameter), alpha=0.2)
    return model


def test_no_position_sees_a_later_one() -> None:
    model = make()
    tokens = torch.randint(1, 23, (3, 9))
    changed = tokens.clone()
    changed[:, 6] = tokens[:, 6] % 22 + 1
    before, after = model(tokens), model(changed)
    assert torch.equal(before[:, :6], after[:, :6])
    assert (before[:, 6:] - after[:, 6:]).abs().amin(dim=(0, 2)).max() > 0


@torch.no_grad()
def test_token_by_token_equals_all_at_once_beside_any_padding() -> None:
    model = make()
    texts = torch.randint(1, 23, (3, 9))
    expected = model(texts)
    starts = torch.tensor([[*texts[0, :4].tolist()], [*texts[1, :1].tolist(), 0, 0, 0], [0] * 4])
    n_read = [4, 1, 0]
    state = model.start(starts)
    for t in range(5):
        tokens = torch.stack([text[n + t] for text, n in zip(texts, n_read, strict=True)])
        logits, state = model.step(tokens[:, None], state)
        for i, n in enumerate(n_read):
            assert torch.allclose(logits[i], expected[i, n + t], atol=1e-5)


@torch.no_grad()
def test_several_tokens_in_one_step_and_an_empty_beginning() -> None:
    model = make()
    texts = torch.randint(1, 23, (2, 7))
    state = model.start(torch.zeros(2, 0, dtype=torch.long))
    _, state = model.step(texts[:, :3], state)
    logits, _ = model.step(texts[:, 3:], state)
    assert torch.allclose(logits, model(texts)[:, -1], atol=1e-5)


@torch.no_grad()
def test_the_padding_token_inside_a_text_is_a_token() -> None:
    model = make()
    text = torch.tensor([[0, 7, 0, 5, 3]])
    beside = torch.cat([text[:, :4], torch.tensor([[6, 0, 0, 0]])])
    logits, _ = model.step(torch.tensor([[3], [3]]), model.start(beside))
    assert torch.allclose(logits[:1], model(text)[:, -1], atol=1e-5)


@torch.no_grad()
def test_rows_keep_their_positions_when_they_are_reordered() -> None:
    model = make()
    state = model.start(torch.tensor([[4, 5, 6], [7, 0, 0]]))
    rows = torch.tensor([1, 0, 1])
    logits, _ = model.step(torch.tensor([[8], [9], [3]]), state.reorder(rows))
    for row, text in zip(logits, ([7, 8], [4, 5, 6, 9], [7, 3]), strict=True):
        assert torch.allclose(row, model(torch.tensor([text]))[0, -1], atol=1e-5)


def test_a_text_longer_than_its_positions_is_refused() -> None:
    model = make()
    message = "a text of 10 tokens is longer than the 9 positions this model has learned"
    with pytest.raises(InputError, match=message):
        model(torch.ones(1, 10, dtype=torch.long))
    with pytest.raises(InputError, match=message):
        model.start(torch.ones(1, 10, dtype=torch.long))
    state = model.start(torch.ones(2, 8, dtype=torch.long))
    _, state = model.step(torch.ones(2, 1, dtype=torch.long), state)
    with pytest.raises(InputError, match=message):
        model.step(torch.ones(2, 1, dtype=torch.long), state)
    assert state.length == 9


def test_padding_does_not_count_for_the_limit() -> None:
    model = make()
    tokens = torch.zeros(1, 30, dtype=torch.long)
    tokens[0, :8] = 3
    logits, _ = model.step(torch.tensor([[5]]), model.start(tokens))
    assert logits.shape == (1, 23)


def test_every_parameter_gets_a_gradient_and_recomputing_changes_none() -> None:
    model = make().train()
    tokens = torch.randint(1, 23, (2, 9))
    found = []
    for is_on in (False, True):
        model.recompute(is_on)
        model.zero_grad()
        model(tokens).logsumexp(-1).sum().backward()
        gradients = {name: p.grad for name, p in model.named_parameters()}
        assert all(g is not None and g.abs().max() > 0 for g in gradients.values())
        found.append({name: g.clone() for name, g in gradients.items() if g is not None})
    for name, gradient in found[0].items():
        assert torch.allclose(gradient, found[1][name], atol=1e-5), name


def test_it_begins_as_gpt2_does() -> None:
    model = GPT(GPTConfig.preset("nano", 500))
    assert model.output.weight is model.embedding.weight
    for name, weight in model.named_parameters():
        if "norm.weight" in name:
            assert bool((weight == 1).all()), name
        elif weight.dim() == 1:
            assert bool((weight == 0).all()), name
        else:
            is_added = name.endswith(("w_o.weight", "w_2.weight"))
            expected = 0.02 / 8**0.5 if is_added else 0.02
            assert float(weight.detach().std()) == pytest.approx(expected, rel=0.05), name
    loss = model.eval()(torch.randint(1, 500, (2, 64))).logsumexp(-1).mean()
    assert float(loss.detach()) == pytest.approx(torch.tensor(500.0).log().item(), abs=0.1)


def test_a_small_one_has_as_many_parameters_as_gpt2() -> None:
    config = GPTConfig.preset("small", 50257)
    with torch.device("meta"):
        assert build(config).n_parameters == 124_439_808


def test_it_learns_to_go_on_counting() -> None:
    torch.manual_seed(1)
    model = GPT(replace(CONFIG, d_model=32, d_ff=64)).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        begins, steps = torch.randint(0, 22, (32, 1)), torch.randint(1, 4, (32, 1))
        text = (begins + steps * torch.arange(9)) % 22 + 1
        logits = model(text[:, :-1])[:, 1:]  # two numbers say how to go on
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 2:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    state = model.eval().start(torch.tensor([[4, 6], [20, 1]]))
    tokens, written = torch.tensor([[8], [4]]), []
    for _ in range(5):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(-1, keepdim=True)
        written.append(tokens[:, 0].tolist())
    assert torch.tensor(written).T.tolist() == [[10, 12, 14, 16, 18], [7, 10, 13, 16, 19]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_positions": 0}, "n_positions=0 must be at least 1"),
        ({"n_heads": 3}, "d_model=16 must be a multiple of n_heads=3"),
        ({"pad": 23}, "pad=23 is outside the vocabulary, 0 to 22"),
        ({"norm_eps": 0.0}, "norm_eps=0.0 must be above 0"),
        ({"attention_dropout": 1.0}, "attention_dropout=1.0 must be at least 0 and below 1"),
        ({"activation": "swiglu"}, "choose one of gelu_tanh, gelu, relu"),
    ],
)
def test_wrong_configurations_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(CONFIG, **change)  # type: ignore[arg-type]


def test_wrong_rows_are_refused() -> None:
    model = make()
    with pytest.raises(InputError, match="1 rows were given to a state that holds 2"):
        model.step(torch.tensor([[1]]), model.start(torch.tensor([[1], [2]])))


def test_the_engine_knows_it_if_it_can_be_tried() -> None:
    assert why_not(replace(CONFIG, n_positions=32)) is None
    few = why_not(replace(CONFIG, n_positions=31))
    assert few == "the engine tries texts of 32 tokens, and the model has fewer positions"
