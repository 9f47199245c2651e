"""Our Transformer is Marian's: the same logits, and the same translations, token by token."""

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GenerationConfig, MarianConfig, MarianMTModel

from clearhead.layers import BlockConfig
from clearhead.models import Transformer, TransformerConfig
from tests.parity.compare import (
    Path,
    assert_near,
    assert_same_gradients,
    backward,
    both_paths,
    gradients,
    randomise,
    take,
)
from tests.parity.weights import hf_marian

V, EOS = 101, 0
N_STEPS = 24
PAD = START = V - 1  # Marian starts its targets with the padding token

SHAPES: dict[str, dict[str, int]] = {
    "small": {"d_model": 32, "d_ff": 64, "n_heads": 2, "n_encoder": 1, "n_decoder": 1},
    "deep encoder": {"d_model": 24, "d_ff": 48, "n_heads": 3, "n_encoder": 3, "n_decoder": 1},
    "deep decoder": {"d_model": 32, "d_ff": 64, "n_heads": 8, "n_encoder": 1, "n_decoder": 3},
}

shapes = pytest.mark.parametrize("shape", SHAPES)


def twin_models(shape: str, is_lively: bool = False) -> tuple[Transformer, Any]:
    """Ours and Marian's, with the same random weights."""
    sizes = SHAPES[shape]
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=V,
            d_model=sizes["d_model"],
            encoder_layers=sizes["n_encoder"],
            decoder_layers=sizes["n_decoder"],
            encoder_ffn_dim=sizes["d_ff"],
            decoder_ffn_dim=sizes["d_ff"],
            encoder_attention_heads=sizes["n_heads"],
            decoder_attention_heads=sizes["n_heads"],
            max_position_embeddings=64,
            activation_function="relu",
            dropout=0.0,
            scale_embedding=True,
            pad_token_id=PAD,
            decoder_start_token_id=START,
            eos_token_id=None,
            forced_eos_token_id=None,
            attn_implementation="eager",
        )
    )
    randomise(theirs)
    if is_lively:
        enliven(theirs)
    config = TransformerConfig(
        n_source_tokens=V,
        n_target_tokens=V,
        pad=PAD,
        n_encoder_layers=sizes["n_encoder"],
        n_decoder_layers=sizes["n_decoder"],
        block=BlockConfig(
            d_model=sizes["d_model"],
            d_ff=sizes["d_ff"],
            n_heads=sizes["n_heads"],
            attention_bias=True,
            dropout=0.0,
        ),
    )
    ours = Transformer(config)
    ours.load_state_dict(hf_marian(theirs.state_dict()))
    return ours, theirs


@torch.no_grad()
def enliven(model: Any) -> None:
    """Change random weights so that the model does not say the same token for ever.

    The last feed-forward network decides, so that a token leads to another rather than to itself;
    the last norm's shift is such that no token is preferred in all contexts.
    """
    for name, parameter in model.model.named_parameters():
        if ".layers." in name:
            parameter *= 0.5 if parameter.dim() > 1 else 0.3 if name.endswith("bias") else 1.0
    last = model.model.decoder.layers[-1]
    last.fc2.weight *= 64
    x = model.model(sources().repeat(8, 1), decoder_input_ids=torch.randint(V, (32, 12)))[0]
    last.final_layer_norm.bias -= x.mean((0, 1))


def sources() -> Tensor:
    """Sentences of several lengths, padded to one."""
    lengths = torch.tensor([9, 4, 1, 7])[:, None]
    tokens = torch.randint(1, PAD, (4, 9))
    return tokens.where(torch.arange(9) < lengths - 1, EOS).where(torch.arange(9) < lengths, PAD)


@pytest.mark.parametrize("is_training", [True, False])
@shapes
@both_paths
def test_logits_and_gradients_are_marians(
    path: Path, shape: str, is_training: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    ours, theirs = twin_models(shape)
    ours.train(is_training)
    theirs.train(is_training)
    source = sources()
    target_in = torch.randint(1, PAD, (4, 6))
    target_in[:, 0] = START
    target_in[1, 4:] = PAD

    logits = ours(source, target_in)
    arguments = {"attention_mask": (source != PAD).long(), "decoder_input_ids": target_in}
    expected = theirs(source, **arguments).logits
    assert_near(logits, expected)
    assert (ours(source.flip(1), target_in) - expected).abs().max() > 0.01
    assert (theirs(source, decoder_input_ids=target_in).logits - expected).abs().max() > 0.01

    backward(logits, expected)
    # Marian's lookup does not train the vector of its padding token; ours does, as it starts
    # every target. So this row is not compared.
    for model in (ours, theirs):
        for name, grad in gradients(model).items():
            if "embed" in name or "shared" in name:
                grad[PAD] = 0
    assert_same_gradients(ours, theirs, hf_marian)


def greedy(model: Transformer, source: Tensor, eos: int | None) -> Tensor:
    """Take the best token at each step; after its end a sentence is padded."""
    state = model.start(source)
    tokens = [torch.full((len(source), 1), START)]
    is_finished = torch.zeros(len(source), dtype=torch.bool)
    while len(tokens) <= N_STEPS and not is_finished.all():
        logits, state = model.step(tokens[-1], state)
        best = logits.argmax(-1).masked_fill(is_finished, PAD)
        is_finished |= best == eos
        tokens.append(best[:, None])
    return torch.cat(tokens, dim=1)


def their_greedy(model: Any, source: Tensor, eos: int | None) -> Tensor:
    return model.generate(
        source,
        attention_mask=(source != PAD).long(),
        generation_config=GenerationConfig(
            do_sample=False,
            num_beams=1,
            use_cache=True,
            max_new_tokens=N_STEPS,
            eos_token_id=eos,
            pad_token_id=PAD,
            decoder_start_token_id=START,
        ),
    )


@pytest.mark.parametrize(("seed", "path"), [(0, "explicit"), (2, "fused"), (3, "explicit")])
@shapes
def test_greedy_translations_are_marians(
    shape: str, seed: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, monkeypatch)
    torch.manual_seed(seed)
    ours, theirs = twin_models(shape, is_lively=True)
    ours.eval()
    theirs.eval()
    source = sources()

    expected = their_greedy(theirs, source, eos=None)
    assert greedy(ours, source, eos=None).tolist() == expected.tolist()
    assert expected.unique().numel() > 8
    assert len(expected.unique(dim=0)) > 1

    eos = int(expected[0, N_STEPS // 2])
    expected = their_greedy(theirs, source, eos)
    assert (expected[0] == PAD).any()
    assert greedy(ours, source, eos).tolist() == expected.tolist()
