"""What must hold for every Transformer and every input, each one line of mathematics."""

from collections.abc import Callable, Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from clearhead.layers import attention
from clearhead.layers.tap import Gauge, listen, taps
from clearhead.models import Transformer, TransformerConfig
from tests.properties.models import N_TOKENS, PAD, Maker, sentences, transformers

N_ROWS = 3


@pytest.fixture(params=["explicit", "fused"], scope="module", autouse=True)
def _both_ways_of_attention(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention, "is_fused_faster", lambda q, k: request.param == "fused")
        yield


def assert_near(value: Tensor, expected: Tensor) -> None:
    """Equal up to the rounding of another order of sums."""
    torch.testing.assert_close(value, expected, atol=2e-5, rtol=1e-4)


def _all_steps(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    state = model.start(source)
    logits = []
    for tokens in target_in.split(1, dim=1):
        logit, state = model.step(tokens, state)
        logits.append(logit)
    return torch.stack(logits, dim=1)


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS), st.data())
def test_a_token_does_not_change_what_comes_before_it(
    make: Maker, source: Tensor, target_in: Tensor, data: st.DataObject
) -> None:
    model = make()
    t = data.draw(st.integers(0, target_in.shape[1] - 1))
    changed = target_in.clone()
    changed[:, t] = changed[:, t] % (N_TOKENS - 1) + 1
    before, after = model(source, target_in), model(source, changed)
    assert_near(before[:, :t], after[:, :t])
    assert not torch.allclose(before[:, t], after[:, t])


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS), st.integers(1, 5))
def test_padding_changes_nothing(
    make: Maker, source: Tensor, target_in: Tensor, n_pads: int
) -> None:
    model = make()
    pads = torch.full((N_ROWS, n_pads), PAD)
    plain = model(source, target_in)
    padded = model(torch.cat([source, pads], 1), torch.cat([target_in, pads], 1))
    assert_near(padded[:, : target_in.shape[1]], plain)


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS), st.data())
def test_rows_do_not_see_each_other(
    make: Maker, source: Tensor, target_in: Tensor, data: st.DataObject
) -> None:
    model = make()
    order = torch.tensor(data.draw(st.permutations(range(N_ROWS))))
    logits = model(source, target_in)
    assert_near(model(source[order], target_in[order]), logits[order])
    for row in range(N_ROWS):
        alone = model(source[row : row + 1], target_in[row : row + 1])
        assert_near(alone[0], logits[row])


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS))
def test_token_by_token_equals_all_at_once(make: Maker, source: Tensor, target_in: Tensor) -> None:
    model = make()
    assert_near(_all_steps(model, source, target_in), model(source, target_in))


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS), st.data())
def test_a_prefix_in_one_step_equals_its_tokens_one_by_one(
    make: Maker, source: Tensor, target_in: Tensor, data: st.DataObject
) -> None:
    model = make()
    cut = data.draw(st.integers(0, target_in.shape[1] - 1))
    state = model.start(source)
    if cut:
        _, state = model.step(target_in[:, :cut], state)
    logits, state = model.step(target_in[:, cut:], state)
    assert state.length == target_in.shape[1]
    assert_near(logits, model(source, target_in)[:, -1])


@given(
    transformers(),
    sentences(N_ROWS, padded=True),
    sentences(N_ROWS),
    st.lists(st.integers(0, N_ROWS - 1), min_size=1, max_size=5),
)
def test_reorder_then_step_equals_step_then_reorder(
    make: Maker, source: Tensor, target_in: Tensor, chosen: list[int]
) -> None:
    model = make()
    rows = torch.tensor(chosen)
    state = model.start(source)
    for tokens in target_in.split(1, dim=1):
        reordered = state.reorder(rows)
        assert reordered.n_rows == len(chosen)
        reordered_logits, reordered = model.step(tokens[rows], reordered)
        logits, state = model.step(tokens, state)
        assert_near(reordered_logits, logits[rows])
        assert reordered.n_bytes * N_ROWS == state.n_bytes * len(chosen)


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS), st.data())
def test_dropping_finished_rows_does_not_change_the_others(
    make: Maker, source: Tensor, target_in: Tensor, data: st.DataObject
) -> None:
    model = make()
    chosen = data.draw(st.lists(st.booleans(), min_size=N_ROWS, max_size=N_ROWS).filter(any))
    rows = torch.tensor(chosen)
    _, state = model.step(target_in[:, :1], model.start(source))
    kept_logits, kept = model.step(target_in[rows, :1], state.keep(rows))
    assert kept.n_rows == sum(chosen)
    if sum(chosen) < N_ROWS:  # otherwise `keep` returns the state itself, which has now moved on
        logits, _ = model.step(target_in[:, :1], state)
        assert_near(kept_logits, logits[rows])


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS))
def test_watching_changes_no_logit(make: Maker, source: Tensor, target_in: Tensor) -> None:
    model = make()
    passed = {name: tap for name, tap in taps(model).items() if not isinstance(tap, Gauge)}
    seen: dict[str, Tensor] = {}

    def recorder(name: str) -> Callable[[Tensor], Tensor]:
        return lambda value: seen.setdefault(name, value)

    plain = model(source, target_in)
    with listen({tap: recorder(name) for name, tap in passed.items()}):
        watched = model(source, target_in)
    assert_near(watched, plain)
    points = model.points()
    assert seen.keys() == passed.keys()
    assert all(seen[name].dim() == len(points[name].split()) for name in passed)


@given(
    transformers(dropout=0.1), sentences(8, padded=True, min_length=3), sentences(8, min_length=3)
)
def test_in_training_every_parameter_gets_a_gradient(
    make: Maker, source: Tensor, target_in: Tensor
) -> None:
    model = make()
    model.train()(source, target_in).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


@given(transformers(dropout=0.3), sentences(N_ROWS, padded=True), sentences(N_ROWS))
def test_recomputing_gives_the_same_gradients(
    make: Maker, source: Tensor, target_in: Tensor
) -> None:
    model = make()
    gradients = []
    for recomputes in (False, True):
        model.train().zero_grad()
        model.recompute(recomputes)
        torch.manual_seed(7)
        model(source, target_in).square().sum().backward()
        gradients.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    torch.testing.assert_close(*gradients, rtol=0, atol=0)


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS))
def test_weights_and_configuration_say_everything(
    make: Maker, source: Tensor, target_in: Tensor
) -> None:
    model = make()
    twin = Transformer(TransformerConfig.from_dict(model.config.to_dict())).eval()
    twin.load_state_dict(model.state_dict())
    torch.testing.assert_close(twin(source, target_in), model(source, target_in), rtol=0, atol=0)


@given(transformers(), sentences(N_ROWS, padded=True), sentences(N_ROWS))
def test_repeating_shared_heads_gives_multi_head_attention(
    make: Maker, source: Tensor, target_in: Tensor
) -> None:
    model = make()
    block = model.config.block
    twin = Transformer(model.config.override({"block.n_kv_heads": block.n_heads})).eval()
    n_shared = block.n_heads // (block.n_kv_heads or block.n_heads)
    d_head = block.d_model // block.n_heads
    state = model.state_dict()
    for name, value in state.items():
        if name.endswith(("w_qkv", "b_qkv")):
            q, kv = value[: block.d_model], value[block.d_model :]
            kv = kv.unflatten(0, (-1, d_head)).repeat_interleave(n_shared, dim=0).flatten(0, 1)
            state[name] = torch.cat([q, kv])
    twin.load_state_dict(state)
    assert_near(twin(source, target_in), model(source, target_in))
