"""The plan is right for the data, obeys what is asked for, and says why."""

import pytest

from clearhead.errors import ConfigError
from clearhead.models import Transformer
from clearhead.tasks.plan import Facts, Plan, make_plan, smaller_size
from clearhead.tasks.steps import Speed
from clearhead.tasks.summarise.plan import make_summary_plan

MULTI30K = Facts(n_pairs=29_000, n_characters=3_900_000)


def speed(seconds_per_step: float) -> Speed:
    return Speed(seconds_per_step, 5000.0, "float32", 10**9, "measured")


def n_all_steps(plan: Plan) -> int:
    return plan.training.n_steps + plan.n_steps_before


def test_thirty_thousand_pairs_get_a_small_model_with_much_dropout() -> None:
    plan, reasons = make_plan(MULTI30K)
    assert 2.2e6 < Transformer(plan.model).n_parameters < 2.9e6
    assert plan.model.block.dropout == 0.3
    assert plan.n_batch_tokens == 4096
    assert any("29,000 pairs" in reason for reason in reasons)


def test_time_decides_over_steps() -> None:
    facts = Facts(29_000, 3_900_000, n_tokens=8000, n_batches=240)
    ten_minutes, reasons = make_plan(facts, seconds=600, speed=speed(0.5))
    assert n_all_steps(ten_minutes) == 1200
    assert any("10 min (as asked)" in reason for reason in reasons)
    usual, _ = make_plan(facts, speed=speed(0.1))
    assert n_all_steps(usual) == 240 * 140
    slow, reasons = make_plan(facts, speed=speed(10.0))
    assert n_all_steps(slow) == 480
    assert any("give --time for more" in reason for reason in reasons)


def test_a_model_that_would_see_little_of_its_data_becomes_smaller() -> None:
    facts = Facts(2_000_000, 300_000_000, n_tokens=32_000, n_batches=8000)
    plan, _ = make_plan(facts, speed=speed(2.0))
    assert plan.model.block.d_model == 512
    assert smaller_size(plan, "base", facts) == "small"
    assert smaller_size(plan, "tiny", facts) is None
    plan, _ = make_plan(facts, seconds=10**6, speed=speed(2.0))
    assert smaller_size(plan, "base", facts) is None


def test_dropout_rises_where_few_pairs_are_seen_often() -> None:
    many, reasons = make_plan(Facts(500_000, 60_000_000, n_tokens=32_000, n_batches=8000))
    assert many.training.dropout_rise == 0
    assert not any("grows from nothing" in reason for reason in reasons)
    facts = Facts(29_000, 3_900_000, n_tokens=8000, n_batches=110)
    few, reasons = make_plan(facts, settings={"n_first_steps": 0})
    assert few.training.dropout_rise == 15 * 110
    assert any("grows from nothing" in reason for reason in reasons)
    # With what four first models make of the pairs, an epoch is five times as long.
    assert make_plan(facts)[0].training.dropout_rise == 5 * 15 * 110
    _, reasons = make_plan(MULTI30K, settings={"model.block.dropout": 0.0})
    assert not any("dropout" in reason for reason in reasons)
    with pytest.raises(ConfigError, match="dropout_rise=-1 must be at least 0"):
        make_plan(MULTI30K, settings={"training.dropout_rise": -1})


def test_few_pairs_are_validated_on_many_answers() -> None:
    assert make_plan(MULTI30K)[0].n_validated == 1000
    assert make_plan(Facts(500_000, 60_000_000))[0].n_validated == 300
    assert make_summary_plan(MULTI30K)[0].n_validated == 100
    with pytest.raises(ConfigError, match="n_validated=0 must be at least 1"):
        make_plan(MULTI30K, settings={"n_validated": 0})


def test_settings_have_the_last_word_and_wrong_names_get_the_nearest() -> None:
    plan, _ = make_plan(MULTI30K, settings={"training.lr": "0.01", "model.block.dropout": 0.2})
    assert (plan.training.lr, plan.model.block.dropout) == (0.01, 0.2)
    with pytest.raises(ConfigError, match=r"no setting 'training\.l': did you mean training\.lr\?"):
        make_plan(MULTI30K, settings={"training.l": 1})
    with pytest.raises(ConfigError, match="no preset 'tinny': did you mean tiny"):
        make_plan(MULTI30K, size="tinny")
