"""The demo: the main job on a phrasebook that is made here. Train, score, translate, look."""

import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from rich.text import Text
from torch.nn import functional as F

from clearhead.cli.live import Live
from clearhead.data import open_pairs
from clearhead.data.phrasebook import phrasebook
from clearhead.observe import CrossAttention, cross_attention
from clearhead.observe.forced import force
from clearhead.observe.views import align_view
from clearhead.tasks.alignment import aligner_in
from clearhead.tasks.corpus import survey
from clearhead.tasks.train import train
from clearhead.tasks.translate import Translator

__all__ = ["show_demo"]

SENTENCES = [
    "How are you?",
    "Thank you",
    "Congratulations",
    "I like eating ice-cream",
    "We are friends",
    "The boy did not go to the bank.",
    "The river bank was very clean.",
]
PICTURE = ("I like eating ice-cream", "मुझे आइसक्रीम खाना पसंद है")
BANKS = ("My father went to the bank.", "The river bank is beautiful.")

# A small model learns a small grammar quickly. Sentences come from few words and rules, and each
# pass over them brings new combinations: nothing has to be forgotten, so nothing is dropped.
SETTINGS = {
    "model.n_encoder_layers": 2,
    "model.n_decoder_layers": 2,
    "model.block.dropout": 0.0,
    "model.block.d_ff": 512,
    "n_vocabulary": 2048,
    "n_batch_tokens": 1024,
    "n_first_steps": 0,
    "n_validated": 300,
    "training.lr": 0.003,
    "training.optimizer": "adam",
    "training.weight_decay": 0.0,
    "training.validate_every": 300,
}


def show_demo(to: Path, n_steps: int) -> None:
    """Train on the phrasebook, then show what the model says and where it looks."""
    console = Console(highlight=False)
    start = time.perf_counter()
    to.mkdir(parents=True, exist_ok=True)
    path = to / "phrasebook.tsv"
    text = "".join(f"{english}\t{hindi}\n" for english, hindi in [("en", "hi"), *phrasebook()])
    path.write_text(text, encoding="utf-8")
    console.print(
        "[bold]A translator from English to Hindi, from nothing.[/bold] A small grammar makes its "
        f"sentences:\nno text that anybody wrote. They are in {path}.\n"
    )
    settings = {**SETTINGS, "training.n_steps": n_steps}
    with Live(console, names_next=False) as live:
        translator = train(open_pairs([path]), to / "model", settings=settings, tell=live)
    _show_translations(console, translator)
    _show_unseen(console, translator, path)
    _show_attention(console, translator, to / "cross-attention.svg")
    _show_banks(console, translator)
    console.print(f"\nAll of it took {time.perf_counter() - start:.0f} seconds. Try next:")
    for command in (
        f'clearhead run {to / "model"} "My sister wants to drink tea."',
        f"clearhead show {to / 'model'}",
        "clearhead train YOUR-PAIRS.tsv --to YOUR-MODEL",
    ):
        console.print(Text(f"  {command}", style="bold"), soft_wrap=True)


def _show_translations(console: Console, translator: Translator) -> None:
    table = Table("English", "Hindi", "log-probability", title="What it says", title_justify="left")
    table.columns[2].justify = "right"
    for sentence, answer in zip(SENTENCES, translator(SENTENCES), strict=True):
        table.add_row(sentence, answer.text, f"{answer.score:.3f}")
    console.print(table)


def _show_unseen(console: Console, translator: Translator, path: Path) -> None:
    """Some of the held-out sentences beside their references."""
    pairs = survey(open_pairs([path])).test[:6]
    table = Table(
        "never seen in training", "answer", "", title="Held-out sentences", title_justify="left"
    )
    answers = translator([pair.source for pair in pairs])
    for pair, answer in zip(pairs, answers, strict=True):
        is_right = answer.text == pair.target
        table.add_row(pair.source, answer.text, "✓" if is_right else f"expected: {pair.target}")
    console.print(table)


def _show_attention(console: Console, translator: Translator, path: Path) -> None:
    """Which English word each Hindi word reads, in the head that aligns best."""
    seen = cross_attention(force(translator.model, translator.tokenizer, *PICTURE))
    aligner = aligner_in(translator.card)
    block, head = (aligner.block, aligner.head) if aligner else seen.sharpest()
    picture = align_view(seen, block, head, source=PICTURE[0])
    picture.save(path)
    console.print(_weights_table(seen, block, head, picture.title))
    console.print(Text(f"{picture.data['note']}\nAs a picture: {path}"), soft_wrap=True)


def _weights_table(seen: CrossAttention, block: int, head: int, title: str) -> Table:
    table = Table("", *seen.source, title=title, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for word, row in zip(seen.target, seen.weights[block, head].tolist(), strict=True):
        largest = max(row)
        cells = [Text(f"{w:.2f}", style="bold" if w == largest else "dim") for w in row]
        table.add_row(word, *cells)
    return table


def _show_banks(console: Console, translator: Translator) -> None:
    """One word, two meanings: the same vector before the encoder, different ones after it."""
    console.print("\n[bold]One word, two contexts[/bold]")
    tokenizer, model = translator.tokenizer, translator.model
    bank = tokenizer.encode("bank")[0]
    static, contextual = [], []
    for sentence, answer in zip(BANKS, translator(list(BANKS)), strict=True):
        console.print(Text(f"  {sentence}  →  {answer.text}"))
        tokens = [*tokenizer.encode(sentence), tokenizer.eos]
        with torch.no_grad():
            memory, _ = model.encode(torch.tensor([tokens], device=translator.device))
        contextual.append(memory[0, tokens.index(bank)])
        static.append(model.source_embedding.weight[bank].detach())
    for name, (one, other) in (("before", static), ("after", contextual)):
        similarity = float(F.cosine_similarity(one, other, dim=0))
        console.print(f"  cosine of the two vectors of bank {name} the encoder: {similarity:.2f}")
