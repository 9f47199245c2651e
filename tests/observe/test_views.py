"""Pictures show the numbers of the model, in every form, and nothing in them can become markup."""

import json
import math
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from click.testing import CliRunner, Result
from rich.cells import cell_len

from clearhead.cli import main
from clearhead.cli.look import LOOKED_AT
from clearhead.cli.look_translate import VIEWS
from clearhead.cli.main import LOOKS
from clearhead.errors import InputError
from clearhead.observe import cross_attention, heatmap_svg, views
from clearhead.observe.cost import costs
from clearhead.observe.drawing import Picture, blocks, columns, svg
from clearhead.observe.forced import force
from clearhead.observe.heads import Kind
from clearhead.observe.names import name_piece
from clearhead.observe.words import word_paths
from clearhead.tasks.folder import ModelFolder, save_folder
from tests.tasks.small_translator import random_translator

SVG = "{http://www.w3.org/2000/svg}"
TRANSLATOR = random_translator()
TEXT, TARGET = "The old dog", "Der alte Mann"


def texts(picture: Picture) -> list[str]:
    return [
        element.text or "" for element in ElementTree.fromstring(picture.svg).iter(f"{SVG}text")
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "en-de"
    save_folder(folder, ModelFolder(TRANSLATOR.model, TRANSLATOR.tokenizer, TRANSLATOR.card))
    return folder


def test_an_alignment_shows_the_weights() -> None:
    seen = cross_attention(force(TRANSLATOR.model, TRANSLATOR.tokenizer, TEXT, TARGET))
    picture = views.align_view(seen, 1, 0, source=TEXT, why="it was asked for")
    assert picture.data["note"].endswith("weights, head 0; each row sums to 1\nit was asked for")
    assert picture.data["columns"] == ["The", "old", "dog", "<eos>"]
    assert picture.data["rows"][-1] == "<eos>"
    shown = texts(picture)
    for row in picture.data["weights"]:
        assert sum(row) == pytest.approx(1.0, abs=1e-5)
        assert all(f"{weight:.2f}" in shown for weight in row)


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_all_heads_are_there(kind: Kind) -> None:
    pair = force(TRANSLATOR.model, TRANSLATOR.tokenizer, TEXT, TARGET)
    picture = views.heads_view(pair, kind)
    n_blocks = 1 if kind == "encoder" else 2
    assert len(picture.data["weights"]) == n_blocks
    assert sum(text.startswith("head ") for text in texts(picture)) == 2
    assert sum(text.startswith("e ") and " · m " in text for text in texts(picture)) == 2 * n_blocks
    assert picture.text.count("\n") == 2 + 2 * n_blocks


def test_a_tree_ends_in_the_answer() -> None:
    answer = TRANSLATOR(TEXT, n_beams=3, log=True, max_length=5)
    assert answer.search is not None
    picture = views.tree_view(answer.search, TRANSLATOR.tokenizer.tokens, TEXT)
    root = ElementTree.fromstring(picture.svg)
    bold = [t.text for t in root.iter(f"{SVG}text") if t.get("font-weight") == "700"]
    expected = [name_piece(token) for token in answer.tokens]
    assert bold[: len(expected)] == expected
    assert len(picture.data["nodes"]) == len(answer.search.nodes)


def test_layers_words_and_positions() -> None:
    pair = force(TRANSLATOR.model, TRANSLATOR.tokenizer, TEXT, TARGET)
    lens = views.layers_view(pair, TRANSLATOR.tokenizer.tokens)
    assert len(lens.data["tokens"]) == 2
    assert lens.data["tokens"][1][0] in texts(lens)
    sentences = ["The old dog", "A small dog"]
    paths = word_paths(TRANSLATOR.model, TRANSLATOR.tokenizer, "dog", sentences)
    words = views.words_view(paths)
    assert set(sentences) <= set(texts(words))
    assert words.data["cosines"][0] == pytest.approx(1.0, abs=1e-5)
    positions = views.positions_view(16)
    assert positions.data["vectors"][0][:4] == [0.0, 1.0, 0.0, 1.0]


def test_every_view_has_a_name() -> None:
    looks = [import_module(f"clearhead.cli.look_{task}").VIEWS for task in LOOKED_AT]
    assert {view for some in looks for view in some} == set(LOOKS)


def test_steps_show_what_was_written_among_the_most_probable() -> None:
    answer = TRANSLATOR(TEXT, n_beams=2, log=True, max_length=4)
    assert answer.search is not None
    picture = views.steps_view(answer.search, TRANSLATOR.tokenizer.tokens, TEXT)
    written = [[one for one in some if one["written"]] for some in picture.data["steps"]]
    assert [len(some) for some in written] == [1] * len(written)
    found = [math.log(some[0]["p"]) for some in written]
    assert found == pytest.approx(answer.log_probs, abs=1e-6)


def test_costs_add_up() -> None:
    """Parameters to those of the model, the cache to what a state holds, a step to by hand."""
    model = TRANSLATOR.model
    found = costs(model, 7, 5)
    assert sum(cost.n_parameters for cost in found) == model.n_parameters
    state = model.start(torch.randint(5, 50, (1, 7)))
    for _ in range(5):
        _, state = model.step(torch.tensor([[9]]), state)
    assert sum(cost.cache_bytes for cost in found) == state.n_bytes
    decoder = next(cost for cost in found if cost.part == "decoder.blocks.0")
    d, f = 16, 32
    by_hand = 2 * (4 * d * d + 2 * d * 5 + 2 * d * d + 2 * d * 7 + 2 * d * f)
    assert decoder.step == by_hand
    assert decoder.step_without > decoder.step
    assert found[0].read == 2 * 7 * (4 * d * d + 2 * d * f + 2 * d * 7)


def test_norms_bring_vectors_to_one_scale() -> None:
    pair = force(TRANSLATOR.model, TRANSLATOR.tokenizer, TEXT, TARGET)
    rows = {row["point"]: row for row in views.norms_view(pair).data["rows"]}
    outputs = [row for name, row in rows.items() if name.endswith("norm.output")]
    assert all(row["spread"] == pytest.approx(1.0, abs=0.05) for row in outputs)


def test_hostile_tokens_are_inert() -> None:
    hostile = ["</script><script>x", "a\u2028b", "\u202egnp", "q\"'&<", "\x00"]
    picture = heatmap_svg([[0.2] * 5] * 5, hostile, hostile, title=hostile[0], note=hostile[2])
    root = ElementTree.fromstring(picture)
    assert not list(root.iter(f"{SVG}script"))
    for bad in ("\u2028", "\u202e", "\x00"):
        assert bad not in picture
    assert svg.escaped("क्\u200dष") == "क्\u200dष"  # a joiner belongs to the letter


def test_a_large_map_is_a_few_shapes() -> None:
    """Attention over 512 tokens: most weights are next to nothing."""
    weights = (torch.randn(512, 512) * 3).softmax(-1)
    names = [f"word{n}" for n in range(512)]
    picture = heatmap_svg(weights.tolist(), names, names, title="512 tokens")
    root = ElementTree.fromstring(picture)
    assert len(list(root.iter())) < 1200  # names, and one shape for each shade
    assert len(picture) < 5e6


def test_terminal_columns_line_up() -> None:
    table = columns([["a", "बहुत", "1"], ["bbb", "中文", "22"]], right=[2])
    first, second = table.splitlines()
    assert cell_len(first) == cell_len(second)
    assert first.startswith("a    ")
    assert first.endswith("   1")
    assert second == "bbb  中文  22"
    shades = blocks([[0.0, 1.0], [0.5, 0.25]], ["x", "y"], ["p", "q"]).splitlines()
    assert shades[1].endswith("1.00 q")
    assert "██" in shades[1]
    assert shades[2].endswith("0.50 p")


def look(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["look", *map(str, arguments)])


@pytest.mark.parametrize("view", [view for view in VIEWS if view != "words"])
def test_every_view_from_the_command_line(folder: Path, view: str, tmp_path: Path) -> None:
    printed = look(folder, TEXT, "--view", view, "--target", TARGET)
    assert printed.exit_code == 0, printed.output
    assert len(printed.output.splitlines()) > 3
    for form in ("svg", "html", "json"):
        out = tmp_path / f"{view}.{form}"
        assert look(folder, TEXT, "--view", view, "--target", TARGET, "--out", out).exit_code == 0
    ElementTree.fromstring((tmp_path / f"{view}.svg").read_text())
    assert json.loads((tmp_path / f"{view}.json").read_text())["title"]
    page = (tmp_path / f"{view}.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_one_head_by_itself_and_by_pairs(folder: Path, tmp_path: Path) -> None:
    one = look(folder, TEXT, "--view", "heads", "--kind", "encoder", "--block", "0", "--head", "1")
    assert one.output.startswith("One head: encoder, block 0, head 1\n")
    file = tmp_path / "pairs.tsv"
    file.write_text("en\tde\nThe old dog\tDer alte Hund\nA house\tEin Haus\n", encoding="utf-8")
    described = look(folder, TEXT, "--target", TARGET, "--view", "heads", "--pairs", file)
    assert described.output.startswith(
        "All heads: cross-attention, means over 2 pairs of pairs.tsv"
    )
    assert described.output.splitlines()[2].split()[-2:] == ["alignment", "effect"]
    aligned = look(folder, TEXT, "--target", TARGET, "--pairs", file)
    assert "this head aligns best on pairs of pairs.tsv: right for " in aligned.output
    asked = look(folder, TEXT, "--target", TARGET, "--block", "1", "--head", "0")
    assert "decoder.blocks.1.cross_attention.weights, head 0" in asked.output


def test_steps_of_a_drawn_answer_tell_the_rules(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "steps.json"
    drawn = ["--temperature", "1.3", "--top-k", "2", "--seed", "3"]
    assert look(folder, TEXT, "--view", "steps", *drawn, "--out", out).exit_code == 0
    steps = json.loads(out.read_text())["steps"]
    for some in steps:
        assert sum(one["written"] for one in some) == 1
        assert {one["ruled_out_by"] for one in some} <= {None, "top-k"}
        assert sum(one["ruled_out_by"] is None for one in some) == 2
    printed = look(folder, TEXT, "--view", "steps", *drawn).output
    assert "→ that after temperature, top-k, top-p" in printed
    assert "(top-k)" in printed


def test_words_from_the_command_line(folder: Path) -> None:
    assert look(folder, "A dog", "The old dog", "--view", "words", "--word", "dog").exit_code == 0
    missing = look(folder, "A dog", "The old dog", "--view", "words")
    assert missing.exit_code == 1
    assert "give --word" in missing.output


def test_bad_input_gets_one_sentence(folder: Path, tmp_path: Path) -> None:
    wrong: list[tuple[list[str | Path], str]] = [
        ([TEXT, "--out", tmp_path / "x.gif"], "has no known ending: choose one of svg, png"),
        ([TEXT, "--out", tmp_path / "no" / "x.svg"], "cannot be written: No such file"),
        ([TEXT, "A house"], "this view shows one text, and 2 were given"),
        (["  "], "need at least one word"),
        ([" ", "--view", "tree"], "shows the search for one sentence, not ' '"),
        (["A dog.\nA house.", "--view", "steps"], "shows the search for one sentence"),
        ([TEXT, "--view", "heads", "--block", "1"], "give --head, too"),
        (
            [TEXT, "--view", "heads", "--head", "9"],
            "there is no head 9 in block 0: cross-attention",
        ),
        ([TEXT, "--block", "7", "--head", "0"], "there is no head 0 in block 7"),
        ([TEXT, "--view", "tree", "--temperature", "1"], "shows a search: leave out --temperature"),
        ([TEXT, "--pairs", tmp_path / "none.tsv"], "none.tsv"),
    ]
    for arguments, message in wrong:
        result = look(folder, *arguments)
        assert result.exit_code == 1
        assert message in result.output
        assert "Traceback" not in result.output


def test_png_without_a_browser_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    picture = views.positions_view(16)
    with pytest.raises(InputError, match=r"needs Chromium to be drawn, and there is none"):
        picture.save(tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()
    assert picture._repr_html_() == picture.svg
