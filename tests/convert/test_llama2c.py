"""Files of llama2.c, written here in plain NumPy, compute what a naive loop computes."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from clearhead.convert import Llama2cTokenizer, read_llama2c
from clearhead.errors import InputError

Array = NDArray[np.float32]

V, N = 29, 16
SIZES = {
    "small": (16, 24, 2, 4, 4, V),
    "grouped": (16, 20, 3, 4, 2, V),
    "untied, one key head": (24, 12, 1, 3, 1, -V),
}


def draw(d: int, f: int, n: int, h: int, g: int, v: int) -> dict[str, Array]:
    """Random weights of such a model, in the order of the file."""
    rng, kv = np.random.default_rng(3), g * d // h
    shapes: dict[str, tuple[int, ...]] = {
        "tokens": (abs(v), d),
        "rms_attention": (n, d),
        "wq": (n, d, d),
        "wk": (n, kv, d),
        "wv": (n, kv, d),
        "wo": (n, d, d),
        "rms_ffn": (n, d),
        "w1": (n, f, d),
        "w2": (n, d, f),
        "w3": (n, f, d),
        "rms_final": (d,),
        "frequencies": (N, d // h),
    }
    if v < 0:
        shapes["classes"] = (abs(v), d)
    return {
        name: rng.normal(float("rms" in name), 0.3, shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def write(path: Path, sizes: tuple[int, ...], weights: dict[str, Array]) -> None:
    body = b"".join(weight.tobytes() for weight in weights.values())
    path.write_bytes(struct.pack("<7i", *sizes, N) + body)


def rms_norm(x: Array, weight: Array) -> Any:
    return weight * x / np.sqrt((x * x).mean() + 1e-5)


def turn(head: Any, pos: int) -> Any:
    """Each pair of neighbours by its angle."""
    turned = head.copy()
    for i in range(0, len(head), 2):
        angle = pos / 10000 ** (i / len(head))
        a, b = head[i], head[i + 1]
        turned[i] = a * np.cos(angle) - b * np.sin(angle)
        turned[i + 1] = a * np.sin(angle) + b * np.cos(angle)
    return turned


def forward(sizes: tuple[int, ...], w: dict[str, Array], tokens: list[int]) -> Any:
    """Logits after the last token, one position at a time."""
    d, _, n, h, g, _ = sizes
    keys: list[Any] = [[] for _ in range(n)]
    values: list[Any] = [[] for _ in range(n)]
    for pos, token in enumerate(tokens):
        x = w["tokens"][token].astype(np.float64)
        for layer in range(n):
            y = rms_norm(x, w["rms_attention"][layer])
            q = (w["wq"][layer] @ y).reshape(h, d // h)
            k = (w["wk"][layer] @ y).reshape(g, d // h)
            keys[layer].append([turn(head, pos) for head in k])
            values[layer].append((w["wv"][layer] @ y).reshape(g, d // h))
            heads = []
            for head in range(h):
                group = head // (h // g)
                mine = turn(q[head], pos)
                scores = np.array([k[group] @ mine for k in keys[layer]]) / np.sqrt(d // h)
                shares = np.exp(scores - scores.max())
                shares /= shares.sum()
                heads.append(sum(s * v[group] for s, v in zip(shares, values[layer], strict=True)))
            x = x + w["wo"][layer] @ np.concatenate(heads)
            y = rms_norm(x, w["rms_ffn"][layer])
            gate = w["w1"][layer] @ y
            x = x + w["w2"][layer] @ (gate / (1 + np.exp(-gate)) * (w["w3"][layer] @ y))
    return w.get("classes", w["tokens"]) @ rms_norm(x, w["rms_final"])


@pytest.mark.parametrize("kind", SIZES)
@torch.no_grad()
def test_a_file_computes_what_a_naive_loop_computes(kind: str, tmp_path: Path) -> None:
    sizes, path = SIZES[kind], tmp_path / "model.bin"
    weights = draw(*sizes)
    write(path, sizes, weights)
    model = read_llama2c(path)
    text = [5, 1, 28, 7, 7, 13, 2, 9]
    logits = model(torch.tensor([text]))[0].numpy()
    for end in range(1, len(text) + 1):
        expected = forward(sizes, weights, text[:end])
        np.testing.assert_allclose(logits[end - 1], expected, atol=1e-4)
    assert model.config.is_tied is (sizes[-1] > 0)
    assert not model.training


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    path, sizes = tmp_path / "model.bin", SIZES["small"]
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_llama2c(path)
    write(path, sizes, draw(*sizes))
    whole = path.read_bytes()
    cases = {
        "it has only 8 bytes": whole[:8],
        "it is cut off": whole[:-4],
        "it is no float32 model": whole + b"\0",
        "its sizes are below 1": bytes(28),
        "must be a multiple of n_heads=5": struct.pack("<7i", 16, 24, 2, 5, 5, V, N),
        "export it as version 0": struct.pack("<7i", 0x616B3432, 1, 16, 24, 2, 4, 4),
    }
    for message, data in cases.items():
        path.write_bytes(data)
        with pytest.raises(InputError, match=message):
            read_llama2c(path)


PIECES = [" ", "a", "b", "c", "é", " a", "ab", "bc", " abc", "abc"]
SCORES = [-9.0, -9.0, -9.0, -9.0, -9.0, -3.0, -2.0, -1.0, -4.0, -5.0]


def vocabulary(path: Path) -> Llama2cTokenizer:
    """Three special tokens, 256 bytes and some pieces, written as llama2.c does."""
    pieces = ["<unk>", "\n<s>\n", "\n</s>\n", *(f"<0x{n:02X}>" for n in range(256)), *PIECES]
    scores = [0.0] * 259 + SCORES
    body = b"".join(
        struct.pack("<fi", score, len(piece.encode())) + piece.encode()
        for piece, score in zip(pieces, scores, strict=True)
    )
    path.write_bytes(struct.pack("<i", 7) + body)
    return Llama2cTokenizer.load(path, len(pieces))


def test_the_best_neighbours_join_first(tmp_path: Path) -> None:
    tokenizer = vocabulary(tmp_path / "tok.bin")
    assert tokenizer.n_tokens == 269

    def pieces(text: str) -> list[bytes]:
        return [tokenizer.pieces[token] for token in tokenizer.encode(text)]

    # "bc" has the best score, then " a", and at last both join.
    assert pieces("abc") == [b" abc"]
    assert pieces("ab") == [b" ", b"ab"]  # " a" is worse than "ab"
    assert pieces("éx") == [b" ", "é".encode(), b"<0x78>"]
    assert pieces("") == []


@pytest.mark.parametrize("text", ["abc", "", " a", "a b\nc", "é😀x", "<s>", "<0x41>", "  "])
def test_decoding_gives_the_text_back(text: str, tmp_path: Path) -> None:
    tokenizer = vocabulary(tmp_path / "tok.bin")
    tokens = tokenizer.encode(text)
    assert all(token > tokenizer.eos for token in tokens)
    assert tokenizer.decode([tokenizer.bos, *tokens, tokenizer.eos]) == text


def test_a_wrong_vocabulary_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tok.bin"
    tokenizer = vocabulary(path)
    with pytest.raises(InputError, match="more than 268 pieces"):
        Llama2cTokenizer.load(path, 268)
    with pytest.raises(InputError, match="fewer than 270 pieces"):
        Llama2cTokenizer.load(path, 270)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="is damaged"):
        Llama2cTokenizer.load(path, 269)
    with pytest.raises(InputError, match="token 269 is outside the vocabulary, 0 to 268"):
        tokenizer.decode([269])
