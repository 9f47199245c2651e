"""Marian of Hugging Face, and so the opus-mt translators: our Transformer with the norm last.

Its positions have all sines before all cosines, and its logits a bias of their own.
"""

from collections.abc import Mapping
from typing import Any, Final

from clearhead.config import BlockConfig, TransformerConfig
from clearhead.convert.family import Entry, Family
from clearhead.errors import ConfigError
from clearhead.models import Transformer

__all__ = ["MarianFamily"]

ACTIVATIONS: Final = {"relu": "relu", "gelu": "gelu", "swish": "swish", "silu": "swish"}
NOT_KNOWN: Final = ("normalize_before", "normalize_embedding", "add_final_layer_norm")
SAME: Final = ("ffn_dim", "attention_heads")
"""What the encoder and the decoder have in common here."""


class MarianFamily(Family[TransformerConfig]):
    """`MarianMTModel`; its targets begin with the padding token."""

    model_type = "marian"
    architecture = "MarianMTModel"
    ignored = ("model.*.embed_positions.weight", "model.*.embed_tokens.weight", "lm_head.weight")

    def read_config(self, theirs: Mapping[str, Any]) -> TransformerConfig:
        """Refuses stacks of different widths, and what Marian can have but opus-mt never has."""
        _refuse_other_kinds(theirs)
        is_joint = theirs.get("share_encoder_decoder_embeddings", True)
        n_source = theirs["vocab_size"]
        n_target = n_source if is_joint else theirs.get("decoder_vocab_size") or n_source
        return TransformerConfig(
            n_source_tokens=n_source,
            n_target_tokens=n_target,
            is_joint=is_joint,
            pad=theirs["pad_token_id"],
            n_encoder_layers=theirs["encoder_layers"],
            n_decoder_layers=theirs["decoder_layers"],
            positions="sines_first",
            max_length=theirs.get("max_position_embeddings", 1024),
            has_output_bias=True,
            block=BlockConfig.from_dict(
                {
                    "d_model": theirs["d_model"],
                    "d_ff": theirs["encoder_ffn_dim"],
                    "n_heads": theirs["encoder_attention_heads"],
                    "activation": ACTIVATIONS[theirs.get("activation_function", "gelu")],
                    "attention_bias": True,
                    "dropout": theirs.get("dropout", 0.1),
                    "attention_dropout": theirs.get("attention_dropout", 0.0),
                    "hidden_dropout": theirs.get("activation_dropout", 0.0),
                }
            ),
        )

    def write_config(self, config: TransformerConfig) -> dict[str, Any]:
        """All that their class needs; refuses a Transformer that Marian cannot be."""
        _refuse_ours(config)
        block = config.block
        both = {"layerdrop": 0.0, "ffn_dim": block.d_ff, "attention_heads": block.n_heads}
        return {
            "vocab_size": config.n_source_tokens,
            "decoder_vocab_size": config.n_target_tokens,
            "share_encoder_decoder_embeddings": config.is_joint,
            "tie_word_embeddings": True,
            "pad_token_id": config.pad,
            "decoder_start_token_id": config.pad,
            "encoder_layers": config.n_encoder_layers,
            "decoder_layers": config.n_decoder_layers,
            **{f"{stack}_{k}": v for stack in ("encoder", "decoder") for k, v in both.items()},
            "d_model": block.d_model,
            "activation_function": block.activation,
            "dropout": block.dropout,
            "attention_dropout": block.attention_dropout,
            "activation_dropout": block.hidden_dropout,
            "max_position_embeddings": config.max_length,
            "scale_embedding": True,
            "is_encoder_decoder": True,
        }

    def entries(self, config: TransformerConfig) -> list[Entry]:
        """The embeddings, the output's bias, then block by block."""
        source, target = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"
        if config.is_joint:
            found = [Entry("source_embedding.weight", ("model.shared.weight",))]
        else:
            found = [
                Entry("source_embedding.weight", (source,)),
                Entry("target_embedding.weight", (target,)),
            ]
        if config.has_output_bias:
            n = config.n_target_tokens
            found.append(Entry("output.bias", ("final_logits_bias",), shapes=((n,), (1, n))))
        counts = {"encoder": config.n_encoder_layers, "decoder": config.n_decoder_layers}
        for stack, n_layers in counts.items():
            for n in range(n_layers):
                ours, theirs = f"{stack}.blocks.{n}", f"model.{stack}.layers.{n}"
                found += _block(config.block.d_model, ours, theirs, is_decoder=stack == "decoder")
        return found

    def build(self, config: TransformerConfig) -> Transformer:
        """Our Transformer."""
        return Transformer(config)


def _block(d_model: int, ours: str, theirs: str, *, is_decoder: bool) -> list[Entry]:
    """Attention to itself, in the decoder to the source too, and feed-forward; each its norm."""
    found = _attention(d_model, f"{ours}.self_attention", f"{theirs}.self_attn")
    if is_decoder:
        found += _attention(d_model, f"{ours}.cross_attention", f"{theirs}.encoder_attn")
    return [
        *found,
        *_linear(f"{ours}.feed_forward.w_1", f"{theirs}.fc1"),
        *_linear(f"{ours}.feed_forward.w_2", f"{theirs}.fc2"),
        *_linear(f"{ours}.feed_forward_residual.norm", f"{theirs}.final_layer_norm"),
    ]


def _attention(d_model: int, ours: str, theirs: str) -> list[Entry]:
    rows = (d_model,) * 3
    return [
        Entry(f"{ours}.w_qkv", tuple(f"{theirs}.{part}_proj.weight" for part in "qkv"), rows),
        Entry(f"{ours}.b_qkv", tuple(f"{theirs}.{part}_proj.bias" for part in "qkv"), rows),
        *_linear(f"{ours}.w_o", f"{theirs}.out_proj"),
        *_linear(f"{ours}_residual.norm", f"{theirs}_layer_norm"),
    ]


def _linear(ours: str, theirs: str) -> list[Entry]:
    return [Entry(f"{ours}.{part}", (f"{theirs}.{part}",)) for part in ("weight", "bias")]


def _refuse_other_kinds(theirs: Mapping[str, Any]) -> None:
    activation = theirs.get("activation_function", "gelu")
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise ConfigError(f"activation_function={activation!r} is not known here: {known} are")
    for name in SAME:
        encoder, decoder = theirs[f"encoder_{name}"], theirs[f"decoder_{name}"]
        if encoder != decoder:
            raise ConfigError(
                f"encoder_{name}={encoder} and decoder_{name}={decoder} differ: here both stacks "
                f"have the same"
            )
    for name in NOT_KNOWN:
        if theirs.get(name):
            raise ConfigError(f"{name} is not known here: only Marian models without are")
    for name, is_so in (("scale_embedding", False), ("tie_word_embeddings", True)):
        if not theirs.get(name, is_so):
            raise ConfigError(f"{name}=False is not known here: only Marian models with it are")
    start = theirs.get("decoder_start_token_id", theirs["pad_token_id"])
    if start != theirs["pad_token_id"]:
        raise ConfigError(
            f"decoder_start_token_id={start} is not known here: targets begin with "
            f"pad_token_id={theirs['pad_token_id']}"
        )


def _refuse_ours(config: TransformerConfig) -> None:
    block = config.block
    if block.activation not in ACTIVATIONS.values():
        raise ConfigError(f"Marian has no activation {block.activation!r}")
    if block.n_kv_heads not in (None, block.n_heads):
        raise ConfigError(f"Marian has no n_kv_heads={block.n_kv_heads}")
    if block.norm != "post" or not block.attention_bias or config.positions != "sines_first":
        raise ConfigError(
            "Marian has its norms last, biases in its attention, and positions with the sines first"
        )
