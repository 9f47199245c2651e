"""What all tests share: shapes are checked at run time, and runs repeat exactly."""

import os
from collections.abc import Iterator

import hypothesis
import jaxtyping
import pytest

# Before these rooms are imported: every shape written in a signature is executed.
jaxtyping.install_import_hook(["clearhead.layers", "clearhead.models"], "beartype.beartype")

# Matrices of tests are small, and several tests run at once: threads would wait for each other, in
# the programs that tests start, too.
os.environ["OMP_NUM_THREADS"] = "1"

import torch  # noqa: E402

hypothesis.settings.register_profile("house", deadline=None, derandomize=True, max_examples=15)
hypothesis.settings.load_profile("house")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the engine remembers of this machine is the user's, and not for tests."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def _same_seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Run as in production, without the shape checks: what does a user see then?"""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
