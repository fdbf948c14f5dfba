# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.engine import reason
from advisor.errors import FactMissing
from advisor.expr.language import RUN_SCOPE
from advisor.facts import FACTS
from advisor.facts.derived import MemoryPeak


@pytest.mark.parametrize("name", ["chip", "world_size", "level", "torch_npu_version"])
def test_what_is_not_known_of_a_run_comes_with_how_to_have_it(name: str) -> None:
    for said in (reason.of_unknown_run([name]), reason.of_missing_values(MemoryPeak, (), [name])):
        assert reason.OF_RUN[name].en in said.en
        assert reason.OF_RUN[name].zh in said.zh


def test_the_chip_is_asked_for_where_it_can_be_had() -> None:
    said = reason.of_unknown_run(["chip"])
    assert all("PROF_*" in words and "ExportType.Db" in words for words in (said.en, said.zh))


def test_a_column_that_no_capture_holds_says_so() -> None:
    said = reason.of_missing_values(MemoryPeak, ["capacity_bytes"], ())
    assert "no capture holds" in said.en
    assert "npu-smi info" in said.zh


def test_several_names_with_one_remedy_hear_it_once() -> None:
    said = reason.of_unknown_run(["pp", "tp"])
    assert said.en.count("parallel_group_info") == 1


def test_every_remedy_is_for_a_name_that_exists() -> None:
    assert reason.OF_RUN.keys() <= RUN_SCOPE.keys()
    for table, column in reason.OF_COLUMN:
        assert column in FACTS[table].columns()


def test_what_lies_in_a_file_that_cannot_be_read_is_not_called_unrecorded() -> None:
    said = reason.of_missing(FactMissing(["kernels", "launches"], ["trace_view.json"]))
    assert said.en == (
        "cannot be read: trace_view.json, where `kernels`, `launches` would be: give the files whole and unpacked, as "
        "they were written"
    )
    assert "未采集" not in said.zh and "`kernels`、`launches` 应在其中" in said.zh


def test_of_several_missing_tables_only_those_in_no_unreadable_file_are_called_unrecorded() -> None:
    lost, absent = FactMissing(["kernels"], ["kernel_details.csv"]), FactMissing(["memory_uses"])
    said = reason.of_missing(FactMissing.joined([lost, absent]))
    assert "kernel_details.csv, where `kernels` would be" in said.en
    assert "not recorded: `memory_uses`; record with profile_memory=True" in said.en
    assert "ProfilerActivity.NPU" not in said.en
