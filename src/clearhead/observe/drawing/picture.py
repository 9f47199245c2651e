"""A picture in every form: for the terminal, as SVG, as a page by itself, as PNG, and as data."""

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clearhead.errors import InputError
from clearhead.observe.drawing.svg import escaped

__all__ = ["FORMS", "Picture"]

FORMS: Final = ("svg", "png", "html", "json")
_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass(frozen=True)
class Picture:
    """What is to be seen; in a notebook it shows itself."""

    title: str
    svg: str
    text: str
    """The same for a terminal."""
    data: Any
    """The numbers, ready for JSON."""

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
        """A page that needs nothing from outside."""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{escaped(self.title)}</title>"
            "<style>body{margin:0;background:#fff}svg{max-width:none;display:block}"
            "@media print{svg{max-width:100%;height:auto}}</style></head>\n"
            f"<body>{self.svg}</body></html>\n"
        )

    def json(self) -> str:
        """The numbers behind it."""
        return json.dumps({"title": self.title, **self.data}, indent=1, ensure_ascii=False) + "\n"

    def _repr_html_(self) -> str:
        return self.svg

    def _save_png(self, path: Path) -> None:
        """Let a browser draw it: only there are letters of every script put together rightly."""
        browser = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
        if browser is None:
            raise InputError(
                f"{path} needs Chromium to be drawn, and there is none: write .svg or .html instead"
            )
        size = re.search(r'width="(\d+)" height="(\d+)"', self.svg)
        width, height = (int(n) for n in size.groups()) if size else (1200, 900)
        with tempfile.TemporaryDirectory() as folder:
            page, out = Path(folder) / "page.html", Path(folder) / "page.png"
            page.write_text(self.html(), encoding="utf-8")
            subprocess.run(
                [
                    browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--disable-background-networking", "--force-device-scale-factor=2",
                    f"--user-data-dir={folder}/profile", f"--window-size={width},{height}",
                    f"--screenshot={out}", page.as_uri(),
                ],
                capture_output=True,
                timeout=120,
                check=False,
            )  # fmt: skip
            if not out.is_file():
                raise InputError(f"{browser} could not draw {path}: write .svg or .html instead")
            shutil.copyfile(out, path)
