# SPDX-License-Identifier: Apache-2.0
"""Numbers that nothing measured and values nested without end: missing, and never the end of a diagnosis."""

from __future__ import annotations

import json
import math
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.facts.observed import Damage, Kernel, Link, Setting, StepTime
from advisor.sources import open_input
from advisor.sources.files.jsonfile import as_number, parse_json
from corpus.__main__ import main as corpus

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"
HUGE = ("1e308", "-1e308", "1e31", "1e400", "inf", "nan", "9" * 400)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CASE, tmp_path / "prof"))


def outputs(folder: Path) -> Path:
    return next(folder.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT"))


def is_diagnosed(path: Path, tmp_path: Path) -> bool:
    """Whether every kind of report can be written; that in JSON knows no NaN and no infinity."""
    reports = [f"-o{tmp_path / name}" for name in ("d.json", "d.md", "d.xlsx", "d.csv")]
    return main(["diagnose", str(path), "-q", *reports]) == 0 and "Infinity" not in (tmp_path / "d.json").read_text()


@pytest.mark.parametrize("value", HUGE)
def test_a_number_of_no_possible_size_is_no_number(value: str) -> None:
    assert math.isnan(as_number(value))
    assert as_number("1e15") == 1e15


@pytest.mark.parametrize("value", HUGE)
def test_times_of_no_possible_length_in_a_table_end_nothing(value: str, capture: Path, tmp_path: Path) -> None:
    for name in ("step_trace_time.csv", "kernel_details.csv", "operator_details.csv", "operator_memory.csv"):
        file = outputs(capture) / name
        heading, *rows = file.read_text().splitlines()
        wild = [re.sub(r"(?<=,)\d+\.\d+(?=,)", value, row) if at % 2 else row for at, row in enumerate(rows)]
        file.write_text("\n".join([heading, *wild, ""]))
    _, sources = open_input(capture)
    assert all(not us > 1e30 for source in sources for us in source.read(StepTime).floats("compute_us").tolist())
    assert is_diagnosed(capture, tmp_path)


@pytest.mark.parametrize("value", ["1e308", "Infinity", "-Infinity", "NaN", "1e30", "9" * 400])
def test_sizes_and_times_of_no_possible_amount_in_json_end_nothing(value: str, capture: Path, tmp_path: Path) -> None:
    for name in ("communication.json", "communication_matrix.json"):
        file = outputs(capture) / name
        file.write_text(re.sub(r"(?<=: )\d+\.\d+", value, file.read_text()))
    timeline = outputs(capture) / "trace_view.json"
    timeline.write_text(re.sub(r'(?<="dur": )"?[\d.]+"?', value, timeline.read_text(), count=50))
    assert is_diagnosed(capture, tmp_path)


@pytest.mark.parametrize("value", [1e308, math.inf, -math.inf, 2**62, "1e308"])
def test_sizes_of_no_possible_amount_in_a_database_end_nothing(value: object, tmp_path: Path) -> None:
    capture = tmp_path / "prof"
    corpus(["write", "cast-excess", str(capture), "--workload", "single", "--export", "database"])
    database = sqlite3.connect(outputs(capture) / "analysis.db")
    tables = {"CommAnalyzerMatrix": "transit_size", "CommAnalyzerTime": "elapse_time", "StepTraceTime": "computing"}
    for table, column in tables.items():
        database.execute(f"UPDATE {table} SET {column} = ?", (value,))
    database.commit()
    database.close()
    _, (source,) = open_input(capture)
    assert all(not size > 1e30 for size in source.read(Link).floats("size_bytes").tolist())
    assert is_diagnosed(capture, tmp_path)


def nested(levels: int, *, in_list: bool, inmost: object = 1) -> object:
    value = inmost
    for _ in range(levels):
        value = [value] if in_list else {"a": value}
    return value


@pytest.mark.parametrize("in_list", [True, False])
@pytest.mark.parametrize("levels", [50, 300, 900, 5000, 100_000])
def test_settings_nested_without_end_cost_no_other_setting(
    levels: int, in_list: bool, capture: Path, tmp_path: Path
) -> None:
    deep = ("[" if in_list else '{"a":') * levels + "1" + ("]" if in_list else "}") * levels
    for file in capture.glob("*_ascend_pt/*.json"):
        content = json.loads(file.read_text())
        content["ENV_VARIABLES"] = {**content.get("ENV_VARIABLES", {}), "ODD": "DEEP", "FINE": "7", "HALF": "\ud800"}
        content.setdefault("config", {}).setdefault("common_config", {})["odd"] = "DEEP"
        file.write_text(json.dumps(content).replace('"DEEP"', deep))
    _, sources = open_input(capture)
    if levels < 900:
        assert {"FINE", "ODD"} <= {row["name"] for row in sources[0].read(Setting).rows()}
    assert is_diagnosed(capture, tmp_path)


@pytest.mark.parametrize("in_list", [True, False])
def test_half_a_letter_under_many_levels_ends_nothing(in_list: bool) -> None:
    text = json.dumps([nested(900, in_list=in_list, inmost="\ud800"), "\ud800"])
    found = parse_json(text)
    assert isinstance(found, list)
    assert found[1] == "�"


@pytest.mark.parametrize("value", ["18446744073709541.616", "9223372036854775.807"])
def test_a_kernel_that_never_ended_is_told_and_counts_for_nothing(value: str, capture: Path, tmp_path: Path) -> None:
    file = outputs(capture) / "kernel_details.csv"
    heading, first, *rows = file.read_text().splitlines()
    at = heading.split(",").index("Duration(us)")
    file.write_text(
        "\n".join([heading, ",".join([*first.split(",")[:at], value, *first.split(",")[at + 1 :]]), *rows, ""])
    )
    _, (source, _) = open_input(capture)
    assert 0 < source.read(Kernel)["duration_us"].max() < 1e6
    assert [Path(name).name for name in source.read(Damage).texts("file").values()] == ["kernel_details.csv"]
    assert is_diagnosed(capture, tmp_path)


@pytest.mark.filterwarnings("error")
def test_a_task_that_never_ended_in_a_database_is_told_and_counts_for_nothing(tmp_path: Path) -> None:
    capture = tmp_path / "prof"
    corpus(["write", "cast-excess", str(capture), "--workload", "single", "--export", "database"])
    (file,) = outputs(capture).glob("ascend_pytorch_profiler*.db")
    database = sqlite3.connect(file)
    database.execute(
        "UPDATE TASK SET endNs = ? WHERE globalTaskId = (SELECT MIN(globalTaskId) FROM COMPUTE_TASK_INFO)", (2**63 - 1,)
    )
    database.execute("UPDATE PYTORCH_API SET endNs = ? WHERE rowid = 5", (2**63 - 1,))
    database.commit()
    database.close()
    _, (source,) = open_input(capture)
    assert 0 < source.read(Kernel)["duration_us"].max() < 1e6
    assert [Path(name).name for name in source.read(Damage).texts("file").values()] == [file.name]
    assert is_diagnosed(capture, tmp_path)
