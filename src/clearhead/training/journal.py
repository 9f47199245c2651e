"""The journal: one line of JSON for everything that happened in a run, in order."""

import json
from pathlib import Path
from typing import Any

from clearhead.errors import InputError
from clearhead.training.checkpoint import write_bytes

__all__ = ["Journal"]


class Journal:
    """A file of JSON lines, each with the step at which it was written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, kind: str, step: int, **facts: Any) -> None:
        """Add one line."""
        line = json.dumps({"kind": kind, "step": step, **facts}, ensure_ascii=False)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}") from None

    def read(self) -> list[dict[str, Any]]:
        """Return all lines; a last line that a crash cut off is left out."""
        if not self.path.exists():
            return []
        lines = []
        for line in self.path.read_text(encoding="utf-8").split("\n"):
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
        return lines

    def rewind(self, step: int) -> None:
        """Forget what came after `step`, when a run goes on from an earlier checkpoint."""
        kept = [line for line in self.read() if line["step"] <= step]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept)
        write_bytes(self.path, text.encode())
