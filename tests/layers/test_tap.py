"""Taps: silent when nobody listens, and heard only by those who asked."""

import threading

import pytest
import torch
from torch import Tensor, nn

from clearhead.layers import BlockConfig, Encoder, LayerNorm, Tap
from clearhead.layers.tap import Handler, listen, points, taps


class Ear:
    """A handler that remembers what it heard and passes it on."""

    def __init__(self) -> None:
        self.heard: list[Tensor] = []

    def __call__(self, value: Tensor) -> Tensor:
        self.heard.append(value)
        return value


def plus(number: float) -> Handler:
    return lambda value: value + number


def test_silent_when_nobody_listens() -> None:
    tap, x = Tap("B T D"), torch.randn(2, 3, 4)
    assert tap(x) is x
    assert not tap.is_watched


def test_listening_hears_and_changes_nothing() -> None:
    tap, ear, x = Tap("B T D"), Ear(), torch.randn(2, 3, 4)
    with listen({tap: ear}):
        assert tap.is_watched
        assert tap(x) is x
    assert [value is x for value in ear.heard] == [True]
    tap(x)
    assert len(ear.heard) == 1  # after the block nothing is heard any more


def test_handler_result_replaces_the_value() -> None:
    tap = Tap("B T D")
    with listen({tap: plus(1)}):
        assert tap(torch.zeros(1)).item() == 1


def test_other_taps_stay_silent() -> None:
    tap, other, ear = Tap("B T D"), Tap("B T D"), Ear()
    with listen({tap: ear}):
        other(torch.zeros(1))
        assert not other.is_watched
    assert ear.heard == []


def test_nested_listeners() -> None:
    """The inner block adds its taps; on the same tap the inner handler counts until it ends."""
    first, second = Tap("B T D"), Tap("B T D")
    zero = torch.zeros(1)
    with listen({first: plus(1)}):
        with listen({second: plus(10)}):
            assert (first(zero).item(), second(zero).item()) == (1, 10)
        assert (first(zero).item(), second(zero).item()) == (1, 0)
        with listen({first: plus(100)}):
            assert first(zero).item() == 100
        with listen({first: plus(100)}, after_others=True):
            assert first(zero).item() == 101
        assert first(zero).item() == 1
    assert first(zero).item() == 0


def test_removed_after_an_exception() -> None:
    tap = Tap("B T D")

    def fail(value: Tensor) -> Tensor:
        raise RuntimeError("as planned")

    with pytest.raises(RuntimeError, match="as planned"), listen({tap: fail}):
        tap(torch.zeros(1))
    assert not tap.is_watched
    assert tap(torch.zeros(1)).item() == 0


def test_handler_may_run_the_tap_under_other_ears() -> None:
    """A handler can look at the model again, for instance to compare two runs."""
    tap, ear = Tap("B T D"), Ear()

    def twice(value: Tensor) -> Tensor:
        with listen({tap: ear}):
            return tap(value) + tap(value)

    with listen({tap: twice}):
        assert tap(torch.ones(1)).item() == 2
    assert len(ear.heard) == 2


def test_threads_hear_only_their_own_run() -> None:
    """Both watch the same place of the same model at the same time."""
    norm, both_listen = LayerNorm(4), threading.Barrier(2, timeout=10)
    ears = [Ear(), Ear()]

    def run(number: int) -> None:
        with listen({norm.input: ears[number]}):
            both_listen.wait()
            for _ in range(5):
                norm(torch.full((1, 1, 4), float(number)))
            both_listen.wait()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, ear in enumerate(ears):
        assert [value[0, 0, 0].item() for value in ear.heard] == [number] * 5


def test_listener_of_one_thread_is_unknown_to_another() -> None:
    tap, ear, seen = Tap("B T D"), Ear(), []

    def run() -> None:
        seen.append(tap.is_watched)
        tap(torch.zeros(1))

    with listen({tap: ear}):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert seen == [False]
    assert ear.heard == []


@pytest.mark.parametrize("axes", ["B X", "b t d", "BTD"])
def test_unknown_axis_letter_is_refused(axes: str) -> None:
    with pytest.raises(KeyError):
        Tap(axes)


def test_points_name_every_tap() -> None:
    model = nn.Sequential(LayerNorm(4), nn.Linear(4, 4))
    assert points(model) == {"0.input": "B T D", "0.output": "B T D"}
    assert points(LayerNorm(4)) == {"input": "B T D", "output": "B T D"}
    assert repr(Tap("B H T S")) == "Tap('B H T S')"


def test_gradients_flow_through_a_handler() -> None:
    norm, x = LayerNorm(4), torch.randn(1, 2, 4)
    with listen({norm.output: lambda value: 3 * value}):
        norm(x).sum().backward()
    assert norm.bias is not None
    assert norm.bias.grad is not None
    torch.testing.assert_close(norm.bias.grad, torch.full((4,), 6.0))


def edited_gradients(recomputes: bool) -> Tensor:
    """Gradients of a run with an edit; the backward pass comes after the block, as it may."""
    torch.manual_seed(0)
    encoder = Encoder(BlockConfig(d_model=8, d_ff=16, n_heads=2, dropout=0.0), 2)
    encoder.recomputes = recomputes
    block, x = encoder.blocks[0], torch.randn(1, 5, 8)
    tap = taps(block)["self_attention.output"]
    with listen({tap: lambda value: 3 * value}):
        y = encoder(x, torch.ones(1, 1, 1, 5, dtype=torch.bool))
    return torch.autograd.grad(y.square().sum() + y[0, 0, 0], list(block.parameters()))[0]


def test_recomputing_repeats_the_edit() -> None:
    torch.testing.assert_close(edited_gradients(recomputes=True), edited_gradients(False))
