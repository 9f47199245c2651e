"""Ours and Hugging Face's T5, with the same random weights."""

from typing import Any

import torch
from torch import Tensor, nn

from clearhead.convert.families import T5Family
from clearhead.models import T5
from tests.convert.through_family import take_over
from tests.parity.compare import randomise

V, PAD = 61, 0
KINDS: dict[str, dict[str, Any]] = {
    "1.0": {},
    "1.0, deep encoder": {"num_layers": 3, "num_decoder_layers": 1, "d_kv": 4},
    "1.1": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    "1.1, swish, few buckets": {
        "feed_forward_proj": "gated-silu",
        "tie_word_embeddings": False,
        "relative_attention_num_buckets": 6,
        "relative_attention_max_distance": 9,
    },
}


def their_config(**changes: Any) -> Any:
    from transformers import T5Config

    settings: dict[str, Any] = {
        "vocab_size": V, "d_model": 32, "d_kv": 12, "d_ff": 48, "num_layers": 2, "num_heads": 4,
        "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
        "dropout_rate": 0.0, "decoder_start_token_id": PAD, "attn_implementation": "eager",
    }  # fmt: skip
    return T5Config(**settings | changes)


def twin_models(kind: str) -> tuple[T5, Any]:
    from transformers import T5ForConditionalGeneration

    theirs = T5ForConditionalGeneration(their_config(**KINDS[kind]))
    if not theirs.config.scale_decoder_outputs:  # their class ties what is not tied in the file
        theirs.lm_head.weight = nn.Parameter(torch.empty(V, 32))
    randomise(theirs)
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            if name.endswith((".q.weight", ".k.weight")):
                parameter *= 0.5  # scores are not scaled
            if name == "shared.weight":
                parameter *= 32**0.5
    ours = take_over(T5Family(), theirs)
    assert isinstance(ours, T5)
    return ours, theirs.eval()


def inputs(n_target: int = 9) -> dict[str, Tensor]:
    """Sources of several lengths, padded to one, and targets that begin as T5's do."""
    lengths = torch.tensor([26, 4, 1])[:, None]
    source = torch.randint(1, V, (3, 26)).where(torch.arange(26) < lengths, PAD)
    target = torch.randint(1, V, (3, n_target))
    target[:, 0] = PAD
    mask = (source != PAD).long()
    return {"input_ids": source, "attention_mask": mask, "decoder_input_ids": target}
