# SPDX-License-Identifier: Apache-2.0
"""One configuration holds what all rules ask for, in the words of whoever recorded, and can be run as it stands."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor import pipeline
from advisor.engine import reason
from advisor.engine.hit import RuleResult
from advisor.facts import FACTS
from advisor.facts.observed import OBSERVED, Kernel
from advisor.inspection.recorders import IN_SHELL, OPTIONS, RECORDS, Switch, write_code
from advisor.inspection.recording import (
    advice_beside,
    merged_recording,
    recorder_of_run,
    recording_anew,
    switches_of_hint,
)
from advisor.messages.errors import FactMissing
from advisor.messages.text import Text
from advisor.model.findings import Outcome
from advisor.model.inspection import FoundPart, Recorder
from advisor.model.job import JobKind
from advisor.model.run import Capture, Run
from advisor.sources.kineto import gpu_hints

SWITCHES = get_args(Switch)
RECORDERS = get_args(Recorder)


def lacking(rule: str, *hints: Text) -> RuleResult:
    return RuleResult(Outcome(rule=rule, outcome="skipped"), hints=hints)


def run_with(**switches: object) -> Run:
    return Run(framework="PyTorch", captures=(Capture(rank=0, path="", source="text", **switches),))


@given(st.sampled_from(RECORDERS), st.sets(st.sampled_from(SWITCHES)), st.booleans())
def test_every_configuration_is_valid_and_says_each_option_at_most_once(
    recorder: Recorder, on: set[Switch], level2: bool
) -> None:
    code = write_code(recorder, on, level2=level2)
    if recorder in IN_SHELL:
        words = shlex.split(code.replace("\\\n", " "), comments=True)
        names = [word.partition("=")[0] for word in words if "=" in word]
        assert len(names) == len({*names})
    else:
        ast.parse(code)
        for switch in ("memory", "shapes", "stack"):
            option = OPTIONS[recorder].get(switch, "-")
            assert code.count(option) == (switch in on and switch in OPTIONS[recorder])


@pytest.mark.parametrize(
    ("stack", "recorder"), [("vLLM", "vllm"), ("SGLang", "sglang"), ("MindIE", "atb"), ("", "torch_npu")]
)
def test_who_serves_is_given_no_training_loop(stack: str, recorder: Recorder) -> None:
    job = JobKind.model_validate({"workload": "inference", "stack": stack})
    run = run_with(level="Level1").model_copy(update={"job": job})
    assert recorder_of_run(run) == recorder
    assert "train" not in write_code(recorder, {"stack", "memory"}, infers=True)


@pytest.mark.parametrize("recorder", ["vllm", "sglang"])
def test_a_server_is_told_to_record_from_outside(recorder: Recorder) -> None:
    code = write_code(recorder, {"stack"})
    words = shlex.split(code.replace("\\\n", " "), comments=True)
    assert any(word.endswith("/start_profile") for word in words)
    (options,) = (json.loads(word) for word in words if word.startswith("{"))
    assert options["torch_profiler_with_stack" if recorder == "vllm" else "with_stack"] is True
    assert options["torch_profiler_record_shapes" if recorder == "vllm" else "record_shapes"] is False


@pytest.mark.parametrize("stack", ["vLLM", "SGLang", "MindIE", "verl", ""])
def test_what_was_recorded_at_level_0_of_whatever_stack_can_be_recorded_at_level_1(stack: str) -> None:
    job = JobKind.model_validate({"workload": "RL" if stack == "verl" else "inference", "stack": stack})
    run = run_with(level="Level0", activities=("CPU", "NPU")).model_copy(update={"job": job})
    made = merged_recording(run, [lacking("a/one", reason.LEVEL1)])
    assert made is not None
    assert [one.rules for one in made.adds] == [("a/one",)]
    says_where = [text for text in made.care if "Level1" in text.en or "Level0" in text.en]
    assert len(says_where) == (stack in {"vLLM", "SGLang"})


@pytest.mark.parametrize(
    ("device", "recorder", "tool", "contents"),
    [("NPU", "verl", "npu", "[npu,cpu,stack]"), ("GPU", "verl-gpu", "torch", "[cuda,cpu,stack]")],
)
def test_who_runs_verl_is_told_what_to_add_to_its_configuration(
    device: str, recorder: Recorder, tool: str, contents: str
) -> None:
    job = JobKind.model_validate({"workload": "RL", "stack": "verl"})
    run = run_with(level="Level1", activities=("CPU", device)).model_copy(update={"job": job})
    assert recorder_of_run(run) == recorder
    words = shlex.split(write_code(recorder, {"stack", "level1"}).replace("\\\n", " "))
    told = dict(word.split("=", 1) for word in words if "=" in word)
    assert told["global_profiler.tool"] == tool
    assert told[f"actor_rollout_ref.actor.profiler.tool_config.{tool}.contents"] == contents
    assert told.get("actor_rollout_ref.actor.profiler.tool_config.npu.level") == ("level1" if tool == "npu" else None)


def test_every_recorder_has_words_for_what_it_can_be_told() -> None:
    assert OPTIONS.keys() == {*RECORDERS}
    assert RECORDS.keys() == {*SWITCHES}
    assert all(options.keys() <= RECORDS.keys() for options in OPTIONS.values())


def test_what_several_rules_ask_for_is_switched_on_once_with_all_their_names() -> None:
    level, memory = reason.LEVEL1, reason.MEMORY
    made = merged_recording(
        run_with(level="Level0"), [lacking("a/one", level), lacking("a/two", level, memory), lacking("a/three")]
    )
    assert made is not None
    assert [(one.option, one.rules) for one in made.adds] == [
        ("profiler_level=Level1", ("a/one", "a/two")),
        ("profile_memory=True", ("a/two",)),
    ]
    assert made.code.count("Level1") == 1


def test_nothing_is_to_be_recorded_anew_where_all_that_is_asked_for_was_on() -> None:
    assert merged_recording(run_with(level="Level1"), [lacking("a/one", reason.LEVEL1)]) is None


def test_the_device_is_asked_for_where_the_host_alone_was_switched_on() -> None:
    made = merged_recording(run_with(activities=("CPU",)), [lacking("a/one", Kernel.record_with)])
    assert made is not None
    assert [one.rules for one in made.adds] == [("a/one",)]
    assert merged_recording(run_with(activities=("CPU", "NPU")), [lacking("a/one", Kernel.record_with)]) is None


@given(st.booleans(), st.booleans(), st.sampled_from(["Level0", "Level1", "Level2"]))
def test_what_was_on_stays_on(memory: bool, stack: bool, level: str) -> None:
    run = run_with(level=level, profile_memory=memory, with_stack=stack)
    made = merged_recording(run, [lacking("a/one", reason.LEVEL1), lacking("a/two", reason.PIPES_ON)])
    assert made is not None
    assert ("profiler_level=Level1" in [one.option for one in made.adds]) == (level == "Level0")
    assert ("profile_memory=True" in made.code) == memory
    assert ("with_stack=True" in made.code) == stack
    assert ("ProfilerLevel.Level2" in made.code) == (level == "Level2")
    assert "ProfilerLevel.Level0" not in made.code


@pytest.mark.parametrize("table", ["batch_queues", "dataset_operations", "l2_cache"])
def test_what_was_written_stays_on_where_no_capture_names_its_switch(table: str) -> None:
    run = run_with(level="Level0").model_copy(update={"framework": "MindSpore"})
    asked = [lacking("a/one", reason.LEVEL1)]
    kept, without = merged_recording(run, asked, {table}), merged_recording(run, asked)
    assert kept is not None
    assert without is not None
    option = "l2_cache=True" if table == "l2_cache" else "data_process=True"
    assert option in kept.code
    assert option not in without.code


def test_the_data_pipeline_of_mindspore_is_recorded_without_the_schedule_that_would_switch_it_off() -> None:
    run = run_with(level="Level0").model_copy(update={"framework": "MindSpore"})
    made = merged_recording(run, [lacking("a/one", reason.LEVEL1)], {"batch_queues"})
    assert made is not None
    steps, data = made.code.split("with profiler.profile(")[1:]
    assert "schedule=steps" in steps and "data_process" not in steps
    assert "data_process=True" in data and "schedule=" not in data
    assert "data_simplification" not in made.code  # FRAMEWORK, where the samples are, stays either way
    compile(made.code, "recording", "exec")


def test_what_the_old_profiler_of_mindspore_never_records_is_a_switch_of_the_new_one() -> None:
    old = Capture(rank=0, path="", source="insight")
    run = Run(framework="MindSpore", captures=(old,))
    said = [reason.of_missing(FactMissing([table]), run) for table in ("kernels", "host_calls")]
    asked = [lacking(f"a/{number}", *one.hints) for number, one in enumerate(said)]
    made = merged_recording(run, asked)
    assert made is not None
    assert [(one.option, one.rules) for one in made.adds] == [
        ("ProfilerActivity.NPU", ("a/0", "a/1")),
        ("ProfilerActivity.CPU", ("a/1",)),
    ]
    assert not advice_beside(asked)


def test_who_trains_with_mindspore_is_told_where_its_steps_end() -> None:
    run = run_with(level="Level0").model_copy(update={"framework": "MindSpore"})
    made = merged_recording(run, [lacking("a/one", reason.LEVEL1)])
    assert made is not None
    said = " ".join(one.en for one in made.care)
    assert "on_train_step_end" in said
    assert "sink_size=1" in said
    assert "mindspore.Profiler" in said


def test_a_level_that_nothing_names_is_told_by_what_was_written() -> None:
    run = run_with(absent=("trace_view.json",))
    made = merged_recording(run, [lacking("a/one", reason.MEMORY)])
    assert made is not None
    assert "ProfilerLevel.Level1" in made.code


def test_nothing_is_asked_for_where_nothing_was_lacking() -> None:
    assert merged_recording(run_with(), [lacking("a/one", reason.OF_RUN["chip"])]) is None


def test_what_is_no_switch_is_said_beside_it() -> None:
    chip = reason.OF_RUN["chip"]
    (said,) = advice_beside([lacking("a/one", chip, reason.LEVEL1), lacking("a/two", chip, gpu_hints.NOT_RECORDED)])
    assert (said.do, said.rules) == (chip, ("a/one", "a/two"))


def test_a_hint_stands_in_the_reason_it_belongs_to() -> None:
    for fact in OBSERVED:
        why = reason.of_missing(FactMissing([fact.table]))
        assert all(hint.en in why.en and hint.zh in why.zh for hint in why.hints)
        assert why.hints == ((fact.record_with,) if fact.record_with else ())


def test_the_switches_of_the_profiler_are_known_by_their_hints() -> None:
    about_files = {
        "settings",
        "devices",
        "groups",
        "rank_flops",
        "step_phases",
        "aicpu_tasks",
        "kernel_counters",
        "port_counters",
        "traffic_samples",
        "host_uses",
        "module_ranges",
        "program_marks",
        "attention_marks",
    }
    for fact in OBSERVED:
        if fact.record_with is not None and fact.table not in about_files:
            assert switches_of_hint(fact.record_with), fact.table
    assert not any(switches_of_hint(FACTS[table].record_with or gpu_hints.NOT_RECORDED) for table in about_files)


@pytest.mark.parametrize(
    ("name", "recorder"), [("gpu_hta", "torch.profiler"), ("msinsight_pytorch_matrix/text/level0", "torch_npu")]
)
def test_a_capture_hears_the_words_of_what_recorded_it(real_data: Path, name: str, recorder: str) -> None:
    made = pipeline.inspect(real_data / name, advisor.load_rules()).recording
    assert made is not None
    assert made.recorder == recorder
    words = ("NPU", "aic_metrics", "torch_npu") if recorder == "torch.profiler" else ("CUDA",)
    told = made.code + " ".join(one.option + one.records.en for one in made.adds)
    assert not any(word in told for word in words)


def test_what_to_record_anew_is_in_the_words_of_the_profiler_that_wrote_what_lies_there() -> None:
    for family, path, package in (
        ("MindSpore Insight", "profiler", "mindspore"),
        ("Ascend", "rank_0_ascend_ms", "mindspore"),
        ("Kineto", "", "torch"),
        ("Ascend", "", "torch_npu"),
    ):
        made = recording_anew([FoundPart(family=family, kind="capture", path=path)])
        assert made is not None
        assert made.code.startswith(f"from {package} import profiler\n")


def test_what_the_profiler_of_gpus_has_a_switch_for_is_no_matter_apart_from_its_switches() -> None:
    assert [switches_of_hint(hint) for hint in gpu_hints.OF_SWITCH.values() if "with_stack" in hint.en] == [("stack",)]
