# SPDX-License-Identifier: Apache-2.0
"""What the profiler wrote down about itself and the job."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.facts.observed import Setting
from advisor.sources.ascend.captures import describe_capture
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
from advisor.sources.ascend.settings import recorded_settings
from advisor.sources.shared.environment import value_number


def folder(tmp_path: Path, info: object = None, metadata: object = None) -> Folder:
    files = {}
    for name, content in (("profiler_info.json", info), ("profiler_metadata.json", metadata)):
        if content is not None:
            files[name] = tmp_path / name
            files[name].write_text(json.dumps(content))
    return Folder(rank=3, root=tmp_path, output=tmp_path, readings=READINGS, files=files)


@pytest.mark.parametrize(
    ("text", "number"),
    [("true", 1), ("No", 0), ("ON", 1), ("off", 0), ("yes", 1), ("False", 0), (" 2.5 ", 2.5), ("1", 1), ("-3", -3)],
)
def test_values_that_are_numbers_or_switches_are_numbers(text: str, number: float) -> None:
    assert value_number(text) == number


@pytest.mark.parametrize("text", ["", "expandable_segments:True", "1,2", "inf", "nan"])
def test_other_values_are_no_numbers(text: str) -> None:
    assert math.isnan(value_number(text))


def test_a_variable_recorded_as_unset_is_empty_and_no_number(tmp_path: Path) -> None:
    rows = folder(tmp_path, metadata={"ENV_VARIABLES": {"HCCL_ALGO": ""}}).read(Setting).rows()
    assert rows == [{"rank": 3, "kind": "env", "name": "HCCL_ALGO", "value": "", "number": None}]


def test_switches_are_named_without_the_nesting_of_the_file(tmp_path: Path) -> None:
    info = {
        "config": {
            "common_config": {"with_stack": True, "activities": ["ProfilerActivity.NPU"], "schedule": {"_wait": 2}},
            "experimental_config": {"_profiler_level": "Level1", "_gc_detect_threshold": None},
        }
    }
    found = {row["name"]: (row["value"], row["number"]) for row in folder(tmp_path, info).read(Setting).rows()}
    assert found == {
        "with_stack": ("true", 1.0),
        "activities": ("ProfilerActivity.NPU", None),
        "wait": ("2", 2.0),
        "profiler_level": ("Level1", None),
        "gc_detect_threshold": ("", None),
    }


@pytest.mark.parametrize(
    ("level", "absent"), [("LevelNone", set()), ("Level0", {"kernel_details.csv", "step_trace_time.csv"})]
)
def test_what_mindspore_never_writes_without_a_level_is_not_absent(
    tmp_path: Path, level: str, absent: set[str]
) -> None:
    info = {"profiler_parameters": {"profiler_level": level, "activities": ["CPU", "NPU"]}}
    found = folder(tmp_path, info)
    (tmp_path / "trace_view.json").write_text("[]")
    found = replace(
        found,
        root=tmp_path / "host_1_ascend_ms",
        files={**found.files, "trace_view.json": tmp_path / "trace_view.json"},
    )
    assert {"kernel_details.csv", "step_trace_time.csv"} & set(describe_capture(found).absent) == absent


@pytest.mark.parametrize("spelling", ["Level_none", "LevelNone", "Level0", "level2"])
def test_levels_have_one_spelling(tmp_path: Path, spelling: str) -> None:
    info = {"profiler_parameters": {"profiler_level": spelling}}
    expected = "Level_none" if "one" in spelling else spelling.capitalize()
    assert recorded_settings(folder(tmp_path, info)).level == expected


@pytest.mark.parametrize(
    ("info", "execution"),
    [
        ({"ms_profiler_info": {"context_mode": 1}, "jit_level": ""}, "pynative"),
        ({"ms_profiler_info": {"context_mode": 0}, "jit_level": "O0"}, "graph"),
        ({"ms_profiler_info": {"context_mode": 0, "jit_level": "O2"}}, "whole graph"),
        ({"ms_profiler_info": {"context_mode": "graph"}}, ""),
        ({"config": {}}, ""),
    ],
)
def test_mindspore_says_how_it_runs_the_job(info: dict[str, object], execution: str, tmp_path: Path) -> None:
    assert recorded_settings(folder(tmp_path, info)).execution == execution


def test_activities_of_mindspore_are_known(tmp_path: Path) -> None:
    info = {"profiler_parameters": {"activities": ["NPU"]}}
    assert recorded_settings(folder(tmp_path, info)).activities == ("NPU",)


def test_an_unknown_level_is_not_recorded(tmp_path: Path) -> None:
    info = {"config": {"experimental_config": {"_profiler_level": "Level9"}}}
    assert recorded_settings(folder(tmp_path, info)).level is None


def test_the_start_follows_from_the_end_and_the_two_clocks(tmp_path: Path) -> None:
    info = {
        "start_info": {"start_monotonic": 100},
        "end_info": {"collectionTimeEnd": 1736405444130566220, "MonotonicTimeEnd": 350},
    }
    assert recorded_settings(folder(tmp_path, info)).start_ns == 1736405444130566220 - 250


@pytest.mark.parametrize("content", [[], "x", 5, {"config": 3}, {"config": {"common_config": [1]}, "end_info": "x"}])
def test_files_of_another_shape_say_nothing(tmp_path: Path, content: object) -> None:
    found = recorded_settings(folder(tmp_path, content, content))
    assert (found.level, found.activities, found.rank, found.start_ns) == (None, None, None, 0)
