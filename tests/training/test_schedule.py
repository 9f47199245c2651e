"""The learning rate is that of the paper, or a cosine, and refuses nonsense."""

import pytest

from clearhead.errors import ConfigError
from clearhead.training import TrainingConfig
from clearhead.training.schedule import learning_rate, paper_lr


@pytest.mark.parametrize("step", [1, 17, 4000, 4001, 100_000])
def test_inverse_square_root_is_equation_3(step: int) -> None:
    rate = learning_rate(
        step, "inverse_sqrt", lr=paper_lr(512, 4000), warm_up=4000, n_steps=100_000
    )
    expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
    assert rate == pytest.approx(expected, rel=1e-12)


def test_cosine_rises_and_falls_to_zero() -> None:
    rates = [
        learning_rate(step, "cosine", lr=2.0, warm_up=10, n_steps=110) for step in range(1, 121)
    ]
    assert rates[9] == 2.0
    assert rates[59] == pytest.approx(1.0)
    assert rates[109] == pytest.approx(0.0, abs=1e-12)
    assert rates[119] == rates[109]
    assert rates[:10] == sorted(rates[:10])
    assert rates[9:110] == sorted(rates[9:110], reverse=True)


@pytest.mark.parametrize(
    "bad", [{"lr": 0.0}, {"lr": float("nan")}, {"warm_up": 0}, {"schedule": "linear"}]
)
def test_nonsense_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=str(next(iter(bad)))):
        TrainingConfig.from_dict(bad)
