# SPDX-License-Identifier: Apache-2.0
"""HostCall: framework operators, annotations, Python functions, and calls into the software of the device."""

from __future__ import annotations

import re

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table, Texts
from advisor.sources.kineto.kernel_names import CAPTURE, SINGLE_LAUNCH
from advisor.sources.kineto.reading import CALLS, COPIES, EXPORT, Trace, rows_or_missing
from advisor.sources.reading import Reading
from advisor.sources.shared.pytorch_words import (
    COLLECTIONS_OF_GARBAGE,
    activity_of_operator,
    activity_of_range,
    operator_kind,
    without_addresses,
)

KINDS = ("operator", "step", "optimizer", "data_loader", "python", "gc", "api", "graph")
_CODES = {kind: code for code, kind in enumerate(KINDS)}
BY_CATEGORY = {
    "cpu_op": "operator",
    "Operator": "operator",
    "user_annotation": "operator",
    "python_function": "python",
    **dict.fromkeys(CALLS, "api"),
}
"""Kind of a host event by its category; names tell some apart."""
_GRAPH = re.compile(r"(cuda|cu|hip)GraphLaunch")

_ACTIVITIES = (
    ("synchronise", re.compile(r"(cuda|cu|hip|ze)\w*Synchronize")),
    ("synchronise", re.compile(r"ur(QueueFinish|EventWait)$|cn(rt)?QueueSync|cnWaitNotifier")),
    (
        "blocking_copy",
        re.compile(r"(cuda|hip)Memcpy(2D|3D|Peer|ToSymbol|FromSymbol|WithStream)?$|cuMemcpy\w*(?<!Async)$"),
    ),
    ("copy", re.compile(r"(cuda|cu|hip|cn|cnrt)Memcpy|urEnqueue(USMMemcpy|MemBuffer(Read|Write|Copy))")),
    ("copy", re.compile(r"zeCommandListAppendMemoryCopy")),
    ("pin", re.compile(r"(cuda|hip)(Host(Alloc|Malloc|Free|Register|Unregister)|(Malloc|Free)Host)")),
    ("pin", re.compile(r"cuMem(Host(Alloc|Register|Unregister)|(Alloc|Free)Host)|urUSMHostAlloc|zeMemAllocHost")),
    ("free", re.compile(r"(cuda|hip)Free$|cuMemFree(_v2)?$")),
    ("allocate", re.compile(r"(cuda|hip)(Malloc|Free)|cuMem(Alloc|Free|Create|Map|Unmap|Release)")),
    ("allocate", re.compile(r"urUSM(Device|Shared)Alloc|urUSMFree|zeMem(Alloc|Free)")),
)
"""What a call does by how its name begins, the first that fits: of CUDA, HIP, Unified Runtime (`ur`) and Level Zero
(`ze`) below SYCL, and of Cambricon (`cn`)."""
ACTIVITIES = (*dict.fromkeys(activity for activity, _ in _ACTIVITIES), "read", "fetch", "make", "launch", "compile")


def _calls_of_trace(trace: Trace) -> Table[HostCall]:
    content = trace.content()
    slices = content.slices
    kinds = _kinds_of_slices(slices.category, slices.name)
    rows = rows_or_missing(np.flatnonzero(kinds >= 0), HostCall)
    kinds, name = kinds[rows], without_addresses(slices.name.take(rows))
    return Table.build(
        HostCall,
        rank=trace.rank,
        thread=content.tracks.number[slices.track[rows]],
        kind=Texts(kinds, KINDS),
        name=name,
        activity=_activities_of_calls(name, kinds, _copies_pageable_memory(trace, rows)),
        start_ns=slices.start_ns[rows],
        end_ns=slices.end_ns[rows],
        connection=slices.correlation[rows],
    )


def _kinds_of_slices(category: Texts, name: Texts) -> Array:
    """Per slice the code of its kind, -1 for those that are not on the host."""
    by_category = np.array([*(_CODES.get(BY_CATEGORY.get(c, ""), -1) for c in category.names), -1], np.int32)
    operator = np.array([*(_CODES[operator_kind(n)] for n in name.names), -1], np.int32)
    graph = name.passing(_GRAPH.match)
    kinds = by_category[category.codes]
    kinds = np.where(kinds == _CODES["operator"], operator[name.codes], kinds)
    kinds = np.where((kinds == _CODES["python"]) & name.isin(COLLECTIONS_OF_GARBAGE), _CODES["gc"], kinds)
    return np.where((kinds == _CODES["api"]) & graph, _CODES["graph"], kinds).astype(np.int32)


def _copies_pageable_memory(trace: Trace, rows: Array) -> Array:
    """Per slice: whether what it asked for is a copy from or to memory of the host that is not pinned."""
    slices = trace.content().slices
    copies = slices.of(*COPIES)
    name = slices.name.take(copies)
    pageable = slices.correlation[copies[name.hits("Pageable" in one for one in name.names)]]
    return np.isin(slices.correlation[rows], pageable[pageable != MISSING])


def _activities_of_calls(name: Texts, kinds: Array, pageable: Array) -> Texts:
    """What each call does. A copy of pageable memory goes through a buffer of the driver, which the host waits for."""
    number = {activity: code for code, activity in enumerate(ACTIVITIES)}
    calls, operators, frames = (
        np.array([*(number.get(told(one), -1) for one in name.names), -1], np.int32)[name.codes]
        for told in (activity_of_call, activity_of_operator, activity_of_range)
    )
    if not any(CAPTURE.match(one) for one in name.in_use().names):
        calls = np.where(name.passing(SINGLE_LAUNCH.match), number["launch"], calls)
    calls = np.where((calls == number["copy"]) & pageable, number["blocking_copy"], calls)
    into_device = np.isin(kinds, [_CODES["api"], _CODES["graph"]])
    of_framework = [kinds == _CODES[kind] for kind in ("operator", "python")]
    codes = np.where(into_device, calls, np.select(of_framework, [operators, frames], -1))
    return Texts(codes.astype(np.int32), ACTIVITIES)


def activity_of_call(name: str) -> str:
    """What a call into the software of the device does; empty where that makes no difference."""
    return next((activity for activity, words in _ACTIVITIES if words.match(name)), "")


HOST_CALLS = Reading(HostCall, {EXPORT: _calls_of_trace})
