"""What the tests of the engine share: its compiled part."""

import ctypes
import shutil

import pytest

from clearhead.engine.library import find_library


@pytest.fixture(scope="session")
def library() -> ctypes.CDLL:
    found = find_library()
    if found is None and shutil.which("c++") is None:
        pytest.skip("the package was installed without a C++ compiler")
    assert found is not None, "there is a compiler, but the engine was not built"
    return found
