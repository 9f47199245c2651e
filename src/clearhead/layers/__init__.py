"""The bricks: every equation of the Transformer once, each in the file of its name."""

from clearhead.config import BlockConfig
from clearhead.layers.attention import KeysValues, MultiHeadAttention
from clearhead.layers.blocks import (
    CrossBlock,
    DecoderBlock,
    EncoderBlock,
    LlamaBlock,
    Residual,
    SelfBlock,
)
from clearhead.layers.cache import KeyValueCache
from clearhead.layers.causal import CausalStack, CausalState
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import (
    SegmentEmbedding,
    SpelledEmbedding,
    TokenEmbedding,
    TokenScores,
)
from clearhead.layers.experts import Experts
from clearhead.layers.feed_forward import FeedForward
from clearhead.layers.labels import LabelScores, SpanScores
from clearhead.layers.norms import BatchNorm, LayerNorm, RMSNorm
from clearhead.layers.patches import PatchEmbedding
from clearhead.layers.pooling import Pooling
from clearhead.layers.positions import (
    Alibi,
    LearnedPositions,
    RelativeBias,
    Rotary,
    RowPositions,
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
    "LabelScores",
    "LayerNorm",
    "LearnedPositions",
    "LlamaBlock",
    "MultiHeadAttention",
    "PatchEmbedding",
    "Pooling",
    "RMSNorm",
    "RelativeBias",
    "Residual",
    "Rotary",
    "RowPositions",
    "SegmentEmbedding",
    "SelfBlock",
    "SinusoidalPositions",
    "SpanScores",
    "SpelledEmbedding",
    "Tap",
    "TokenEmbedding",
    "TokenScores",
]
