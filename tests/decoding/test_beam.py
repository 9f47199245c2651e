"""Beam search: one beam is greedy, all beams are exhaustive, and neighbours do not matter."""

import itertools

import pytest
import torch
from torch import Tensor

from clearhead.decoding import DecodingConfig, Hypothesis, Request, generate
from clearhead.errors import ConfigError, InputError
from clearhead.models import Transformer, TransformerConfig

BOS, EOS = 1, 2
N_TOKENS = 6


@pytest.fixture
def model() -> Transformer:
    small = {"block.d_model": 16, "block.d_ff": 16, "n_encoder_layers": 1, "n_decoder_layers": 1}
    model = Transformer(TransformerConfig.preset("tiny", N_TOKENS, **small)).eval()
    for parameter in model.parameters():
        parameter.data.mul_(2.5)
    return model


def _log_probs(model: Transformer, source: Tensor, target: list[int]) -> Tensor:
    """log p of every token at every place of a target, all at once."""
    with torch.no_grad():
        return model(source, torch.tensor([[BOS, *target]])).log_softmax(-1)[0]


def _search(
    model: Transformer, source: Tensor, n_beams: int, length: int, power: float = 1.0
) -> list[list[Hypothesis]]:
    config = DecodingConfig(n_beams=n_beams, n_best=n_beams, length_power=power)
    requests = [Request(row.tolist(), length, config) for row in source]
    return generate(model, requests, bos=BOS, eos=EOS, pad=0)


def test_one_beam_is_greedy(model: Transformer) -> None:
    for _ in range(10):
        source = torch.randint(3, N_TOKENS, (1, 5))
        ((answer,),) = _search(model, source, 1, 12)
        expected: list[int] = []
        while len(expected) < 12:
            token = int(_log_probs(model, source, expected)[-1].argmax())
            if token == EOS:
                break
            expected.append(token)
        assert answer.tokens == expected
        assert answer.is_finished == (len(expected) < 12)


@pytest.mark.parametrize("power", [0.0, 0.6, 1.0])
def test_a_beam_as_wide_as_the_space_is_exhaustive(model: Transformer, power: float) -> None:
    others = [token for token in range(N_TOKENS) if token != EOS]
    for _ in range(3):
        source = torch.randint(3, N_TOKENS, (1, 4))
        best = (-float("inf"), [0])
        for n in range(3):
            for target in itertools.product(others, repeat=n):
                log_probs = _log_probs(model, source, list(target))
                total = sum(float(log_probs[t, y]) for t, y in enumerate([*target, EOS]))
                best = max(best, (total / (n + 1) ** power, list(target)))
        answers = _search(model, source, 200, 3, power)[0]
        finished = [answer for answer in answers if answer.is_finished]
        assert finished[0].tokens == best[1]
        assert finished[0].score == pytest.approx(best[0], abs=1e-5)
        assert len({tuple(answer.tokens) for answer in finished}) == len(finished)


def test_the_log_probability_is_that_of_the_tokens(model: Transformer) -> None:
    source = torch.randint(3, N_TOKENS, (4, 5))
    for row, answers in enumerate(_search(model, source, 3, 8)):
        for answer in answers:
            log_probs = _log_probs(model, source[row : row + 1], answer.tokens)
            written = answer.tokens + [EOS] * answer.is_finished
            total = sum(float(log_probs[t, y]) for t, y in enumerate(written))
            assert answer.log_prob == pytest.approx(total, abs=1e-4)
            assert answer.score == pytest.approx(total / len(written), abs=1e-4)


def test_neighbours_and_padding_do_not_matter(model: Transformer) -> None:
    lengths = [2, 5, 3, 7, 1]
    source = torch.zeros(5, 7, dtype=torch.long)
    for row, n in enumerate(lengths):
        source[row, :n] = torch.randint(3, N_TOKENS, (n,))
    config = DecodingConfig(n_beams=4, n_best=4)
    requests = [
        Request(row[:n].tolist(), 4 + n, config) for row, n in zip(source, lengths, strict=True)
    ]
    together = generate(model, requests, bos=BOS, eos=EOS, pad=0)
    for request, answers in zip(requests, together, strict=True):
        (alone,) = generate(model, [request], bos=BOS, eos=EOS, pad=0)
        assert [answer.tokens for answer in alone] == [a.tokens for a in answers]


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="n_beams=0 must be at least 1"):
        DecodingConfig(n_beams=0)
    with pytest.raises(InputError, match="max_length=0 must be at least 1"):
        Request([3], 0)
