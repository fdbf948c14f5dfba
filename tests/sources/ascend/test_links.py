# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import advisor
from advisor.facts.base import MISSING
from advisor.facts.observed import Link
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.links import LinkTransfers, link_table
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
from advisor.sources.family import GroupMembers
from tests.shared_captures import SharedCaptures
from tests.sources.ascend.row_columns import columns_as_in

Sums = dict[tuple[object, ...], tuple[float, float]]


class LinkTransfer(NamedTuple):
    """What one operator, or all of one kind, moved between two ranks."""

    rank: int
    step: int
    op: str
    group: str
    source: int
    target: int
    link: str
    size_bytes: float
    transit_us: float
    is_total: bool = False


def columns_of(cells: Sequence[LinkTransfer]) -> LinkTransfers:
    return LinkTransfers(**columns_as_in(LinkTransfers, cells, LinkTransfer._fields))


def moved(source: int, target: int, size: float, time: float) -> LinkTransfer:
    return LinkTransfer(0, 1, "allreduce", "5", source, target, "HCCS", size, time)


def test_the_bandwidth_of_a_link_is_what_it_moved_in_the_time_it_took() -> None:
    (row,) = link_table(columns_of([moved(0, 1, 4e6, 300.0), moved(0, 1, 2e6, 300.0)]), {}).rows()
    assert (row["size_bytes"], row["transit_us"], row["bandwidth_gbps"]) == (6e6, 600.0, 10.0)


def test_a_time_that_nothing_takes_gives_no_bandwidth_and_warns_nobody() -> None:
    cells = [moved(0, 1, 1e29, 1e-300), moved(0, 2, 1e6, 0.0), moved(0, 3, 1e6, math.nan)]
    assert [row["bandwidth_gbps"] for row in link_table(columns_of(cells), {}).rows()] == [None, None, None]


def added_one_by_one(cells: Sequence[LinkTransfer], groups: Mapping[str, GroupMembers]) -> Sums:
    """What each row is, by a plain loop."""
    summed = {cell[:4] for cell in cells if cell.is_total}
    sums: Sums = {}
    for rank, step, op, group, source, target, link, size, time, is_total in cells:
        if is_total or (rank, step, op, group) not in summed:
            ranks = groups[group].ranks if group in groups else ()
            pair = (ranks[source], ranks[target]) if max(source, target) < len(ranks) else (source, target)
            if group not in groups and source != rank:
                continue  # numbered inside a group of unknown members
            key = rank, step, op, group, *pair, link
            before = sums.get(key, (0.0, 0.0))
            sums[key] = before[0] + size, before[1] + time
    return sums


some_cells = st.lists(
    st.builds(
        LinkTransfer,
        rank=st.sampled_from([0, 3]),
        step=st.sampled_from([MISSING, 1, 2]),
        op=st.sampled_from(["allreduce", "allgather", "Ω"]),
        group=st.sampled_from(["", "55", "6"]),
        source=st.integers(0, 3),
        target=st.integers(0, 3),
        link=st.sampled_from(["HCCS", "RDMA"]),
        size_bytes=st.sampled_from([0.0, 0.1, 1e6, 3e25, math.nan]),
        transit_us=st.sampled_from([0.0, 0.1, 0.3, 1e9, math.nan]),
        is_total=st.booleans(),
    ),
    max_size=12,
)


@given(some_cells)
@settings(max_examples=300)
def test_rows_are_the_sums_of_a_plain_loop_in_order_with_global_ranks(cells: list[LinkTransfer]) -> None:
    groups = {"55": GroupMembers("tp", (7, 4, 9))}
    wanted = added_one_by_one(cells, groups)
    if cells and not wanted:
        with pytest.raises(FactMissing):
            link_table(columns_of(cells), groups)
        return
    table = link_table(columns_of(cells), groups)
    rows = [
        (
            r["rank"],
            r["step"],
            r["op"],
            r["group"],
            r["source"],
            r["target"],
            r["link"],
            r["size_bytes"],
            r["transit_us"],
        )
        for r in table.rows()
    ]
    plain = [
        (
            rank,
            None if step == MISSING else step,
            op,
            group or None,
            source,
            target,
            link,
            *map(none_of_nan, wanted[key]),
        )
        for key in sorted(wanted, key=tuple)  # type: ignore[arg-type]
        for rank, step, op, group, source, target, link in [key]
    ]
    assert rows == plain


def none_of_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


MOVED = {"Transport Type": "HCCS", "Transit Size(MB)": 4.0, "Transit Time(ms)": 2.0}
MINDSPORE: Mapping[str, tuple[dict[str, list[str]], list[str]]] = {
    "one kind listed as another": ({"reduce": ["hcom_reduceScatter__789_34_1"]}, ["reducescatter"]),
    "two kinds listed as one": ({"reduce": ["hcom_reduceScatter__789_34_1", "hcom_reduce__789_3_1"]}, ["reduce"]),
    "several kinds": (
        {
            "reduce": ["hcom_reduceScatter__789_34_1"],
            "allreduce": ["hcom_allReduce__789_1_1"],
            "broadcast": [""],
            "alltoall": ["hcom_alltoallv__789_36_1"],
        },
        ["allreduce", "alltoallv", "broadcast", "reducescatter"],
    ),
    "no name": ({"alltoall": [""]}, ["alltoall"]),
    "a kind that is not known": ({"hcom_send__789_3_1@77": ["hcom_send__789_3_1"]}, ["send"]),
    "the name of a graph": ({"alltoall": ["Default/AllToAllv-op3"]}, ["alltoallv"]),
}
"""Keys of MindSpore's communication_matrix.json with the operators that stand for each, and what they are."""


@pytest.mark.parametrize("how", MINDSPORE)
def test_links_are_of_the_kind_that_their_operators_are_named_after(how: str, tmp_path: Path) -> None:
    listed, expected = MINDSPORE[how]
    entries: dict[str, object] = {}
    for key, names in listed.items():
        for place, name in zip(("top1", "bottom1"), names, strict=False):
            entries[f"{key}-{place}@77"] = {"1-0": {**MOVED, **({"op_name": name} if name else {})}}
        entries[f"{key}-total@77"] = {"1-0": MOVED}
    (tmp_path / "communication_matrix.json").write_text(json.dumps({"step2": {"p2p": {}, "collective": entries}}))
    files = {"communication_matrix.json": tmp_path / "communication_matrix.json"}
    folder = Folder(rank=1, root=tmp_path, output=tmp_path, readings=READINGS, files=files, groups={})
    rows = folder.read(Link).rows()
    assert [row["op"] for row in rows] == expected
    assert {row["size_bytes"] for row in rows} == {4e6}


ODD = {
    "a name without a step": ("UPDATE CommAnalyzerMatrix SET step = NULL", True),
    "a pair that is none": ("UPDATE CommAnalyzerMatrix SET src_rank = 'x'", False),
    "half a rank": ("UPDATE CommAnalyzerMatrix SET dst_rank = 1.5", False),
    "no kind of link": ("UPDATE CommAnalyzerMatrix SET transport_type = NULL", False),
    "what stays on the chip": ("UPDATE CommAnalyzerMatrix SET transport_type = 'LOCAL'", False),
    "numbers that are texts": ("UPDATE CommAnalyzerMatrix SET transit_size = transit_size || ''", True),
    "a name that is bytes": ("UPDATE CommAnalyzerMatrix SET hccl_op_name = x'FF00'", True),
}


@pytest.mark.parametrize("how", ODD)
def test_odd_cells_of_a_database_are_links_or_are_left_out(how: str, shared: SharedCaptures, tmp_path: Path) -> None:
    (whole,) = sorted(shared.written("slow-link", export="database").glob("*_ascend_pt"))[:1]
    shutil.copytree(whole, tmp_path / whole.name, copy_function=shutil.copyfile)
    statement, there = ODD[how]
    with closing(sqlite3.connect(tmp_path / whole.name / "ASCEND_PROFILER_OUTPUT" / "analysis.db")) as database:
        database.execute(statement)
        database.commit()
    before, after = (advisor.load_profile(folder).table("links") for folder in (whole, tmp_path / whole.name))
    assert len(before)
    assert bool(len(after)) is there
    if how == "numbers that are texts":
        assert after.rows() == before.rows()
