"""Our blocks, and the whole Transformer of 2017, are torch's."""

import math
from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from clearhead.layers import BlockConfig, DecoderBlock, EncoderBlock, masks
from clearhead.models import Transformer, TransformerConfig
from tests.parity.compare import (
    Weights,
    assert_near,
    assert_same_gradients,
    backward,
    gradient,
    randomise,
    twins,
)
from tests.parity.weights import (
    part,
    torch_decoder_block,
    torch_encoder_block,
    torch_stacks,
)

B, T, S, D, F, H, V, PAD = 3, 6, 8, 16, 24, 4, 13, 0

Norm = Literal["post", "pre"]

every_case = pytest.mark.parametrize("is_training", [True, False])
both_norms = pytest.mark.parametrize("norm", ["post", "pre"])


def block_config(norm: Norm, activation: Literal["relu", "gelu"] = "relu") -> BlockConfig:
    """Torch drops in other places than the paper, so nothing is dropped."""
    return BlockConfig(
        d_model=D,
        d_ff=F,
        n_heads=H,
        norm=norm,
        activation=activation,
        attention_bias=True,
        dropout=0.0,
    )


def is_token(n_positions: int) -> Tensor:
    """Three sentences, two of them with padding at their end."""
    return torch.arange(n_positions) < torch.tensor([n_positions, n_positions - 3, 2])[:, None]


@every_case
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@both_norms
def test_encoder_block_is_torchs(
    norm: Norm, activation: Literal["relu", "gelu"], is_training: bool
) -> None:
    theirs = nn.TransformerEncoderLayer(
        D, H, F, dropout=0.0, activation=activation, batch_first=True, norm_first=norm == "pre"
    )
    randomise(theirs)
    ours = EncoderBlock(block_config(norm, activation))
    ours.load_state_dict(torch_encoder_block(theirs.state_dict()))
    ours.train(is_training)
    theirs.train(is_training)
    x, y = twins(B, S, D)

    output = ours(x, masks.padding(is_token(S)))
    expected = theirs(y, src_key_padding_mask=~is_token(S))
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_same_gradients(ours, theirs, torch_encoder_block)


@both_norms
def test_encoder_block_is_torchs_fast_path(norm: Norm) -> None:
    theirs = nn.TransformerEncoderLayer(
        D, H, F, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    )
    randomise(theirs)
    ours = EncoderBlock(block_config(norm))
    ours.load_state_dict(torch_encoder_block(theirs.state_dict()))
    ours.eval()
    theirs.eval()
    x = torch.randn(B, S, D)
    with torch.no_grad():  # without gradients torch runs one native kernel for the whole layer
        assert_near(ours(x, None), theirs(x))


@every_case
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@both_norms
def test_decoder_block_is_torchs(
    norm: Norm, activation: Literal["relu", "gelu"], is_training: bool
) -> None:
    theirs = nn.TransformerDecoderLayer(
        D, H, F, dropout=0.0, activation=activation, batch_first=True, norm_first=norm == "pre"
    )
    randomise(theirs)
    ours = DecoderBlock(block_config(norm, activation))
    ours.load_state_dict(torch_decoder_block(theirs.state_dict()))
    ours.train(is_training)
    theirs.train(is_training)
    (x, y), (memory, their_memory) = twins(B, T, D), twins(B, S, D)

    output = ours(x, memory, masks.causal(T), masks.padding(is_token(S)))
    expected = theirs(
        y,
        their_memory,
        tgt_mask=~masks.causal(T)[0, 0],
        memory_key_padding_mask=~is_token(S),
    )
    assert_near(output, expected)
    backward(output, expected)
    assert_near(gradient(x), gradient(y))
    assert_near(gradient(memory), gradient(their_memory))
    assert_same_gradients(ours, theirs, torch_decoder_block)


class TorchTransformer(nn.Module):
    """Figure 1 of the paper, of torch's parts: embedding, positions, nn.Transformer, logits."""

    def __init__(self, norm: Norm, n_encoder_layers: int, n_decoder_layers: int) -> None:
        super().__init__()
        is_pre = norm == "pre"
        encoder_layer = nn.TransformerEncoderLayer(
            D, H, F, dropout=0.0, batch_first=True, norm_first=is_pre
        )
        decoder_layer = nn.TransformerDecoderLayer(
            D, H, F, dropout=0.0, batch_first=True, norm_first=is_pre
        )
        # The paper has no norm after the last post-norm layer; nn.Transformer would add one.
        self.stacks = nn.Transformer(
            D,
            H,
            batch_first=True,
            custom_encoder=nn.TransformerEncoder(
                encoder_layer,
                n_encoder_layers,
                nn.LayerNorm(D) if is_pre else None,
                enable_nested_tensor=False,
            ),
            custom_decoder=nn.TransformerDecoder(
                decoder_layer, n_decoder_layers, nn.LayerNorm(D) if is_pre else None
            ),
        )
        self.embedding = nn.Embedding(V, D)

    def forward(self, source: Tensor, target_in: Tensor, is_causal: bool = True) -> Tensor:
        is_padding = source == PAD
        causal = nn.Transformer.generate_square_subsequent_mask(target_in.shape[1])
        x = self.stacks(
            self.embed(source),
            self.embed(target_in),
            tgt_mask=causal.isinf() if is_causal else None,
            src_key_padding_mask=is_padding,
            memory_key_padding_mask=is_padding,
        )
        return x @ self.embedding.weight.T

    def embed(self, tokens: Tensor) -> Tensor:
        positions = [
            [(math.cos if d % 2 else math.sin)(pos / 10000 ** (2 * (d // 2) / D)) for d in range(D)]
            for pos in range(tokens.shape[1])
        ]
        return self.embedding(tokens) * math.sqrt(D) + torch.tensor(positions)


def from_torch(theirs: Weights) -> dict[str, Tensor]:
    """Name the weights of a TorchTransformer as ours are named."""
    tied = ("source_embedding.weight", "target_embedding.weight", "output.weight")
    return torch_stacks(part(theirs, "stacks")) | dict.fromkeys(tied, theirs["embedding.weight"])


def twin_transformers(
    norm: Norm, n_encoder_layers: int, n_decoder_layers: int
) -> tuple[Transformer, TorchTransformer]:
    """Ours and torch's, with the same random weights."""
    theirs = TorchTransformer(norm, n_encoder_layers, n_decoder_layers)
    randomise(theirs)
    config = TransformerConfig(
        n_source_tokens=V,
        n_target_tokens=V,
        pad=PAD,
        n_encoder_layers=n_encoder_layers,
        n_decoder_layers=n_decoder_layers,
        block=block_config(norm),
    )
    ours = Transformer(config)
    ours.load_state_dict(from_torch(theirs.state_dict()))
    return ours, theirs


def sentences() -> tuple[Tensor, Tensor]:
    """Sources with padding, and targets."""
    source = torch.randint(1, V, (B, S)).where(is_token(S), PAD)
    return source, torch.randint(1, V, (B, T))


@every_case
@pytest.mark.parametrize(("n_encoder_layers", "n_decoder_layers"), [(1, 1), (2, 3)])
@both_norms
def test_transformer_is_torchs(
    norm: Norm, n_encoder_layers: int, n_decoder_layers: int, is_training: bool
) -> None:
    ours, theirs = twin_transformers(norm, n_encoder_layers, n_decoder_layers)
    ours.train(is_training)
    theirs.train(is_training)
    source, target_in = sentences()

    logits, expected = ours(source, target_in), theirs(source, target_in)
    assert_near(logits, expected)
    backward(logits, expected)
    assert_same_gradients(ours, theirs, from_torch)


@both_norms
def test_a_wrong_mask_is_noticed(norm: Norm) -> None:
    ours, theirs = twin_transformers(norm, 2, 2)
    source, target_in = sentences()
    logits = ours(source, target_in)
    assert (logits - theirs(source, target_in, is_causal=False)).abs().max() > 0.01
    unpadded = source.masked_fill(source == PAD, 1)
    difference = (logits - theirs(unpadded, target_in)).abs().amax((1, 2))
    assert difference[0] < 1e-5  # the first sentence has no padding
    assert (difference[1:] > 0.01).all()
