"""A picture in every form: for the terminal, as SVG, as a page by itself, as PNG, and as data."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from clearhead.errors import InputError
from clearhead.observe.drawing.svg import escaped
from clearhead.observe.names import inert

__all__ = ["FORMS", "Cells", "Picture", "draw_png", "find_browser"]

FORMS: Final = ("svg", "png", "html", "json")
_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser() -> str | None:
    """The program that draws PNGs, if there is one."""
    return next((found for name in _BROWSERS if (found := shutil.which(name))), None)


# What a pointer rests on in a map that is too large for numbers in its cells.
_POINTED: Final = """<output id="told" hidden></output>
<script type="application/json" id="data">{data}</script>
<script>
const {{rows, columns, numbers}} = JSON.parse(document.getElementById("data").textContent);
const cells = document.getElementById("cells"), told = document.getElementById("told");
document.addEventListener("pointermove", event => {{
  const toCells = cells.getScreenCTM().inverse();
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(toCells);
  const i = Math.floor(at.y), j = Math.floor(at.x);
  told.hidden = !(i >= 0 && i < rows.length && j >= 0 && j < columns.length);
  if (told.hidden) return;
  const number = (numbers[i][j] / 1e4).toFixed(4);
  told.textContent = `${{i}} ${{rows[i]}} → ${{j}} ${{columns[j]}}: ${{number}}`;
}});
</script>"""


@dataclass(frozen=True)
class Cells:
    """The names of the rows and columns of a map, and its numbers."""

    rows: Sequence[str]
    columns: Sequence[str]
    numbers: Sequence[Sequence[float]]


def _json(cells: Cells) -> str:
    """Data that cannot end the script that holds it."""
    data = {
        "rows": [inert(name) for name in cells.rows],
        "columns": [inert(name) for name in cells.columns],
        "numbers": np.rint(1e4 * np.asarray(cells.numbers)).astype(int).tolist(),
    }
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


@dataclass(frozen=True)
class Picture:
    """What is to be seen; in a notebook it shows itself."""

    title: str
    svg: str
    text: str
    """The same for a terminal."""
    data: Any
    """The numbers, ready for JSON."""
    cells: Cells | None = None
    """Of a map: what a pointer over a cell is told."""

    def save(self, path: Path) -> None:
        """Write the form that the ending asks for."""
        form = path.suffix.lower().lstrip(".")
        if form not in FORMS:
            raise InputError(f"{path} has no known ending: choose one of {', '.join(FORMS)}")
        try:
            if form == "png":
                self._save_png(path)
            else:
                content = {"svg": self.svg, "html": self.html(), "json": self.json()}[form]
                path.write_text(content, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}") from None

    def html(self) -> str:
        """A page that needs nothing from outside; the cells of a map tell their numbers."""
        # Small tables have their numbers in their cells.
        is_map = 'id="cells"' in self.svg
        pointed = _POINTED.format(data=_json(self.cells)) if self.cells and is_map else ""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escaped(self.title)}</title>"
            "<style>body{margin:0;background:#fff}svg{max-width:none;display:block}"
            "#told{position:fixed;left:0;bottom:0;padding:6px 12px;background:#1b1b1b;color:#fff;"
            "font:14px Noto Sans,sans-serif}"
            "@media print{svg{max-width:100%;height:auto}#told{display:none}}</style></head>\n"
            f"<body>{self.svg}{pointed}</body></html>\n"
        )

    def json(self) -> str:
        """The numbers behind it."""
        return json.dumps({"title": self.title, **self.data}, indent=1, ensure_ascii=False) + "\n"

    def _repr_html_(self) -> str:
        return self.svg

    def _save_png(self, path: Path) -> None:
        """As large as it is; finer than a screen, unless it is very large."""
        size = re.search(r'width="(\d+)" height="(\d+)"', self.svg)
        width, height = (int(n) for n in size.groups()) if size else (1200, 900)
        draw_png(self.html(), path, width, height, scale=2 if width * height < 4e6 else 1)


def draw_png(page: str, path: Path, width: int, height: int, scale: int = 1) -> None:
    """Let a browser draw a page: only there are letters of every script put together rightly."""
    browser = find_browser()
    if browser is None:
        raise InputError(
            f"{path} needs Chromium to be drawn, and there is none: write .svg or .html instead"
        )
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "page.html", Path(folder) / "page.png"
        source.write_text(page, encoding="utf-8")
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--disable-background-networking", f"--force-device-scale-factor={scale}",
                f"--user-data-dir={folder}/profile", f"--window-size={width},{height}",
                f"--screenshot={out}", source.as_uri(),
            ],
            capture_output=True,
            timeout=120,
            check=False,
        )  # fmt: skip
        if not out.is_file():
            raise InputError(f"{browser} could not draw {path}: write .svg or .html instead")
        shutil.copyfile(out, path)
