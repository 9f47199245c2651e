"""llama.cpp itself, where it is installed: the same tokens, logits and continuations."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from clearhead.convert import save_as_gguf
from clearhead.decoding import DecodingConfig, Request, generate
from clearhead.text import AnyTokenizer, Tokenizer
from tests.convert.gguf_models import (
    SHAPES,
    TEXTS,
    bytes_of_gpt2,
    gpt,
    llama,
    ours,
    sentence_pieces,
)

pytest.importorskip("gguf")
llama_cpp = pytest.importorskip("llama_cpp")

TOKENIZERS: dict[str, AnyTokenizer] = {
    "bpe": ours(),
    "char": ours("char"),
    "sentence pieces": sentence_pieces(),
    "bytes": bytes_of_gpt2(),
    "bytes, digits": bytes_of_gpt2(digits=True),
}


def opened(path: Path, **settings: Any) -> Any:
    """The file, with a cache in float32."""
    return llama_cpp.Llama(str(path), n_ctx=128, n_threads=1, type_k=0, type_v=0, **settings)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_the_tokens_are_the_same(tmp_path: Path, name: str) -> None:
    tokenizer = TOKENIZERS[name]
    save_as_gguf(llama(tokenizer.n_tokens, {}), tokenizer, tmp_path / "model.gguf")
    theirs = opened(tmp_path / "model.gguf", vocab_only=True, verbose=False)
    is_ours = isinstance(tokenizer, Tokenizer)
    for text in TEXTS:
        expected = (
            tokenizer.encode(text)
            if isinstance(tokenizer, Tokenizer)
            else tokenizer.encode(text, with_specials=True)
        )
        assert theirs.tokenize(text.encode(), special=not is_ours) == expected
        back = theirs.detokenize(tokenizer.encode(text)).decode()
        if is_ours:
            assert back.removeprefix(" " * (name == "bpe")) == text


@pytest.mark.parametrize("shape", SHAPES)
def test_the_logits_and_continuations_are_the_same(tmp_path: Path, shape: str) -> None:
    tokenizer = ours()
    model = llama(tokenizer.n_tokens, SHAPES[shape])
    save_as_gguf(model, tokenizer, tmp_path / "model.gguf")
    theirs = opened(tmp_path / "model.gguf", logits_all=True, verbose=False)
    tokens = tokenizer.encode(TEXTS[2] + TEXTS[5])
    theirs.eval(tokens)
    with torch.no_grad():
        expected = model(torch.tensor([tokens]))[0].numpy()
    assert np.abs(theirs.scores[: len(tokens)] - expected).max() < 1e-4
    request = Request(tokens, 20, DecodingConfig(n_beams=1, min_length=20))
    found = generate(model, [request], bos=1, eos=2, pad=0)[0][0].tokens
    forever = theirs.generate(tokens, top_k=1, temp=0.0, repeat_penalty=1.0)
    assert [token for token, _ in zip(forever, range(20), strict=False)] == found


@pytest.mark.parametrize("is_tied", [True, False])
def test_gpt_2_is_nearly_the_same(tmp_path: Path, is_tied: bool) -> None:
    tokenizer = bytes_of_gpt2()
    model = gpt(tokenizer.n_tokens, is_tied=is_tied)
    save_as_gguf(model, tokenizer, tmp_path / "model.gguf")
    theirs = opened(tmp_path / "model.gguf", logits_all=True, verbose=False)
    tokens = tokenizer.encode(TEXTS[2])
    theirs.eval(tokens)
    with torch.no_grad():
        expected = model(torch.tensor([tokens]))[0].numpy()
    # Their GELU is looked up in a table of float16.
    assert np.abs(theirs.scores[: len(tokens)] - expected).max() < 1e-2
