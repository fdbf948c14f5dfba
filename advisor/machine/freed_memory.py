# SPDX-License-Identifier: Apache-2.0
"""What becomes of memory that is let go: it returns to the system, or is kept to be used again."""

from __future__ import annotations

import contextlib
import gc
import os
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and M_ARENA_MAX of glibc's mallopt(3)."""
_ARROW_POOL = "ARROW_DEFAULT_MEMORY_POOL"


def give_back_memory(column: int = 4 << 20, free: int = 32 << 20) -> None:
    """Lets freed columns of so many bytes return to the system, and what lies free beyond so much at the end.

    By itself glibc keeps blocks of up to 32 MiB for later use, and what one thread let go from the others. To have a
    column of 1 MiB return at once is no gain: of a database of 200 MB it takes a fifth of the processor's time to be
    given the same pages anew, cleared, and the peak is the same within 3 MiB.

    Arrow is told to take its memory from there too: what it holds by itself after all of it was let go is 20 to 27 MB
    of a process that reads ranks of 250 MB.
    """
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):  # another C library has no such switch
            for what, least in ((_MMAP_THRESHOLD, column), (_TRIM_THRESHOLD, free), (_ARENA_MAX, 1)):
                ctypes.CDLL(None).mallopt(what, least)
        _let_arrow_use_malloc()


def _let_arrow_use_malloc() -> None:
    """Unless the user chose a pool; before Arrow is loaded, which is late or never, its own variable tells it."""
    if _ARROW_POOL in os.environ:
        return
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.set_memory_pool(arrow.system_memory_pool())
    else:
        os.environ[_ARROW_POOL] = "system"


def give_back_arrow_memory() -> None:
    """Lets return what Arrow holds of a file that was read; what it took from malloc returns with all else there."""
    import pyarrow as pa

    pool = pa.default_memory_pool()
    if pool.backend_name != "system":  # of which Arrow would give back all, as `give_back_now` does
        pool.release_unused()


def keep_memory(most: int) -> None:
    """Keeps up to so many bytes that are let go, for a process that needs as much again at once."""
    give_back_memory(column=most, free=most)


def collect_seldom() -> None:
    """Has Python look for garbage every million objects and not every 700, in a process that ends with its work.

    Tables are arrays, and what is decoded on the way to them refers to nothing else: a twelfth of the time of small
    ranks goes into looking through it.
    """
    gc.set_threshold(1_000_000)


class GivingBack:
    """Lets memory return once so much more of it is held than after the last time: what is made on the way to small
    tables may scatter over a heap many times their size."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = resident_bytes()

    def give_back_if_grown(self) -> None:
        """Looks, which takes some µs, and gives back if it is worth the while."""
        if resident_bytes() > self._held + self._most:
            give_back_now()
            self._held = resident_bytes()


def resident_bytes() -> int:
    """How much memory the process holds; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as told:
            return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def give_back_now() -> None:
    """Lets return what lies free between what is used: some ms for each 100 MiB, and memory is asked for anew later."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)
