# SPDX-License-Identifier: Apache-2.0
"""Folders as the old profiler of MindSpore writes them for MindSpore Insight, of few steps and few operations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

TICKS_PER_US = 100
HEADINGS = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
PIPELINE = "computation_time,communication_alone_time,stage_time,receive_alone_time,collective_communication_alone_time"

_PIPELINE_HEADINGS = (
    "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,"
    "output_queue_usage_rate,sample_interval,parent_id,children_id"
)
_AICPU_HEADINGS = "serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,run_end"

Step = tuple[float, float, float]
"""Iteration interval, forward and backward pass, tail, in µs."""


Spans = Mapping[str, tuple[float, float]]
"""Begin and end within a step, in µs, of each collective, send or receive, such as `stream_48_0_Receive-op663`."""


def trace(steps: Sequence[Step], begin_us: float = 1e6, spans: Spans | None = None) -> str:
    """step_trace_raw_*_detail_time.csv: in ticks of 10 ns, the first step without an interval, averages last."""
    spans = spans or {}
    headings = [f"{name}{of}" for name in spans for of in ("", "_start_point", "_end_point")]
    lines, at = [",".join([HEADINGS, *headings])], begin_us
    for number, phases in enumerate(steps, 1):
        interval, working, tail = (0.0, *phases[1:]) if number == 1 else phases
        whole = interval + working + tail
        times = [at, at + whole, whole, at + interval, at + interval + working, interval, working, tail]
        early = steps[number - 1][0] - interval
        for since, until in spans.values():
            times += [until - since, at + since - early, at + until - early]
        lines.append(",".join([str(number), *(str(round(us * TICKS_PER_US)) for us in times)]))
        at += whole
    return "\n".join([*lines, "-" + ",100" * (8 + len(headings)), ""])


def stage_times(rows: Iterable[tuple[float, float, float]]) -> str:
    """ascend_cluster_analyse_pipeline-parallel_*.csv: computation, receiving, other communication, in ms."""
    lines = [f"{compute},{receive + other},{compute + other},{receive},{other}" for compute, receive, other in rows]
    return "\n".join([PIPELINE, *lines, "1,1,1,1,1", ""])


def host_queue(sizes: Sequence[int], waited_ms: int = 0, capacity: int = 64) -> str:
    """device_queue_profiling_*.txt, dataset_iterator_profiling_*.txt: how long each batch took in whole ms to get, to
    push and in all, and how many lay ready; files of MindSpore Insight's tests have such a last column."""
    lines = []
    for step, size in enumerate(sizes, 1):
        lines += [f"0 {part} {step} {waited_ms * (part != 1)} 10" for part in range(3)]
        lines.append(f"1 {capacity} {step} {size} 10")
    return "\n".join([*lines, ""])


def device_queue(sizes: Sequence[int], begin_us: int = 995_000) -> str:
    """minddata_aicpu_*.txt: one look of GetNext at the queue for each step, as in a log of the AI CPU."""
    looks = (f"GetNext_dequeue_wait {begin_us + at * 1000} {begin_us + at * 1000 + 1} {size}"
             for at, size in enumerate(sizes))  # fmt: skip
    return "\n".join([*looks, ""])


def dataset(operations: Sequence[tuple[str, int, Sequence[int]]], capacity: int = 64) -> str:
    """minddata_pipeline_raw_*.csv of operations in a row, from the last to the one that reads: type, workers,
    samples of the queue behind each. The last one has no queue of its own."""
    lines = []
    for number, (kind, workers, sizes) in enumerate(operations):
        mean = sum(sizes) / len(sizes) if sizes else 0.0
        queue = f'"{list(sizes)}",{mean},{capacity},{mean / capacity}' if sizes else ",,,0"
        parent = number - 1 if number else ""
        child = f"[{number + 1}]" if number + 1 < len(operations) else ""
        lines.append(f"{number},{kind},{workers},{queue},10,{parent},{child}")
    return "\n".join([_PIPELINE_HEADINGS, *lines, ""])


def aicpu_calls(calls: Sequence[tuple[str, float, float]]) -> str:
    """aicpu_intermediate_*.csv: kernel, begin and end in µs since the host was started."""
    lines = [f"{number},{kind},{(end - begin) / 1e3},0.1,{(end - begin) / 1e3},{begin:.0f},{end:.0f}"
             for number, (kind, begin, end) in enumerate(calls, 1)]  # fmt: skip
    return "\n".join([_AICPU_HEADINGS, *lines, ""])


def write_one_rank(folder: Path, rank: int = 0) -> Path:
    """Two steps that wait 8 of 10 ms for their data, which an empty queue and a slow map explain."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        f"step_trace_raw_{rank}_detail_time.csv": trace([(8000, 1500, 500)] * 3),
        f"device_queue_profiling_{rank}.txt": "0 0 1 4 10\n0 1 1 4 10\n1 64 1 0 10\n1 64 3 2 10\n1 64 2 0 10\n",
        f"minddata_aicpu_{rank}.txt": "GetNext_dequeue_wait 995000 995001 0\nGetNext_dequeue_wait 996000 996001 1\n",
        f"minddata_pipeline_raw_{rank}.csv": (
            f"{_PIPELINE_HEADINGS}\n"
            '0,Batch,4,"[0, 0]",0.0,64,0.0,10,,[1]\n'
            '1,Map,1,"[0, 2]",1.0,64,0.015625,10,0,[2]\n'
            '2,TFReader,4,"[64, 62]",63.0,64,0.984375,10,1,\n'
        ),
        f"aicore_intermediate_{rank}_type.csv": (
            "op_type,execution_time,execution_frequency,percent\nMatMul,1.2,9,80\nCast,0.3,4,20\n"
        ),
        f"aicpu_intermediate_{rank}.csv": (
            f"{_AICPU_HEADINGS}\n"
            "1,InitData,7.9,0.1,0.2,900000,900160\n2,GetNext,0.9,0.1,0.2,1002000,1004500\n"
            "3,Unique,0.9,0.1,0.2,1006000,1006300\n"
        ),
        f"minddata_cpu_utilization_{rank}.json": json.dumps(
            {"cpu_processor_num": 64, "device_info": {"idle_utilization": [40, 20], "io_utilization": [5, 5]}}
        ),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def write_pipeline(folder: Path) -> Path:
    """Four ranks in two stages: the second computes five times as long, and its first receive takes two seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(4):
        second = rank > 1
        compute, receive = (50.0, 2.0) if second else (10.0, 40.0)
        first = 2000.0 if second else receive
        rows = [(compute, first, 5.0), (compute, receive, 5.0), (compute, receive, 5.0)]
        steps = [(1000.0, (compute + wait + other) * 1e3, 500.0) for compute, wait, other in rows]
        (folder / f"step_trace_raw_{rank}_detail_time.csv").write_text(trace(steps))
        (folder / f"ascend_cluster_analyse_pipeline-parallel_2_4_{rank}.csv").write_text(stage_times(rows))
        flops = {"FLOPs": 3e5 if second else 1e5, "FLOPS": 5000.0, "FLOPS_Utilization": 0.7}
        (folder / f"flops_summary_{rank}.json").write_text(json.dumps(flops))
    return folder
