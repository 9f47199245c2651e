"""What other libraries get computes the same: logits within float32's reach, the same answers."""

from pathlib import Path

import pytest
import torch

from clearhead.convert import as_m2m100, save_for_ctranslate2
from clearhead.decoding import DecodingConfig, Request, generate
from clearhead.errors import ConfigError
from clearhead.models import GPT, GPTConfig, Transformer, TransformerConfig

ctranslate2 = pytest.importorskip("ctranslate2")
pytest.importorskip("transformers")

V = 61
WORDS = ["<pad>", "<bos>", "<eos>", "<unk>", *(f"w{n}" for n in range(4, V))]


def make(seed: int = 2, /, **changes: object) -> Transformer:
    torch.manual_seed(seed)
    settings = {"block.norm": "pre", "block.d_model": 24, "block.n_heads": 3, "block.d_ff": 40}
    model = Transformer(TransformerConfig.preset("tiny", V, **settings | changes)).eval()
    for name, parameter in model.named_parameters():
        if "norm" in name or "bias" in name or "b_qkv" in name:
            torch.nn.init.normal_(parameter, mean=float("norm.weight" in name), std=0.3)
        elif "embedding" not in name:
            parameter.data *= 3  # so that the answer is not one word again and again
    return model


def sources() -> list[list[int]]:
    return [[7, 9, 30, 2], [11, 2], [5, 60, 33, 12, 8, 19, 2]]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"block.attention_bias": True, "block.activation": "gelu"},
        {"block.activation": "gelu_tanh"},
    ],
)
def test_hugging_face_gives_the_same_logits(changes: dict[str, object]) -> None:
    model = make(**changes)
    theirs = as_m2m100(model, bos=1, eos=2)
    source = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in sources()], True)
    target = torch.tensor([[1, 8, 9], [1, 4, 40], [1, 30, 30]])
    with torch.no_grad():
        expected = model(source, target)
        logits = theirs(input_ids=source, attention_mask=source != 0, decoder_input_ids=target)
    assert torch.allclose(logits.logits, expected, atol=1e-4)


MARIAN = {"block.activation": "swish", "positions": "sines_first", "has_output_bias": True}


@pytest.mark.parametrize("changes", [{}, MARIAN], ids=["plain", "marian"])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("n_beams", [1, 4])
def test_ctranslate2_gives_the_same_answers(
    tmp_path: Path, norm: str, n_beams: int, changes: dict[str, object]
) -> None:
    settings = {"block.norm": norm, "block.attention_bias": True} | changes
    model = make(8 if changes else 2, **settings)
    folder = tmp_path / "ct2"
    save_for_ctranslate2(model, WORDS, folder, bos="<bos>", eos="<eos>", unk="<unk>")
    theirs = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    results = theirs.translate_batch(
        [[WORDS[token] for token in row] for row in sources()],
        beam_size=n_beams, min_decoding_length=9, max_decoding_length=9,
    )  # fmt: skip
    config = DecodingConfig(n_beams=n_beams, min_length=9)
    requests = [Request(row, 9, config) for row in sources()]
    ours = generate(model, requests, bos=1, eos=2, pad=0)
    found = [[WORDS[token] for token in some[0].tokens] for some in ours]
    assert [result.hypotheses[0] for result in results] == found
    assert len({tuple(words) for words in found}) > 1


@pytest.mark.parametrize("activation", ["gelu_tanh", "gelu", "relu"])
def test_ctranslate2_continues_as_gpt_does(tmp_path: Path, activation: str) -> None:
    torch.manual_seed(4)
    model = GPT(
        GPTConfig(
            n_tokens=V, n_positions=32, n_layers=2, d_model=24, d_ff=40, n_heads=3, is_tied=False
        ).override({"activation": activation})
    ).eval()
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, mean=float("norm.weight" in name), std=0.3)
        else:
            parameter.data *= 10
    save_for_ctranslate2(model, WORDS, tmp_path / "ct2", bos="<bos>", eos="<eos>", unk="<unk>")
    theirs = ctranslate2.Generator(str(tmp_path / "ct2"), compute_type="float32", intra_threads=1)
    rows = [row[:-1] for row in sources()]
    results = [
        theirs.generate_batch(
            [[WORDS[token] for token in row]],  # of several it returns parts of the longer ones
            beam_size=1, min_length=9, max_length=9, include_prompt_in_result=False,
        )
        for row in rows
    ]  # fmt: skip
    requests = [Request(row, 9, DecodingConfig(n_beams=1, min_length=9)) for row in rows]
    found = [some[0].tokens for some in generate(model, requests, bos=1, eos=2, pad=0)]
    assert [result[0].sequences_ids[0] for result in results] == found
    assert len({tuple(tokens) for tokens in found}) > 1


def test_what_has_no_form_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no form in CTranslate2"):
        save_for_ctranslate2(
            make(**{"block.activation": "swiglu"}), WORDS, tmp_path, bos="", eos="", unk=""
        )
    with pytest.raises(ConfigError, match="M2M100 has its norms first"):
        as_m2m100(make(**{"block.norm": "post"}), bos=1, eos=2)
    with pytest.raises(ConfigError, match="M2M100 has no n_kv_heads=1"):
        as_m2m100(make(**{"block.n_kv_heads": 1}), bos=1, eos=2)
