# SPDX-License-Identifier: Apache-2.0
"""How MindSpore ran a job, which versions from 2.7 on no longer write down."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from advisor.sources.ascend.execution_modes import execution_of
from advisor.sources.ascend.reading import Folder
from tests.sources.traces import captured, event

PYNATIVE = "PynativeFramework::PyNativeLaunchTask::Add/aclnnAdd_AddAiCore_Add"
OF_CORE = "PynativeFramework::LaunchTask::Add/aclnnAdd_AddAiCore_Add"
"""As the C++ part of 2.10 names the same event."""
GRAPH = "Kernel::KernelLaunch::Default/network/Add-op1/aclnnAdd_AddAiCore_Add"
OF_INNER = "Kernel::KernelLaunchInner::Default/network/Add-op1/aclnnAdd_AddAiCore_Add"
BARE = "Default/network/Add-op1"


def capture(
    root: Path, names: Sequence[str] = (), *, activities: Sequence[str] = ("CPU", "NPU"), **info: object
) -> Folder:
    """A capture whose kernels bear these names."""
    rows = "".join(f"{name},Add,AI_VECTOR_CORE,{at}.000\t,5\n" for at, name in enumerate(names))
    details = f"Name,Type,Accelerator Core,Start Time(us),Duration(us)\n{rows}"
    root = root / "host_1_20250109084754000_ascend_ms"
    root.mkdir()
    found = captured(
        root, [event(name.rpartition("/")[0], at) for at, name in enumerate(names)], kernel_details=details
    )
    told = {"profiler_parameters": {"activities": list(activities)}, **info}
    found.files["profiler_info.json"] = root / "profiler_info_0.json"
    found.files["profiler_info.json"].write_text(json.dumps(told), encoding="utf-8")
    return found


@pytest.mark.parametrize(
    ("names", "info", "execution"),
    [
        ([PYNATIVE, PYNATIVE], {"jit_level": ""}, "pynative"),
        ([OF_CORE, BARE], {"jit_level": "O2"}, "pynative"),  # the level is of functions that are compiled
        ([GRAPH, GRAPH], {"jit_level": ""}, "graph"),
        ([GRAPH, OF_INNER], {"jit_level": "O0"}, "graph"),
        ([GRAPH] * 39 + [PYNATIVE], {"jit_level": "O1"}, "graph"),  # a tensor is made beside the graph
        ([GRAPH, PYNATIVE], {"jit_level": "O0"}, ""),
        ([BARE, BARE], {"jit_level": "O2"}, "whole graph"),
        ([BARE, BARE], {"jit_level": "O0"}, ""),
        ([BARE, BARE], {"jit_level": "O2", "activities": ["NPU"]}, ""),  # no launch would have been recorded
        ([], {"jit_level": "O2"}, ""),
        ([PYNATIVE], {"ms_profiler_info": {"context_mode": 0}, "jit_level": "O0"}, "graph"),
    ],
)
def test_what_launched_its_kernels_tells_how_mindspore_ran_the_job(
    tmp_path: Path, names: list[str], info: dict[str, object], execution: str
) -> None:
    assert execution_of(capture(tmp_path, names, **info)) == execution  # type: ignore[arg-type]


def test_a_timeline_without_a_list_of_kernels_tells_it_too(tmp_path: Path) -> None:
    found = capture(tmp_path, [GRAPH])
    del found.files["kernel_details.csv"]
    assert execution_of(found) == "graph"


def test_others_than_mindspore_run_in_none_of_its_modes(tmp_path: Path) -> None:
    found = captured(tmp_path, [event("Kernel::KernelLaunch::Add", 1)])
    assert execution_of(found) == ""
