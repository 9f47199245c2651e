"""Copying weights: how other implementations' names and layouts translate into ours.

Each function only renames, joins and permutes, so it serves gradients as well as weights.
"""

import torch
from torch import Tensor

from tests.parity.compare import Weights


def part(weights: Weights, prefix: str) -> dict[str, Tensor]:
    """Return what belongs to one submodule, under its own names."""
    start = f"{prefix}."
    return {name.removeprefix(start): w for name, w in weights.items() if name.startswith(start)}


def under(prefix: str, weights: Weights) -> dict[str, Tensor]:
    """Undo `part`."""
    return {f"{prefix}.{name}": w for name, w in weights.items()}


def unchanged(theirs: Weights) -> dict[str, Tensor]:
    """Take names and layout as they are."""
    return dict(theirs)


def torch_attention(theirs: Weights) -> dict[str, Tensor]:
    """nn.MultiheadAttention; it joins Q, K and V as we do."""
    names = {"in_proj_weight": "w_qkv", "in_proj_bias": "b_qkv"}
    return {names.get(n, n.replace("out_proj", "w_o")): w for n, w in theirs.items()}


def torch_encoder_block(theirs: Weights) -> dict[str, Tensor]:
    """nn.TransformerEncoderLayer."""
    return (
        under("self_attention", torch_attention(part(theirs, "self_attn")))
        | under("self_attention_residual.norm", part(theirs, "norm1"))
        | under("feed_forward.w_1", part(theirs, "linear1"))
        | under("feed_forward.w_2", part(theirs, "linear2"))
        | under("feed_forward_residual.norm", part(theirs, "norm2"))
    )


def torch_decoder_block(theirs: Weights) -> dict[str, Tensor]:
    """nn.TransformerDecoderLayer."""
    return (
        under("self_attention", torch_attention(part(theirs, "self_attn")))
        | under("self_attention_residual.norm", part(theirs, "norm1"))
        | under("cross_attention", torch_attention(part(theirs, "multihead_attn")))
        | under("cross_attention_residual.norm", part(theirs, "norm2"))
        | under("feed_forward.w_1", part(theirs, "linear1"))
        | under("feed_forward.w_2", part(theirs, "linear2"))
        | under("feed_forward_residual.norm", part(theirs, "norm3"))
    )


def torch_stacks(theirs: Weights) -> dict[str, Tensor]:
    """nn.Transformer: an encoder and a decoder, with final norms or without."""
    ours: dict[str, Tensor] = {}
    for stack, convert in (("encoder", torch_encoder_block), ("decoder", torch_decoder_block)):
        for i, layer in _layers(part(theirs, f"{stack}.layers")).items():
            ours |= under(f"{stack}.blocks.{i}", convert(layer))
        ours |= under(f"{stack}.norm", part(theirs, f"{stack}.norm"))
    return ours


def projections(theirs: Weights, q: str, k: str, v: str, o: str) -> dict[str, Tensor]:
    """Attention with a linear layer for each of Q, K, V and O, whatever they are called."""
    ours = {
        "w_qkv": torch.cat([theirs[f"{name}.weight"] for name in (q, k, v)]),
        "w_o.weight": theirs[f"{o}.weight"],
    }
    if f"{q}.bias" in theirs:
        ours["b_qkv"] = torch.cat([theirs[f"{name}.bias"] for name in (q, k, v)])
        ours["w_o.bias"] = theirs[f"{o}.bias"]
    return ours


def hf_attention(theirs: Weights) -> dict[str, Tensor]:
    """LlamaAttention."""
    return projections(theirs, "q_proj", "k_proj", "v_proj", "o_proj")


def hf_t5_attention(theirs: Weights) -> dict[str, Tensor]:
    """T5Attention, without its table of biases."""
    return projections(theirs, "q", "k", "v", "o")


def hf_gated_feed_forward(theirs: Weights) -> dict[str, Tensor]:
    """LlamaMLP: the gate's rows come first."""
    return {
        "w_1.weight": torch.cat([theirs["gate_proj.weight"], theirs["up_proj.weight"]]),
        "w_2.weight": theirs["down_proj.weight"],
    }


def hf_llama(theirs: Weights) -> dict[str, Tensor]:
    """LlamaForCausalLM."""
    ours = {
        "embedding.weight": theirs["model.embed_tokens.weight"],
        "output.weight": theirs["lm_head.weight"],
        "decoder.norm.weight": theirs["model.norm.weight"],
    }
    for i, layer in _layers(part(theirs, "model.layers")).items():
        block = {
            **under("self_attention", hf_attention(part(layer, "self_attn"))),
            **under("feed_forward", hf_gated_feed_forward(part(layer, "mlp"))),
            "self_attention_residual.norm.weight": layer["input_layernorm.weight"],
            "feed_forward_residual.norm.weight": layer["post_attention_layernorm.weight"],
        }
        ours |= under(f"decoder.blocks.{i}", block)
    return ours


def hf_bert(theirs: Weights) -> dict[str, Tensor]:
    """BertModel, or one of its heads with a BertModel inside."""
    inner = part(theirs, "bert") or dict(theirs)
    ours = {
        "embedding.weight": inner["embeddings.word_embeddings.weight"],
        "positions.weight": inner["embeddings.position_embeddings.weight"],
        "segments.weight": inner["embeddings.token_type_embeddings.weight"],
        **under("embedding_norm", part(inner, "embeddings.LayerNorm")),
        **under("pooling.dense", part(inner, "pooler.dense")),
        **under("output.w", part(theirs, "classifier") | part(theirs, "qa_outputs")),
    }
    if head := part(theirs, "cls.predictions"):
        ours |= under("output.dense", part(head, "transform.dense"))
        ours |= under("output.norm", part(head, "transform.LayerNorm"))
        ours["output.scores.weight"] = ours["embedding.weight"]
        ours["output.scores.bias"] = head["bias"]
    for i, layer in _layers(part(inner, "encoder.layer")).items():
        q, k, v = (f"attention.self.{name}" for name in ("query", "key", "value"))
        block = {
            **under("self_attention", projections(layer, q, k, v, "attention.output.dense")),
            **under("self_attention_residual.norm", part(layer, "attention.output.LayerNorm")),
            **under("feed_forward.w_1", part(layer, "intermediate.dense")),
            **under("feed_forward.w_2", part(layer, "output.dense")),
            **under("feed_forward_residual.norm", part(layer, "output.LayerNorm")),
        }
        ours |= under(f"encoder.blocks.{i}", block)
    return ours


def hf_vit(theirs: Weights) -> dict[str, Tensor]:
    """ViTModel, or ViTForImageClassification with one inside; a pooler is left out."""
    inner = part(theirs, "vit") or dict(theirs)
    ours = {
        "embedding.class_token": inner["embeddings.cls_token"].flatten(),
        "embedding.w.weight": inner["embeddings.patch_embeddings.projection.weight"].flatten(1),
        "embedding.w.bias": inner["embeddings.patch_embeddings.projection.bias"],
        "positions.weight": inner["embeddings.position_embeddings"][0],
        **under("encoder.norm", part(inner, "layernorm")),
        **under("output.w", part(theirs, "classifier")),
    }
    for i, layer in _layers(part(inner, "layers")).items():
        block = {
            **under("self_attention", hf_attention(part(layer, "attention"))),
            **under("self_attention_residual.norm", part(layer, "layernorm_before")),
            **under("feed_forward.w_1", part(layer, "mlp.fc1")),
            **under("feed_forward.w_2", part(layer, "mlp.fc2")),
            **under("feed_forward_residual.norm", part(layer, "layernorm_after")),
        }
        ours |= under(f"encoder.blocks.{i}", block)
    return ours


def hf_gpt2(theirs: Weights) -> dict[str, Tensor]:
    """GPT2LMHeadModel, whose linear maps are stored as (inputs, outputs)."""
    ours = {
        "embedding.weight": theirs["transformer.wte.weight"],
        "positions.weight": theirs["transformer.wpe.weight"],
        "output.weight": theirs["lm_head.weight"],
        **under("decoder.norm", part(theirs, "transformer.ln_f")),
    }
    for i, layer in _layers(part(theirs, "transformer.h")).items():
        block = {
            "self_attention.w_qkv": layer["attn.c_attn.weight"].T,
            "self_attention.b_qkv": layer["attn.c_attn.bias"],
            **under("self_attention.w_o", _turned(part(layer, "attn.c_proj"))),
            **under("feed_forward.w_1", _turned(part(layer, "mlp.c_fc"))),
            **under("feed_forward.w_2", _turned(part(layer, "mlp.c_proj"))),
            **under("self_attention_residual.norm", part(layer, "ln_1")),
            **under("feed_forward_residual.norm", part(layer, "ln_2")),
        }
        ours |= under(f"decoder.blocks.{i}", block)
    return ours


def _turned(theirs: Weights) -> dict[str, Tensor]:
    return {name: w.T if w.dim() > 1 else w for name, w in theirs.items()}


def hf_mixtral(theirs: Weights) -> dict[str, Tensor]:
    """MixtralForCausalLM."""
    ours = {
        "embedding.weight": theirs["model.embed_tokens.weight"],
        "output.weight": theirs["lm_head.weight"],
        "decoder.norm.weight": theirs["model.norm.weight"],
    }
    for i, layer in _layers(part(theirs, "model.layers")).items():
        block = {
            **under("self_attention", hf_attention(part(layer, "self_attn"))),
            **under("feed_forward", hf_experts(part(layer, "mlp"))),
            "self_attention_residual.norm.weight": layer["input_layernorm.weight"],
            "feed_forward_residual.norm.weight": layer["post_attention_layernorm.weight"],
        }
        ours |= under(f"decoder.blocks.{i}", block)
    return ours


def hf_experts(theirs: Weights) -> dict[str, Tensor]:
    """MixtralSparseMoeBlock."""
    return {
        "w_r.weight": theirs["gate.weight"],
        "w_1": theirs["experts.gate_up_proj"],
        "w_2": theirs["experts.down_proj"],
    }


def hf_marian(theirs: Weights) -> dict[str, Tensor]:
    """MarianMTModel with shared embeddings.

    Marian puts all sines first, then all cosines; we interleave them, as the paper does. No other
    part of a Transformer knows the order of the D numbers, so permuting every D axis is exact.
    """
    shared = theirs["model.shared.weight"]
    halves = torch.arange(shared.shape[1]).view(2, -1)
    order = halves.T.flatten()  # sine 0, cosine 0, sine 1, …

    ours = dict.fromkeys(
        ("source_embedding.weight", "target_embedding.weight", "output.weight"), shared[:, order]
    )
    for stack in ("encoder", "decoder"):
        for i, layer in _layers(part(theirs, f"model.{stack}.layers")).items():
            ours |= under(f"{stack}.blocks.{i}", _marian_block(layer, order))
    return ours


def _marian_block(theirs: Weights, order: Tensor) -> dict[str, Tensor]:
    ours: dict[str, Tensor] = {}
    for name, place in (("self_attn", "self_attention"), ("encoder_attn", "cross_attention")):
        if f"{name}.q_proj.weight" not in theirs:
            continue
        attention = projections(part(theirs, name), "q_proj", "k_proj", "v_proj", "out_proj")
        attention["w_qkv"] = attention["w_qkv"][:, order]
        for end in ("w_o.weight", "w_o.bias"):
            attention[end] = attention[end][order]
        ours |= under(place, attention)
        ours |= _permuted(f"{place}_residual.norm", part(theirs, f"{name}_layer_norm"), order)
    ours["feed_forward.w_1.weight"] = theirs["fc1.weight"][:, order]
    ours["feed_forward.w_1.bias"] = theirs["fc1.bias"]
    ours |= _permuted("feed_forward.w_2", part(theirs, "fc2"), order)
    return ours | _permuted("feed_forward_residual.norm", part(theirs, "final_layer_norm"), order)


def _permuted(place: str, theirs: Weights, order: Tensor) -> dict[str, Tensor]:
    """Weights whose first axis is the model's width."""
    return under(place, {name: w[order] for name, w in theirs.items()})


def _layers(theirs: Weights) -> dict[str, dict[str, Tensor]]:
    """Return the layers of a stack by number."""
    numbers = dict.fromkeys(name.split(".")[0] for name in theirs)
    return {i: part(theirs, i) for i in numbers}
