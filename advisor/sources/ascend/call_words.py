# SPDX-License-Identifier: Apache-2.0
"""What host calls do, told by the names that CANN, its runtime and PyTorch give them.

Names of CANN are those of its interfaces (acl level and, at Level2, runtime level) without their layer prefix.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from advisor.facts.table import Texts
from advisor.sources.shared.pytorch_words import activity_of_operator, activity_of_range

_CALLS = (
    ("dispatch", re.compile(r"aclopCompile", re.IGNORECASE)),
    ("build", re.compile(r"opCompile", re.IGNORECASE)),
    ("blocking_copy", re.compile(r"(aclrt|rt)?(Memcpy|MemcpySync|MemCopySync)(2d)?$", re.IGNORECASE)),
    ("copy", re.compile(r"(aclrt|rt)(Memcpy|MemCopy)", re.IGNORECASE)),
    ("synchronise", re.compile(r"(aclrt|rt)?(Stream|Device|Event)Synchronize|(aclrt|rt)Synchronize", re.IGNORECASE)),
    ("pin", re.compile(r"aclrt(MallocHost|FreeHost|HostRegister|HostUnregister)")),
    ("allocate", re.compile(r"aclMallocMem|aclrtMalloc|aclrtFree|aclrtMapMem|aclrtUnmapMem|aclrtReleaseMem")),
    ("replay", re.compile(r"aclmdlRIExecuteAsync$")),
    ("replay_through", re.compile(r"aclmdlRIExecute(V2)?$")),
    ("execute", re.compile(r"aclmdlExecuteAsync(V2)?$")),
    ("execute_through", re.compile(r"aclmdlExecute(V2)?$")),
    ("update", re.compile(r"aclmdlRICaptureTaskUpdate(Begin|End)$")),
)
"""What a call into CANN does by how its name begins, the first that fits."""
_AWAITING_SIZE = re.compile(r"aclnn(Nonzero|MaskedSelect|Unique)(?!.*GetWorkspaceSize)")
"""Operators whose result is as large as their values say: op-plugin calls them with EXEC_NPU_CMD_SYNC, which waits for
the stream, and only then asks for the shape. The wait inside is a call of its own where calls are listed."""
STEP_MARK = re.compile(r"(?:\w+::\w+::)?(ProfilerStep#(\d{1,18}))")
"""What marks a step. MindSpore puts module and event before the name, as before any of its events:
`Python::PythonObserved::ProfilerStep#11`."""
_STAGES_OF_WAITS = {"Asnumpy": "read", "SyncStream": "synchronise"}
"""Stages in which MindSpore waits for the device: a tensor is read, or all streams are waited for. They are all that
tells of it at Level0."""
_STREAM_SYNC = re.compile(r"\w+::StreamSync::")
"""How the name of an event begins in which a graph waits for the device, as at the end of a step
(`LoopCountActor::IncreaseLoopCount`). Others that wait (`WaitTaskFinish`) do so for other threads."""
ACTIVITIES = (*(activity for activity, _ in _CALLS), "read", "fetch", "make", "compile", "await_size")
_CODES = {activity: code for code, activity in enumerate(ACTIVITIES)}


@lru_cache(maxsize=1 << 12)  # every rank of a job makes the same calls
def activity_of_call(name: str) -> str:
    """What a call into CANN does; empty where that makes no difference."""
    return next((activity for activity, words in _CALLS if words.match(name)), "")


def activities_of_calls(name: Texts, into_cann: ArrayLike, operator: ArrayLike, python: ArrayLike = False) -> Texts:
    """What each call does, of which it is known whether it goes into CANN, is an operator or a frame of Python."""
    calls, operators, frames = (
        np.array([*(_CODES.get(told(one), -1) for one in name.names), -1], np.int8)[name.codes]
        for told in (activity_of_call, _activity_of_operator, activity_of_range)
    )
    of_framework = np.where(operator, operators, np.where(python, frames, np.int8(-1)))
    return Texts(np.where(into_cann, calls, of_framework), ACTIVITIES)


def wait_of_mindspore(name: str) -> str:
    """What MindSpore does in an event in which it waits for the device; empty for all others."""
    return _STAGES_OF_WAITS.get(name, "") or ("synchronise" if _STREAM_SYNC.match(name) else "")


@lru_cache(maxsize=1 << 12)
def _activity_of_operator(name: str) -> str:
    return wait_of_mindspore(name) or activity_of_operator(name)


def _activity_in_totals(name: str) -> str:
    return "" if name.startswith("rt") else activity_of_call(name)


def activities_in_totals(name: Texts) -> Texts:
    """The same of calls that were added up; the runtime's own call of the same name is the one inside it."""
    told = ["await_size" if _AWAITING_SIZE.match(one) else _activity_in_totals(one) for one in name.names]
    codes = np.array([*(_CODES.get(one, -1) for one in told), -1], np.int32)
    return Texts(codes[name.codes], ACTIVITIES)
