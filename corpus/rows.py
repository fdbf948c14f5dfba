# SPDX-License-Identifier: Apache-2.0
"""The tables of the text export, each as a header and its rows."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable

from corpus import accounting
from corpus.events import NOT_COLLECTED, Collective, HostCall, RankTrace, Task
from corpus.export import Export, us
from corpus.metrics import COLUMNS, metrics

Table = tuple[list[str], Iterable[list[object]]]
_MIB = 2**20
_NA = "N/A"
_LATER_COLUMNS = ("OP State", "Mix Block", "HF32 Eligible")


def step_trace_time(trace: RankTrace, export: Export) -> Table:
    """Where the time of each step went."""
    header = [
        *_device_header(export), "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication",
        "Free", "Stage", "Bubble", "Communication(Not Overlapped and Exclude Receive)", "Preparing",
    ]  # fmt: skip
    return header, [[*_device(trace, export), *row] for row in step_rows(trace, export)]


def step_rows(trace: RankTrace, export: Export) -> list[list[object]]:
    """Step, computing, exposed, overlapped, communication, free, stage, bubble, exposed without receive, preparing."""
    found: list[list[object]] = []
    for row in accounting.step_times(trace) if export.steps else [accounting.whole(trace)]:
        found.append([
            row.step if export.steps else "", us(row.computing), us(row.exposed), us(row.communication - row.exposed),
            us(row.communication), us(row.free), us(row.span - row.bubble), us(row.bubble),
            us(row.exposed - row.bubble), us(row.preparing + export.clock_ns),
        ])  # fmt: skip
    return found


def kernel_details(trace: RankTrace, export: Export) -> Table:
    """Every compute task and every collective, by start."""
    header = ["Step Id", *_device_header(export)]
    header += ["Model ID", "Task ID", "Stream ID"] if export.level else []
    header += ["Name", "Type", "OP State", "Accelerator Core"] if export.level else ["Name", "Type", "Accelerator Core"]
    header += ["Start Time(us)", "Duration(us)", "Wait Time(us)", f"Block {export.block_word}"]
    if export.level:
        header += [
            f"Mix Block {export.block_word}", "HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats",
            "Output Shapes", "Output Data Types", "Output Formats", "Context ID", *COLUMNS,
        ]  # fmt: skip
    rows = _kernel_rows(trace, export)
    return (header, rows) if export.op_state else _without(_LATER_COLUMNS, header, rows)


def _without(columns: tuple[str, ...], header: list[str], rows: Iterable[list[object]]) -> Table:
    kept = [place for place, name in enumerate(header) if not name.startswith(columns)]
    return [header[place] for place in kept], ([row[place] for place in kept] for row in rows)


def _kernel_rows(trace: RankTrace, export: Export) -> Iterable[list[object]]:
    everything: list[Task | Collective] = [*trace.kernels(), *trace.collectives]
    everything.sort(key=lambda work: work.start)
    previous = everything[0].start if everything else 0
    for work in everything:
        times = [
            export.moment(export.device(work.start)), us(work.end - work.start), us(max(0, work.start - previous)),
        ]  # fmt: skip
        previous = work.end
        step = [work.step if export.steps else "", *_device(trace, export)]
        if isinstance(work, Collective):
            yield step + _collective_row(work, times, export)
        else:
            yield step + _kernel_row(work, times, export, trace.frequency[0][1])


def _collective_row(work: Collective, times: list[object], export: Export) -> list[object]:
    if not export.level:
        return [work.name, _NA, export.communication_word, *times, 0]
    ids = [NOT_COLLECTED, _NA, _NA, work.name, f"hcom_{work.op}_", _NA, export.communication_word]
    return [*ids, *times, 0, *[_NA] * (9 + len(COLUMNS))]


def _kernel_row(work: Task, times: list[object], export: Export, mhz: int) -> list[object]:
    info = work.kernel
    if not export.level or info is None:
        return [work.name, _NA, _NA, *times, 0]
    ids = [NOT_COLLECTED, work.task_id, work.stream, work.name, info.op_type, info.state, export.type_of(info.core)]
    sides: list[object] = []
    for side in (info.inputs, info.outputs):
        sides += [f'"{side.shapes}"', side.dtypes, side.formats] if side.dtypes else [_NA, _NA, _NA]
    counted = (export.counts(work) and metrics(work, mhz)) or [_NA] * len(COLUMNS)
    eligible = "NO" if info.core != "AI_CPU" else _NA
    return [*ids, *times, info.blocks, info.mix_blocks, eligible, *sides, _NA, *counted]


def operator_details(trace: RankTrace, export: Export) -> Table:
    """Every call of a framework operator with its host and device time."""
    header = [
        "Name", "Input Shapes", "Call Stack", "Host Self Duration(us)", "Host Total Duration(us)",
        "Device Self Duration(us)", "Device Total Duration(us)", "Device Self Duration With AICore(us)",
        "Device Total Duration With AICore(us)",
    ]  # fmt: skip
    ops = [call for call in trace.calls if call.layer in ("op", "step")]
    children = _children(ops)
    device: dict[int, list[Task]] = defaultdict(list)
    for task in trace.tasks:
        if task.kind == "kernel" and task.origin is not None:
            device[id(task.origin)].append(task)

    def spent(op: HostCall, core: str = "", deep: bool = False) -> int:
        own = sum(t.end - t.start for t in device[id(op)] if not core or (t.kernel and t.kernel.core == core))
        return own + (sum(spent(child, core, True) for child in children[id(op)]) if deep else 0)

    lines: list[list[object]] = []
    for op in ops:
        if op.layer == "step":
            continue
        total = op.end - op.start
        inner = sum(child.end - child.start for child in children[id(op)])
        lines.append([
            op.name, export.shapes_of(op)[0].replace(";", ";\n"), export.stack(op), us(total - inner), us(total),
            us(spent(op)), us(spent(op, deep=True)), us(spent(op, "AI_CORE")), us(spent(op, "AI_CORE", True)),
        ])  # fmt: skip
    return header, lines


def _children(ops: list[HostCall]) -> dict[int, list[HostCall]]:
    children: dict[int, list[HostCall]] = defaultdict(list)
    open_: list[HostCall] = []
    for op in sorted(ops, key=lambda op: (op.start, -op.end)):
        while open_ and open_[-1].end <= op.start:
            open_.pop()
        if open_:
            children[id(open_[-1])].append(op)
        open_.append(op)
    return children


def op_statistic(trace: RankTrace, export: Export) -> Table:
    """Compute tasks by type and core, the longest first."""
    header = [*_device_header(export), "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)",
              "Avg Time(us)", "Max Time(us)", "Ratio(%)"]  # fmt: skip
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for task in trace.kernels():
        if task.kernel:
            groups[task.kernel.op_type, task.kernel.core].append(task.end - task.start)
    all_of_it = sum(map(sum, groups.values())) or 1
    lines: list[list[object]] = []
    for (kind, core), times in sorted(groups.items(), key=lambda group: (-sum(group[1]), group[0])):
        ratio = round(100 * sum(times) / all_of_it, 3)
        lines.append([*_device(trace, export), kind, core, len(times), us(sum(times)), us(min(times)),
                      round(us(sum(times)) / len(times), 3), us(max(times)), ratio])  # fmt: skip
    return header, lines


def api_statistic(trace: RankTrace, export: Export) -> Table:
    """CANN calls by level and name."""
    header = [
        *_device_header(export),
        "Level",
        "API Name",
        "Time(us)",
        "Count",
        "Avg(us)",
        "Min(us)",
        "Max(us)",
        "Variance",
    ]
    levels = {"acl": "acl", "node": "node", "hccl": export.lane.lower()}
    if export.level == 2:  # noqa: PLR2004
        levels["runtime"] = "runtime"
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for call in trace.calls:
        if call.layer in levels:
            groups[call.name, levels[call.layer]].append(us(call.end - call.start))
    lines: list[list[object]] = []
    host = ["host"] if export.device_column else []
    for (name, level), times in sorted(groups.items()):
        lines.append([*host, level, name, round(sum(times), 3), len(times), round(statistics.fmean(times), 3),
                      min(times), max(times), round(statistics.pvariance(times), 3)])  # fmt: skip
    return header, lines


def l2_cache(trace: RankTrace, export: Export) -> Table:
    """Cache behaviour of each kernel; the hit rate is not available in any real capture seen."""
    header = [*_device_header(export), "Stream Id", "Task Id", "Hit Rate", "Victim Rate", "Op Name"]
    lines = [[*_device(trace, export), k.stream, k.task_id, _NA, 0.05, k.name] for k in trace.kernels()]
    return header, lines


def memory_record(trace: RankTrace, export: Export) -> Table:
    """The totals of the allocators and of the process."""
    header = ["Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)",
              "Stream Ptr", "Device Type"]  # fmt: skip
    lines: list[list[object]] = []
    for moment in trace.memory:
        process = moment.allocated < 0
        lines.append([
            moment.component, export.moment(export.host(moment.time)), "" if process else moment.allocated / _MIB,
            moment.reserved / _MIB, "" if process else moment.active / _MIB, "" if process else 897357296,
            f"NPU:{trace.device}",
        ])  # fmt: skip
    return header, lines


def operator_memory(trace: RankTrace, export: Export) -> Table:
    """Every block operators took."""
    header = [
        "Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Active Release Time(us)", "Duration(us)",
        "Active Duration(us)", "Allocation Total Allocated(MB)", "Allocation Total Reserved(MB)",
        "Allocation Total Active(MB)", "Release Total Allocated(MB)", "Release Total Reserved(MB)",
        "Release Total Active(MB)", "Stream Ptr", "Device Type",
    ]  # fmt: skip
    lines: list[list[object]] = []
    for block in trace.allocations:
        ended = ["", "", "", ""]
        after: list[object] = ["", "", ""]
        if block.released >= 0:
            at, took = export.moment(export.host(block.released)), export.moment(block.released - block.time)
            ended = [at, at, took, took]
            after = [block.total_after / _MIB, block.reserved_after / _MIB, block.total_after / _MIB]
        taken = [block.total / _MIB, block.reserved / _MIB, block.total / _MIB]
        start = export.moment(export.host(block.time))
        lines.append([block.name, block.size / 1024, start, *ended, *taken, *after, 897357296, f"NPU:{trace.device}"])
    return header, lines


def npu_module_mem(trace: RankTrace, export: Export) -> Table:
    """What some CANN modules reserved; HCCL holds 404 MB in the msinsight AlexNet capture."""
    header = [*_device_header(export), "Component", "Timestamp(us)", "Total Reserved(MB)", "Device"]
    return header, [
        [*_device(trace, export), module, export.moment(export.device(time)), size / _MIB, f"NPU:{trace.device}"]
        for module, time, size in module_memory(trace)
    ]


def module_memory(trace: RankTrace) -> list[tuple[str, int, int]]:
    """(module, time, bytes) at the start and the end of the capture."""
    held = {"SLOG": 0, "HCCL": 423690240, "RUNTIME": 73400320, "AICPU": 2097152}
    return [(module, time, size) for module, size in held.items() for time in (0, trace.end)]


def _device_header(export: Export) -> list[str]:
    return ["Device_id"] if export.device_column else []


def _device(trace: RankTrace, export: Export) -> list[object]:
    return [trace.device] if export.device_column else []


Maker = Callable[[RankTrace, Export], Table]
ALWAYS: dict[str, Maker] = {
    "step_trace_time.csv": step_trace_time,
    "kernel_details.csv": kernel_details,
    "operator_details.csv": operator_details,
    "l2_cache.csv": l2_cache,
    "npu_module_mem.csv": npu_module_mem,
}
FROM_LEVEL1: dict[str, Maker] = {"op_statistic.csv": op_statistic, "api_statistic.csv": api_statistic}
WITH_MEMORY: dict[str, Maker] = {"memory_record.csv": memory_record, "operator_memory.csv": operator_memory}
