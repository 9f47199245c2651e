"""Builds that watch memory, undefined behaviour and threads have nothing to report."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE

NATIVE = PACKAGE / "engine" / "native"
MAIN = Path(__file__).with_name("sanitize.cpp")
FLAGS = ["-std=c++17", "-O1", "-g", "-ffp-contract=off", "-pthread", "-D_GLIBCXX_ASSERTIONS"]


@pytest.mark.slow
@pytest.mark.parametrize("watched", ["address,undefined,float-cast-overflow", "thread"])
def test_nothing_is_reported(watched: str, tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    sanitizers = [f"-fsanitize={watched}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    program = tmp_path / "sanitize"

    def call(*arguments: str | Path) -> None:
        command = [compiler, *FLAGS, *sanitizers, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    sources = [MAIN, *sorted(NATIVE.glob("*.cpp"))]
    objects = [tmp_path / f"{source.stem}.o" for source in sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each compiler is a process of its own
        steps = [
            pool.submit(call, "-c", f"-I{NATIVE}", source, "-o", made)
            for source, made in zip(sources, objects, strict=True)
        ]
        for step in steps:
            step.result()
    call(*objects, "-o", program)
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=600)
    if "unexpected memory mapping" in run.stderr:  # of the thread sanitizer, on some systems
        pytest.skip("the sanitizer cannot work with the memory of this system")
    assert run.returncode == 0, run.stderr[-4000:]
    assert (run.stdout, run.stderr) == ("done\n", "")
