# SPDX-License-Identifier: Apache-2.0
"""Small random device timelines, and the same arithmetic done moment by moment in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from hypothesis import strategies as st

from advisor.analysis.host.host import DEVICE_SOFTWARE
from advisor.facts.base import MISSING
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, Launch
from advisor.facts.table import Table, read_table
from advisor.sources.ascend.call_words import activities_of_calls

RANKS = st.integers(0, 1)
STEPS = st.sampled_from([None, 1, 2, 4])
MOMENTS = st.integers(0, 120) | st.sampled_from([0, 20, 40, 60, 200])
"""Few enough of them that some are equal, begin where another ends, or lie far apart."""
LENGTHS = st.integers(-2, 25) | st.sampled_from([0, 20])
INTERVALS = st.lists(st.tuples(MOMENTS, LENGTHS).map(lambda pair: (pair[0], pair[0] + pair[1])), max_size=12)

_TYPES = st.sampled_from(["MatMul", "Cast", None])
_KERNEL = st.tuples(RANKS, STEPS, MOMENTS, LENGTHS, _TYPES)
_SHORT = st.tuples(st.just(0), st.just(1), st.integers(0, 200), st.integers(0, 5), _TYPES)
KERNELS = st.lists(_KERNEL, max_size=14) | st.lists(_SHORT, max_size=6)
"""Close together in several steps, or a few short ones with much free time between them."""
COLLECTIVES = st.lists(st.tuples(RANKS, STEPS, MOMENTS, LENGTHS, st.booleans()), max_size=6)
_TASK = st.tuples(RANKS, MOMENTS, LENGTHS, st.sampled_from(["copy", "wait", "mark", "kernel"]))


def _copy_over_wait(rank: int, start: int, length: int, later: int) -> list[tuple[int, int, int, str]]:
    return [(rank, start, length, "wait"), (rank, start + later, length, "copy")]


_PAIR = st.builds(_copy_over_wait, RANKS, st.integers(0, 150), st.integers(10, 60), st.integers(0, 30))
TASKS = st.lists(_TASK.map(lambda task: [task]) | _PAIR, max_size=8).map(lambda parts: list(chain(*parts)))
"""Copies and waits apart and over each other, in free time too."""
CALLS = st.lists(
    st.tuples(
        RANKS,
        MOMENTS,
        LENGTHS,
        st.sampled_from(
            [
                ("gc", "gc"),
                ("api", "aclrtSynchronizeStream"),
                ("api", "aclrtMemcpy"),
                ("api", "aclopCompileAndExecute"),
                ("data_loader", "__next__"),
                ("operator", "aten::mul"),
                ("python", "train.py(3): step"),
                ("enqueue", "Enqueue"),
                ("dequeue", "Dequeue@x"),
                ("step", "ProfilerStep#1"),
            ]
        ),
    ),
    max_size=12,
)


def kernels(rows: Iterable[tuple[Any, ...]]) -> Table[Kernel]:
    rank, step, start, length, op_type = _columns(rows, 5)
    return Table.build(
        Kernel, rank=rank, step=step, start_ns=start, duration_us=[n / 1e3 for n in length], op_type=op_type
    )


def collectives(rows: Iterable[tuple[Any, ...]]) -> Table[Collective]:
    rank, step, start, length, p2p = _columns(rows, 5)
    return Table.build(
        Collective,
        rank=rank,
        step=step,
        start_ns=start,
        elapse_us=[n / 1e3 for n in length],
        p2p=[int(flag) for flag in p2p],
        op=["send" if flag else "allReduce" for flag in p2p],
    )


def tasks(rows: Iterable[tuple[Any, ...]]) -> Table[DeviceTask]:
    rank, start, length, kind = _columns(rows, 4)
    end = [s + n for s, n in zip(start, length, strict=True)]
    return Table.build(DeviceTask, rank=rank, start_ns=start, end_ns=end, kind=kind, connection=range(len(rank)))


def meant(calls: Table[HostCall]) -> Table[HostCall]:
    """The same calls, each with what it does, as captures of Ascend tell it by its name."""
    kinds = calls.texts("kind")
    return calls.having(
        activity=activities_of_calls(
            calls.texts("name"), kinds.isin(DEVICE_SOFTWARE), kinds.isin(["operator"]), kinds.isin(["python"])
        )
    )


def host_calls(rows: str) -> Table[HostCall]:
    """Calls written as a table."""
    return meant(read_table(HostCall, rows))


def calls(rows: Iterable[tuple[Any, ...]]) -> Table[HostCall]:
    rank, start, length, what = _columns(rows, 4)
    end = [s + n for s, n in zip(start, length, strict=True)]
    table = Table.build(
        HostCall,
        rank=rank,
        thread=[1] * len(rank),
        start_ns=start,
        end_ns=end,
        kind=[kind for kind, _ in what],
        name=[name for _, name in what],
        connection=range(len(rank)),
    )
    return meant(table)


def launches(rows: Iterable[tuple[Any, ...]], lead: int) -> Table[Launch]:
    """A launch for each row (rank, …, start, …) of kernels, `lead` ns before it."""
    kept = [(row[0], row[2]) for row in rows]
    return Table.build(
        Launch,
        rank=[rank for rank, _ in kept],
        host_start_ns=[start - lead for _, start in kept],
        device_start_ns=[start for _, start in kept],
    )


def _columns(rows: Iterable[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


class Moments:
    """The plain twin of a timeline: for each (rank, step) the set of whole nanoseconds of each kind."""

    def __init__(self, kernel: list[Any], comm: list[Any], task: list[Any] | None = None) -> None:
        self.cells: dict[tuple[int, int | None], dict[str, set[int]]] = {}
        self.first: dict[tuple[int, int | None], int] = {}
        self.last: dict[tuple[int, int | None], int] = {}
        self.ranks = {row[0] for row in kernel + comm if row[3] >= 0}
        self._place(kernel, comm)
        for key in self.cells:
            follower = (key[0], None if key[1] is None else key[1] + 1)
            if key[1] is not None and follower in self.first:
                self.last[key] = max(self.last[key], self.first[follower])
        for rank, start, length, kind in task or []:
            key = self._at(rank, start) if length >= 0 and kind in ("copy", "wait") else None
            if key and start < self.last[key]:
                self.cells[key][kind] |= set(range(start, start + length))
                self._reach_on(key, kind, start, start + length)

    def _reach_on(self, key: tuple[int, int | None], kind: str, start: int, end: int) -> None:
        """What runs on when the next steps have begun lies in these too."""
        while key[1] is not None and (key := (key[0], key[1] + 1)) in self.first:
            start = max(start, self.first[key])
            if end <= start:
                return
            self.cells[key][kind] |= set(range(start, min(end, self.last[key])))

    def _place(self, kernel: list[Any], comm: list[Any]) -> None:
        """Events of numbered tables first; what carries no step is sorted in by time after them."""
        tables = [("compute", kernel, row) for row in kernel] + [("comm", comm, row) for row in comm]
        tables = [entry for entry in tables if entry[2][3] >= 0]
        for kind, rows, (rank, step, start, length, extra) in sorted(
            tables, key=lambda entry: not self._numbered(entry[1], entry[2][0])
        ):
            key = self._cell(kernel + comm, rows, rank, step, start)
            if key is not None:
                self._add(key, kind, start, length)
                if kind == "comm" and extra:
                    self.cells[key]["p2p"] |= set(range(start, start + length))

    def _numbered(self, rows: list[Any], rank: int) -> bool:
        return any(r == rank and s is not None and n >= 0 for r, s, _, n, _ in rows)

    def _cell(
        self, both: list[Any], rows: list[Any], rank: int, step: int | None, start: int
    ) -> tuple[int, int | None] | None:
        """An event without a step is outside where its table numbers steps, else it goes by time."""
        if step is not None or not self._numbered(both, rank):
            return (rank, step)
        return None if self._numbered(rows, rank) else self._at(rank, start)

    def _add(self, key: tuple[int, int | None], kind: str, start: int, length: int) -> None:
        sets = self.cells.setdefault(key, {k: set() for k in ("compute", "comm", "p2p", "copy", "wait")})
        sets[kind] |= set(range(start, start + length))
        self.first[key] = min(self.first.get(key, start), start)
        self.last[key] = max(self.last.get(key, start), start + length)

    def _at(self, rank: int, start: int) -> tuple[int, int | None] | None:
        begun = [(f, -1 if key[1] is None else key[1], key) for key, f in self.first.items() if key[0] == rank]
        begun = [entry for entry in begun if entry[0] <= start]
        return max(begun, key=lambda entry: entry[:2])[2] if begun else None

    def window(self, key: tuple[int, int | None]) -> set[int]:
        return set(range(self.first[key], self.last[key]))

    def free(self, key: tuple[int, int | None]) -> set[int]:
        return self.window(key) - self.cells[key]["compute"] - self.cells[key]["comm"]


def moments(start: Iterable[int], end: Iterable[int]) -> set[int]:
    """The whole nanoseconds in any of the intervals."""
    return {t for s, e in zip(start, end, strict=True) for t in range(int(s), int(e))}


def number(step: int | None) -> int:
    return MISSING if step is None else step
