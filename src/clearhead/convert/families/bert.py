"""BERT of Hugging Face: one class for each head, around the same encoder."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clearhead.config import BertConfig
from clearhead.config.bert import Head
from clearhead.convert.family import Entry, Family
from clearhead.errors import ConfigError
from clearhead.models import Bert

__all__ = ["BertFamily", "both", "count_labels", "name_labels", "read_labels"]

ARCHITECTURES: Final[dict[str, Head]] = {
    "BertModel": "none",
    "BertForMaskedLM": "fill",
    "BertForSequenceClassification": "classify",
    "BertForQuestionAnswering": "span",
}


class BertFamily(Family[BertConfig]):
    """`BertModel`, and with a head for gaps, labels or spans."""

    model_type = "bert"
    architecture = "BertModel"
    ignored = (
        "*embeddings.position_ids",
        "*pooler.dense.*",
        "cls.seq_relationship.*",
        "cls.predictions.decoder.*",
    )

    def read_config(self, theirs: Mapping[str, Any]) -> BertConfig:
        """Refuses other activations, relative positions, decoders and unknown heads."""
        _refuse_unknown(theirs)
        architecture, *_ = theirs.get("architectures") or ["BertModel"]
        if architecture not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise ConfigError(f"architecture {architecture!r} is not known here: {known} are")
        head = ARCHITECTURES[architecture]
        if head == "fill" and not theirs.get("tie_word_embeddings", True):
            raise ConfigError("tie_word_embeddings=False is not known here: a shared output is")
        return BertConfig(
            n_tokens=theirs["vocab_size"],
            pad=theirs.get("pad_token_id") or 0,
            n_positions=theirs["max_position_embeddings"],
            n_segments=theirs["type_vocab_size"],
            n_layers=theirs["num_hidden_layers"],
            d_model=theirs["hidden_size"],
            d_ff=theirs["intermediate_size"],
            n_heads=theirs["num_attention_heads"],
            norm_eps=theirs.get("layer_norm_eps", 1e-12),
            dropout=theirs.get("hidden_dropout_prob", 0.1),
            attention_dropout=theirs.get("attention_probs_dropout_prob", 0.1),
            head=head,
            n_labels=2 if head == "span" else count_labels(theirs),
        )

    def write_config(self, config: BertConfig) -> dict[str, Any]:
        """All that their classes need; they have no classifier of the mean."""
        if config.head == "classify" and config.pooling == "mean":
            raise ConfigError(
                "pooling='mean' under a classifier has no class in transformers: first has"
            )
        return {
            "vocab_size": config.n_tokens,
            "pad_token_id": config.pad,
            "max_position_embeddings": config.n_positions,
            "type_vocab_size": config.n_segments,
            "num_hidden_layers": config.n_layers,
            "hidden_size": config.d_model,
            "intermediate_size": config.d_ff,
            "num_attention_heads": config.n_heads,
            "layer_norm_eps": config.norm_eps,
            "hidden_dropout_prob": config.dropout,
            "attention_probs_dropout_prob": config.attention_dropout,
            "hidden_act": "gelu",
            "tie_word_embeddings": True,
            **name_labels(read_labels({}, config.n_labels)),
        }

    def architecture_of(self, config: BertConfig) -> str:
        """The class that has this head."""
        (found,) = (name for name, head in ARCHITECTURES.items() if head == config.head)
        return found

    def rename(self, name: str, config: BertConfig) -> str:
        """With `bert.` in front where a head stands beside; older files say gamma and beta."""
        name = name.removeprefix("bert.")
        for old, new in (
            ("LayerNorm.gamma", "LayerNorm.weight"),
            ("LayerNorm.beta", "LayerNorm.bias"),
        ):
            name = name.replace(old, new)
        is_inner = name.startswith(("embeddings.", "encoder.", "pooler."))
        return f"{_prefix(config)}{name}" if is_inner else name

    def entries(self, config: BertConfig) -> list[Entry]:
        """The embeddings, block by block, then the head."""
        prefix = _prefix(config)
        table = f"{prefix}embeddings"
        found = [
            Entry("embedding.weight", (f"{table}.word_embeddings.weight",)),
            Entry("positions.weight", (f"{table}.position_embeddings.weight",)),
            Entry("segments.weight", (f"{table}.token_type_embeddings.weight",)),
            *both("embedding_norm", f"{table}.LayerNorm"),
        ]
        for n in range(config.n_layers):
            found += _block(config, f"encoder.blocks.{n}", f"{prefix}encoder.layer.{n}")
        return [*found, *_head(config, prefix)]

    def build(self, config: BertConfig) -> Bert:
        """Our BERT."""
        return Bert(config)


def both(ours: str, theirs: str) -> list[Entry]:
    """Weight and bias of a linear map or a norm."""
    return [Entry(f"{ours}.{part}", (f"{theirs}.{part}",)) for part in ("weight", "bias")]


def count_labels(theirs: Mapping[str, Any]) -> int:
    """How many labels their configuration knows; two if it does not say."""
    return int(theirs.get("num_labels") or len(theirs.get("id2label") or ()) or 2)


def read_labels(theirs: Mapping[str, Any], n_labels: int) -> tuple[str, ...]:
    """The names of labels in their order; LABEL_n, as theirs are called, where there is none.

    >>> read_labels({"id2label": {"1": "good"}}, 2)
    ('LABEL_0', 'good')
    """
    names = theirs.get("id2label") or {}
    return tuple(str(names.get(str(n), f"LABEL_{n}")) for n in range(n_labels))


def name_labels(labels: Sequence[str]) -> dict[str, Any]:
    """Labels by number and back."""
    return {
        "id2label": {str(n): name for n, name in enumerate(labels)},
        "label2id": {name: n for n, name in enumerate(labels)},
    }


def _prefix(config: BertConfig) -> str:
    return "" if config.head == "none" else "bert."


def _block(config: BertConfig, ours: str, theirs: str) -> list[Entry]:
    names = [f"{theirs}.attention.self.{part}" for part in ("query", "key", "value")]
    rows = (config.d_model,) * 3
    return [
        Entry(f"{ours}.self_attention.w_qkv", tuple(f"{n}.weight" for n in names), rows),
        Entry(f"{ours}.self_attention.b_qkv", tuple(f"{n}.bias" for n in names), rows),
        *both(f"{ours}.self_attention.w_o", f"{theirs}.attention.output.dense"),
        *both(f"{ours}.self_attention_residual.norm", f"{theirs}.attention.output.LayerNorm"),
        *both(f"{ours}.feed_forward.w_1", f"{theirs}.intermediate.dense"),
        *both(f"{ours}.feed_forward.w_2", f"{theirs}.output.dense"),
        *both(f"{ours}.feed_forward_residual.norm", f"{theirs}.output.LayerNorm"),
    ]


def _head(config: BertConfig, prefix: str) -> list[Entry]:
    if config.head == "fill":
        theirs = "cls.predictions"
        return [
            *both("output.dense", f"{theirs}.transform.dense"),
            *both("output.norm", f"{theirs}.transform.LayerNorm"),
            Entry("output.scores.bias", (f"{theirs}.bias",)),
        ]
    if config.head == "span":
        return both("output.w", "qa_outputs")
    is_dense = config.pooling == "first"
    pooler = both("pooling.dense", f"{prefix}pooler.dense") if is_dense else []
    return [*pooler, *both("output.w", "classifier")] if config.head == "classify" else pooler


def _refuse_unknown(theirs: Mapping[str, Any]) -> None:
    act = theirs.get("hidden_act", "gelu")
    if act != "gelu":
        raise ConfigError(f"hidden_act={act!r} is not known here: gelu is")
    positions = theirs.get("position_embedding_type") or "absolute"
    if positions != "absolute":
        raise ConfigError(f"positions of kind {positions!r} are not known here: absolute ones are")
    if theirs.get("is_decoder") or theirs.get("add_cross_attention"):
        raise ConfigError("a BERT that decodes is not known here: only one that reads is")
