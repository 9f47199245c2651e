"""`clearhead bench`: every installed program does the same work with the same weights."""

import json
from pathlib import Path

import pytest

from clearhead.cli import bench
from clearhead.cli.bench_workers import Job, TextJob, Weights, Worker, with_text
from clearhead.errors import InputError
from clearhead.tasks.folder import ModelFolder, save_folder
from tests.tasks.small_translator import random_translator


def test_without_other_programs_ours_is_measured_and_the_others_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = random_translator()
    folder = tmp_path / "model"
    save_folder(folder, ModelFolder(small.model, small.tokenizer, small.card))
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    monkeypatch.setattr(bench, "REST", 0.0)
    bench.show_bench(folder, 0.1, as_json=True)
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert [row["workload"] for row in rows] == [
        "1 sentence, greedy", "1 sentence, beam 4", "32 sentences, greedy", "32 sentences, beam 4"
    ]  # fmt: skip
    assert all(row["seconds"]["Clearhead auto"] > 0 for row in rows)
    assert "pip install ctranslate2" in err
    assert "pip install transformers" in err


@pytest.mark.slow
def test_all_programs_write_the_same(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    pytest.importorskip("transformers")
    work = bench.workloads(500)[3]
    found = bench.measure(
        Weights(size="tiny", n_tokens=500), [work], seconds=0, n_threads=1, precisions=["float32"]
    )[0]
    names = ["Clearhead float32", "CTranslate2 float32 1×1", "Hugging Face float32"]
    ours, theirs, face = (found.last[name].answers for name in names)
    assert ours == theirs == face
    assert len(ours) == 32
    assert all(len(answer) == 25 for answer in ours)
    for maker in ("CTranslate2", "Hugging Face"):
        ratio = found.speed_up(maker)
        assert ratio is not None
        assert ratio[0] > 0


def test_lines_of_text_come_out_in_their_order(tmp_path: Path) -> None:
    small = random_translator()
    save_folder(tmp_path, ModelFolder(small.model, small.tokenizer, small.card))
    lines = ["ab", "abab ab", "a", "b a b"]
    echo = with_text(lambda job: [row[:-1] for row in job.sources])
    assert echo(TextJob(lines, 2, tmp_path)) == lines
    worker = Worker("clearhead", weights=Weights(tmp_path), folder="", precision="float32")
    outcome = worker.run(TextJob(lines, 2, tmp_path))
    worker.close()
    assert outcome.answers == [answer.text for answer in small(lines, n_beams=2)]


def test_a_program_that_cannot_start_says_why(tmp_path: Path) -> None:
    Weights(size="tiny", n_tokens=50).save(tmp_path / "small")
    (tmp_path / "small" / "model.safetensors").write_bytes(b"")
    settings = {"folder": str(tmp_path / "small"), "precision": "auto"}
    with pytest.raises(InputError, match="cannot be read"):
        Worker("clearhead", weights=Weights(), **settings)


def test_jobs_without_a_length_end_by_themselves(tmp_path: Path) -> None:
    weights = Weights(size="tiny", n_tokens=50)
    weights.save(tmp_path / "small")
    settings = {"folder": str(tmp_path / "small"), "precision": "float32"}
    worker = Worker("clearhead", weights=weights, **settings)
    outcome = worker.run(Job([[7, 8, 2], [9, 2]], 2, n_at_once=1))
    worker.close()
    assert len(outcome.answers) == 2
    assert outcome.n_bytes > 1e7


def test_the_beginning_of_a_long_text_warms_up(tmp_path: Path) -> None:
    lines = [str(n) for n in range(1000)]
    text = bench._beginning(TextJob(lines, 5, tmp_path))
    assert text == TextJob(lines[: bench.N_WARMING], 5, tmp_path)
    job = Job([[7, 2]], 2)
    assert bench._beginning(job) is job
