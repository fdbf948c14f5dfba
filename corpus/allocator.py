# SPDX-License-Identifier: Apache-2.0
"""The caching allocator of a rank: blocks are taken and given back, segments grow and shrink."""

from __future__ import annotations

from collections import deque

from corpus.events import Allocation, Memory, RankTrace

_SEGMENT = 20 * 2**20
"""PyTorch's allocator takes segments of 20 MiB for large blocks."""
_MODEL = 954 * 2**20
_CONTEXT = 587 * 2**20
"""What the model and the process hold before the capture: 954 and 2110 - 1452 MB in the msinsight AlexNet capture."""
_SAMPLE_NS = 20_000_000
"""The profiler asks the driver for the process's memory every 20 ms."""


class Allocator:
    """Keeps the totals, and records them at every change."""

    def __init__(self, trace: RankTrace) -> None:
        self._trace = trace
        self._live: deque[Allocation] = deque()
        self.allocated = _MODEL
        self.reserved = _MODEL + 4 * _SEGMENT

    def take(self, name: str, size: int, time: int) -> None:
        """Give a block to an operator; take another segment from the device when none has room."""
        self.allocated += size
        if self.allocated > self.reserved:
            self.reserved += -(-(self.allocated - self.reserved) // _SEGMENT) * _SEGMENT
        block = Allocation(name, size, time, self.allocated, self.reserved)
        self._live.append(block)
        self._trace.allocations.append(block)
        self._record(time)

    def give_back(self, time: int, *, newest: bool = False) -> None:
        """Take back the oldest block, or the newest, if there is one."""
        if not self._live:
            return
        block = self._live.pop() if newest else self._live.popleft()
        self.allocated -= block.size
        block.released = max(time, block.time)
        block.total_after, block.reserved_after = self.allocated, self.reserved
        self._record(block.released)

    def reserve(self, size: int, time: int) -> None:
        """Take segments from the device or return them, never those in use."""
        self.reserved = max(self.reserved + size, self.allocated)
        self._record(time)

    def sample(self, end: int) -> None:
        """Add what the driver saw of the whole process, from the start to the end."""
        changes = sorted(self._trace.memory, key=lambda change: change.time)
        position, reserved = 0, self.reserved
        for time in range(0, end, _SAMPLE_NS):
            while position < len(changes) and changes[position].time <= time:
                reserved = changes[position].reserved
                position += 1
            self._trace.memory.append(Memory("APP", time, -1, reserved + _CONTEXT, -1))

    def _record(self, time: int) -> None:
        for component in ("PTA", "PTA+GE"):
            self._trace.memory.append(Memory(component, time, self.allocated, self.reserved, self.allocated))
