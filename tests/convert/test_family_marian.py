"""Marian through its family: the same logits, the same answers, and back without a loss."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from clearhead.convert.families import MarianFamily
from clearhead.decoding import DecodingConfig, Request, generate
from clearhead.engine.positions import positions_of
from clearhead.engine.shape import why_not
from clearhead.errors import ConfigError
from clearhead.models import Transformer
from tests.convert.through_family import assert_round_trip, give_back, take_over
from tests.parity.compare import assert_near, randomise
from tests.parity.test_marian import (
    N_STEPS,
    PAD,
    START,
    V,
    enliven,
    sources,
    their_greedy,
)

transformers = pytest.importorskip("transformers")

FAMILY = MarianFamily()
KINDS: dict[str, dict[str, Any]] = {
    "opus-mt": {"activation_function": "swish"},
    "relu, deep encoder": {"activation_function": "relu", "encoder_layers": 3},
    "gelu, many heads": {"encoder_attention_heads": 8, "decoder_attention_heads": 8},
    "two vocabularies": {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 113},
    "odd width": {"d_model": 27, "encoder_attention_heads": 3, "decoder_attention_heads": 3},
}

kinds = pytest.mark.parametrize("kind", KINDS)


def their_config(**changes: Any) -> Any:
    sizes = {f"{stack}_layers": 2 for stack in ("encoder", "decoder")}
    sizes |= {f"{stack}_ffn_dim": 48 for stack in ("encoder", "decoder")}
    sizes |= {f"{stack}_attention_heads": 2 for stack in ("encoder", "decoder")}
    settings: dict[str, Any] = {
        "vocab_size": V, "d_model": 32, **sizes, "max_position_embeddings": 64, "dropout": 0.0,
        "scale_embedding": True, "pad_token_id": PAD, "decoder_start_token_id": START,
        "eos_token_id": None, "forced_eos_token_id": None, "attn_implementation": "eager",
    }  # fmt: skip
    return transformers.MarianConfig(**settings | changes)


def twins(kind: str, *, is_lively: bool = False) -> tuple[Transformer, Any]:
    theirs = transformers.MarianMTModel(their_config(**KINDS[kind]))
    randomise(theirs)
    if is_lively:
        enliven(theirs)
    theirs.final_logits_bias.normal_(std=0.5)
    ours = take_over(FAMILY, theirs)
    assert isinstance(ours, Transformer)
    return ours, theirs.eval()


def inputs() -> dict[str, torch.Tensor]:
    source, target = sources(), torch.randint(1, PAD, (4, 6))
    target[:, 0] = START
    mask = (source != PAD).long()
    return {"input_ids": source, "attention_mask": mask, "decoder_input_ids": target}


@kinds
@torch.no_grad()
def test_the_logits_are_theirs_and_so_are_those_of_what_goes_back(kind: str) -> None:
    ours, theirs = twins(kind)
    given = inputs()
    logits = ours(given["input_ids"], given["decoder_input_ids"])
    assert_near(logits, theirs(**given).logits, 1e-4)
    assert ours.output.bias is not None
    assert ours.output.bias.abs().max() > 0.1

    weights = assert_round_trip(FAMILY, ours, theirs)
    settings, _ = give_back(FAMILY, ours)
    again = transformers.MarianMTModel(transformers.MarianConfig(**settings)).eval()
    missing, unknown = again.load_state_dict(weights, strict=False)
    assert not unknown
    assert all("embed_" in name or name == "lm_head.weight" for name in missing)
    assert_near(again(**given).logits, logits, 1e-4)


@kinds
@torch.no_grad()
def test_the_answers_are_theirs(kind: str) -> None:
    torch.manual_seed(3)
    ours, theirs = twins(kind, is_lively=True)
    source = sources()
    expected = their_greedy(theirs, source, eos=None)[:, 1:].tolist()
    # Theirs may write any token; ours must not end, so the end is a token that they do not write.
    eos = next(n for n in range(1, PAD) if all(n not in row for row in expected))
    config = DecodingConfig(n_beams=1, min_length=N_STEPS)
    requests = [Request(row[row != PAD].tolist(), N_STEPS, config) for row in source]
    answers = generate(ours, requests, bos=START, eos=eos, pad=PAD)
    assert [answer[0].tokens for answer in answers] == expected
    assert len({token for row in expected for token in row}) > 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decoder_ffn_dim": 64}, "encoder_ffn_dim=48 and decoder_ffn_dim=64 differ"),
        ({"decoder_attention_heads": 4}, "decoder_attention_heads=4 differ"),
        ({"activation_function": "tanh"}, "activation_function='tanh' is not known here"),
        ({"scale_embedding": False}, "scale_embedding=False is not known here"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings=False is not known here"),
        ({"normalize_before": True}, "normalize_before is not known here"),
        ({"decoder_start_token_id": 7}, "targets begin with pad_token_id=100"),
    ],
)
def test_other_kinds_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        FAMILY.read_config(their_config().to_dict() | changes)


def test_ours_that_marian_cannot_be_are_refused() -> None:
    config = FAMILY.read_config(their_config().to_dict())
    for changed, message in (
        (replace(config, positions="learned"), "the sines first"),
        (replace(config, block=replace(config.block, norm="pre")), "its norms last"),
        (replace(config, block=replace(config.block, activation="swiglu")), "no activation"),
        (replace(config, block=replace(config.block, n_kv_heads=1)), "no n_kv_heads=1"),
    ):
        with pytest.raises(ConfigError, match=message):
            FAMILY.write_config(changed)


def test_the_engine_says_what_it_does_not_know_and_has_the_same_positions() -> None:
    config = FAMILY.read_config(their_config(activation_function="swish").to_dict())
    assert why_not(config) == "the engine does not know the activation swish"
    relu = replace(config, block=replace(config.block, activation="relu"))
    assert why_not(relu) == "the engine does not know an output with a bias"
    assert why_not(replace(relu, has_output_bias=False)) is None
    table = torch.from_numpy(positions_of(config, 300))
    assert_near(table, Transformer(config).source_positions(300), 1e-6)
