"""The Transformer once more, in NumPy and double precision, as slowly and plainly as possible.

One sentence, one head, one position at a time, straight from the paper's equations; nothing is
fused, batched or cached. It reads our weights by their names, and shares no code with us.
"""

import math

import numpy as np
from numpy.typing import NDArray

from clearhead.config import TransformerConfig

Array = NDArray[np.float64]
Weights = dict[str, Array]


def logits(
    weights: Weights, config: TransformerConfig, source: list[list[int]], target_in: list[list[int]]
) -> Array:
    """Logits (B, T, V) of the next token after each position of each target."""
    rows = []
    for source_row, target_row in zip(source, target_in, strict=True):
        memory = encode(weights, config, source_row)
        x = decode(weights, config, target_row, memory, source_row)
        rows.append([weights["output.weight"] @ vector for vector in x])
    return np.array(rows)


def encode(weights: Weights, config: TransformerConfig, source: list[int]) -> list[Array]:
    """Vectors of the source, each of which has read all tokens that are not padding."""
    x = embed(weights, config, "source", source)
    readable = [[token != config.pad for token in source] for _ in source]
    for i in range(config.n_encoder_layers):
        block = part(weights, f"encoder.blocks.{i}")
        x = attend(block, config, "self_attention", x, None, readable)
        x = work(block, config, x)
    return final_norm(part(weights, "encoder.norm"), config, x)


def decode(
    weights: Weights,
    config: TransformerConfig,
    target_in: list[int],
    memory: list[Array],
    source: list[int],
) -> list[Array]:
    """Vectors of the target, each of which has read the earlier ones and the source."""
    x = embed(weights, config, "target", target_in)
    earlier = [[s <= t for s in range(len(x))] for t in range(len(x))]
    readable = [[token != config.pad for token in source] for _ in x]
    for i in range(config.n_decoder_layers):
        block = part(weights, f"decoder.blocks.{i}")
        x = attend(block, config, "self_attention", x, None, earlier)
        x = attend(block, config, "cross_attention", x, memory, readable)
        x = work(block, config, x)
    return final_norm(part(weights, "decoder.norm"), config, x)


def embed(weights: Weights, config: TransformerConfig, side: str, tokens: list[int]) -> list[Array]:
    """√d_model · embedding + position."""
    d_model = config.block.d_model
    table = weights[f"{side}_embedding.weight"]
    x = []
    for pos, token in enumerate(tokens):
        if config.positions == "learned":
            position = weights[f"{side}_positions.weight"][pos]
        else:
            position = np.array([sinusoid(pos, i, d_model) for i in range(d_model)])
        x.append(math.sqrt(d_model) * table[token] + position)
    return x


def sinusoid(pos: int, i: int, d_model: int) -> float:
    """PE(pos, i): a sine for even i, the cosine of the same angle for the odd i after it."""
    angle = pos / 10000 ** ((i - i % 2) / d_model)
    return math.sin(angle) if i % 2 == 0 else math.cos(angle)


def attend(
    block: Weights,
    config: TransformerConfig,
    name: str,
    x: list[Array],
    memory: list[Array] | None,
    may_attend: list[list[bool]],
) -> list[Array]:
    """Attention with its residual connection; without a memory, `x` reads itself."""
    norm = part(block, f"{name}_residual.norm")
    is_pre = config.block.norm == "pre"
    inputs = [layer_norm(norm, vector) for vector in x] if is_pre else x
    read = attention(
        part(block, name), config, inputs, inputs if memory is None else memory, may_attend
    )
    sums = [old + new for old, new in zip(x, read, strict=True)]
    return sums if is_pre else [layer_norm(norm, vector) for vector in sums]


def attention(
    weights: Weights,
    config: TransformerConfig,
    x: list[Array],
    memory: list[Array],
    may_attend: list[list[bool]],
) -> list[Array]:
    """MultiHead(x, memory), head by head and query by query."""
    n_heads = config.block.n_heads
    n_kv_heads = config.block.n_kv_heads or n_heads
    d_head = config.block.d_model // n_heads
    n_rows = weights["w_qkv"].shape[0]
    bias = weights.get("b_qkv", np.zeros(n_rows))
    first_k = n_heads * d_head
    first_v = first_k + n_kv_heads * d_head

    outputs = []
    for t, query_vector in enumerate(x):
        heads = []
        for head in range(n_heads):
            group = head // (n_heads // n_kv_heads)
            q_rows = slice(head * d_head, (head + 1) * d_head)
            k_rows = slice(first_k + group * d_head, first_k + (group + 1) * d_head)
            v_rows = slice(first_v + group * d_head, first_v + (group + 1) * d_head)
            q = weights["w_qkv"][q_rows] @ query_vector + bias[q_rows]
            scores, values = [], []
            for s, key_vector in enumerate(memory):
                if may_attend[t][s]:
                    k = weights["w_qkv"][k_rows] @ key_vector + bias[k_rows]
                    scores.append(float(q @ k) / math.sqrt(d_head))
                    values.append(weights["w_qkv"][v_rows] @ key_vector + bias[v_rows])
            heads.append(weighted_sum(softmax(scores), values, d_head))
        output = weights["w_o.weight"] @ np.concatenate(heads)
        outputs.append(output + weights.get("w_o.bias", np.zeros_like(output)))
    return outputs


def softmax(scores: list[float]) -> list[float]:
    """Positive weights that sum to 1; none for no scores."""
    exponentials = [math.exp(score - max(scores)) for score in scores]
    return [exponential / sum(exponentials) for exponential in exponentials]


def weighted_sum(weights: list[float], values: list[Array], width: int) -> Array:
    """Σ weight · value; zero when there is nothing to read."""
    total = np.zeros(width)
    for weight, value in zip(weights, values, strict=True):
        total = total + weight * value
    return total


def work(block: Weights, config: TransformerConfig, x: list[Array]) -> list[Array]:
    """Feed-forward with its residual connection, position by position."""
    norm, weights = part(block, "feed_forward_residual.norm"), part(block, "feed_forward")
    if config.block.norm == "pre":
        return [vector + feed_forward(weights, config, layer_norm(norm, vector)) for vector in x]
    return [layer_norm(norm, vector + feed_forward(weights, config, vector)) for vector in x]


def feed_forward(weights: Weights, config: TransformerConfig, vector: Array) -> Array:
    """FFN(x) with the activation of the configuration."""
    hidden = weights["w_1.weight"] @ vector + weights["w_1.bias"]
    if config.block.activation == "relu":
        hidden = np.array([max(0.0, h) for h in hidden])
    elif config.block.activation == "gelu":
        hidden = np.array([h * (1 + math.erf(h / math.sqrt(2))) / 2 for h in hidden])
    elif config.block.activation == "gelu_tanh":
        inside = [math.sqrt(2 / math.pi) * (h + 0.044715 * h**3) for h in hidden]
        hidden = np.array([h * (1 + math.tanh(i)) / 2 for h, i in zip(hidden, inside, strict=True)])
    else:
        gate, up = hidden[: config.block.d_ff], hidden[config.block.d_ff :]
        hidden = np.array([g / (1 + math.exp(-g)) * u for g, u in zip(gate, up, strict=True)])
    return weights["w_2.weight"] @ hidden + weights["w_2.bias"]


def layer_norm(weights: Weights, vector: Array) -> Array:
    """(x − mean) / √(variance + ε) ⊙ γ + β."""
    mean = sum(vector) / len(vector)
    variance = sum((number - mean) ** 2 for number in vector) / len(vector)
    normal = np.array([(number - mean) / math.sqrt(variance + 1e-5) for number in vector])
    return normal * weights["weight"] + weights["bias"]


def final_norm(weights: Weights, config: TransformerConfig, x: list[Array]) -> list[Array]:
    """Only a pre-norm stack has one."""
    return [layer_norm(weights, v) for v in x] if config.block.norm == "pre" else x


def part(weights: Weights, prefix: str) -> Weights:
    """Return the weights of one place, under their own names."""
    start = f"{prefix}."
    return {name.removeprefix(start): w for name, w in weights.items() if name.startswith(start)}
