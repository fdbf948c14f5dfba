# SPDX-License-Identifier: Apache-2.0
"""How MindSpore ran a job: in PyNative mode, as a graph that launches its operators, or as a graph executed as a whole.

`context_mode` of profiler_info says it up to 2.6. From 2.7 on it is told by what launched the kernels: their names, and
the timeline, bear the event in which that was done.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter

from advisor.machine.regular_files import open_regular
from advisor.sources.ascend.exact_moments import DETAILS
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.settings import WHOLE_GRAPH, recorded_settings

_LAUNCH = re.compile(rb"::(KernelLaunch|(?:PyNative)?LaunchTask)(?:Inner)?::")
_OF_GRAPH = b"KernelLaunch"
_NEARLY_ALL = 0.95
"""Own: in graph mode a job also makes some tensors beside its graph; in PyNative mode it may compile a function."""
_LOOKED_AT = 1 << 24
"""Bytes of each file: a list of kernels holds thousands in them, of several steps or of a large one."""


def execution_of(folder: Folder) -> str:
    """`pynative`, `graph` or `whole graph`; empty where nothing proves it, and for other frameworks."""
    found = recorded_settings(folder)
    if found.execution or not folder.by_mindspore:
        return found.execution
    launches = _launches_in(folder, DETAILS) or _launches_in(folder, "trace_view.json")
    if launches:
        pynative = launches[True] / launches.total()
        return "pynative" if pynative >= _NEARLY_ALL else "graph" if pynative <= 1 - _NEARLY_ALL else ""
    launched_whole = found.jit_level == WHOLE_GRAPH and "CPU" in (found.activities or ())
    return "whole graph" if launched_whole and _holds_rows(folder) else ""


def _launches_in(folder: Folder, name: str) -> Counter[bool]:
    """How many launches a file tells of, by whether they are of PyNative mode."""
    return Counter(launch != _OF_GRAPH for launch in _LAUNCH.findall(_beginning(folder, name)))


def _holds_rows(folder: Folder) -> bool:
    return _beginning(folder, DETAILS).count(b"\n") > 1


def _beginning(folder: Folder, name: str) -> bytes:
    for path in folder.parts(name)[:1]:
        with contextlib.suppress(OSError), open_regular(path) as file:  # whoever reads its rows says what is wrong
            return file.read(_LOOKED_AT)
    return b""
