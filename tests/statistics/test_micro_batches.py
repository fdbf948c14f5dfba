# SPDX-License-Identifier: Apache-2.0
"""The passes of micro-batches that a program marked: which they are, and what each did on the device."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis import DERIVATIONS
from advisor.facts.observed import HostCall, Kernel, Launch, ProgramMark, StepWindow
from advisor.facts.profile import Profile
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.statistics.counting import statistic_frame
from advisor.statistics.micro_batches import micro_batches
from tests.analysis.derive import derive


def passes(marks: str | Table[ProgramMark], **tables: Table[Any]) -> list[dict[str, Any]]:
    given = read_table(ProgramMark, marks) if isinstance(marks, str) else marks
    return derive(micro_batches, marks=given, **tables).rows()


def test_passes_are_told_by_the_words_of_marks_and_numbered_by_step() -> None:
    windows = read_table(StepWindow, "step start_ns end_ns\n1 0 100\n2 100 200")
    rows = passes(
        """
        domain         name                       start_ns end_ns
        default        "{'name': 'forward_step'}" 10       20
        default        forward_step               30       40
        default        backward_step              50       70
        default        forward_step               110      120
        default        forward-backward           130      150
        Module         forward                    31       39
        default        fast_forwarding            60       65
        default        save                       72       80
        """,
        windows=windows,
    )
    assert [(row["step"], row["direction"], row["number"], row["host_us"]) for row in rows] == [
        (1, "forward", 1, 0.01), (1, "forward", 2, 0.01), (1, "backward", 1, 0.02),
        (2, "forward", 1, 0.01), (2, "forward+backward", 1, 0.02),
    ]  # fmt: skip
    assert {row["device_us"] for row in rows} == {None}


def test_a_mark_inside_of_another_one_of_its_direction_is_part_of_it() -> None:
    rows = passes("""
        rank thread domain  name          start_ns end_ns
        0    1      default forward_step  10       50
        0    1      default forward_step  20       30
        0    1      default forward_step  10       40
        0    1      default forward_step  60       70
        1    1      default forward_step  20       30
    """)
    assert [(row["rank"], row["start_ns"], row["number"]) for row in rows] == [(0, 10, 1), (0, 60, 2), (1, 20, 1)]


def test_marks_of_other_things_are_no_passes() -> None:
    with pytest.raises(FactMissing):
        passes("domain name start_ns end_ns\ndefault save 10 20\nModule forward 10 20")


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 30), st.integers(1, 6)), max_size=12),
    st.lists(st.integers(1, 3), min_size=1, max_size=6),
)
def test_each_kernel_is_counted_where_it_was_launched(work: list[tuple[int, int, int]], lengths: list[int]) -> None:
    marks, at = [], 2
    for place, length in enumerate(lengths):
        marks.append((place % 2, at, at + 2 * length))
        at += 2 * length + 1
    table = Table.build(
        ProgramMark,
        rank=[rank for rank, *_ in marks],
        thread=1,
        domain="default",
        name="backward_step",
        start_ns=[1000 * begin for _, begin, _ in marks],
        end_ns=[1000 * end for *_, end in marks],
    )
    begun = [1_000_000 + 100_000 * place for place in range(len(work))]
    kernels = Table.build(
        Kernel, rank=[rank for rank, *_ in work], start_ns=begun, duration_us=[float(us) for *_, us in work]
    )
    launches = Table.build(
        Launch,
        rank=[rank for rank, *_ in work],
        thread=7,
        host_start_ns=[1000 * moment for _, moment, _ in work],
        device_start_ns=begun,
    )
    rows = passes(table, kernels=kernels, launches=launches, calls=Table.empty(HostCall))
    for (rank, begin, end), row in zip(sorted(marks), rows, strict=True):
        own = [place for place, (of, moment, _) in enumerate(work) if of == rank and begin <= moment < end]
        assert row["kernels"] == len(own)
        assert row["kernel_us"] == (sum(work[place][2] for place in own) if own else None)
        assert row["device_start_ns"] == min((begun[place] for place in own), default=None)
        ended = max((begun[place] + 1000 * work[place][2] for place in own), default=0)
        assert row["device_us"] == ((ended - min(begun[place] for place in own)) / 1e3 if own else None)


class Marked:
    """A source that knows marks alone."""

    size_bytes = 0

    def __init__(self, marks: str) -> None:
        self.marks = marks

    def read(self, fact: type[Any]) -> Table[Any]:
        if fact is ProgramMark:
            return read_table(ProgramMark, self.marks)
        raise FactMissing([fact.table])

    def release(self) -> None:
        """There is nothing to let go of."""


@pytest.mark.parametrize("since", [0, 1_763_900_000_123_456_789])
def test_passes_of_all_ranks_begin_at_the_first_of_their_step(since: int) -> None:
    heads = "rank domain name start_ns end_ns"

    def mark(rank: int, name: str, start: int, end: int) -> str:
        return f"{rank} default {name} {since + start} {since + end}"

    sources = [
        Marked("\n".join([heads, mark(0, "forward_step", 1000, 3000), mark(0, "backward_step", 9000, 12000)])),
        Marked("\n".join([heads, mark(1, "forward_step", 4000, 6000)])),
    ]
    profile = Profile(Run(), sources, (*DERIVATIONS, micro_batches))
    frame = statistic_frame(profile, "pipeline", [])
    told = frame[["rank", "direction", "number", "start_us", "host_us"]].to_numpy().tolist()
    assert told == [[0, "forward", 1, 0.0, 2.0], [0, "backward", 1, 8.0, 3.0], [1, "forward", 1, 3.0, 2.0]]
    assert frame["device_us"].isna().all()
