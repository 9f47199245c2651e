"""What the engine's precisions cost: BLEU, and how often the next token is the same.

    python benchmarks/precision.py models/en-de/model test_2016_flickr.en test_2016_flickr.de

The sources are translated with five beams in each precision. Under teacher forcing, each model is
given the reference token by token, and its best next token is compared with that of the plain
path in float32. `--quick` takes the first 100 lines.
"""

from collections.abc import Iterator
from pathlib import Path

import torch
from measure import Figure, arguments, report
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from clearhead.engine.memory import Wanted
from clearhead.tasks import Translator
from clearhead.tasks.scores import score_translations

PRECISIONS: tuple[Wanted, ...] = ("float32", "bfloat16", "int8")


def main() -> None:
    """Score every precision beside float32."""
    parser = arguments("What the engine's precisions cost.")
    parser.add_argument("model", type=Path, help="a model folder")
    parser.add_argument("source", type=Path, help="lines to translate")
    parser.add_argument("reference", type=Path, help="their translations")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    sources, references = (
        path.read_text(encoding="utf-8").splitlines()[: 100 if options.quick else None]
        for path in (options.source, options.reference)
    )
    figures: list[Figure] = []
    exact = 0.0
    for precision in PRECISIONS:
        translator = Translator.load(options.model, precision)
        answers = [answer.text for answer in translator(sources)]
        bleu = score_translations(answers, references)[0].value
        if precision == "float32":
            exact = bleu
            figures.append(Figure("BLEU, float32", bleu, ""))
            figures += _differences(translator, sources, references)
            continue
        figures.append(Figure(f"BLEU, {precision}", bleu, ""))
        figures.append(Figure(f"BLEU lost by {precision}", exact - bleu, "", 0.1, is_limit=True))
        share = _agreement(translator, sources, references)
        figures.append(Figure(f"same next token, {precision}", 100 * share, "%", 97))
    report(f"{len(sources):,} sentences, {options.model}", figures, options.json)


@torch.no_grad()
def _steps(
    translator: Translator, sources: list[str], references: list[str]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Logits of the engine and of the plain path, after each token of each reference."""
    tokenizer, engine = translator.tokenizer, translator.engine
    assert engine is not None
    assert engine.native is not None, engine.choice.reason
    for start in range(0, len(sources), 32):
        read, written = (
            pad_sequence(
                [torch.tensor([*tokenizer.encode(t), tokenizer.eos]) for t in texts],
                batch_first=True,
                padding_value=tokenizer.pad,
            )
            for texts in (sources[start : start + 32], references[start : start + 32])
        )
        given = torch.cat([torch.full((len(written), 1), tokenizer.bos), written[:, :-1]], dim=1)
        expected = translator.model(read, given)
        state = engine.start(read)
        for place in range(given.shape[1]):
            logits, state = engine.step(given[:, place : place + 1], state)
            real = written[:, place] != tokenizer.pad
            yield logits[real], expected[real, place]


def _agreement(translator: Translator, sources: list[str], references: list[str]) -> float:
    n_same = n = 0
    for logits, expected in _steps(translator, sources, references):
        n_same += int((logits.argmax(-1) == expected.argmax(-1)).sum())
        n += len(logits)
    return n_same / n


def _differences(
    translator: Translator, sources: list[str], references: list[str]
) -> Iterator[Figure]:
    """How far the engine's float32 is from the plain path's."""
    largest = max(
        float((logits - expected).abs().max())
        for logits, expected in _steps(translator, sources, references)
        if len(logits)
    )
    yield Figure("largest difference of a logit, float32", 1e6 * largest, "millionths", 100,
                 is_limit=True)  # fmt: skip


if __name__ == "__main__":
    main()
