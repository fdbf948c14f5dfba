# SPDX-License-Identifier: Apache-2.0
"""ascend_pytorch_profiler_{rank}.db and analysis.db of one rank, schema 1.0.0; those of MindSpore hold less."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus import schema
from corpus.communication import matrix, matrix_of_operators, times_and_bandwidths
from corpus.events import NOT_COLLECTED, HostCall, Job, RankTrace, Task, Tensors, Transfer
from corpus.export import Export, host_name, metadata, new_output
from corpus.metrics import COLUMNS, metrics
from corpus.rows import module_memory, step_rows

_API = {"acl": 20000, "node": 10000, "hccl": 5500, "runtime": 5000, "op": 50001, "queue": 50002, "python": 50003}
_TASK_TYPE = {
    "AI_CORE": "KERNEL_AICORE",
    "AI_VECTOR_CORE": "KERNEL_AIVEC",
    "AI_CPU": "KERNEL_AICPU",
    "DSA_SQE": "STARS_COMMON",
}
_DTYPE = {"INT8": 0, "INT32": 2, "FP16": 3, "FP32": 4, "INT64": 5, "BFP16": 11}
_LINK = {"ON_CHIP": 0, "HCCS": 1, "ROCE": 3, "INVALID_TYPE": 65535}
_RDMA = {name: number for number, name in schema.ENUMS["ENUM_HCCL_RDMA_TYPE"]} | {"": 65535}
_TRANSPORT = {"Notify_Wait": 2, "RDMASend": 1}
_CORE_TIMES = {"aicore_time(us)": "aic_total_time", "aiv_time(us)": "aiv_total_time"}
_COUNTERS = tuple(
    (name.replace("(us)", ""), "time" in name) for name in (_CORE_TIMES.get(column, column) for column in COLUMNS[:-1])
)
"""The counters of a kernel as databases name them, and whether they are times, which are in ns there."""
_NA = 65534
_FRAMEWORK, _MEMORY = 1 << 28, 1 << 29
_HOST_UID = 3538958389648580163
Rows = dict[str, list[tuple[Any, ...]]]


def write_database(job: Job, folder: Path, export: Export) -> None:
    """Write one `*_ascend_pt` folder per rank."""
    for trace in job.ranks:
        output = new_output(job, trace, folder, export, "db")
        tables = _Database(job, trace, export).rows()
        _save(
            output / f"ascend_pytorch_profiler{export.suffix(trace)}.db",
            schema.main(export.later),
            schema.INDEXES,
            tables,
        )
        kept = schema.analysis(export.level, export.device_column)
        _save(output / "analysis.db", kept, (), _analysis(trace, export))


def write_databases_of_msprof(job: Job, trace: RankTrace, output: Path, export: Export) -> None:
    """Write what MindSpore keeps: the databases of msprof, which know neither the framework's calls nor steps."""
    plain = replace(export, steps=False, memory=False, grouped=False)
    found = _Database(job, trace, plain).rows()
    found["META_DATA"] = [row for row in found["META_DATA"] if row[0].startswith("SCHEMA")]
    kept = {name: columns for name, columns in schema.main(export.later).items() if name not in schema.OF_FRAMEWORK}
    _save(output / f"ascend_mindspore_profiler{export.suffix(trace)}.db", kept, schema.INDEXES, found)
    if export.level and trace.collectives:
        write_analysis_of_msprof(trace, output, plain)


def write_analysis_of_msprof(trace: RankTrace, output: Path, export: Export) -> None:
    """Write communication_analyzer.db, whose tables know neither steps nor kinds."""
    tables, rows = schema.analysis_of_msprof(), _analysis(trace, export) | {"CommAnalyzerMatrix": []}
    for name, pairs in matrix_of_operators(trace).items():
        _add_links(rows, pairs, name, ("", ""))
    kept = {name: [row[: len(columns.split(", "))] for row in rows[name]] for name, columns in tables.items()}
    _save(output / "communication_analyzer.db", tables, (), kept)


def _save(path: Path, tables: dict[str, str], indexes: tuple[str, ...], rows: Rows) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN")
        for name, columns in tables.items():
            if name in schema.WHEN_USED and not rows.get(name):
                continue
            connection.execute(f"CREATE TABLE {name} ({columns})")
            lines = rows.get(name, [])
            if lines:
                marks = ",".join("?" * len(lines[0]))
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", lines)  # noqa: S608
        for index in indexes:
            connection.execute(index)


class _Database:
    """Collects the rows of the main database."""

    def __init__(self, job: Job, trace: RankTrace, export: Export) -> None:
        self.job, self.trace, self.export = job, trace, export
        self.ids: dict[tuple[int, str], int] = {}
        self.named: Counter[int] = Counter()
        self.out: Rows = defaultdict(list)
        self.connection_of: dict[int, int] = {}
        self.task_ids = {id(task): number for number, task in enumerate(trace.tasks)}
        self.connections = 0

    def rows(self) -> Rows:
        """All tables, the names last."""
        self._about()
        for task in self.trace.tasks:
            self._task(task)
        for number, collective in enumerate(self.trace.collectives, 1):
            self._collective(number, collective)
        for call in self.trace.calls:
            self._call(call)
        if self.export.modules:
            self._marks()
        if self.export.memory:
            self._memory()
        self._modules()
        self.out["STRING_IDS"] = [(number, value) for (_, value), number in self.ids.items()]
        return self.out

    def _name(self, value: str, base: int = 0) -> int:
        key = (base, value)
        known = self.ids.get(key)
        if known is None:
            known = self.ids[key] = base + self.named[base]
            self.named[base] += 1
        return known

    def _about(self) -> None:
        trace, export = self.trace, self.export
        first, last = export.host(0), export.host(trace.end)
        self.out |= {
            "SESSION_TIME_INFO": [(first, last)],
            "NPU_INFO": [(trace.device, "Ascend910B")],
            "HOST_INFO": [(str(_HOST_UID + trace.node), host_name(trace))],
            "RANK_DEVICE_MAP": [(trace.rank, trace.device)],
            "META_DATA": self._meta_data(),
        }
        self.out |= {name: list(values) for name, values in schema.ENUMS.items()}
        if export.lane != "HCCL":
            apis = schema.ENUMS["ENUM_API_TYPE"]
            self.out["ENUM_API_TYPE"] = [(i, export.lane.lower() if i == _API["hccl"] else name) for i, name in apis]
        if export.steps:
            self.out["STEP_TIME"] = [
                (int(step.name.split("#")[1]), export.host(step.start), export.host(step.end)) for step in trace.steps()
            ]
        moments = [*trace.frequency, (trace.end, trace.frequency[-1][1])]
        die = (0,) * export.later
        self.out["AICORE_FREQ"] = [(trace.device, export.device(time), mhz, *die) for time, mhz in moments]

    def _meta_data(self) -> list[tuple[str, str]]:
        minor = "2" if self.export.later else "0"
        version = [("SCHEMA_VERSION_MICRO", "0"), ("SCHEMA_VERSION_MINOR", minor), ("SCHEMA_VERSION_MAJOR", "1")]
        held = metadata(self.job, self.trace, self.export)
        return [
            *version,
            ("SCHEMA_VERSION", f"1.{minor}.0"),
            *((name, json.dumps(value)) for name, value in held.items()),
        ]

    # Device

    def _task(self, task: Task) -> None:
        number = self.task_ids[id(task)]
        info = task.kernel
        kind = task.name if info is None else _TASK_TYPE.get(info.core, info.core)
        if task.kind == "comm":
            kind = task.name
        kind = self.export.type_of(kind) if info is not None and info.core != "AI_CPU" else kind
        self.out["TASK"].append((
            self.export.device(task.start), self.export.device(task.end), self.trace.device, task.connection, number,
            self.trace.pid, self._name(kind), task.context, task.stream, task.task_id, NOT_COLLECTED,
        ))  # fmt: skip
        if info is None:
            return
        full = self.export.level > 0

        def text(value: str) -> int:
            return self._name(value if full and value else "N/A")

        def side(tensors: Tensors) -> tuple[int, int, int]:
            shapes = f'"{tensors.shapes}"' if tensors.dtypes else ""
            return text(tensors.formats), text(tensors.dtypes), text(shapes)

        self.out["COMPUTE_TASK_INFO"].append((
            self._name(task.name), number, info.blocks if full else 0, info.mix_blocks if full else 0,
            text(self.export.type_of(info.core)), text(info.op_type), *side(info.inputs), *side(info.outputs), text(""),
            *((text(info.state), text("NO")) if self.export.later else ()),
        ))  # fmt: skip
        if full and self.export.counts(task):
            self._pmu(task, number)

    def _pmu(self, task: Task, number: int) -> None:
        values = metrics(task, self.trace.frequency[0][1])
        if values is None:
            return
        self.out["TASK_PMU_INFO"] += [
            (number, self._name(name), value * 1000 if timed and isinstance(value, float) else value)
            for (name, timed), value in zip(_COUNTERS, values[:-1], strict=True)
        ]

    def _collective(self, number: int, collective: Any) -> None:
        kind = f"hcom_{collective.op}_" if self.export.level else "N/A"
        group = self._name(collective.group)
        self.out["COMMUNICATION_OP"].append((
            self._name(collective.name), self.export.device(collective.start), self.export.device(collective.end),
            collective.connection, group, number, 0, 0, _DTYPE[collective.dtype], self._name("MESH-RING"),
            collective.count, self._name(kind),
            *((self.trace.device, len(collective.members)) if self.export.later else ()),
        ))  # fmt: skip
        for transfer in collective.transfers:
            self._transfer(transfer, self._name(collective.name), group, number)

    def _transfer(self, transfer: Transfer, name: int, group: int, number: int) -> None:
        task = self.task_ids[id(transfer.task)]
        if not self.export.level:
            empty = (self._name("N/A"), NOT_COLLECTED, group, 0, _NA, NOT_COLLECTED, NOT_COLLECTED, _NA, -1, _NA, _NA)
            self.out["COMMUNICATION_TASK_INFO"].append((empty[0], task, *empty, number))
            return
        transport = _TRANSPORT.get(transfer.name, 0)
        self.out["COMMUNICATION_TASK_INFO"].append((
            name, task, self._name(transfer.name), transfer.plane, group, 100 + transfer.plane, _RDMA[transfer.rdma],
            transfer.source, transfer.target, transport, transfer.size, 65535, _LINK[transfer.link], number,
        ))  # fmt: skip

    # Host

    def _call(self, call: HostCall) -> None:
        times = (self.export.host(call.start), self.export.host(call.end))
        thread = self.trace.pid << 32 | call.thread
        if call.layer == "gc":
            self.out["GC_RECORD"].append((*times, thread))
        elif call.layer in ("acl", "node", "hccl", "runtime"):
            if call.layer != "runtime" or self.export.level == 2:  # noqa: PLR2004
                self.out["CANN_API"].append((*times, _API[call.layer], thread, call.connection, self._name(call.name)))
        elif self.export.records(call):
            self._framework_call(call, times, thread)

    def _marks(self) -> None:
        """Calls of modules, and a number that a forward and a backward operator share."""
        for number, call in enumerate(self.trace.modules):
            thread, domain = self.trace.pid << 32 | call.thread, self._name("Module")
            times = (self.export.host(call.start), self.export.host(call.end))
            self.out["MSTX_EVENTS"].append((
                *times, 2, number, NOT_COLLECTED, self._name(call.name), thread, thread, domain, 4_000_000_000,
            ))  # fmt: skip
        for number, pair in enumerate(self.trace.gradients, 1 << 40):
            known = [self.connection_of.get(id(call)) for call in pair]
            if None not in known:
                self.out["CONNECTION_IDS"] += [(connection, number) for connection in known]

    def _framework_call(self, call: HostCall, times: tuple[int, int], thread: int) -> None:
        linked = [call.connection] if call.layer == "queue" else call.launched
        connection = None
        if linked:
            connection, self.connections = self.connections, self.connections + 1
            self.out["CONNECTION_IDS"] += [(connection, other) for other in linked]
            self.connection_of[id(call)] = connection
        operator = call.layer in ("op", "step")

        def text(value: str) -> int | None:
            return self._name(value, _FRAMEWORK) if value else None

        stack = self.export.stack(call)
        shapes, dtypes = self.export.shapes_of(call)
        chain = self._call_chain(stack) if stack else None
        self.out["PYTORCH_API"].append((
            str(times[0]), str(times[1]), thread, connection, text(call.name), -1 if operator else None,
            0 if operator else None, text(dtypes), text(shapes), chain, _API.get(call.layer, 50001),
        ))  # fmt: skip

    def _call_chain(self, stack: str) -> int:
        chain = (
            len({row[0] for row in self.out["PYTORCH_CALLCHAINS"][-1:]}) and self.out["PYTORCH_CALLCHAINS"][-1][0] + 1
        )
        for depth, frame in enumerate(stack.split(";\n")):
            self.out["PYTORCH_CALLCHAINS"].append((chain, self._name(frame, _FRAMEWORK), depth))
        return chain

    # Memory

    def _memory(self) -> None:
        device = self.trace.device
        for moment in self.trace.memory:
            if moment.allocated < 0:
                app = self._name("APP")
                self.out["NPU_MEM"].append((app, 0, moment.reserved, self.export.host(moment.time), device))
                continue
            component = self._name(moment.component, _MEMORY)
            time = self.export.host(moment.time)
            totals = (moment.allocated, moment.reserved, moment.active)
            self.out["MEMORY_RECORD"].append((component, time, *totals, 897357296, device))
        for block in self.trace.allocations:
            start = self.export.host(block.time)
            ended: tuple[int | None, ...] = (None,) * 4
            after: tuple[int | None, ...] = (None,) * 3
            if block.released >= 0:
                end, took = self.export.host(block.released), block.released - block.time
                ended, after = (end, end, took, took), (block.total_after, block.reserved_after, block.total_after)
            taken = (block.total, block.reserved, block.total)
            name = self._name(block.name, _MEMORY)
            self.out["OP_MEMORY"].append((name, block.size, start, *ended, *taken, *after, 897357296, device))

    def _modules(self) -> None:
        numbers = {name: number for number, name in schema.ENUMS["ENUM_MODULE"]}
        self.out["NPU_MODULE_MEM"] = [
            (numbers[module], self.export.device(time), size, self.trace.device)
            for module, time, size in module_memory(self.trace)
        ]


# analysis.db


def _analysis(trace: RankTrace, export: Export) -> Rows:
    rows: Rows = {
        "StepTraceTime": [
            (*(trace.device,) * export.device_column, str(row[0]), *row[1:]) for row in step_rows(trace, export)
        ]
    }
    if not export.level:
        return rows
    rows |= {name: [] for name in schema.ANALYSIS if name not in rows}
    for step, kinds in times_and_bandwidths(trace, export).items():
        for kind, entries in kinds.items():
            for name, entry in entries.items():
                if name != "Total Op Info":
                    _add_entry(rows, entry, name, (step, kind))
    for step, kinds in matrix(trace, export).items():
        for kind, entries in kinds.items():
            for name, pairs in entries.items():
                _add_links(rows, pairs, name, (step, kind))
    return rows


def _add_entry(rows: Rows, entry: Any, name: str, place: tuple[str, str]) -> None:
    operator = name.split("@")
    times = entry["Communication Time Info"]
    rows["CommAnalyzerTime"].append((
        *operator,  times["Start Timestamp(us)"], times["Elapse Time(ms)"], times["Transit Time(ms)"],
        times["Wait Time(ms)"], times["Synchronization Time(ms)"], times["Idle Time(ms)"], *place,
    ))  # fmt: skip
    for link, moved in entry["Communication Bandwidth Info"].items():
        if not moved["Transit Size(MB)"]:
            continue
        sizes = moved["Size Distribution"] or {"0": [0, 0]}
        for size, (count, time) in sizes.items():
            rows["CommAnalyzerBandwidth"].append((
                *operator,  link, moved["Transit Size(MB)"], moved["Transit Time(ms)"], moved["Bandwidth(GB/s)"],
                moved["Large Packet Ratio"], float(size), count, time, *place,
            ))  # fmt: skip


def _add_links(rows: Rows, pairs: Any, name: str, place: tuple[str, str]) -> None:
    operator = name.split("@")
    for pair, link in pairs.items():
        source, target = pair.split("-")
        rows["CommAnalyzerMatrix"].append((
            *operator,  source, target, link["Transport Type"], link["Transit Size(MB)"], link["Transit Time(ms)"],
            link["Bandwidth(GB/s)"], *place, link.get("Op Name", ""),
        ))  # fmt: skip
