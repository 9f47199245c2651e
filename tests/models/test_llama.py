"""What must always hold for a decoder by itself, and a toy that it learns."""

from dataclasses import replace

import pytest
import torch

from clearhead.config import LlamaConfig
from clearhead.errors import ConfigError, InputError
from clearhead.models import Llama

CONFIG = LlamaConfig(
    n_tokens=23, n_layers=2, d_model=16, d_ff=24, n_heads=4, n_kv_heads=2, is_tied=False
)


def make(config: LlamaConfig = CONFIG) -> Llama:
    return Llama(config).eval()


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


def test_every_parameter_gets_a_gradient_and_recomputing_changes_none() -> None:
    model = Llama(CONFIG).train()
    tokens = torch.randint(1, 23, (2, 7))
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


def test_a_tied_output_is_the_embedding() -> None:
    tied = Llama(replace(CONFIG, is_tied=True))
    assert tied.output.weight is tied.embedding.weight
    assert Llama(CONFIG).n_parameters - tied.n_parameters == 23 * 16


def test_it_learns_to_go_on_counting() -> None:
    torch.manual_seed(1)
    model = Llama(replace(CONFIG, d_model=32, d_ff=64)).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
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
        ({"n_layers": 0}, "n_layers=0 must be at least 1"),
        ({"n_kv_heads": 3}, "n_heads=4 must be a multiple of n_kv_heads=3"),
        ({"d_head": 5}, "heads of 5 must be even"),
        ({"pad": 23}, "pad=23 is outside the vocabulary, 0 to 22"),
        ({"norm_eps": 0.0}, "norm_eps=0.0 must be above 0"),
        ({"dropout": 1.0}, "dropout=1.0 must be at least 0 and below 1"),
    ],
)
def test_wrong_configurations_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(CONFIG, **change)  # type: ignore[arg-type]


def test_wrong_tokens_are_refused() -> None:
    model = make()
    with pytest.raises(InputError, match="token id 23 is outside this vocabulary of 23 tokens"):
        model(torch.tensor([[23]]))
    with pytest.raises(InputError, match="tokens has length 0"):
        model(torch.zeros(1, 0, dtype=torch.long))
    with pytest.raises(InputError, match="1 rows were given to a state that holds 2"):
        model.step(torch.tensor([[1]]), model.start(torch.tensor([[1], [2]])))
