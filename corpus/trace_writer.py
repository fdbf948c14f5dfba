# SPDX-License-Identifier: Apache-2.0
"""trace_view.json of one rank: lanes, events and flows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from corpus.accounting import lanes
from corpus.events import NOT_COLLECTED, Collective, HostCall, RankTrace, Task, Transfer
from corpus.export import Export, us, us_text

Event = dict[str, Any]
_LAYERS = {"CANN": 7, "Ascend Hardware": 13, "AI Core Freq": 14, "HCCL": 15, "Overlap Analysis": 23}
_PREFIX = {"acl": "AscendCL@", "node": "Node@", "hccl": "Hccl@", "runtime": "Runtime@"}
_CATEGORY = {"op": "cpu_op", "step": "cpu_op", "python": "python_function", "gc": "GC"}
_SQE = {"record": "EVENT_RECORD_SQE", "wait": "EVENT_WAIT_SQE"}
_INVALID = 18446744073709551615
_AT_ONCE = 2000
"""Events to encode together: one by one takes three times as long."""
_TRANSPORT = {"Notify_Wait": "LOCAL", "RDMASend": "RDMA"}


def write_trace(trace: RankTrace, path: Path, export: Export) -> None:
    """Write the whole timeline of a rank."""
    write_events(TraceWriter(trace, export).events(), path)


def write_events(events: Iterator[Event], path: Path) -> None:
    """Write a timeline on one line, as torch_npu does."""
    with path.open("w", encoding="utf-8", newline="") as file:
        opening = "["
        while some := list(islice(events, _AT_ONCE)):
            file.write(opening + _json_of(some)[1:-1])
            opening = ", "
        file.write("]")


def _json_of(events: list[Event]) -> str:
    """What `json.dumps` gives, in a third of the time."""
    text = msgspec.json.format(msgspec.json.encode(events), indent=0)
    return text.decode() if text.isascii() else json.dumps(events)


class TraceWriter:
    """Gives the events of one rank's timeline."""

    def __init__(self, trace: RankTrace, export: Export) -> None:
        self.trace, self.export = trace, export
        self.pids = {name: trace.pid << 10 | layer << 5 | trace.device for name, layer in _LAYERS.items()}

    def events(self) -> Iterator[Event]:
        """Lanes first, then the host, the device, communication and the overlap analysis."""
        yield from self._metadata()
        recorded = self._recorded_layers()
        for number, call in enumerate(self.trace.calls):
            if call.layer not in _PREFIX:
                yield from self._host_event(call, number)
            elif call.layer in recorded:
                yield self._cann_event(call)
        if self.export.modules:
            yield from self._marks()
        for task in self.trace.tasks:
            yield self._device_event(task)
            yield from self._task_flows(task)
        for collective in self.trace.collectives:
            yield from self._collective_events(collective)
        yield from self._overlap()
        for time, mhz in [*self.trace.frequency, (self.trace.end, self.trace.frequency[-1][1])]:
            at = us_text(self.export.device(time))
            yield {"name": "AI Core Freq", "ts": at, "pid": self.pids["AI Core Freq"], "tid": 0, "args": {"MHz": mhz},
                   "ph": "C"}  # fmt: skip

    # Lanes

    def _metadata(self) -> Iterator[Event]:
        threads = sorted({call.thread for call in self.trace.calls})
        yield from self._framework_lane({thread: f"Thread {thread}" for thread in threads})
        if any(call.layer == "gc" for call in self.trace.calls):
            yield from self._lane(self._gc_pid, "Python GC", "CPU", 1, {})
        streams = {stream: f"Stream {stream}" for stream in sorted({task.stream for task in self.trace.tasks})}
        named: dict[str, dict[int, str]] = {
            "CANN": {thread: f"Thread {thread}" for thread in threads},
            "Ascend Hardware": streams,
            "AI Core Freq": {},
            "HCCL": self._planes(),
            "Overlap Analysis": dict(
                enumerate(("Computing", "Communication", "Communication(Not Overlapped)", "Free"))
            ),
        }
        for name, its_threads in named.items():
            if name == "CANN" and not self.export.level:
                yield from self._threads(self.pids[name], its_threads)  # torch_npu drops the name of the lane alone
                continue
            shown = self.export.lane if name == "HCCL" else name
            label = "CPU" if name == "CANN" else "NPU"
            yield from self._lane(self.pids[name], shown, label, _LAYERS[name], its_threads)

    def _framework_lane(self, threads: dict[int, str]) -> Iterator[Event]:
        yield from self._lane(self.trace.pid, "Python", "CPU", 0, threads)

    @property
    def _gc_pid(self) -> int:
        return self.trace.pid + 1

    def _planes(self) -> dict[int, str]:
        """Threads of the communication lane: the collectives of each group, then its planes."""
        threads: dict[int, str] = {}
        for number, (group, base) in enumerate(self._bases().items()):
            threads[base] = f"Group {number} Communication"
            planes = {t.plane for c in self.trace.collectives if c.group == group for t in c.transfers}
            if self.export.level:
                threads |= {base + 1 + plane: f"Plane {plane}" for plane in sorted(planes)}
        return threads

    def _bases(self) -> dict[str, int]:
        groups = dict.fromkeys(c.group for c in self.trace.collectives)
        return {group: 64 * number for number, group in enumerate(groups)}

    def _lane(self, pid: int, name: str, label: str, order: int, threads: dict[int, str]) -> Iterator[Event]:
        yield _meta("process_name", pid, 0, name)
        yield _meta("process_labels", pid, 0, label)
        yield _meta("process_sort_index", pid, 0, order)
        yield from self._threads(pid, threads)

    def _threads(self, pid: int, threads: dict[int, str]) -> Iterator[Event]:
        for tid, name in threads.items():
            yield _meta("thread_name", pid, tid, name)
            yield _meta("thread_sort_index", pid, tid, tid)

    # Host

    def _recorded_layers(self) -> set[str]:
        """Those of CANN whose calls are recorded."""
        if self.export.level == 0:
            return set()
        return set(_PREFIX) if self.export.level == 2 else set(_PREFIX) - {"runtime"}  # noqa: PLR2004

    def _host_event(self, call: HostCall, number: int) -> Iterator[Event]:
        if not self.export.records(call):
            return
        pid = self._gc_pid if call.layer == "gc" else self.trace.pid
        queue = "enqueue" if call.name.startswith("Enqueue") else "dequeue"
        yield {
            "ph": "X", "name": call.name, "pid": pid, "tid": call.thread, "ts": us_text(self.export.host(call.start)),
            "dur": us(call.end - call.start), "cat": _CATEGORY.get(call.layer, queue),
            "args": _host_args(call, number, self.export),
        }  # fmt: skip
        if call.layer == "queue":
            yield self._flow(
                "s" if queue == "enqueue" else "f", "enqueue_to_dequeue", "async_task_queue", call.connection,
                pid=self.trace.pid, tid=call.thread, at=self.export.host(call.start),
            )  # fmt: skip

    def _cann_event(self, call: HostCall) -> Event:
        mode = {"acl": "ACL_OP", "hccl": "master"}.get(call.layer, call.name)
        prefix = "Communication@" if call.layer == "hccl" and self.export.lane != "HCCL" else _PREFIX[call.layer]
        args = {
            "Thread Id": call.thread, "Mode": mode, "level": self._level(call),
            "id": call.name if mode == "ACL_OP" else "0", "item_id": call.item, "connection_id": call.connection,
        }  # fmt: skip
        at = us_text(self.export.host(call.start))
        return {"name": prefix + call.name, "pid": self.pids["CANN"], "tid": call.thread, "ts": at,
                "dur": us(call.end - call.start), "args": args, "ph": "X"}  # fmt: skip

    def _level(self, call: HostCall) -> str:
        return self.export.lane.lower() if call.layer == "hccl" else call.layer

    def _marks(self) -> Iterator[Event]:
        """Calls of modules, in a lane of the process, and the arrows between the passes."""
        pid = self.trace.pid + 2
        yield from self._lane(pid, "python", "CPU", 2, {})
        for call in self.trace.modules:
            yield {"ph": "X", "name": call.name, "pid": pid, "tid": call.thread,
                   "ts": us_text(self.export.host(call.start)), "dur": us(call.end - call.start),
                   "args": {"event_type": "start/end", "domain": "Module"}}  # fmt: skip
        for number, pair in enumerate(self.trace.gradients, 1):
            for phase, call in zip("sf", pair, strict=True):
                yield self._flow(phase, "fwdbwd", "fwdbwd", number, pid=self.trace.pid, tid=call.thread,
                                 at=self.export.host(call.start))  # fmt: skip

    # Device

    def _device_event(self, task: Task) -> Event:
        stream = "Physic Stream Id" if self.export.typed else "Stream Id"
        args: Event = {
            "Model Id": NOT_COLLECTED, "Task Type": self.export.type_of(sqe_type(task)), stream: task.stream,
            "Task Id": task.task_id, "Batch Id": 0, "Subtask Id": task.context, "connection_id": task.connection,
        }  # fmt: skip
        if task.kind == "copy" and self.export.level == 2:  # noqa: PLR2004
            args |= {"data size(Byte)": task.size, "memcpy direction": task.direction}
        at = us_text(self.export.device(task.start))
        return {"name": task.name, "pid": self.pids["Ascend Hardware"], "tid": task.stream, "ts": at,
                "dur": us(task.end - task.start), "args": args, "ph": "X"}  # fmt: skip

    def _task_flows(self, task: Task) -> Iterator[Event]:
        if task.kind == "comm" or task.launch_start < 0:
            return
        flow, moment = task.connection, task.launch_start
        if task.kind == "kernel":
            device, subtask = self.trace.device, NOT_COLLECTED
            flow = (device << 80) + (task.stream << 64) + (task.task_id << 48) + subtask
            moment += 2000  # a moment inside Node@launch
        yield from self._host_to_device(flow, moment, task.launch_thread, task.start, ("Ascend Hardware", task.stream))
        yield from self._framework_to_device(task, ("Ascend Hardware", task.stream))

    def _host_to_device(self, flow: int, moment: int, thread: int, start: int, end: tuple[str, int]) -> Iterator[Event]:
        host, device = self.export.host(moment), self.export.device(start)
        name = f"HostToDevice{flow}"
        yield {"name": name, "ph": "s", "cat": "HostToDevice", "id": str(flow), "pid": self.pids["CANN"], "tid": thread,
               "ts": us_text(host)}  # fmt: skip
        yield {"name": name, "ph": "f", "id": str(flow), "ts": us_text(device), "cat": "HostToDevice",
               "pid": self.pids[end[0]], "tid": end[1], "bp": "e"}  # fmt: skip

    def _framework_to_device(self, work: Task | Collective, end: tuple[str, int]) -> Iterator[Event]:
        origin, flow = work.origin, self.export.device(work.start)
        if origin is None:
            return
        yield self._flow("s", "torch_to_npu", "async_npu", flow, pid=self.trace.pid, tid=origin.thread,
                         at=self.export.host(origin.start))  # fmt: skip
        yield self._flow("f", "torch_to_npu", "async_npu", flow, pid=self.pids[end[0]], tid=end[1], at=flow)

    def _flow(self, ph: str, name: str, cat: str, flow: int, *, at: int, pid: int, tid: int) -> Event:
        return {"ph": ph, "bp": "e", "name": name, "id": flow, "pid": pid, "tid": tid, "ts": us_text(at), "cat": cat}

    # Communication and overlap

    def _collective_events(self, collective: Collective) -> Iterator[Event]:
        tid = self._bases()[collective.group]
        at = us_text(self.export.device(collective.start))
        args = {"connection_id": collective.connection, "model id": NOT_COLLECTED, "data_type": collective.dtype,
                "alg_type": "MESH-RING", "count": collective.count}  # fmt: skip
        yield {"name": collective.name, "pid": self.pids["HCCL"], "tid": tid, "ts": at,
               "dur": us(collective.end - collective.start), "args": args, "ph": "X"}  # fmt: skip
        flow = (collective.connection << 32) + NOT_COLLECTED
        if collective.launch_start >= 0:
            yield from self._host_to_device(
                flow, collective.launch_start, collective.launch_thread, collective.start, ("HCCL", tid)
            )
        yield from self._framework_to_device(collective, ("HCCL", tid))
        if self.export.level:
            for transfer in collective.transfers:
                yield self._transfer_event(transfer, tid + 1 + transfer.plane)

    def _transfer_event(self, transfer: Transfer, tid: int) -> Event:
        took, task, moves = transfer.end - transfer.start, transfer.task, transfer.size > 0
        tells = not moves or transfer.rdma == "RDMA_SEND_NOTIFY"
        args = {
            "notify_id": str(100 + transfer.plane if tells else _INVALID), "duration estimated(us)": us(took),
            "stream id": task.stream, "task id": task.task_id, "context id": task.context,
            "task type": transfer.name, "src rank": transfer.source, "dst rank": transfer.target,
            "transport type": _TRANSPORT.get(transfer.name, "SDMA"), "size(Byte)": transfer.size,
            "data type": "INVALID_TYPE", "link type": transfer.link,
            "bandwidth(GB/s)": transfer.size / transfer.transit if moves else 0.0, "model id": NOT_COLLECTED,
        }  # fmt: skip
        at = us_text(self.export.device(transfer.start))
        return {"name": transfer.name, "pid": self.pids["HCCL"], "tid": tid, "ts": at, "dur": us(took), "args": args,
                "ph": "X"}  # fmt: skip

    def _overlap(self) -> Iterator[Event]:
        parts = lanes(self.trace)
        named = (
            ("Computing", parts.computing), ("Communication", parts.communication),
            ("Communication(Not Overlapped)", parts.exposed), ("Free", parts.free),
        )  # fmt: skip
        for tid, (name, intervals) in enumerate(named):
            for start, end in intervals:
                at = us_text(self.export.device(start))
                yield {"name": name, "pid": self.pids["Overlap Analysis"], "tid": tid, "ts": at, "dur": us(end - start),
                       "ph": "X"}  # fmt: skip


def sqe_type(task: Task) -> str:
    """The type the timeline gives a task; it calls vector kernels AI_CORE too."""
    if task.kernel is not None:
        return "AI_CORE" if task.kernel.core in ("AI_CORE", "AI_VECTOR_CORE") else task.kernel.core
    if task.kind == "copy":
        return "SDMA_SQE" if task.direction == "device to device" else "PCIE_DMA_SQE"
    return _SQE.get(task.kind, task.name)


_META_ARGUMENT = {"process_labels": "labels", "process_sort_index": "sort_index", "thread_sort_index": "sort_index"}


def _meta(name: str, pid: int, tid: int, value: object) -> Event:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": {_META_ARGUMENT.get(name, "name"): value}}


def _host_args(call: HostCall, number: int, export: Export) -> Event:
    if call.layer == "queue":
        return {"correlation_id": call.connection}
    if call.layer == "python":
        return {"Python id": number, "Python parent id": -1}
    args: Event = {"Sequence number": -1, "Fwd thread id": 0}
    shapes, dtypes = export.shapes_of(call)
    if shapes:
        args["Input Dims"] = shapes.replace(";", ";\r\n")
    if dtypes:
        args["Input type"] = dtypes.replace(";", ";\r\n")
    if export.stack(call):
        args["Call stack"] = export.stack(call).replace("\n", "\r\n")
    return args if call.layer != "gc" else {}
