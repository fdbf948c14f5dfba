# SPDX-License-Identifier: Apache-2.0
"""Small traces as the PyTorch profiler writes them on GPUs, made event by event."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

Event = dict[str, Any]
STEP_US = 1000
KERNELS = 8


def host(name: str, ts: float, dur: float, cat: str = "cpu_op", **args: object) -> Event:
    """Something on the host's main thread."""
    return {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": dur, "args": args}


def launched(number: int, ts: float, lag: float, dur: float, **about: Any) -> list[Event]:
    """An operator, the call that launches a kernel, and the kernel, which starts `lag` µs after the call."""
    name, operator = about.pop("name", "void at::native::gemm_kernel<float>(float*)"), about.pop("operator", "aten::mm")
    shapes = {"Input Dims": [[64, 32], [32, 16], []], "Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"]}
    args = {"External id": number, "correlation": number, "device": 0, "stream": 7, "grid": [4, 2, 1], **about}
    return [
        host(operator, ts, 30, **{"External id": number}, **shapes),
        host("cudaLaunchKernel", ts + 10, 8, "cuda_runtime", correlation=number, **{"External id": number}),
        {
            **{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7},
            **{"ts": ts + 10 + lag, "dur": dur, "args": args},
        },
    ]


def copied(number: int, ts: float, name: str, size: int) -> list[Event]:
    """A copy and the call that asked for it."""
    args = {"correlation": number, "device": 0, "stream": 7, "bytes": size}
    return [
        host("cudaMemcpyAsync", ts, 20, "cuda_runtime", correlation=number),
        {**{"ph": "X", "cat": "gpu_memcpy", "name": name, "pid": 0, "tid": 7, "ts": ts + 12, "dur": 5}, "args": args},
    ]


def training(steps: int = 2, start_us: float = 5000.25) -> list[Event]:
    """Steps of one millisecond, each of eight kernels of 80 µs, an all-reduce of 100 µs, and a copy."""
    events: list[Event] = []
    for step in range(steps):
        begin = start_us + step * STEP_US
        first = 1 + step * 20
        events.append(host(f"ProfilerStep#{step + 3}", begin, STEP_US - 1, "user_annotation"))
        for place in range(KERNELS):
            events += launched(first + place, begin + 10 + place * 80, 20, 80)
        reduction = {"Collective name": "allreduce", "In msg nelems": 1000, "dtype": "Float", "Process Group Name": "0"}
        events += launched(
            first + 10,
            begin + 680,
            10,
            100,
            name="ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
            operator="c10d::x",
            **reduction,
        )
        events += copied(first + 11, begin + 850, "Memcpy HtoD (Pageable -> Device)", 4096)
        events.append(
            {
                **{"ph": "i", "name": "[memory]", "pid": 7, "tid": 7, "ts": begin + 5},
                "args": {"Device Type": 1, "Device Id": 0, "Total Allocated": 1 << 30, "Total Reserved": 2 << 30},
            }
        )
    return events


def trace(events: list[Event], rank: int | None = 0, world: int = 1, **header: object) -> dict[str, object]:
    """The whole content of a file."""
    groups = [{"pg_name": "0", "pg_desc": "default_pg", "ranks": list(range(world))}]
    told = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": world, "pg_config": groups}}
    device = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 80 << 30}
    return {"schemaVersion": 1, "deviceProperties": [device], **told, **header, "traceEvents": events}


def write(path: Path, content: dict[str, object], *, after: dict[str, object] | None = None) -> Path:
    """A trace in a file, packed where its name says so; `after` stands behind the events."""
    text = json.dumps({**content, **(after or {})}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path
