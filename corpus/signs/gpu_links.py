# SPDX-License-Identifier: Apache-2.0
"""Signs of what GPUs move, in traces as the PyTorch profiler writes them: one file per rank."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus.signs import Sign, Write
from corpus.signs.captures import about
from corpus.signs.instructed import MS

_Event = dict[str, Any]
_BEGIN_US = 4_458_677_000_000.0
_STEPS = 3
_KERNELS, _KERNEL_US = 6, 5 * MS
_ELEMENTS = 25_000_000
_LATE_US = 2 * MS
"""How much later the second rank comes: what the first one waits is no transfer."""
_CALLS = 2
_WORLD = 2
_WRITTEN_MS = 1_740_000_000_000


def _reductions(gbps: float, *, named: bool = False) -> Write:
    """Steps of kernels and of all-reduces of 100 MB over two ranks, that move at this pace once both are there.

    Each has the first device of a machine without a name, or one of two in a named machine.
    """
    moving_us = 4 * _ELEMENTS / gbps / 1e3

    def written(folder: Path) -> None:
        folder.mkdir(parents=True)
        for rank in range(_WORLD):
            events = list(_events(rank, moving_us, rank if named else 0))
            content = _header(rank) | {"traceEvents": events}
            name = f"gpu49_{65234 + rank}.{_WRITTEN_MS + rank}" if named else f"rank-{rank}"
            (folder / f"{name}.pt.trace.json").write_text(json.dumps(content), encoding="utf-8")

    return written


def _header(rank: int) -> dict[str, Any]:
    groups = [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": 2, "ranks": [0, 1]}]
    world = {"backend": "nccl", "rank": rank, "world_size": _WORLD, "pg_count": 1, "pg_config": groups}
    about = {"name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 40 << 30, "numSms": 108}
    devices = [{"id": number, **about} for number in range(_WORLD)]
    return {"schemaVersion": 1, "deviceProperties": devices, "distributedInfo": world | {"nccl_version": "2.17.1"}}


def _events(rank: int, moving_us: float, device: int) -> Iterator[_Event]:
    number, begin = 1, _BEGIN_US
    for step in range(_STEPS):
        step_us = _KERNELS * _KERNEL_US + _CALLS * (_LATE_US + moving_us + 0.2 * MS) + 1 * MS
        yield _host(f"ProfilerStep#{step + 5}", begin, step_us, "user_annotation")
        at = begin + 0.5 * MS
        for _ in range(_KERNELS):
            yield from _launched(number, begin + 10 * (number % 40), at, _KERNEL_US - 2, {}, device)
            number, at = number + 1, at + _KERNEL_US
        for _ in range(_CALLS):
            late_us = _LATE_US * rank
            lasts_us = _LATE_US - late_us + moving_us
            yield from _launched(number, at - 200, at + late_us, lasts_us, _COLLECTIVE, device)
            number, at = number + 1, at + _LATE_US + moving_us + 0.2 * MS
        begin += step_us


_COLLECTIVE: Mapping[str, Any] = {
    "Collective name": "allreduce", "In msg nelems": _ELEMENTS, "Out msg nelems": _ELEMENTS, "Group size": _WORLD,
    "dtype": "Float", "In split size": "[]", "Out split size": "[]", "Process Group Name": "0",
    "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]",
}  # fmt: skip
"""What PyTorch notes of a collective, on the operator and on the kernel."""


def _host(name: str, at: float, us: float, kind: str, **told: Any) -> _Event:
    return {"ph": "X", "cat": kind, "name": name, "pid": 71, "tid": 71, "ts": at, "dur": us, "args": told}


def _launched(  # noqa: PLR0917 - an event is what it is
    number: int, called: float, at: float, us: float, collective: Mapping[str, Any], device: int
) -> Iterator[_Event]:
    """An operator, the call that launches its kernel, and the kernel."""
    ids = {"External id": number, "correlation": number}
    operator = "record_param_comms" if collective else "aten::mm"
    kernel = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)" if collective else "gemm"
    yield _host(operator, called, 9, "cpu_op", **{"External id": number}, **collective)
    yield _host("cudaLaunchKernel", called + 2, 5, "cuda_runtime", **ids)
    about = {"device": device, "context": 1, "stream": 40 if collective else 7, "grid": [8, 1, 1], "block": [512, 1, 1]}
    yield {
        "ph": "X", "cat": "kernel", "name": kernel, "pid": device, "tid": about["stream"], "ts": at, "dur": us,
        "args": {**ids, **about, **collective},
    }  # fmt: skip


SIGNS: Mapping[str, Sign] = {
    "comm/unused-nvlink": Sign(
        spoiled=_reductions(22.0, named=True),
        twin=_reductions(100.0, named=True),
        shows={"typical_gbps": about(22.0), "nvlink_gbps": 300, "large_calls": _CALLS},
    ),
    "comm/low-bandwidth": Sign(
        spoiled=_reductions(2.0),
        twin=_reductions(7.0),
        shows={
            "typical_gbps": about(2.0, 0.001),
            "large_calls": _CALLS,
            "moving_us": about(_CALLS * 50 * MS, 0.001),
            "unhidden_us": about(_CALLS * 50 * MS, 0.001),
        },
    ),
}
