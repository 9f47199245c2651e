"""Random small Transformers and random inputs for them."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from clearhead.layers import BlockConfig
from clearhead.models import Transformer, TransformerConfig

N_TOKENS = 23
PAD = 0


@st.composite
def transformers(draw: st.DrawFn, dropout: float = 0.0) -> "Maker":
    """Any kind of Transformer that the configuration allows, small."""
    n_heads = draw(st.sampled_from([1, 2, 4]))
    block = BlockConfig(
        d_model=16,
        d_ff=24,
        n_heads=n_heads,
        n_kv_heads=draw(st.sampled_from([g for g in (1, 2, 4) if n_heads % g == 0])),
        norm=draw(st.sampled_from(["post", "pre"])),
        activation=draw(st.sampled_from(["relu", "gelu", "gelu_tanh", "swish", "swiglu", "geglu"])),
        attention_bias=draw(st.booleans()),
        dropout=dropout,
        attention_dropout=dropout,
        hidden_dropout=dropout,
    )
    config = TransformerConfig(
        n_source_tokens=N_TOKENS,
        n_target_tokens=N_TOKENS,
        is_joint=draw(st.booleans()),
        n_encoder_layers=draw(st.integers(1, 2)),
        n_decoder_layers=draw(st.integers(1, 2)),
        positions=draw(st.sampled_from(["sinusoidal", "learned", "sines_first"])),
        max_length=32,
        has_output_bias=draw(st.booleans()),
        block=block,
    )
    return Maker(config, draw(st.integers(0, 2**16)))


@dataclass(frozen=True)
class Maker:
    """Builds a model inside the test: the shape checks may not run inside a strategy."""

    config: TransformerConfig
    seed: int

    def __call__(self) -> Transformer:
        torch.manual_seed(self.seed)
        model = Transformer(self.config).eval()
        for parameter in model.parameters():  # biases and norms too, so that none is 0 or 1
            parameter.data.add_(torch.randn_like(parameter), alpha=0.2)
        return model


@st.composite
def sentences(draw: st.DrawFn, n_rows: int, padded: bool = False, min_length: int = 1) -> Tensor:
    """Rows of token ids; when padded, some rows end in padding, but no row is empty."""
    length = draw(st.integers(min_length, 9))
    torch.manual_seed(draw(st.integers(0, 2**16)))
    tokens = torch.randint(1, N_TOKENS, (n_rows, length))
    if padded:
        lengths = torch.randint(min_length, length + 1, (n_rows, 1))
        tokens[torch.arange(length) >= lengths] = PAD
    return tokens
