# SPDX-License-Identifier: Apache-2.0
"""The same job as MindSpore's profiler writes it: steps are windows of the host, kernels bear the name of their launch.

The layout follows the writers of MindSpore 2.5 to 2.10 (`mindspore/python/mindspore/profiler/analysis/viewer`): no real
capture was at hand.
"""

from __future__ import annotations

import csv
import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus import rows
from corpus.accounting import Interval, Lanes, lanes, length
from corpus.communication import matrix, times_and_bandwidths
from corpus.database_writer import write_databases_of_msprof
from corpus.events import Collective, HostCall, Job, RankTrace, Task
from corpus.export import Export, groups_of, host_name, us, us_text
from corpus.planes import group_hash
from corpus.rows import Table
from corpus.trace_writer import Event, TraceWriter, write_events
from corpus.troubles import LOADER

MODES = ("pynative", "graph")
_PID, _SELF = 1, "async_mindspore"
_KILOBYTES_IN_MB = 1000 * 1024
"""What MindSpore calls MB in memory_record.csv."""
_QUEUE_LENGTH = 16
_SAMPLES = 20


def write_mindspore(job: Job, folder: Path, export: Export) -> None:
    """Write one `*_ascend_ms` folder per rank."""
    for trace in job.ranks:
        _Capture(job, trace, export).write(folder, "text")


def write_mindspore_database(job: Job, folder: Path, export: Export) -> None:
    """Write one `*_ascend_ms` folder per rank with its databases; where they are asked for alone nothing else is
    written, but what the data pipeline left behind."""
    for trace in job.ranks:
        _Capture(job, trace, export).write(folder, "db")


class Steps:
    """The steps of a rank as MindSpore counts them: what begins on the host, or without a launch on the device, from
    the begin of `ProfilerStep#N` to its end."""

    def __init__(self, trace: RankTrace) -> None:
        self.windows = [(int(call.name.split("#")[1]), call.start, call.end) for call in trace.steps()]

    def at(self, moment: int) -> int | None:
        """The step of a moment; None outside of every step."""
        place = bisect_right([start for _, start, _ in self.windows], moment) - 1
        return self.windows[place][0] if place >= 0 and moment <= self.windows[place][2] else None


class _Names:
    """How operators are called: by who launches them in PyNative mode, by their place in the graph else."""

    def __init__(self, trace: RankTrace, mode: str) -> None:
        self.graph = mode == "graph"
        self._launches = sorted(
            (c.start, c) for c in trace.calls if c.layer == "queue" and c.name.startswith("Dequeue")
        )
        self._starts = [start for start, _ in self._launches]
        self._numbers = self._numbered(Steps(trace))

    def _numbered(self, steps: Steps) -> dict[int, int]:
        """The number of each launch within its step, which is that of its node in the graph."""
        found, seen = dict[int, int](), dict[int | None, int]()
        for start, _ in self._launches:
            step = steps.at(start)
            seen[step] = found[start] = seen.get(step, 0) + 1
        return found

    def launch_at(self, moment: int) -> HostCall | None:
        """The call of the launching thread around a moment."""
        place = bisect_right(self._starts, moment) - 1
        return self._launches[place][1] if place >= 0 and moment <= self._launches[place][1].end else None

    def of_launch(self, call: HostCall) -> str:
        """The name of the event in which something is launched."""
        kind = call.name.partition("@")[2].removeprefix("aclnn").removeprefix("acl_")
        if not self.graph:
            return f"PynativeFramework::PyNativeLaunchTask::{kind}"
        scope = "Gradients/Default" if "Backward" in kind or "Grad" in kind else "Default/network-TrainOneStepCell"
        return f"Kernel::KernelLaunch::{scope}/{kind}-op{self._numbers[call.start]}"

    def of_work(self, work: Task | Collective) -> str:
        """The name of a kernel or a collective in kernel_details.csv."""
        launch = self.launch_at(work.launch_start)
        return f"{self.of_launch(launch)}/{work.name}" if launch else work.name


class _Capture:
    """Writes one rank."""

    def __init__(self, job: Job, trace: RankTrace, export: Export) -> None:
        self.job, self.trace, self.export = job, trace, replace(export, device_column=False, op_state=True)
        self.steps = Steps(trace)
        self.names = _Names(trace, export.mindspore)

    def write(self, folder: Path, kind: str) -> None:
        trace = self.trace
        rank = folder / f"{host_name(trace)}_{trace.pid}_20250109084754{trace.rank % 1000:03d}_ascend_ms"
        output, framework = rank / "ASCEND_PROFILER_OUTPUT", rank / "FRAMEWORK"
        output.mkdir(parents=True)
        framework.mkdir()
        _dump(rank / f"profiler_info_{trace.rank}.json", self._info(kind))
        if trace.collectives:
            _dump(rank / "profiler_metadata.json", {"parallel_group_info": self._groups()})
        if kind == "db":
            write_databases_of_msprof(self.job, trace, output, self.export)
        else:
            self._write_text(output)
        for name, text in self._pipeline().items():
            place = output if name.startswith("minddata_pipeline") else framework
            if place == framework or kind == "text":
                (place / name).write_text(text, encoding="utf-8")

    def _write_text(self, output: Path) -> None:
        trace = self.trace
        write_events(_Timeline(trace, self.export, self.names).events(), output / "trace_view.json")
        for name, (header, lines) in self._tables().items():
            _write_csv(output / name, header, lines)
        if self.export.level and trace.collectives:
            _dump(output / "communication.json", self._by_window(times_and_bandwidths))
            _dump(output / "communication_matrix.json", self._by_window(matrix))

    def _groups(self) -> dict[str, object]:
        """The communicators of the rank. MindSpore's parallel modes name them by their members, and none by its use."""
        found: dict[str, object] = {}
        for name, told in groups_of(self.job.layout, self.trace.rank).items():
            ranks = told["global_ranks"]
            whole = len(ranks) == self.job.layout.world
            found[name] = told | {"group_name": "hccl_world_group" if whole else f"{len(ranks)}-{group_hash(name)}"}
        return found

    def _info(self, kind: str) -> dict[str, object]:
        level, trace = self.export.level, self.trace
        return {
            "profiler_parameters": {
                "output_path": "./data", "profiler_level": f"Level{level}", "activities": ["CPU", "NPU"],
                "profile_memory": self.export.memory, "parallel_strategy": False, "with_stack": self.export.stacks,
                "data_process": True, "data_simplification": True, "l2_cache": True, "hbm_ddr": False, "pcie": False,
                "aic_metrics": "PipeUtilization" if level else "AiCoreNone", "mstx": False, "export_type": [kind],
                "schedule": {"wait": 0, "active": len(trace.steps()), "warmup": 1, "repeat": 1, "skip_first": 10},
            },
            "ms_profiler_info": {"context_mode": int(not self.names.graph), "rank_id": trace.rank,
                                 "device_id": trace.device},
            "cann_profiler_info": {}, "analysis_cost_time": {}, "ms_version": "2.7.0", "cann_version": "8.2.RC1",
            "jit_level": "O0" if self.names.graph else "", "rank_id": trace.rank,
        }  # fmt: skip

    # Tables

    def _tables(self) -> dict[str, Table]:
        whole = replace(self.export, device_column=True)
        tables = {
            "step_trace_time.csv": self._step_trace_time(),
            "kernel_details.csv": self._kernel_details(),
            "api_statistic.csv": rows.api_statistic(self.trace, whole),
        }
        if self.export.level:
            tables["op_statistic.csv"] = rows.op_statistic(self.trace, whole)
        if self.export.memory:
            tables |= {
                "memory_record.csv": self._memory_record(),
                "operator_memory.csv": rows.operator_memory(self.trace, replace(self.export, tabs=False)),
                "npu_module_mem.csv": rows.npu_module_mem(self.trace, whole),
            }
        return tables

    def _step_trace_time(self) -> Table:
        header, _ = rows.step_trace_time(self.trace, self.export)
        parts = lanes(self.trace)
        windows = [(step, start, end) for step, start, end in self.steps.windows] if self.export.steps else []
        return header, [self._step_row(parts, *window) for window in windows or [(0, 0, self.trace.end)]]

    def _step_row(self, parts: Lanes, step: int, begin: int, end: int) -> list[object]:
        """What starts within the window; only free time is cut at its borders."""

        def begun(intervals: Iterable[Interval]) -> int:
            return length(one for one in intervals if begin <= one[0] <= end)

        free = length((max(start, begin), min(stop, end)) for start, stop in parts.free if stop > begin and start < end)
        inside = [c for c in sorted(self.trace.collectives, key=lambda c: c.start) if begin <= c.start <= end]
        bubble = sum(c.end - c.start for c in inside if c.p2p)
        stage = inside[-1].end - inside[0].start - bubble if inside else 0
        compute, comm, exposed = map(begun, (parts.computing, parts.communication, parts.exposed))
        first = min((start for start, _ in parts.computing + parts.communication if start >= begin), default=begin)
        return [step, *map(us, (compute, exposed, comm - exposed, comm, free, stage, bubble, exposed - bubble)),
                us(first - begin)]  # fmt: skip

    def _kernel_details(self) -> Table:
        header, lines = rows.kernel_details(self.trace, self.export)
        works: list[Task | Collective] = [*self.trace.kernels(), *self.trace.collectives]
        works.sort(key=lambda work: work.start)
        name = header.index("Name")
        stepped = self.export.steps
        header = ["Step ID" if one == "Step Id" else one for one in header][not stepped :]
        return header, (
            self._kernel_row(work, line, name)[not stepped :] for work, line in zip(works, lines, strict=True)
        )

    def _kernel_row(self, work: Task | Collective, line: list[object], name: int) -> list[object]:
        line[name] = self.names.of_work(work)
        launched = self.names.launch_at(work.launch_start)
        step = self.steps.at(launched.start if launched else work.start)
        line[0] = "" if step is None else step
        return line

    def _memory_record(self) -> Table:
        header, lines = rows.memory_record(self.trace, replace(self.export, tabs=False))
        place = header.index("Stream Ptr")
        kept = header[:place] + header[place + 1 :]
        return kept, [self._memory_row(line[:place] + line[place + 1 :]) for line in lines]

    def _memory_row(self, line: list[object]) -> list[object]:
        sizes = [float(str(size or 0)) * 2**20 / _KILOBYTES_IN_MB for size in line[2:5]]
        component = {"PTA": "MindSpore", "PTA+GE": "MindSpore+GE"}.get(str(line[0]), line[0])
        return [component, line[1], *sizes, line[5]]

    def _by_window(self, document: Any) -> object:
        """A communication file, with what begins in no step left out; without steps all is of step 0."""
        kept: list[Collective] = []
        for one in self.trace.collectives:
            step = self.steps.at(one.start) if self.export.steps else 0
            kept += [replace(one, step=step)] if step is not None else []
        found = document(replace(self.trace, collectives=kept), replace(self.export, steps=True))
        return _lower_names(found) if document is matrix else found

    # Data preparation

    def _pipeline(self) -> dict[str, str]:
        """What `data_process=True` tells of a loop that takes its batches itself: how long it waited for each, what lay
        in the queue, and what lay between the operations of the dataset."""
        waits = [(call.end - call.start) / 1e6 for call in self.trace.calls if call.name == LOADER]
        if not waits:
            return {}
        late = [ms > 1 for ms in waits]
        looks = []
        for number, (ms, empty) in enumerate(zip(waits, late, strict=True), 1):
            moment = number * 1000
            looks += [f"0 0 {number} {math.floor(ms)} {moment}", f"0 2 {number} {math.floor(ms)} {moment}",
                      f"1 {_QUEUE_LENGTH} {number} {0 if empty else _QUEUE_LENGTH} {moment}"]  # fmt: skip
        starved = sum(late) > len(late) / 2
        after, before = ([0] if starved else [15]) * _SAMPLES, [15] * _SAMPLES
        raw = [
            "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,"
            "output_queue_usage_rate,sample_interval,parent_id,children_id",
            "0,Batch,8,,,,,10,,[1]",
            _operation(1, "Map", after, "[2]"),
            _operation(2, "MindRecord", before, ""),
        ]
        rank = self.trace.rank
        return {
            f"dataset_iterator_profiling_{rank}.txt": "\n".join([*looks, ""]),
            f"minddata_pipeline_raw_{rank}.csv": "\r\n".join([*raw, ""]),
        }


def _operation(number: int, kind: str, queue: list[int], child: str) -> str:
    """A line of minddata_pipeline_raw_*.csv."""
    mean = sum(queue) / len(queue)
    return f'{number},{kind},8,"{queue}",{mean},{_QUEUE_LENGTH},{mean / _QUEUE_LENGTH},10,{number - 1},{child}'


def _lower_names(document: Any) -> Any:
    """MindSpore writes `op_name` where torch_npu writes `Op Name`."""
    if isinstance(document, dict):
        return {("op_name" if key == "Op Name" else key): _lower_names(value) for key, value in document.items()}
    return document


class _Timeline(TraceWriter):
    """The timeline: the lane `MindSpore` in the place of Python's, arrows from launches to kernels."""

    def __init__(self, trace: RankTrace, export: Export, names: _Names) -> None:
        super().__init__(trace, export)
        self.names = names

    def _framework_lane(self, threads: dict[int, str]) -> Iterator[Event]:
        yield from self._lane(_PID, "MindSpore", "CPU", 1, threads)

    def _host_event(self, call: HostCall, number: int) -> Iterator[Event]:
        if self.export.records(call) and (told := self._told(call)):
            name, category = told
            at = us_text(self.export.host(call.start))
            yield {"ph": "X", "name": name, "pid": _PID, "tid": call.thread, "ts": at,
                   "dur": us(call.end - call.start), "cat": category, "args": {}}  # fmt: skip
        if call.layer == "queue" and not self.names.graph:
            enqueue = call.name == "Enqueue"
            yield self._flow("s" if enqueue else "f", "mindspore_to_self", _SELF, call.connection, pid=_PID,
                             tid=call.thread, at=self.export.host(call.start))  # fmt: skip

    def _told(self, call: HostCall) -> tuple[str, str] | None:
        """Name and category of an event of the framework; None of what MindSpore records nothing of."""
        if call.layer == "step":
            return call.name, ""
        if call.layer == "queue" and call.name != "Enqueue":
            return self.names.of_launch(call), ""
        if call.name == "aten::item":
            return "Asnumpy", ""
        if self.names.graph or call.name in (LOADER, "aten::_local_scalar_dense"):
            return None
        if call.layer == "python":
            return call.name, "python_function"
        if call.layer == "op":
            return f"PynativeFramework::RunOp::{call.name.removeprefix('aten::')}", ""
        return None

    def _framework_to_device(self, work: Task | Collective, end: tuple[str, int]) -> Iterator[Event]:
        launch = self.names.launch_at(work.launch_start)
        if launch is None:
            return
        at = self.export.device(work.start)
        for phase, pid, tid, moment in (
            ("s", _PID, launch.thread, self.export.host(launch.start)), ("f", self.pids[end[0]], end[1], at),
        ):  # fmt: skip
            yield {"ph": phase, "bp": "e", "name": "mindspore_to_npu", "id": us_text(at), "pid": pid, "tid": tid,
                   "ts": us_text(moment), "cat": "async_npu"}  # fmt: skip


def _dump(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _write_csv(path: Path, header: list[str], lines: Iterable[list[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(lines)
