"""The bricks: every equation of the Transformer once, each in the file of its name."""

from clearhead.config import BlockConfig
from clearhead.layers.attention import KeysValues, MultiHeadAttention
from clearhead.layers.blocks import CrossBlock, DecoderBlock, EncoderBlock, Residual, SelfBlock
from clearhead.layers.cache import KeyValueCache
from clearhead.layers.causal import CausalStack, CausalState
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.layers.experts import Experts
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.norms import BatchNorm, LayerNorm, RMSNorm
from clearhead.layers.positions import (
    Alibi,
    LearnedPositions,
    RelativeBias,
    Rotary,
    SinusoidalPositions,
)
from clearhead.layers.stacks import Decoder, DecoderStack, DecoderState, Encoder, EncoderStack
from clearhead.layers.tap import Tap

__all__ = [
    "Alibi",
    "BatchNorm",
    "BlockConfig",
    "CausalStack",
    "CausalState",
    "CrossBlock",
    "Decoder",
    "DecoderBlock",
    "DecoderStack",
    "DecoderState",
    "Dropout",
    "Encoder",
    "EncoderBlock",
    "EncoderStack",
    "Experts",
    "FeedForward",
    "KeyValueCache",
    "KeysValues",
    "LayerNorm",
    "LearnedPositions",
    "MultiHeadAttention",
    "RMSNorm",
    "RelativeBias",
    "Residual",
    "Rotary",
    "SelfBlock",
    "SinusoidalPositions",
    "Tap",
    "TokenEmbedding",
    "TokenScores",
]
