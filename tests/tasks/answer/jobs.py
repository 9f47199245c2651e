"""A toy: who does what work, as questions on texts of two to eight sentences."""

import json
import random
from pathlib import Path
from typing import Any

__all__ = ["SETTINGS", "toy_questions", "write_squad"]

NAMES = ("Anna", "Bob", "Carla", "Dev", "Emma", "Finn", "Gita", "Hugo", "Iris", "Jon", "Karl")
WORKS = ("baker", "tailor", "pilot", "nurse", "cook", "judge", "miner", "poet", "smith", "clerk")
SETTINGS: dict[str, Any] = {
    "model.dropout": 0.0, "model.attention_dropout": 0.0, "model.d_model": 32, "model.d_ff": 64,
    "n_batch_tokens": 1024, "training.n_steps": 60, "training.validate_every": 30,
    "training.lr": 0.01, "reading.n_window": 40, "reading.n_overlap": 12, "reading.n_question": 12,
}  # fmt: skip


def toy_questions(n_contexts: int, seed: int = 0, share_without: float = 0.0) -> dict[str, Any]:
    """In the form of SQuAD; some may ask for people of whom nothing is said."""
    draw = random.Random(seed)
    paragraphs = []
    for _ in range(n_contexts):
        *people, stranger = draw.sample(NAMES, draw.randint(3, 9))
        context = ""
        qas: list[dict[str, Any]] = []
        for name in people:
            work = draw.choice(WORKS)
            context += f"{' ' * bool(context)}{name} is a {work}."
            answer = {"text": work, "answer_start": len(context) - 1 - len(work)}
            qas.append({"question": f"What is the work of {name}?", "answers": [answer]})
        if draw.random() < share_without:
            missing = {"question": f"What is the work of {stranger}?", "answers": []}
            qas.append({**missing, "is_impossible": True})
        paragraphs.append({"context": context, "qas": qas})
    return {"version": "v2.0", "data": [{"title": "work", "paragraphs": paragraphs}]}


def write_squad(path: Path, data: dict[str, Any]) -> Path:
    """Write it as JSON."""
    path.write_text(json.dumps(data), encoding="utf-8")
    return path
