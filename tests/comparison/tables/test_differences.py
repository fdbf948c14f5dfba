# SPDX-License-Identifier: Apache-2.0
"""The tables of two captures: from tables by hand, and from captures in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import corpus
from advisor.analysis import DERIVATIONS
from advisor.comparison.tables import ALSO, WANTED, table_differences
from advisor.facts import Fact, Profile
from advisor.facts.observed import Collective, Damage, HostCall, Kernel, MemoryUse, OperatorCall, OperatorMemory
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.comparison import Difference
from advisor.model.findings import Scalar
from advisor.model.run import Run
from advisor.pipeline import open_profile

F = TypeVar("F", bound=Fact)
CASE = Path(__file__).parents[3] / "corpus" / "host-bound-2-ranks"


class Canned:
    """A capture with fixed tables."""

    size_bytes = 1

    def __init__(self, *tables: Table[Any]) -> None:
        self.tables = {table.fact: table for table in tables}

    def read(self, fact: type[F]) -> Table[F]:
        if fact is Damage:
            return Table.empty(fact)
        if fact not in self.tables:
            raise FactMissing([fact.table])
        return self.tables[fact]

    def release(self) -> None:
        """Nothing is kept."""


def profile(*tables: Table[Any], steps: tuple[int, ...] = (1,)) -> Profile:
    return Profile(Run(steps=steps), [Canned(*tables)], (*DERIVATIONS, *ALSO))


def rows(found: tuple[Difference, ...], name: str) -> list[dict[str, Scalar]]:
    (table,) = [one for one in found if one.name == name]
    heads = [head.name for head in table.rows.columns]
    return [dict(zip(heads, row, strict=True)) for row in table.rows.rows]


KERNELS = """
rank step start_ns duration_us op_type core        input_shapes
0    1    0        10          MatMul  AI_CORE     2,2;2,2
0    1    20000    10          Cast    AI_VECTOR   8
0    2    60000    30          MatMul  AI_CORE     2,2;2,2
"""
MORE = """
rank step start_ns duration_us op_type core        input_shapes
0    1    0        50          MatMul  AI_CPU      2,2;2,2
1    1    0        30          MatMul  AI_CPU      2,2;2,2
"""


def test_kernels_of_unequal_ranks_and_steps_compare_per_step_and_rank() -> None:
    found = table_differences(profile(read_table(Kernel, KERNELS), steps=(1, 2)), profile(read_table(Kernel, MORE)))
    on_cpu, on_core, cast = rows(found.tables, "kernels")
    assert (on_cpu["core"], on_cpu["calls_before"], on_cpu["calls_after"], on_cpu["total_after_us"]) == (
        "AI_CPU",
        0,
        1,
        40,
    )
    assert (on_core["total_before_us"], on_core["mean_before_us"], on_core["total_after_us"]) == (20, 20, 0)
    assert (cast["op_type"], cast["total_before_us"], cast["calls_before"]) == ("Cast", 5, 0.5)


def test_the_rank_that_changed_stands_first_and_those_that_wait_below() -> None:
    even = "rank step start_ns duration_us op_type\n0 1 0 10 A\n1 1 0 10 A\n1 2 900000 30 A\n"
    slow = "rank step start_ns duration_us op_type\n0 1 0 10 A\n1 1 0 80 A\n2 1 0 10 A\n"
    found = rows(
        table_differences(profile(read_table(Kernel, even), steps=(1, 2)), profile(read_table(Kernel, slow))).tables,
        "ranks",
    )
    assert [row["rank"] for row in found] == [1, 0, 2]
    assert (found[0]["compute_before_us"], found[0]["compute_after_us"]) == (20, 80)
    assert found[2]["compute_before_us"] is None


def test_a_single_rank_is_what_the_split_says_already() -> None:
    one = profile(read_table(Kernel, KERNELS), steps=(1, 2))
    assert "ranks" not in {table.name for table in table_differences(one, one).tables}


def test_a_table_that_one_side_lacks_is_named_and_one_that_both_lack_is_not() -> None:
    found = table_differences(profile(read_table(Kernel, KERNELS)), profile())
    assert found.tables == ()
    said = [note.en for note in found.notes]
    assert said[1:] == ["Kernels are not set side by side: they were recorded on one side only, not after."]
    assert "之后" in found.notes[1].zh


def test_operators_fall_back_to_the_timeline_where_one_side_has_no_more() -> None:
    calls = "kind name start_ns end_ns\noperator aten::add 0 5000\noperator aten::mul 5000 6000\n"
    timeline = read_table(HostCall, calls)
    kernels = read_table(Kernel, KERNELS)
    both = read_table(OperatorCall, "name host_total_us device_total_us\naten::add 5 50\n")
    full = table_differences(profile(kernels, timeline, both), profile(kernels, timeline, both))
    assert rows(full.tables, "operators")[0]["device_total_before_us"] == 50
    half = table_differences(profile(kernels, timeline, both), profile(kernels, timeline))
    assert {row["name"] for row in rows(half.tables, "operators")} == {"aten::add", "aten::mul"}
    assert all(row["device_total_before_us"] is None for row in rows(half.tables, "operators"))


def test_calls_have_no_operators_and_no_python_functions() -> None:
    calls = "kind name start_ns end_ns\noperator a 0 9\npython b 0 9\napi c 0 9\nlaunch launch 0 9\n"
    one = profile(read_table(Kernel, KERNELS), read_table(HostCall, calls))
    assert {row["name"] for row in rows(table_differences(one, one).tables, "calls")} == {"c", "launch"}


def test_collectives_outside_of_steps_do_not_count() -> None:
    text = "step op group_kind start_ns elapse_us size_bytes\n1 allReduce dp 1000 7 64\n- allReduce dp 900000 9 64\n"
    one = profile(read_table(Kernel, KERNELS), read_table(Collective, text), steps=(1, 2))
    (row,) = rows(table_differences(one, one).tables, "collectives")
    assert (row["op"], row["size_bytes"], row["calls_before"], row["total_before_us"]) == ("allReduce", 64, 0.5, 3.5)


def test_the_memory_of_a_rank_that_was_not_captured_is_unknown() -> None:
    def held(*ranks: int) -> Profile:
        lines = "".join(f"{rank} PTA 1 {100 + rank} 200\n" for rank in ranks)
        return profile(read_table(MemoryUse, f"rank component time_ns allocated_bytes reserved_bytes\n{lines}"))

    found = rows(table_differences(held(0), held(0, 1)).tables, "memory")
    assert [(row["rank"], row["reserved_before_bytes"], row["reserved_after_bytes"]) for row in found] == [
        (0, 200, 200),
        (1, None, 200),
    ]
    assert {type(row["reserved_after_bytes"]) for row in found} == {int}, "bytes are whole"


def test_allocations_are_known_by_their_name_in_both_exports() -> None:
    def allocated(name: str) -> Profile:
        return profile(read_table(OperatorMemory, f"name size_bytes\n{name} 100\n"))

    (row,) = rows(table_differences(allocated("cann::trans_0"), allocated("trans_0")).tables, "allocations")
    assert (row["name"], row["size_delta_bytes"]) == ("trans_0", 0)


def prepared(path: Path) -> Profile:
    opened = open_profile(path, jobs=1, also=ALSO)
    opened.prepare(WANTED)
    return opened


def test_a_capture_beside_itself_differs_in_nothing() -> None:
    found = table_differences(prepared(CASE), prepared(CASE))
    assert {table.name for table in found.tables} >= {"kernels", "operators", "calls", "collectives"}
    assert found.notes == ()
    for table in found.tables:
        deltas = [at for at, head in enumerate(table.rows.columns) if "_delta" in head.name]
        assert {row[at] for row in table.rows.rows for at in deltas} <= {0.0, None}


def test_a_fault_of_the_corpus_leads_its_table(tmp_path: Path) -> None:
    corpus.write(corpus.job("cast-excess", 0, workload="short"), tmp_path / "after", "text", 1)
    corpus.write(
        corpus.job("cast-excess", 0, workload="short", without=["cast-excess"]), tmp_path / "before", "text", 1
    )
    found = table_differences(prepared(tmp_path / "before"), prepared(tmp_path / "after"))
    first = rows(found.tables, "kernels")[0]
    assert (first["op_type"], first["total_before_us"]) == ("Cast", 0)


def test_text_and_database_of_one_program_have_the_same_kernels(real_data: Path) -> None:
    matrix = real_data / "msinsight_pytorch_matrix"
    found = table_differences(prepared(matrix / "text" / "level1"), prepared(matrix / "db" / "level1"))
    assert found.notes == ()
    for name in ("kernels", "collectives", "allocations"):
        assert {row["calls_delta"] for row in rows(found.tables, name)} == {0.0}, name
