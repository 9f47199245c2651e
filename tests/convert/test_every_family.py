"""A folder of every family: in, the same logits; out, the same again; weights bit by bit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from clearhead.convert import read_folder, write_folder
from clearhead.convert.families import FAMILIES

transformers = pytest.importorskip("transformers")

TOKENS = torch.tensor([[7, 9, 30, 2, 11], [5, 33, 12, 8, 19]])
TARGETS = torch.tensor([[39, 8, 9], [39, 4, 12]])
PICTURES = torch.linspace(-1, 1, 2 * 3 * 8 * 8).view(2, 3, 8, 8)
SIZES: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
HEADS: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2}


def causal(theirs: Any) -> Tensor:
    logits: Tensor = theirs(TOKENS).logits
    return logits


def between(theirs: Any) -> Tensor:
    logits: Tensor = theirs(input_ids=TOKENS, decoder_input_ids=TARGETS).logits
    return logits


MADE: dict[str, tuple[Callable[[], Any], Callable[[Any], Tensor], tuple[Tensor, ...]]] = {
    "llama": (
        lambda: transformers.LlamaForCausalLM(
            transformers.LlamaConfig(vocab_size=40, **SIZES, **HEADS)
        ),
        causal,
        (TOKENS,),
    ),
    "mixtral": (
        lambda: transformers.MixtralForCausalLM(
            transformers.MixtralConfig(vocab_size=40, num_local_experts=3, **SIZES, **HEADS)
        ),
        causal,
        (TOKENS,),
    ),
    "gpt2": (
        lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=40, n_embd=32, n_layer=2, n_head=4, n_positions=16, eos_token_id=1
            )
        ),
        causal,
        (TOKENS,),
    ),
    "bert": (
        lambda: transformers.BertForSequenceClassification(
            transformers.BertConfig(
                vocab_size=40,
                num_attention_heads=4,
                num_labels=3,
                max_position_embeddings=16,
                **SIZES,
            )
        ),
        causal,
        (TOKENS,),
    ),
    "vit": (
        lambda: transformers.ViTForImageClassification(
            transformers.ViTConfig(
                num_attention_heads=4, num_labels=3, image_size=8, patch_size=4, **SIZES
            )
        ),
        lambda theirs: theirs(PICTURES).logits,
        (PICTURES,),
    ),
    "marian": (
        lambda: transformers.MarianMTModel(
            transformers.MarianConfig(
                vocab_size=40, d_model=32, encoder_layers=2, decoder_layers=1, encoder_ffn_dim=48,
                decoder_ffn_dim=48, encoder_attention_heads=4, decoder_attention_heads=4,
                max_position_embeddings=16, pad_token_id=39, decoder_start_token_id=39,
                scale_embedding=True, activation_function="swish",
            )
        ),
        between,
        (TOKENS, TARGETS),
    ),
    "t5": (
        lambda: transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                vocab_size=40, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                decoder_start_token_id=0, feed_forward_proj="gated-gelu",
                tie_word_embeddings=False,
            )
        ),
        between,
        (TOKENS, TARGETS),
    ),
}  # fmt: skip


def test_no_family_is_left_out() -> None:
    assert {family.model_type for family in FAMILIES} == set(MADE)


@pytest.mark.parametrize("name", MADE)
@torch.no_grad()
def test_in_and_out_again(name: str, tmp_path: Path) -> None:
    make, run, inputs = MADE[name]
    torch.manual_seed(0)
    theirs = make().eval()
    theirs.save_pretrained(tmp_path / "theirs")
    found = read_folder(tmp_path / "theirs")
    assert torch.allclose(found.model(*inputs), run(theirs), atol=1e-4)
    write_folder(found.model, None, tmp_path / "again")
    again = type(theirs).from_pretrained(tmp_path / "again").eval()
    assert torch.allclose(run(again), run(theirs), atol=1e-6)
    second = read_folder(tmp_path / "again")
    first = dict(found.model.named_parameters())
    for weight, parameter in second.model.named_parameters():
        assert torch.equal(parameter, first[weight]), weight
