"""The KV cache: nothing is lost when it grows, and nothing is copied without need."""

import pytest
import torch
from torch import Tensor

from clearhead.errors import InputError
from clearhead.layers import KeyValueCache
from clearhead.layers.cache import CHUNK
from clearhead.models import Transformer, TransformerConfig


def random(n_positions: int, rows: int = 2) -> Tensor:
    return torch.randn(rows, 3, n_positions, 4)


def address(x: Tensor) -> int:
    return x.untyped_storage().data_ptr()


def test_values_survive_growth() -> None:
    """In portions of many sizes, far past the first chunk."""
    cache, all_k, all_v = KeyValueCache(), random(0), random(0)
    for n in (1, 1, 60, 5, 1, 200, 1, 0, 3 * CHUNK):
        k, v = random(n), random(n)
        all_k, all_v = torch.cat([all_k, k], dim=2), torch.cat([all_v, v], dim=2)
        seen_k, seen_v = cache.append(k, v)
        assert torch.equal(seen_k, all_k)
        assert torch.equal(seen_v, all_v)
        assert cache.length == all_k.shape[2]


def test_room_is_taken_in_chunks() -> None:
    """One position takes a chunk; the next 63 take nothing more."""
    cache = KeyValueCache()
    reserved = []
    for _ in range(CHUNK + 1):
        cache.append(random(1), random(1))
        reserved.append(cache.n_bytes_reserved)
    assert reserved[0] == 2 * 2 * 3 * CHUNK * 4 * 4
    assert set(reserved[:CHUNK]) == {reserved[0]}
    assert reserved[CHUNK] == 2 * reserved[0]


def test_what_append_returns_is_no_copy() -> None:
    """Views of one room, as long as it has not grown; keys and values apart."""
    cache = KeyValueCache()
    first_k, first_v = cache.append(random(3), random(3))
    later_k, later_v = cache.append(random(2), random(2))
    assert address(first_k) == address(later_k)
    assert address(first_v) == address(later_v)
    assert address(first_k) != address(first_v)
    later_k[0, 0, 0] = 7.0
    assert first_k[0, 0, 0].eq(7).all()


@pytest.mark.parametrize("n_positions", [100, 500, 2000])
def test_copying_is_a_constant_per_position(n_positions: int) -> None:
    """Growing copies what is there; over all appends that is below three times the store."""
    cache, k, copied = KeyValueCache(), torch.randn(1, 1, 1, 1), 0
    for _ in range(n_positions):
        n_bytes, reserved = cache.n_bytes, cache.n_bytes_reserved
        cache.append(k, k)
        if cache.n_bytes_reserved != reserved:
            copied += n_bytes
    assert copied < 3 * cache.n_bytes
    assert cache.n_bytes_reserved <= 1.5 * cache.n_bytes + 2 * 4 * CHUNK


def test_select_reorders_and_repeats_rows() -> None:
    cache = KeyValueCache()
    k, v = cache.append(random(5, rows=3), random(5, rows=3))
    rows = torch.tensor([2, 0, 0, 2])
    chosen = cache.select(rows)
    more = random(1, rows=4)
    new_k, new_v = chosen.append(more, more)
    assert torch.equal(new_k, torch.cat([k[rows], more], dim=2))
    assert torch.equal(new_v, torch.cat([v[rows], more], dim=2))


def test_select_leaves_the_first_cache_alone() -> None:
    cache = KeyValueCache()
    k, _ = cache.append(random(5, rows=3), random(5, rows=3))
    before = k.clone()
    chosen = cache.select(torch.tensor([1]))
    chosen.append(random(1, rows=1), random(1, rows=1))
    assert (cache.length, chosen.length) == (5, 6)
    assert torch.equal(k, before)


def test_select_of_nothing_remembered() -> None:
    chosen = KeyValueCache().select(torch.tensor([0, 0]))
    assert (chosen.length, chosen.n_bytes, chosen.n_bytes_reserved) == (0, 0, 0)


def test_other_rows_are_refused() -> None:
    cache = KeyValueCache()
    cache.append(random(1), random(1))
    with pytest.raises(InputError, match="3 rows were given to a state that holds 2"):
        cache.append(random(1, rows=3), random(1, rows=3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bytes_of_one_cache(dtype: torch.dtype) -> None:
    cache = KeyValueCache()
    for n_positions in range(1, 100):
        cache.append(random(1).to(dtype), random(1).to(dtype))
        assert cache.n_bytes == 2 * 2 * 3 * n_positions * 4 * dtype.itemsize
        assert cache.n_bytes_reserved >= cache.n_bytes


@pytest.fixture
def model() -> Transformer:
    changes = {"n_encoder_layers": 1, "n_decoder_layers": 3, "block.n_kv_heads": 2}
    return Transformer(TransformerConfig.preset("tiny", 20, **changes)).eval()


@torch.no_grad()
def test_bytes_of_a_whole_state(model: Transformer) -> None:
    """2 · layers · rows · G · positions · d_head · bytes, for the target and for the source."""
    state = model.start(torch.randint(1, 20, (4, 6)))
    per_position = 2 * 3 * 4 * 2 * 32 * 4
    assert state.n_bytes == 6 * per_position
    for n_written in range(1, 4):
        _, state = model.step(torch.randint(1, 20, (4, 1)), state)
        assert state.n_bytes == (6 + n_written) * per_position
        assert sum(cache.n_bytes for cache in state.caches) == n_written * per_position


@torch.no_grad()
def test_state_reorder_and_keep(model: Transformer) -> None:
    """Chosen rows go on as if they had been alone from the start."""
    source, first = torch.randint(1, 20, (4, 6)), torch.randint(1, 20, (4, 3))
    _, state = model.step(first, model.start(source))
    is_kept = torch.tensor([True, False, True, True])
    order = torch.tensor([3, 0, 3])
    for chosen, rows in (
        (state.keep(is_kept), torch.tensor([0, 2, 3])),
        (state.reorder(order), order),
    ):
        newest = torch.randint(1, 20, (3, 1))
        logits, chosen = model.step(newest, chosen)
        alone = model(source[rows], torch.cat([first[rows], newest], dim=1))[:, -1]
        torch.testing.assert_close(logits, alone, atol=1e-4, rtol=1e-4)
        assert (chosen.n_rows, chosen.length) == (3, 4)
    assert (state.n_rows, state.length) == (4, 3)


@torch.no_grad()
def test_keeping_all_costs_nothing(model: Transformer) -> None:
    state = model.start(torch.randint(1, 20, (2, 6)))
    assert state.keep(torch.tensor([True, True])) is state
