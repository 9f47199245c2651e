"""How good the defaults are: `clearhead train` on real data, with nothing set by hand.

    python benchmarks/quality.py DATA en-de
    python benchmarks/quality.py DATA en-fr
    python benchmarks/quality.py DATA en-hi

DATA is a folder with `multi30k/` (train, val and test_2016_flickr in en, de and fr; Elliott et al.
2016), `tatoeba/en-hi.tsv` (CC BY 2.0 FR) and `debian-l10n/en-hi.tsv.gz`. Each run takes up to 80
minutes on two cores, or as many as `--minutes` allows; a run that was stopped goes on. `--quick`
trains for half a minute, which shows that everything works and reaches no bar.
"""

import gzip
from pathlib import Path
from typing import Any

import torch
from measure import Figure, arguments, report
from rich.console import Console

import clearhead
from clearhead.cli.live import Live
from clearhead.data import shares_for, side_of

BARS = {"en-de": 41.0, "en-fr": 60.0}
MINUTES = {"en-de": 90}


def main() -> None:
    """Train, score, and report beside the bars."""
    parser = arguments("How good the defaults are.")
    parser.add_argument("data", type=Path, metavar="DATA", help="the folder of the data")
    parser.add_argument("languages", choices=["en-de", "en-fr", "en-hi"])
    parser.add_argument(
        "--to", type=Path, default=Path("models"), help="where the models are written (models/)"
    )
    parser.add_argument("--minutes", type=float, help="how long to train (what the plan chooses)")
    options = parser.parse_args()
    seconds = 30.0 if options.quick else options.minutes and 60 * options.minutes
    torch.set_num_threads(options.threads)
    to = options.to / (options.languages + ("-quick" if options.quick else ""))
    to.mkdir(parents=True, exist_ok=True)
    files = _hindi(options.data, to) if options.languages == "en-hi" else _multi30k(options)
    with Live(Console(highlight=False)) as live:
        model = clearhead.train(to=to / "model", seconds=seconds, tell=live, **files)
    card = model.card
    bar = BARS.get(options.languages)
    bars = {"BLEU, lower-cased and tokenised": bar}
    figures = [
        Figure(each["name"], each["value"], "", bars.get(each["name"])) for each in card["scores"]
    ]
    minutes = card["training"]["seconds"] / 60
    most = MINUTES.get(options.languages)
    figures.append(Figure("training", minutes, "minutes", most, is_limit=True))
    figures.append(Figure("parameters", card["n_parameters"] / 1e6, "millions"))
    asked = f", {options.minutes:g} minutes" if options.minutes else ""
    title = f"{options.languages}, defaults only{asked}, {options.threads} threads"
    report(title, figures, options.json)
    for each in card["scores"]:
        print(f"{each['name']}: {each['signature']}")


def _multi30k(options: Any) -> dict[str, Any]:
    """Training, validation and test files as they come."""
    folder = options.data / "multi30k"
    names = {"files": "train", "validation": "val", "test": "test_2016_flickr"}
    languages = options.languages.split("-")
    return {key: [folder / f"{name}.{each}" for each in languages] for key, name in names.items()}


def _hindi(data: Path, to: Path) -> dict[str, Any]:
    """Everyday sentences and software messages to train on; a part of the former to score on."""
    lines = (data / "tatoeba" / "en-hi.tsv").read_text(encoding="utf-8").splitlines()
    shares = shares_for(len(lines))
    parts: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
    for line in lines:
        parts[side_of(line.partition("\t")[0], 0, shares)].append(line)
    for name, part in parts.items():
        (to / f"tatoeba-{name}.tsv").write_text("en\thi\n" + "\n".join(part) + "\n", "utf-8")
    with gzip.open(data / "debian-l10n" / "en-hi.tsv.gz", "rt", encoding="utf-8") as file:
        (to / "debian.tsv").write_text("en\thi\tpackage\n" + file.read(), "utf-8")
    return {
        "files": [to / "tatoeba-train.tsv", to / "debian.tsv"],
        "validation": to / "tatoeba-validation.tsv",
        "test": to / "tatoeba-test.tsv",
    }


if __name__ == "__main__":
    main()
