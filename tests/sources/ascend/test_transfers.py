# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import advisor
from advisor.facts.base import MISSING
from advisor.sources.ascend.transfers import MovedPackets, transfer_table
from tests.shared_captures import SharedCaptures
from tests.sources.ascend.row_columns import columns_as_in


class Moved(NamedTuple):
    """Packets of one size that one operator moved over one kind of link."""

    rank: int
    step: int
    name: str
    group: str
    link: str
    packet_bytes: float
    packets: float
    transit_us: float


def columns_of(rows: Sequence[Moved]) -> MovedPackets:
    return MovedPackets(**columns_as_in(MovedPackets, rows, Moved._fields))


some_moves = st.lists(
    st.builds(
        Moved,
        rank=st.sampled_from([0, 3]),
        step=st.sampled_from([MISSING, 1, 2]),
        name=st.sampled_from(["hcom_allReduce__1_0_1", "hcom_broadcast__1_1_1", "Ω"]),
        group=st.sampled_from(["", "55", "6"]),
        link=st.sampled_from(["HCCS", "RDMA"]),
        packet_bytes=st.sampled_from([0.0, 1e6, 3e25, math.nan]),
        packets=st.sampled_from([1.0, 7.0]),
        transit_us=st.sampled_from([0.0, 0.3, math.nan]),
    ),
    max_size=12,
)


@given(some_moves)
@settings(max_examples=200)
def test_rows_stand_in_order_of_step_operator_link_and_size_and_say_what_they_said(moves: list[Moved]) -> None:
    ordered = sorted(moves, key=lambda row: (*row[:5], -1 if math.isnan(row.packet_bytes) else row.packet_bytes))
    found = transfer_table(columns_of(moves)).rows()
    plain = [
        {**row._asdict(), "step": None if row.step == MISSING else row.step, "group": row.group or None}
        for row in ordered
    ]
    kinds = {"hcom_allReduce__1_0_1": "allReduce", "hcom_broadcast__1_1_1": "broadcast", "Ω": "Ω"}
    assert [row["op"] for row in found] == [kinds[row.name] for row in ordered]
    assert [{name: row[name] for name in plain[0]} for row in found] == [
        {name: None if value != value else value for name, value in row.items()}  # noqa: PLR0124 - NaN
        for row in plain
    ]


ODD = {
    "numbers that are texts": ("count = count || '', package_size = package_size || ''", "the same"),
    "a name that is bytes": ("hccl_op_name = x'FF00'", "nothing"),
    "no kind of link": ("transport_type = NULL", "nothing"),
    "what only adds others up": ("transport_type = 'SDMA'", "nothing"),
    "no packets": ("count = 0", "nothing"),
    "a count that is none": ("count = 'many'", "nothing"),
    "no step": ("step = NULL", "something"),
    "no communicator": ("group_name = NULL", "something"),
}


@pytest.mark.parametrize("how", ODD)
def test_odd_cells_of_a_database_are_transfers_or_are_left_out(
    how: str, shared: SharedCaptures, tmp_path: Path
) -> None:
    whole = sorted(shared.written("slow-link", export="database").glob("*_ascend_pt"))[0]
    shutil.copytree(whole, tmp_path / whole.name, copy_function=shutil.copyfile)
    changed, left = ODD[how]
    with closing(sqlite3.connect(tmp_path / whole.name / "ASCEND_PROFILER_OUTPUT" / "analysis.db")) as database:
        database.execute(f"UPDATE CommAnalyzerBandwidth SET {changed}")
        database.commit()
    before, after = (advisor.load_profile(one).table("transfers").rows() for one in (whole, tmp_path / whole.name))
    assert before
    assert {"the same": after == before, "nothing": not after, "something": len(after) == len(before)}[left]
