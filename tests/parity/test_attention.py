"""Our attention is torch's attention, and its fast path computes what its explicit one does."""

import pytest
import torch
from torch import Tensor, nn

from clearhead.layers import Alibi, MultiHeadAttention, RelativeBias, attention, masks
from tests.parity.compare import (
    Path,
    assert_near,
    assert_same_gradients,
    backward,
    both_paths,
    gradient,
    gradients,
    randomise,
    take,
    twins,
)
from tests.parity.weights import torch_attention

B, T, S, D, H = 3, 7, 9, 16, 4


def is_token(n_keys: int) -> Tensor:
    """Three sentences: a whole one, and two with padding at their end."""
    return torch.arange(n_keys) < torch.tensor([n_keys, n_keys - 2, 1])[:, None]


def may_attend(kind: str, n_queries: int, n_keys: int) -> Tensor | None:
    """One mask of each kind; the random one leaves some queries nothing to read."""
    if kind == "none":
        return None
    causal = masks.causal(n_queries, n_keys)
    padding = masks.padding(is_token(n_keys))
    if kind == "random":
        chosen = torch.rand(B, 1, n_queries, n_keys) < 0.4
        chosen[0, :, n_queries // 2] = False
        chosen[2] = False
        return chosen
    return {"causal": causal, "padding": padding, "both": causal & padding}[kind]


def torch_masks(kind: str, n_queries: int, n_keys: int) -> dict[str, Tensor]:
    """Say the same to torch, where True forbids."""
    arguments = {}
    if kind in ("causal", "both"):
        arguments["attn_mask"] = ~masks.causal(n_queries, n_keys)[0, 0]
    if kind in ("padding", "both"):
        arguments["key_padding_mask"] = ~is_token(n_keys)
    return arguments


def twin_attentions(bias: bool) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Ours and torch's, with the same random weights."""
    theirs = nn.MultiheadAttention(D, H, bias=bias, batch_first=True)
    randomise(theirs)
    ours = MultiHeadAttention(D, H, bias=bias)
    ours.load_state_dict(torch_attention(theirs.state_dict()))
    return ours, theirs


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["none", "causal", "padding", "both"])
@both_paths
def test_self_attention_is_torchs(
    path: Path, kind: str, bias: bool, is_training: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_attentions(bias)
    ours.train(is_training)
    theirs.train(is_training)
    x, y = twins(B, T, D)

    output = ours(x, may_attend=may_attend(kind, T, T))
    expected, _ = theirs(y, y, y, need_weights=False, **torch_masks(kind, T, T))
    assert_near(output, expected)

    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, torch_attention)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["none", "padding"])
@both_paths
def test_cross_attention_is_torchs(
    path: Path, kind: str, bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_attentions(bias)
    (x, y), (memory, their_memory) = twins(B, T, D), twins(B, S, D)

    output = ours(x, memory, may_attend(kind, T, S))
    expected, _ = theirs(
        y, their_memory, their_memory, need_weights=False, **torch_masks(kind, T, S)
    )
    assert_near(output, expected)
    assert_near(ours(x, ours.keys_values(memory), may_attend(kind, T, S)), expected)

    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_near(gradient(memory), gradient(their_memory))
    assert_same_gradients(ours, theirs, torch_attention)


@both_paths
@pytest.mark.parametrize(
    ("given", "wanted"), [("none", "causal"), ("causal", "both"), ("padding", "both")]
)
def test_a_wrong_mask_is_noticed(
    path: Path, given: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_attentions(bias=True)
    x = torch.randn(B, T, D)
    output = ours(x, may_attend=may_attend(given, T, T))
    expected, _ = theirs(x, x, x, need_weights=False, **torch_masks(wanted, T, T))
    assert (output - expected).abs().max() > 0.01


def test_the_paths_are_really_two(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    fused = attention.fused_attention

    def counted(*arguments: object) -> Tensor:
        calls.append("fused")
        return fused(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(attention, "fused_attention", counted)
    layer, x = MultiHeadAttention(D, H), torch.randn(B, T, D)
    take("explicit", monkeypatch)
    layer(x)
    assert calls == []
    take("fused", monkeypatch)
    layer(x)
    assert calls == ["fused"]


# bfloat16 has 8 bits: gradients here reach 4 to 8, where neighbouring numbers are 1/32 apart, and
# while the kernel rounds only its results, the explicit path rounds every step.
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 2 / 32}


def assert_paths_agree(
    layer: MultiHeadAttention,
    x: Tensor,
    memory: Tensor,
    allowed: Tensor | None,
    position: nn.Module | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Run both ways, forwards and backwards."""
    results = []
    paths: tuple[Path, ...] = ("explicit", "fused")
    for path in paths:
        take(path, monkeypatch)
        inputs = [tensor.clone().requires_grad_() for tensor in (x, memory)]
        parts = nn.ModuleList([layer] if position is None else [layer, position])
        parts.zero_grad()
        bias = None if position is None else position(x.shape[1], memory.shape[1])
        output = layer(*inputs, allowed, bias=bias)
        backward(output)
        results.append(
            {"output": output, "x": gradient(inputs[0]), "memory": gradient(inputs[1])}
            | gradients(parts)
        )
    explicit, fused = results
    assert explicit.keys() == fused.keys()
    for name, ours in explicit.items():
        assert ours.isfinite().all(), name
        assert_near(ours, fused[name], TOLERANCES[x.dtype], name)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("n_kv_heads", [H, 2, 1])
@pytest.mark.parametrize("position", ["none", "relative", "alibi"])
@pytest.mark.parametrize("kind", ["none", "causal", "padding", "both", "random"])
def test_explicit_is_fused(
    kind: str,
    position: str,
    n_kv_heads: int,
    dtype: torch.dtype,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layer = MultiHeadAttention(D, H, n_kv_heads, bias=True)
    relative = RelativeBias(H, n_buckets=8, max_distance=16, both_ways=True)
    randomise(layer, relative)
    bias = {"none": None, "relative": relative.to(dtype), "alibi": Alibi(H)}[position]
    x, memory = torch.randn(B, T, D).to(dtype), torch.randn(B, S, D).to(dtype)
    allowed = may_attend(kind, T, S)
    assert_paths_agree(layer.to(dtype), x, memory, allowed, bias, monkeypatch)


@pytest.mark.parametrize("kind", ["none", "both", "random"])
@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 1), (1, 70), (70, 70), (65, 600)])
def test_explicit_is_fused_at_any_length(
    n_queries: int, n_keys: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = MultiHeadAttention(D, H, 2)
    x, memory = torch.randn(B, n_queries, D), torch.randn(B, n_keys, D)
    allowed = may_attend(kind, n_queries, n_keys)
    with torch.no_grad():
        take("explicit", monkeypatch)
        explicit = layer(x, memory, allowed)
        take("fused", monkeypatch)
        assert_near(explicit, layer(x, memory, allowed))
    assert_paths_agree(layer, x, memory, allowed, None, monkeypatch)


@pytest.mark.parametrize("position", ["none", "alibi"])
@pytest.mark.parametrize("n_kv_heads", [H, 1])
@both_paths
def test_a_query_that_may_read_nothing_gets_zeros(
    path: Path, n_kv_heads: int, position: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    layer = MultiHeadAttention(D, H, n_kv_heads)
    x, memory = torch.randn(B, T, D, requires_grad=True), torch.randn(B, S, D, requires_grad=True)
    allowed = may_attend("random", T, S)
    assert allowed is not None
    bias = None if position == "none" else Alibi(H)(T, S)

    output = layer(x, memory, allowed, bias=bias)
    backward(output)
    reads_nothing = ~allowed.any(-1)[:, 0]
    is_read = allowed.any(-2)[:, 0]
    assert reads_nothing.any()
    assert not is_read[2].any()
    assert (output[reads_nothing] == 0).all()
    assert (output[~reads_nothing] != 0).all()
    for values in (gradient(x), gradient(memory), *gradients(layer).values()):
        assert values.isfinite().all()
    assert (gradient(x)[reads_nothing] == 0).all()
    assert (gradient(x)[~reads_nothing] != 0).any()
    assert (gradient(memory)[~is_read] == 0).all()
    assert (gradient(memory)[is_read] != 0).all()


@both_paths
def test_a_bias_is_added_to_the_scaled_scores(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_attentions(bias=True)
    x, bias = torch.randn(B, T, D), torch.randn(B, H, T, T)
    expected, _ = theirs(x, x, x, need_weights=False, attn_mask=bias.flatten(0, 1))
    assert_near(ours(x, bias=bias), expected)
    both = bias.masked_fill(~masks.causal(T), float("-inf"))
    expected, _ = theirs(x, x, x, need_weights=False, attn_mask=both.flatten(0, 1))
    assert_near(ours(x, may_attend=masks.causal(T), bias=bias), expected)


@pytest.mark.parametrize("n_kv_heads", [1, 2])
def test_shared_keys_are_repeated_keys(n_kv_heads: int) -> None:
    grouped, full = MultiHeadAttention(D, H, n_kv_heads), MultiHeadAttention(D, H)
    repeated = [
        w.unflatten(0, (n_kv_heads, -1)).repeat_interleave(H // n_kv_heads, dim=0).flatten(0, 1)
        for w in (grouped.w_k, grouped.w_v)
    ]
    state = {"w_qkv": torch.cat([grouped.w_q, *repeated]), "w_o.weight": grouped.w_o.weight}
    full.load_state_dict(state)
    x = torch.randn(B, T, D)
    assert_near(grouped(x, may_attend=masks.causal(T)), full(x, may_attend=masks.causal(T)))
