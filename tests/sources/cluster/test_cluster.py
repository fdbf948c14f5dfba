# SPDX-License-Identifier: Apache-2.0
"""A cluster_analysis_output as the source of a run."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import advisor
from advisor.facts.base import Fact
from advisor.facts.observed import Collective, Damage, Group, Kernel, Link, RankCapture, StepTime, Transfer
from advisor.messages.errors import FactMissing, InputError
from advisor.messages.text import Text
from advisor.sources import open_input

Capture = Callable[..., Path]
HEADINGS = "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n"
ROWS = (
    "2,rank,0,10,1,0,1,4,15,0\n2,rank,1,11,1,0,1,4,15,0\n2,rank,2,30,1,0,1,4,35,5\n2,rank,3,31,1,0,1,4,35,5\n"
    '2,stage,"(0, 1)",11,1,0,1,4,15,0\n2,stage,"(2, 3)",31,1,0,1,4,35,5\n'
)
TIMES = {"Start Timestamp(us)": 1695115378810042.5, "Elapse Time(ms)": 3, "Wait Time(ms)": 1, "Transit Time(ms)": 2}
SENT = {"HCCS": {"Size Distribution": {"1": [2, 0.5]}}, "SDMA": {"Size Distribution": {"1": [2, 0.5]}}}
OPERATORS = [(0, "hcom_allReduce__1_0", "77"), (1, "hcom_allReduce__1_0", "77"), (1, "hcom_send__1_0", "88")]
INFO = {"Communication Time Info": TIMES, "Communication Bandwidth Info": SENT}


@pytest.fixture
def summary(tmp_path: Path) -> Path:
    folder = tmp_path / "cluster_analysis_output"
    folder.mkdir()
    (folder / "cluster_step_trace_time.csv").write_text(HEADINGS + ROWS)
    operators = {"hcom_allReduce__1_0@77": {"0": INFO, "1": INFO}, "Total Op Info": {"0": INFO}}
    content = {"(0, 1)": {"step2": operators}, "p2p": {"step2": {"hcom_send__1_0@88": {"1": INFO}}}}
    (folder / "cluster_communication.json").write_text(json.dumps(content))
    matrix = {"p2p": {"step2": {"hcom_send__1_0@88": {"1-3": {"Transport Type": "RDMA", "Transit Size(MB)": 2}}}}}
    (folder / "cluster_communication_matrix.json").write_text(json.dumps(matrix))
    return folder


def test_ranks_stages_and_steps_come_from_the_step_times(summary: Path) -> None:
    run, sources = open_input(summary)
    assert (run.ranks, run.steps, run.world_size) == ((0, 1, 2, 3), (2,), 4)
    assert run.parallel.stages == ((0, 1), (2, 3))
    assert run.parallel.source == "cluster"
    assert {capture.source for capture in run.captures} == {"cluster"}
    rows = sources[0].read(StepTime).rows()
    assert [(row["rank"], row["stage"], row["compute_us"]) for row in rows] == [
        (0, 0, 10),
        (1, 0, 11),
        (2, 1, 30),
        (3, 1, 31),
    ]


def without_column(text: str, place: int) -> str:
    rows = list(csv.reader(text.splitlines()))
    made = io.StringIO()
    csv.writer(made).writerows([*row[:place], *row[place + 1 :]] for row in rows)
    return made.getvalue()


def test_ranks_that_only_groups_name_are_missing(summary: Path) -> None:
    every = {"collective": [[0, 1, 2, 3, 4]], "p2p": [[0, 5]]}
    (summary / "communication_group.json").write_text(json.dumps(every), "utf-8")
    run, _ = open_input(summary)
    assert run.rank_count == 6
    assert "5" in run.missing_ranks and not any(str(rank) in run.missing_ranks for rank in run.ranks)


def test_without_the_column_type_the_index_tells_ranks_from_stages(summary: Path) -> None:
    before, (source,) = open_input(summary)
    whole = source.read(StepTime).rows()
    (summary / "cluster_step_trace_time.csv").write_text(without_column(HEADINGS + ROWS, 1))
    run, (source,) = open_input(summary)
    assert source.read(StepTime).rows() == whole
    assert run == before


def test_without_the_column_index_the_other_files_are_read_and_the_loss_is_named(summary: Path) -> None:
    (summary / "cluster_step_trace_time.csv").write_text(without_column(HEADINGS + ROWS, 2))
    run, (source,) = open_input(summary)
    assert run.ranks == (0, 1)
    assert len(source.read(Collective)) > 0
    with pytest.raises(FactMissing):
        source.read(StepTime)
    rows = source.read(Damage).rows()
    assert [(row["file"], row["what"]) for row in rows] == [("cluster_step_trace_time.csv", "has no column `Index`")]


EVERY_RANK = {"collective": [[0, 1, 2, 3]], "p2p": []}


def ranks_said_to_be_missing(folder: Path) -> list[object]:
    (folder / "communication_group.json").write_text(json.dumps(EVERY_RANK), "utf-8")
    findings = [one for one in advisor.diagnose(folder).findings if one.rule == "capture/ranks-missing"]
    return [value.value for one in findings for value in one.evidence if value.name == "which"]


def test_ranks_whose_times_were_not_collected_are_not_missing(summary: Path) -> None:
    rows = ROWS.replace(",4,15,", ",N/A,15,").replace(",4,35,", ",N/A,35,")
    (summary / "cluster_step_trace_time.csv").write_text(HEADINGS + rows)
    run, (source,) = open_input(summary)
    assert (run.ranks, run.parallel.stages) == ((0, 1, 2, 3), ((0, 1), (2, 3)))
    with pytest.raises(FactMissing):
        source.read(StepTime)
    assert not ranks_said_to_be_missing(summary)


@pytest.mark.parametrize("text", [without_column(HEADINGS + ROWS, 2), (HEADINGS + ROWS)[:-80]])
def test_of_a_list_of_ranks_that_is_not_whole_none_is_said_to_be_missing(text: str, summary: Path) -> None:
    (summary / "cluster_step_trace_time.csv").write_text(text)
    assert not ranks_said_to_be_missing(summary)


def test_ranks_that_a_whole_list_lacks_are_missing(summary: Path) -> None:
    (summary / "cluster_step_trace_time.csv").write_text(HEADINGS + ROWS.replace("2,rank,3,31,1,0,1,4,35,5\n", ""))
    assert ranks_said_to_be_missing(summary) == ["3"]


def why_bubbles_were_not_looked_for(folder: Path) -> Text:
    outcome = next(one for one in advisor.diagnose(folder).outcomes if one.rule == "pipeline/bubble")
    assert outcome.outcome == "skipped" and outcome.reason is not None
    return outcome.reason


def test_where_rows_of_stages_are_gone_they_are_asked_for_and_not_another_recording(summary: Path) -> None:
    (summary / "cluster_step_trace_time.csv").write_text(HEADINGS + ROWS[: ROWS.index("2,stage")])
    why = why_bubbles_were_not_looked_for(summary)
    assert "rows of type `stage` in `cluster_step_trace_time.csv`" in why.en and "not recorded" not in why.en
    assert "Type 为 `stage` 的行" in why.zh and "未采集" not in why.zh


def test_the_column_of_a_summary_that_tells_bubbles_is_named_where_it_is_gone(summary: Path) -> None:
    (summary / "cluster_step_trace_time.csv").write_text(without_column(HEADINGS + ROWS, 9))
    why = why_bubbles_were_not_looked_for(summary)
    assert all("`Bubble`" in words and "`cluster_step_trace_time.csv`" in words for words in (why.en, why.zh))


@pytest.mark.parametrize("place", range(10))
def test_no_column_that_is_missing_ends_the_reading(place: int, summary: Path) -> None:
    (summary / "cluster_step_trace_time.csv").write_text(without_column(HEADINGS + ROWS, place))
    run, (source,) = open_input(summary)
    assert set(run.ranks) <= {0, 1, 2, 3}
    assert len(source.read(Collective)) > 0


def test_communication_is_given_per_rank(summary: Path) -> None:
    _, (source,) = open_input(summary)
    rows = source.read(Collective).rows()
    assert [(row["rank"], row["op"], row["p2p"], row["elapse_us"], row["wait_us"]) for row in rows] == [
        (0, "allReduce", False, 3000.0, 1000.0),
        (1, "allReduce", False, 3000.0, 1000.0),
        (1, "send", True, 3000.0, 1000.0),
    ]
    assert [row["link"] for row in source.read(Transfer).rows()] == ["HCCS"] * 3
    assert [(row["rank"], row["source"], row["target"]) for row in source.read(Link).rows()] == [(1, 1, 3)]


def test_the_ranks_a_collective_is_listed_under_are_its_group(summary: Path) -> None:
    _, (source,) = open_input(summary)
    assert [(row["group"], row["rank"]) for row in source.read(Group).rows()] == [("77", 0), ("77", 1)]


def test_what_a_summary_cannot_hold_is_missing(summary: Path) -> None:
    _, (source,) = open_input(summary)
    with pytest.raises(FactMissing):
        source.read(Kernel)
    assert len(source.read(RankCapture)) == 4
    assert len(source.read(Damage)) == 0


def test_damage_of_a_summary_is_told(summary: Path) -> None:
    (summary / "cluster_communication.json").write_text('{"(0, 1)": {')
    _, (source,) = open_input(summary)
    with pytest.raises(FactMissing) as caught:
        source.read(Collective)
    assert caught.value.unreadable == ("cluster_communication.json",)
    assert [row["kind"] for row in source.read(Damage).rows()] == ["unreadable"]


@pytest.mark.parametrize("content", ["", HEADINGS, "x", HEADINGS + "2,rank,x,1,1,1,1,1,1,1\n"])
def test_a_summary_without_a_rank_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "cluster_step_trace_time.csv").write_text(content)
    with pytest.raises(InputError):
        open_input(tmp_path)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (
            ROWS.replace(",4,15,", ',"4,000.5",15,').replace(",4,35,", ',"4,000.5",35,'),
            "`Free` holds numbers with commas",
        ),
        (ROWS.replace(",4,15,", ",N/A,15,").replace(",4,35,", ",N/A,35,"), "`Free` holds no usable number"),
    ],
)
def test_a_summary_without_a_usable_time_is_refused_with_file_column_and_cause(
    rows: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "cluster_step_trace_time.csv").write_text(HEADINGS + rows)
    with pytest.raises(InputError, match=f"cluster_step_trace_time.csv {why}"):
        open_input(tmp_path)


def test_a_summary_that_names_no_rank_is_refused_with_what_is_wrong_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "cluster_step_trace_time.csv").write_text(without_column(HEADINGS + ROWS, 2))
    with pytest.raises(InputError, match=r"step_trace_time\.csv has no column `Index`"):
        open_input(tmp_path)


def fill(connection: sqlite3.Connection, table: str, columns: str, rows: list[tuple[object, ...]]) -> None:
    connection.execute(f"CREATE TABLE {table} ({columns})")
    marks = ",".join("?" * len(rows[0]))
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The summary above as cluster_analysis.db."""
    folder = tmp_path / "as_database"
    folder.mkdir()
    connection = sqlite3.connect(folder / "cluster_analysis.db")
    steps = (
        "step,type,index,computing,communication_not_overlapped,overlapped,communication,free,stage,bubble,preparing"
    )
    rows = [line.split(",") for line in ROWS.replace('"(0, 1)"', "(0; 1)").replace('"(2, 3)"', "(2; 3)").splitlines()]
    sheet = [(*row[:2], row[2].replace(";", ","), *map(float, row[3:]), None) for row in rows]
    fill(connection, "ClusterStepTraceTime", steps.replace("index", '"index"'), sheet)
    times = "step,rank_id,hccl_op_name,group_name,start_timestamp,elapsed_time,transit_time,wait_time,"
    times += "synchronization_time,idle_time"
    start = TIMES["Start Timestamp(us)"]
    done = [("step2", r, n, g, start, 3, 2, 1, None, None) for r, n, g in OPERATORS]
    fill(connection, "ClusterCommunicationTime", times, [*done, ("step2", 0, "Total Op Info", "77", 0, 9, 9, 9, 9, 9)])
    packets = "step,rank_id,hccl_op_name,group_name,band_type,package_size,count,total_duration"
    sent = [("step2", r, n, g, link, 1, 2, 0.5) for r, n, g in OPERATORS for link in ("HCCS", "SDMA")]
    fill(connection, "ClusterCommunicationBandwidth", packets, sent)
    pairs = "step,hccl_op_name,group_name,src_rank,dst_rank,transport_type,transit_size,transit_time"
    fill(connection, "ClusterCommunicationMatrix", pairs, [("step2", "hcom_send__1_0", "88", 1, 3, "RDMA", 2, None)])
    named = "type,rank_set,group_name,group_id,pg_name"
    fill(connection, "CommunicationGroupMapping", named, [("collective", "(0,1)", "77", "x", "")])
    connection.commit()
    connection.close()
    return folder


@pytest.mark.parametrize("fact", [StepTime, Collective, Transfer, Link, Group, RankCapture])
def test_the_database_of_a_summary_holds_the_same(fact: type[Fact], summary: Path, database: Path) -> None:
    (text_run, (text,)), (run, (source,)) = open_input(summary), open_input(database)
    assert source.read(fact).rows() == text.read(fact).rows()
    assert run.model_dump(exclude={"name"}) == text_run.model_dump(exclude={"name"})


def alter(folder: Path, *statements: str) -> None:
    with sqlite3.connect(folder / "cluster_analysis.db") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_steps_of_a_summary_are_read_without_the_times_that_its_version_does_not_write(database: Path) -> None:
    whole = open_input(database)[1][0].read(StepTime)
    alter(database, *(f"ALTER TABLE ClusterStepTraceTime DROP COLUMN {name}" for name in ("preparing", "bubble")))
    (source,) = open_input(database)[1]
    left = source.read(StepTime)
    assert left["compute_us"].tolist() == whole["compute_us"].tolist()
    assert np.isnan(left["bubble_us"]).all()
    assert len(source.read(Damage)) == 0


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("ClusterStepTraceTime", "computing"),
        ("ClusterCommunicationTime", "elapsed_time"),
        ("ClusterCommunicationBandwidth", "package_size"),
        ("ClusterCommunicationMatrix", "transit_size"),
        ("CommunicationGroupMapping", "rank_set"),
    ],
)
def test_a_table_of_a_summary_that_lacks_a_column_is_told(database: Path, table: str, column: str) -> None:
    alter(database, f"ALTER TABLE {table} DROP COLUMN {column}")
    (source,) = open_input(database)[1]
    for fact in (StepTime, Collective, Transfer, Link, Group):
        with contextlib.suppress(FactMissing):
            source.read(fact)
    told = [(row["file"], row["place"], row["what"]) for row in source.read(Damage).rows()]
    assert ("cluster_analysis.db", table, f"has no column `{column}`") in told


@pytest.mark.parametrize("cell", ["'much'", "x'00ff'"])
def test_times_of_a_summary_that_are_no_numbers_are_counted(database: Path, cell: str) -> None:
    alter(database, f"UPDATE ClusterStepTraceTime SET computing = {cell} WHERE rowid = 1")
    (source,) = open_input(database)[1]
    assert np.count_nonzero(np.isnan(source.read(StepTime)["compute_us"])) == 1
    (row,) = source.read(Damage).rows()
    assert (row["file"], row["rows"]) == ("cluster_analysis.db", 1)
    assert row["share"] == pytest.approx(1 / 6)  # of four ranks and two stages


@pytest.mark.parametrize("content", [b"", b"junk", b"SQLite format 3\0" + b"\xff" * 2000])
def test_a_database_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "cluster_analysis.db").write_bytes(content)
    for path in (tmp_path, tmp_path / "cluster_analysis.db"):
        with pytest.raises(InputError):
            open_input(path)


def test_captures_win_over_the_summary_beside_them(capture: Capture, tmp_path: Path, summary: Path) -> None:
    for rank in capture("text", case="healthy").glob("*_ascend_pt"):
        (tmp_path / rank.name).symlink_to(rank, target_is_directory=True)
    run, sources = open_input(tmp_path)
    assert len(sources) == 4
    assert any(note.about == "cluster_summary" for note in run.notes)
    assert {c.source for c in run.captures} == {"text"}


def test_the_real_summary_has_two_stages_of_eight(real_data: Path) -> None:
    run, (source,) = open_input(real_data / "msinsight_server_testdata" / "cluster_analysis_output")
    assert run.parallel.stages == (tuple(range(8)), tuple(range(8, 16)))
    steps = source.read(StepTime)
    assert len(steps) == 16
    shares = steps["exposed_comm_us"] / (steps["compute_us"] + steps["exposed_comm_us"] + steps["free_us"])
    assert 0.49 < shares.min() < shares.max() < 0.59
    assert (steps["bubble_us"][8:] > 0).all()
