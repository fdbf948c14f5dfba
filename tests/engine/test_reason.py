# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.engine import reason
from advisor.engine import vocabulary as called
from advisor.expr.language import RUN_SCOPE
from advisor.facts import FACTS
from advisor.facts.base import Fact
from advisor.facts.derived import (
    BareCopy,
    CollectiveCall,
    DelayingCall,
    LaunchDelay,
    MemoryPeak,
    Overlap,
    PatchConvolution,
    Preparation,
)
from advisor.facts.observed import Kernel
from advisor.messages.errors import FactMissing
from advisor.model.run import Capture, Run
from advisor.sources.shared.ascend_names import TEXT_FILES

_OF_COLLECTIVES = ("communication.json",)


@pytest.mark.parametrize("name", ["chip", "world_size", "level", "torch_npu_version"])
def test_what_is_not_known_of_a_run_comes_with_how_to_have_it(name: str) -> None:
    for said in (reason.of_unknown_run([name], Run()), reason.of_missing_values(MemoryPeak, (), [name])):
        assert reason.OF_RUN[name].en in said.en
        assert reason.OF_RUN[name].zh in said.zh


def test_the_chip_is_asked_for_where_it_can_be_had() -> None:
    said = reason.of_unknown_run(["chip"], Run())
    assert all("PROF_*" in words and "ExportType.Db" in words for words in (said.en, said.zh))


def test_a_column_that_no_capture_holds_says_so() -> None:
    said = reason.of_missing_values(MemoryPeak, ["capacity_bytes"], ())
    assert "no capture holds" in said.en
    assert "npu-smi info" in said.zh


def test_several_names_with_one_remedy_hear_it_once() -> None:
    said = reason.of_unknown_run(["pp", "tp"], Run())
    assert said.en.count("parallel_group_info") == 1


def test_every_remedy_is_for_a_name_that_exists() -> None:
    assert reason.OF_RUN.keys() <= RUN_SCOPE.keys()
    for table, column in reason.OF_COLUMN:
        assert column in FACTS[table].columns()


def test_what_lies_in_a_file_that_cannot_be_read_is_not_called_unrecorded() -> None:
    said = reason.of_missing(FactMissing(["kernels", "launches"], ["trace_view.json"]))
    assert said.en == (
        "cannot be read: trace_view.json, which would hold kernels, launches: give the files whole and unpacked, as "
        "they were written"
    )
    assert "未采集" not in said.zh and "kernel 明细、下发记录应在其中" in said.zh


def test_of_several_missing_tables_only_those_in_no_unreadable_file_are_called_unrecorded() -> None:
    lost, absent = FactMissing(["kernels"], ["kernel_details.csv"]), FactMissing(["memory_uses"])
    said = reason.of_missing(FactMissing.joined([lost, absent]))
    assert "kernel_details.csv, which would hold kernels" in said.en
    assert "not recorded: use of device memory; record with profile_memory=True" in said.en
    assert "ProfilerActivity.NPU" not in said.en


def test_what_other_files_prove_was_recorded_is_not_called_unrecorded() -> None:
    lost = Capture(rank=0, path="", source="text", absent=("trace_view.json", "operator_memory.csv"))
    said = reason.of_missing(FactMissing(["host_calls", "launches"]), Run(captures=(lost,)))
    assert said.en.startswith("`trace_view.json` is absent (rank 0)")
    assert lost.lost == ("trace_view.json",)


@pytest.mark.parametrize("activities", [("CPU", "NPU"), ("NPU",), None])
def test_a_file_that_every_export_has_is_asked_for_unless_it_would_not_hold_it(
    activities: tuple[str, ...] | None,
) -> None:
    operators = () if activities else ("operator_details.csv", "operator_memory.csv")
    lost = Capture(rank=0, path="", source="text", activities=activities, absent=("trace_view.json", *operators))
    there = Capture(rank=1, path="", source="text", activities=activities)
    said = reason.of_missing(FactMissing(["host_calls", "launches"]), Run(captures=(lost, there)))
    if activities == ("NPU",):
        assert said.en == "not recorded: host calls, launches; record with activities CPU and NPU together"
    else:
        assert said.en == "`trace_view.json` is absent (rank 0): give the whole folder, or parse it again"
        assert "缺少 `trace_view.json`（rank 0）：请提供完整目录" in said.zh


@pytest.mark.parametrize("framework", ["PyTorch", "MindSpore"])
def test_what_one_hint_asks_for_is_not_asked_for_by_another_one(framework: str) -> None:
    said = reason.of_missing(FactMissing(["kernels", "host_calls"]), Run(framework=framework))
    assert said.en.count("record with") == 1
    assert "CPU" in said.en
    alone = reason.of_missing(FactMissing(["kernels"]), Run(framework=framework))
    assert "CPU" not in alone.en


@pytest.mark.parametrize(
    ("fact", "column"), [(Overlap, "to_host_us"), (BareCopy, "device_copy_us"), (LaunchDelay, "to_host_share")]
)
def test_the_direction_of_copies_is_asked_for_with_the_level_that_records_it(fact: type[Fact], column: str) -> None:
    recorded = Run(ranks=(0,), captures=(Capture(rank=0, path="", source="text", level="Level1"),))
    said = reason.of_missing_values(fact, [column], (), run=recorded)
    assert said.en == "not recorded: direction of memory copies; record with profiler_level=Level2"
    assert said.zh == "未采集：内存拷贝的方向；采集时设置 profiler_level=Level2"


TRAFFIC = ("communication.json", "communication_matrix.json")


@pytest.mark.parametrize("file", TRAFFIC)
def test_what_collectives_moved_shows_that_the_device_was_recorded_at_level_1(file: str) -> None:
    absent = tuple(name for name in TEXT_FILES if name != file)
    run = Run(captures=(Capture(rank=0, path="", source="text", absent=absent),))
    assert "`kernel_details.csv` is absent" in reason.of_missing(FactMissing(["kernels"]), run).en
    said = reason.of_missing_values(Kernel, ["blocks"], (), run=run)
    assert "`kernel_details.csv` is absent" in said.en and "Level1" not in said.en
    msprof = Run(captures=(Capture(rank=0, path="", source="text", recorder="msprof", absent=("op_statistic.csv",)),))
    assert reason.of_missing(FactMissing(["kernels"]), msprof).en.startswith("not recorded")


@pytest.mark.parametrize(("fact", "is_split"), [(DelayingCall, False), (Preparation, False), (CollectiveCall, True)])
def test_when_the_device_was_idle_is_not_how_collectives_split(fact: type[Fact], is_split: bool) -> None:
    run = Run(ranks=(0,), captures=(Capture(rank=0, path="", source="text", level="Level1", absent=_OF_COLLECTIVES),))
    for partly in (True, False):
        said = reason.of_missing_values(fact, ["idle_us"], (), run=run, partly=partly)
        assert ("communication.json" in said.en) == is_split
        assert "collectives split" not in said.en


def test_sums_of_steps_show_that_the_device_was_recorded() -> None:
    absent = tuple(name for name in TEXT_FILES if name != "step_trace_time.csv")
    said = reason.of_missing(
        FactMissing(["kernels"]), Run(captures=(Capture(rank=0, path="", source="text", absent=absent),))
    )
    assert said.en == "`kernel_details.csv` is absent (rank 0): give the whole folder, or parse it again"


def test_totals_of_operators_show_that_the_device_was_recorded() -> None:
    given = ("kernel_details.csv", "trace_view.json")
    tables_only = Capture(rank=0, path="", source="text", absent=given)
    said = reason.of_missing(FactMissing(["kernels"]), Run(captures=(tables_only,)))
    assert said.en == "`kernel_details.csv` is absent (rank 0): give the whole folder, or parse it again"
    nothing = tables_only.model_copy(update={"absent": (*given, "op_statistic.csv", "step_trace_time.csv", *TRAFFIC)})
    said = reason.of_missing(FactMissing(["kernels"]), Run(captures=(nothing,)))
    assert said.en == "not recorded: kernels; record with ProfilerActivity.NPU among the activities"


@pytest.mark.parametrize("fact", FACTS.values(), ids=lambda fact: fact.table)
def test_a_fact_is_called_in_its_own_class_what_readers_call_it(fact: type[Fact]) -> None:
    assert fact.__dict__["called"] == called.TABLES[fact.table]
    assert fact.called.en and fact.called.zh


def test_every_name_of_a_run_is_called_something() -> None:
    assert RUN_SCOPE.keys() == called.RUN.keys()
    assert called.FILES.keys() <= {name for name, fact in FACTS.items() if fact.observed}


@pytest.mark.parametrize("fact", FACTS.values(), ids=lambda fact: fact.table)
def test_readers_see_no_name_of_a_table_or_column(fact: type[Fact]) -> None:
    columns = list(fact.columns())
    said = [reason.of_missing(FactMissing([fact.table])), reason.of_missing_values(fact, columns, ["let_of_a_rule"])]
    for text in said:
        head = (text.en.split(";")[0], text.zh.split("；")[0])
        assert not any("_" in part or "`" in part for part in head), head


def test_steps_that_no_database_of_mindspore_holds_are_to_be_exported_and_not_to_be_marked() -> None:
    by_source = {}
    for source in ("text", "database"):
        run = Run(framework="MindSpore", captures=(Capture(rank=0, path="", source=source),))
        by_source[source] = reason.of_missing(FactMissing(["step_windows"]), run)
    assert "call prof.step()" in by_source["text"].en
    assert "call prof.step()" not in by_source["database"].en
    assert "ExportType.Text" in by_source["database"].en and "ExportType.Text" in by_source["database"].zh


def test_nobody_with_files_of_the_old_profiler_of_mindspore_is_asked_for_what_only_the_new_one_writes() -> None:
    run = Run(framework="MindSpore", captures=(Capture(rank=0, path="", source="insight"),))
    for table in ("settings", "groups"):
        said = reason.of_missing(FactMissing([table]), run)
        assert "mindspore.profiler.profile" in said.en and "mindspore.profiler.profile" in said.zh
        assert "metadata" not in said.en and "metadata" not in said.zh


def test_what_to_record_is_said_in_the_words_of_the_framework_that_recorded() -> None:
    missing = FactMissing(["kernels", "host_calls"])
    by_framework = {name: reason.of_missing(missing, Run(framework=name)) for name in ("PyTorch", "MindSpore")}
    assert "record with activities CPU and NPU" in by_framework["PyTorch"].en
    for words in (by_framework["MindSpore"].en, by_framework["MindSpore"].zh):
        assert "mindspore.profiler.profile" in words


@pytest.mark.parametrize(("source", "asks"), [("text", False), ("database", False), ("insight", True)])
def test_nobody_is_sent_back_to_the_old_profiler_of_mindspore(source: str, asks: bool) -> None:
    run = Run(framework="MindSpore", captures=(Capture(rank=0, path="", source=source),))
    said = reason.of_missing(FactMissing(["step_phases"]), run)
    assert ("record with the old profiler" in said.en) == asks
    assert ("使用旧版" in said.zh) == asks
    assert asks or ("the present one does not" in said.en and "现行 profiler 不采集" in said.zh)


ON_GPU = Run(
    framework="PyTorch", ranks=(0,), captures=(Capture(rank=0, path="", source="trace", activities=("CPU", "GPU")),)
)


@pytest.mark.parametrize("table", ["step_windows", "kernels", "device_tasks", "host_calls", "launches", "memory_uses"])
def test_what_the_pytorch_profiler_records_on_gpus_is_said_to_be_had_there(table: str) -> None:
    said = reason.of_missing(FactMissing([table]), ON_GPU)
    assert "does not record it" not in said.en
    assert "不采集此项" not in said.zh


def test_steps_that_nobody_marked_on_a_gpu_are_to_be_marked() -> None:
    said = reason.of_missing(FactMissing(["step_windows"]), ON_GPU)
    assert said.en == "not recorded: marks of steps; call prof.step() at the end of every step"
    assert said.zh == "未采集：step 标记；在每个 step 结束时调用 prof.step()"


def test_shapes_that_were_not_recorded_on_a_gpu_come_with_the_switch_that_records_them() -> None:
    said = reason.of_missing_values(PatchConvolution, ["product_us"], (), run=ON_GPU)
    assert "record with record_shapes=True" in said.en
