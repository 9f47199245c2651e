"""T5 through its family: the same answers, and back without a loss."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from clearhead.convert.families import T5Family
from clearhead.decoding import DecodingConfig, Request, generate
from clearhead.errors import ConfigError
from tests.convert.through_family import assert_round_trip, give_back
from tests.parity.compare import assert_near
from tests.parity.t5_twins import KINDS, PAD, inputs, their_config, twin_models

transformers = pytest.importorskip("transformers")
save_file = pytest.importorskip("safetensors.torch").save_file

FAMILY = T5Family()
N_STEPS = 20
kinds = pytest.mark.parametrize("kind", KINDS)


@kinds
@torch.no_grad()
def test_what_goes_back_gives_the_same_logits(kind: str, tmp_path: Path) -> None:
    """Their class reads it from a folder, as it would from ours."""
    ours, theirs = twin_models(kind)
    weights = assert_round_trip(FAMILY, ours, theirs)
    settings, _ = give_back(FAMILY, ours)
    names = {"model_type": FAMILY.model_type, "architectures": [FAMILY.architecture]}
    (tmp_path / "config.json").write_text(json.dumps(settings | names), encoding="utf-8")
    save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    again = transformers.T5ForConditionalGeneration.from_pretrained(tmp_path).eval()
    given = inputs()
    logits = ours(given["input_ids"], given["decoder_input_ids"])
    assert_near(logits, theirs(**given).logits, 1e-4)
    assert_near(again(**given).logits, logits, 1e-4)


@kinds
@torch.no_grad()
def test_the_answers_are_theirs(kind: str) -> None:
    torch.manual_seed(1)
    ours, theirs = twin_models(kind)
    given = inputs()
    source = given["input_ids"]
    expected = theirs.generate(
        source,
        attention_mask=given["attention_mask"],
        generation_config=transformers.GenerationConfig(
            max_new_tokens=N_STEPS, pad_token_id=PAD, decoder_start_token_id=PAD
        ),
    )[:, 1:].tolist()
    # Theirs may write any token; ours must not end, so the end is a token that they do not write.
    eos = next(n for n in range(1, 61) if all(n not in row for row in expected))
    config = DecodingConfig(n_beams=1, min_length=N_STEPS)
    requests = [Request(row[row != PAD].tolist(), N_STEPS, config) for row in source]
    answers = generate(ours, requests, bos=PAD, eos=eos, pad=PAD)
    assert [answer[0].tokens for answer in answers] == expected
    assert len({tuple(row) for row in expected}) > 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feed_forward_proj": "gelu"}, "feed_forward_proj='gelu' is not known here"),
        ({"decoder_start_token_id": 5}, "targets begin with pad_token_id=0"),
    ],
)
def test_other_kinds_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        FAMILY.read_config(their_config().to_dict() | changes)


def test_an_activation_that_they_have_not_is_refused() -> None:
    config = replace(FAMILY.read_config(their_config().to_dict()), activation="gelu")
    with pytest.raises(ConfigError, match="no activation 'gelu'"):
        FAMILY.write_config(config)


def test_old_settings_say_less() -> None:
    """The first folders named neither the kind of feed-forward layers nor the decoder's depth."""
    old = {"vocab_size": 32128, "d_model": 512, "d_ff": 2048, "d_kv": 64, "num_layers": 6}
    config = FAMILY.read_config(old | {"num_heads": 8, "pad_token_id": 0})
    assert config == type(config).preset("small", 32128)
