# SPDX-License-Identifier: Apache-2.0
"""A table of which nothing is known stands under what is not there, and not as a table without a value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.cli.main import main

ROWS = "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Input Shapes"


def listed(folder: Path, *kernels: str) -> Path:
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text("\n".join([ROWS, *kernels, ""]), "utf-8")
    return folder


def test_of_steps_whose_split_no_file_tells_the_list_that_lacks_rows_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = listed(tmp_path / "prof", "1,0,mm,MatMul,AI_CORE,1000,10,0,", "1,0,mm,MatMul,AI_CORE,900000,10,2,")
    assert main(["stats", str(folder), "-q", "-o", "json:-"]) == 0
    found = json.loads(capsys.readouterr().out)
    absent = {one["name"]: one["reason"]["en"] for one in found["absent"]}
    assert [table["name"] for table in found["tables"] if not table["rows"]["rows"]] == []
    assert "incomplete: kernels" in absent["ranks"]
    assert "incomplete: kernels" in absent["steps"]
    assert absent["collectives"] == "the capture holds nothing of this"


@pytest.mark.parametrize(("language", "why"), [("en", "holds nothing of this"), ("zh", "没有此类记录")])
def test_where_only_what_never_happened_is_asked_for_it_is_said_that_there_is_none(
    language: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = listed(tmp_path / "prof", "1,0,mm,MatMul,AI_CORE,1000,10,0,")
    assert main(["stats", str(folder), "--of", "collectives", "--lang", language]) == 3
    assert why in capsys.readouterr().err
