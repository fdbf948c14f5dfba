# SPDX-License-Identifier: Apache-2.0
"""Cells of communication files and of their databases that cannot be used are told, as those of other tables are."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.facts.base import MISSING
from advisor.facts.observed import Collective, Damage, Fact, Link, Transfer
from advisor.sources.ascend.cell_columns import CellColumns, plain_cells
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
from advisor.sources.cluster.summary import ClusterSummary
from advisor.sources.files.damage_notes import Notes
from advisor.units import LONGEST_US

UNUSABLE = ("n/a?", -1, -0.5, math.inf, -math.inf, math.nan, 1e300, [1.0], {"ms": 1}, True)
NOT_TOLD = (None, "", "N/A")
TIMES = {
    "Start Timestamp(us)": 1736414119678217.0,
    "Elapse Time(ms)": 4.0,
    "Transit Time(ms)": 1.0,
    "Wait Time(ms)": 2.0,
    "Synchronization Time(ms)": 0,
    "Idle Time(ms)": 1.0,
}
PAIR = {"Transport Type": "HCCS", "Transit Size(MB)": 4.0, "Transit Time(ms)": 2.0, "Bandwidth(GB/s)": 2.0}
NAME = "hcom_allReduce__271_0_1@77"
FILES = {"communication.json": (Collective, Transfer), "communication_matrix.json": (Link,)}


def operator(times: object = TIMES, cells: object = (2, 0.5), **links: object) -> dict[str, object]:
    sizes = {"8.388608": list(cells) if isinstance(cells, tuple) else cells}
    distribution = {"HCCS": {"Size Distribution": sizes}, "SDMA": {"Size Distribution": {}}, **links}
    return {"Communication Time Info": times, "Communication Bandwidth Info": distribution}


def damage(facts: tuple[type[Fact], ...], read: Callable[[type[Any]], Any]) -> list[tuple[str, str, int]]:
    """What is said of damage once these facts were read: what, where first, and how many cells."""
    for fact in facts:
        read(fact)
    return [(row["what"], row["place"], int(row["rows"])) for row in read(Damage).rows()]


def told(tmp_path: Path, file: str, content: object, suffix: str = "_ascend_pt") -> list[tuple[str, str, int]]:
    """What is said to be damaged: what, where first, and how many cells."""
    output = tmp_path / f"host_1_2{suffix}"
    output.mkdir(exist_ok=True)
    path = output / file
    path.write_text(json.dumps(content))
    folder = Folder(rank=1, root=output, output=output, readings=READINGS, files={file: path}, groups={})
    return damage(FILES[file], folder.read)


def of_operator(tmp_path: Path, content: object) -> list[tuple[str, str, int]]:
    fine = {"hcom_allReduce__271_1_1@77": operator()}
    return told(tmp_path, "communication.json", {"step3": {"p2p": {}, "collective": {NAME: content, **fine}}})


def of_pair(tmp_path: Path, content: object, key: str = "1-0") -> list[tuple[str, str, int]]:
    operators = {"allreduce-total@77": {key: content, "1-2": PAIR}}
    return told(tmp_path, "communication_matrix.json", {"step3": {"p2p": {}, "collective": operators}})


@pytest.mark.parametrize("value", UNUSABLE)
@pytest.mark.parametrize("column", TIMES)
def test_a_time_of_an_operator_that_cannot_be_used_is_told(column: str, value: object, tmp_path: Path) -> None:
    difference = column.startswith("Idle") and isinstance(value, int | float) and -math.inf < value < 0
    found = of_operator(tmp_path, operator({**TIMES, column: value}))
    expected = (f"`{column}` holds no usable value", "step3 collective hcom_allReduce__271_0_1", 1)
    assert found == ([] if difference and value in (-1, -0.5) else [expected])


@pytest.mark.parametrize("value", NOT_TOLD)
@pytest.mark.parametrize("column", TIMES)
def test_a_time_of_an_operator_that_was_not_collected_is_no_damage(column: str, value: object, tmp_path: Path) -> None:
    assert of_operator(tmp_path, operator({**TIMES, column: value})) == []
    assert of_operator(tmp_path, operator({name: time for name, time in TIMES.items() if name != column})) == []


def test_what_a_healthy_profiler_writes_of_operators_is_no_damage(tmp_path: Path) -> None:
    nothing = {"Transit Size(MB)": 0, "Size Distribution": {}}
    zeros = operator(dict.fromkeys(TIMES, 0), (0, 0), RDMA=nothing, PCIE=nothing, SIO={})
    total = operator({"Elapse Time(ms)": 8, "Idle Time(ms)": -1e-13})
    content = {
        "step": {"p2p": {}, "collective": {NAME: zeros, "Total Op Info": total, "hcom_x__1_0_1@77": {}}},
        "step2": {},
    }
    assert told(tmp_path, "communication.json", content) == []
    pairs = {"1-1": {**PAIR, "Transport Type": "LOCAL"}, "1-2": {**PAIR, "Transport Type": None}, "1-3": {}}
    operators = {"allreduce-total@77": {"1-0": PAIR, **pairs}, "allreduce-top1@77": {}}
    assert told(tmp_path, "communication_matrix.json", {"step": {"p2p": {}, "collective": operators}}) == []


@pytest.mark.parametrize("value", [*UNUSABLE, None])
@pytest.mark.parametrize("place", [0, 1])
def test_packets_that_cannot_be_counted_are_told(place: int, value: object, tmp_path: Path) -> None:
    cells = [2, 0.5]
    cells[place] = value  # type: ignore[call-overload]
    found = of_operator(tmp_path, operator(cells=cells))
    where = "step3 collective hcom_allReduce__271_0_1 HCCS 8.388608"
    assert found == ([] if value is None else [("`Size Distribution` holds no usable value", where, 1)])


@pytest.mark.parametrize("cells", [[2], [], 3, "x", {"count": 2}])
def test_packets_that_are_no_pair_of_numbers_are_told(cells: object, tmp_path: Path) -> None:
    (found,) = of_operator(tmp_path, operator(cells=cells))
    assert found[0] == "`Size Distribution` holds no usable value"


@pytest.mark.parametrize("size", ["-1", "large", "Infinity", "NaN?"])
def test_a_packet_size_that_is_none_is_told(size: str, tmp_path: Path) -> None:
    (found,) = of_operator(tmp_path, operator(HCCS={"Size Distribution": {size: [2, 0.5]}}))
    assert found == (
        "`Size Distribution` holds no usable value", f"step3 collective hcom_allReduce__271_0_1 HCCS {size}", 1
    )  # fmt: skip


@pytest.mark.parametrize("value", [[], "x", 3])
def test_something_else_where_an_object_is_due_is_told(value: object, tmp_path: Path) -> None:
    place = "step3 collective hcom_allReduce__271_0_1"
    assert of_operator(tmp_path, operator(value)) == [("`Communication Time Info` holds no usable value", place, 1)]
    bandwidth = {**operator(), "Communication Bandwidth Info": value}
    assert of_operator(tmp_path, bandwidth) == [("`Communication Bandwidth Info` holds no usable value", place, 1)]
    assert of_operator(tmp_path, operator(HCCS=value)) == [("an entry is no object", f"{place} HCCS", 1)]
    sizes = operator(HCCS={"Size Distribution": value})
    assert of_operator(tmp_path, sizes) == [("`Size Distribution` holds no usable value", f"{place} HCCS", 1)]
    assert of_pair(tmp_path, value) == [("an entry is no object", "step3 collective allreduce-total 1-0", 1)]


@pytest.mark.parametrize("value", UNUSABLE)
@pytest.mark.parametrize("column", ["Transit Size(MB)", "Transit Time(ms)"])
def test_a_transfer_between_two_ranks_that_cannot_be_used_is_told(column: str, value: object, tmp_path: Path) -> None:
    found = of_pair(tmp_path, {**PAIR, column: value})
    assert found == [(f"`{column}` holds no usable value", "step3 collective allreduce-total 1-0", 1)]


@pytest.mark.parametrize("value", [["HCCS"], {"kind": "HCCS"}, 3, 0.5, True])
def test_a_kind_of_link_that_is_no_text_is_told(value: object, tmp_path: Path) -> None:
    (found,) = of_pair(tmp_path, {**PAIR, "Transport Type": value})
    assert found == ("`Transport Type` holds no usable value", "step3 collective allreduce-total 1-0", 1)


def test_what_was_sent_between_no_two_ranks_is_told(tmp_path: Path) -> None:
    (found,) = of_pair(tmp_path, PAIR, key="one-two")
    assert found == ("what was sent is not listed by two ranks", "step3 collective allreduce-total one-two", 1)


def test_the_share_of_cells_that_cannot_be_used_is_of_their_column(tmp_path: Path) -> None:
    notes = Notes()
    CellColumns(notes, "communication.json", str).us("Wait Time(ms)", [1, "?", 2, -1])
    assert [(note.rows, note.share, note.place) for note in notes.all()] == [(2, 0.5, "1")]


def test_mindspore_captures_tell_cells_that_cannot_be_used_and_each_once(tmp_path: Path) -> None:
    odd = operator({**TIMES, "Start Timestamp(us)": "soon"})
    found = told(tmp_path, "communication.json", {"0": {"p2p": {}, "collective": {NAME: odd}}}, "_ascend_ms")
    assert found == [("`Start Timestamp(us)` holds no usable value", "0 collective hcom_allReduce__271_0_1", 1)]


TABLES: Mapping[str, Mapping[str, object]] = {
    "CommAnalyzerTime": {
        "step": "step3", "hccl_op_name": "hcom_allReduce__271_0_1", "group_name": "77", "transit_time": 1.0,
        "wait_time": 2.0, "synchronization_time": 0, "idle_time": 1.0,
    },
    "CommAnalyzerBandwidth": {
        "step": "step3", "hccl_op_name": "hcom_allReduce__271_0_1", "group_name": "77", "transport_type": "HCCS",
        "package_size": 8.388608, "count": 2, "total_duration": 0.5,
    },
    "CommAnalyzerMatrix": {
        "step": "step3", "hccl_op_name": "allreduce-total", "group_name": "77", "src_rank": "1", "dst_rank": "0",
        "transport_type": "HCCS", "transit_size": 4.0, "transit_time": 2.0,
    },
}  # fmt: skip
FACTS = {"CommAnalyzerTime": Collective, "CommAnalyzerBandwidth": Transfer, "CommAnalyzerMatrix": Link}
NUMBERS = [
    (table, column)
    for table, row in TABLES.items()
    for column, value in row.items()
    if not isinstance(value, str)
]  # fmt: skip


def fill(database: Path, tables: Mapping[str, list[Mapping[str, object]]]) -> None:
    with sqlite3.connect(database) as connection:
        for table, (row, *more) in tables.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(row)})")
            marks = ", ".join("?" * len(row))
            connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})", [tuple(one.values()) for one in (row, *more)]
            )
    connection.close()


def told_by_table(tmp_path: Path, table: str, **odd: object) -> list[tuple[str, str, int]]:
    events = tmp_path / "ascend_pytorch_profiler_1.db"
    strings = [{"id": 1, "value": "hcom_allReduce__271_0_1"}, {"id": 2, "value": "77"}]
    call = {"opName": 1, "startNs": 100, "endNs": 200, "groupName": 2, "dataType": 3, "algType": 1, "count": 4}
    fill(events, {"STRING_IDS": strings, "COMMUNICATION_OP": [call]})
    fill(tmp_path / "analysis.db", {table: [TABLES[table], {**TABLES[table], **odd}]})
    databases = {"profiler": events, "analysis": tmp_path / "analysis.db"}
    folder = Folder(rank=1, root=tmp_path, output=tmp_path, readings=READINGS, files={}, databases=databases, groups={})
    return damage((FACTS[table],), folder.read)


@pytest.mark.parametrize("value", ["n/a?", -1, math.inf, b"\x01", 1e300])
@pytest.mark.parametrize(("table", "column"), NUMBERS)
def test_a_number_of_a_database_that_cannot_be_used_is_told(
    table: str, column: str, value: object, tmp_path: Path
) -> None:
    found = told_by_table(tmp_path, table, **{column: value})
    expected = (f"{table}: {column} holds no usable value", f"{table}, row 2", 1)
    assert found == ([] if (column, value) == ("idle_time", -1) else [expected])


@pytest.mark.parametrize("value", [*NOT_TOLD, 0])
@pytest.mark.parametrize(("table", "column"), NUMBERS)
def test_a_number_of_a_database_that_was_not_collected_is_no_damage(
    table: str, column: str, value: object, tmp_path: Path
) -> None:
    assert told_by_table(tmp_path, table, **{column: value}) == []


@pytest.mark.parametrize("value", [3, 0.5, b"HCCS"])
@pytest.mark.parametrize("table", ["CommAnalyzerBandwidth", "CommAnalyzerMatrix"])
def test_a_kind_of_link_of_a_database_that_is_no_text_is_told(table: str, value: object, tmp_path: Path) -> None:
    found = told_by_table(tmp_path, table, transport_type=value)
    assert found == [(f"{table}: transport_type holds no usable value", f"{table}, row 2", 1)]


def summary(tmp_path: Path, file: str, content: object) -> list[tuple[str, str, int]]:
    (tmp_path / file).write_text(json.dumps(content))
    source = ClusterSummary(tmp_path, "")
    facts = (Link,) if "matrix" in file else (Collective, Transfer)
    return damage(facts, source.read)


def test_cells_of_a_cluster_summary_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    ranks = {"0": operator(), "1": operator({**TIMES, "Wait Time(ms)": "?"}, cells=(-2, 0.5)), "2": operator([])}
    operators = {"(0, 1)": {"step3": {NAME: ranks}}}
    place = "step3 (0, 1) hcom_allReduce__271_0_1"
    assert summary(tmp_path, "cluster_communication.json", operators) == [
        ("`Communication Time Info` holds no usable value", f"{place} 2", 1),
        ("`Size Distribution` holds no usable value", f"{place} HCCS 8.388608", 1),
        ("`Wait Time(ms)` holds no usable value", f"{place} 1", 1),
        ("operators without an elapse time", None, 1),
    ]
    pairs = {"p2p": {"step3": {"send-total@77": {"0-1": {**PAIR, "Transit Size(MB)": []}}}}}
    found = summary(tmp_path, "cluster_communication_matrix.json", pairs)
    assert [row for row in found if "Transit Size" in row[0]] == [
        ("`Transit Size(MB)` holds no usable value", "step3 p2p send-total 0-1", 1)
    ]


CLUSTER_TABLES: Mapping[str, Mapping[str, object]] = {
    "ClusterCommunicationTime": {
        "step": "step3", "rank_id": 1, "hccl_op_name": "hcom_allReduce__271_0_1", "group_name": "77",
        "start_timestamp": 1736414119678217.0, "elapsed_time": 4.0, "transit_time": 1.0, "wait_time": 2.0,
        "synchronization_time": 0, "idle_time": 1.0,
    },
    "ClusterCommunicationBandwidth": {
        "step": "step3", "rank_id": 1, "hccl_op_name": "hcom_allReduce__271_0_1", "group_name": "77",
        "band_type": "HCCS", "package_size": 8.388608, "count": 2, "total_duration": 0.5,
    },
    "ClusterCommunicationMatrix": {
        "step": "step3", "hccl_op_name": "allreduce-total", "group_name": "77", "src_rank": "1", "dst_rank": "0",
        "transport_type": "HCCS", "transit_size": 4.0, "transit_time": 2.0,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "column"),
    [
        (table, column)
        for table, row in CLUSTER_TABLES.items()
        for column, value in row.items()
        if isinstance(value, float) or column in ("count", "transport_type", "band_type")
    ],
)
def test_cells_of_the_database_of_a_cluster_that_cannot_be_used_are_told_once(
    table: str, column: str, tmp_path: Path
) -> None:
    tables = {one: [row] for one, row in CLUSTER_TABLES.items()}
    tables[table] = [*tables[table], {**CLUSTER_TABLES[table], column: b"?"}]
    fill(tmp_path / "cluster_analysis.db", tables)
    source = ClusterSummary(tmp_path, "")
    found = [one for one in damage((Collective, Transfer, Link), source.read) if one[1] is not None]
    assert found == [(f"{table}: {column} holds no usable value", f"{table}, row 2", 1)]


CELLS = st.lists(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "N/A", "1.5", "-2", "x", "inf"])
    | st.lists(st.integers(), max_size=1)
)  # fmt: skip


@given(CELLS)
def test_each_cell_is_a_number_or_not_told_or_counted(values: list[object]) -> None:
    notes = Notes()
    found = CellColumns(notes, "f", str).us("c", plain_cells(values))
    usable = 0
    for value, us in zip(values, found.tolist(), strict=True):
        try:
            ms = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
        except (ValueError, OverflowError):
            ms = math.nan
        good = ms == ms and 0 <= ms * 1e3 < LONGEST_US  # noqa: PLR0124 - NaN
        assert math.isnan(us) != good
        usable += good or value in (None, "", "N/A")
    assert sum(note.rows for note in notes.all()) == len(values) - usable


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_subnormal=False)))
def test_a_moment_is_whole_ns_or_missing(values: list[float | None]) -> None:
    found = CellColumns(Notes(), "f", str).moments_ns("c", values).tolist()
    for value, ns in zip(values, found, strict=True):
        told = value is not None and 0 < value * 1000 < 1 << 63
        assert ns == (round(value * 1000) if value is not None and told else MISSING)
