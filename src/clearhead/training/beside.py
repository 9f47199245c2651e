"""Work that is done beside other work, by a copy of this process.

The work leaves its result in files, as a trainer does: whoever needs it does the same work again,
and finds it done. So nothing has to come back from the copy, not even what went wrong.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import torch

__all__ = ["beside", "can_work_beside"]


def can_work_beside(device: torch.device) -> bool:
    """Whether there are threads for two, on a system where a process can be copied safely."""
    return device.type == "cpu" and torch.get_num_threads() > 1 and sys.platform == "linux"


@contextmanager
def beside(work: Callable[[Callable[[], None]], object]) -> Iterator[None]:
    """Do `work` in a copy of this process until the block ends, and then wait for it.

    If the block fails, or is stopped, the copy is asked to stop. `work` is given a function to
    call now and then: it ends a copy that was left alone, for nobody waits for its result.
    """
    copy = multiprocessing.get_context("fork").Process(
        target=_alone, args=(work, os.getpid()), daemon=True
    )
    copy.start()
    try:
        yield
    except BaseException:
        copy.terminate()
        raise
    finally:
        copy.join()


def _alone(work: Callable[[Callable[[], None]], object], parent: int) -> None:
    """In the copy: a Ctrl-C is for the one who was called, and it tells this one."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def look_up() -> None:
        if os.getppid() != parent:
            os._exit(1)

    with suppress(Exception, KeyboardInterrupt):
        work(look_up)
