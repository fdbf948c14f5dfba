# SPDX-License-Identifier: Apache-2.0
"""What can be changed in the program of a rank: time put in, operators repeated, work made longer or shorter.

Changes are made on a program that was run: places are told by the times of that run.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.injected.program import Call, Event, Flow, Lane, Moment, Rank, Row, Task

_AROUND = re.compile(r"ProfilerStep|DistributedDataParallel|Optimizer\.|autograd::|.*Backward\d+$|torch::autograd")
"""Calls that are around operators and are none themselves."""
_ON_GPUS = {
    "aclrtSynchronizeStreamWithTimeout": "cudaStreamSynchronize",
    "aclrtSynchronizeDevice": "cudaDeviceSynchronize",
    "aclrtMallocAlign32": "cudaMalloc",
    "aclrtFree": "cudaFree",
    "aclrtMallocHost": "cudaHostAlloc",
    "aclrtMemcpyAsync": "cudaMemcpyAsync",
}
"""What CUDA has instead of a call into CANN."""
_SYNCHRONISE = 20_000
"""From the end of the last task until a synchronising call has returned, in ns."""


@dataclass(slots=True)
class Operator:
    """One operator of the framework: its calls, what the task queue did for it, and its tasks."""

    top: Call
    calls: list[Call]
    """On the thread that called it, `top` first."""
    sending: list[Call]
    """On the thread of the task queue; none where there is no such thread."""
    tasks: list[Task]

    @property
    def kernels(self) -> list[Task]:
        """Those of its tasks that compute."""
        return [task for task in self.tasks if task.kind == "kernel"]

    @property
    def launched(self) -> Moment:
        """When its first task is sent."""
        return (self.sending or self.calls)[0].begin


class Changes:
    """One rank being changed."""

    def __init__(self, rank: Rank) -> None:
        self.rank = rank
        self._calls: dict[int, list[Call]] = defaultdict(list)
        for call in sorted(rank.calls, key=lambda call: (call.begin.at, -call.end.at)):
            self._calls[id(call.lane)].append(call)
        self._begins = {lane: [call.begin.at for call in calls] for lane, calls in self._calls.items()}
        self._tops = {lane: _top_operators(calls) for lane, calls in self._calls.items()}
        self._top_begins = {lane: [call.begin.at for call in calls] for lane, calls in self._tops.items()}
        self.operators = self._operators_by_launch() if rank.on_gpu else self._operators_by_queue()

    def _operators_by_launch(self) -> list[Operator]:
        found: dict[int, Operator] = {}
        for task in self.rank.tasks:
            top = self._outermost(task.launch) if task.launch else None
            if top is not None:
                found.setdefault(id(top), Operator(top, self.within(top), [], [])).tasks.append(task)
        return sorted(found.values(), key=lambda op: op.top.begin.at)

    def _operators_by_queue(self) -> list[Operator]:
        dequeues = {call.link: call for call in self.rank.calls if call.event.get("cat") == "dequeue"}
        tasks = self._sent_by(list(dequeues.values()))
        found: dict[int, Operator] = {}
        for enqueue in (call for call in self.rank.calls if call.event.get("cat") == "enqueue"):
            dequeue, top = dequeues.get(enqueue.link), self._outermost(enqueue)
            if dequeue is not None and top is not None:
                operator = found.setdefault(id(top), Operator(top, self.within(top), [], []))
                operator.sending += self.within(dequeue)
                operator.tasks += tasks.get(id(dequeue), [])
        return sorted((op for op in found.values() if op.tasks), key=lambda op: op.top.begin.at)

    def _sent_by(self, dequeues: Iterable[Call]) -> dict[int, list[Task]]:
        """Tasks by the queue entry that sent them."""
        ordered = sorted(dequeues, key=lambda call: call.begin.at)
        begins = [call.begin.at for call in ordered]
        found: dict[int, list[Task]] = defaultdict(list)
        for task in self.rank.tasks:
            place = bisect_right(begins, task.launch.begin.at) - 1 if task.launch else -1
            if task.launch and place >= 0 and ordered[place].end.at >= task.launch.begin.at:
                found[id(ordered[place])].append(task)
        return found

    def within(self, outer: Call) -> list[Call]:
        """The calls inside one, itself first."""
        lane = id(outer.lane)
        start = bisect_left(self._begins[lane], outer.begin.at)
        stop = bisect_right(self._begins[lane], outer.end.at)
        inside = [c for c in self._calls[lane][start:stop] if c is not outer and _is_inside(c, outer)]
        return [outer, *inside]

    def _outermost(self, inner: Call) -> Call | None:
        """The outermost operator around a call."""
        lane = id(inner.lane)
        place = bisect_right(self._top_begins[lane], inner.begin.at) - 1
        found = self._tops[lane][place] if place >= 0 else None
        return found if found is not None and found.end.at >= inner.end.at else None

    def number(self, like: Any) -> Any:
        """A number that nothing has yet, of the type of a recorded one."""
        fresh = self.rank.next_number
        self.rank.next_number += 1
        return str(fresh) if isinstance(like, str) else fresh

    def in_steps(self, operators: Sequence[Operator]) -> list[list[Operator]]:
        """Operators by step."""
        begins = [step.begin.at for step in self.rank.steps]
        found: list[list[Operator]] = [[] for _ in begins]
        for operator in operators:
            place = bisect_right(begins, operator.top.begin.at) - 1
            if place >= 0:
                found[place].append(operator)
        return found

    def stall(self, place: Moment, lane: Lane, time: int, event: Event | None = None) -> None:
        """Puts work into a thread behind a moment: seen as a call, or as nothing at all."""
        begin, end = Moment(), Moment(work=time)
        lane.insert(place, begin, end)
        if event is not None:
            self.rank.calls.append(Call(begin, end, event, lane))

    def python(self, name: str, stack: str = "", category: str = "python_function") -> Event:
        """An event of the main thread."""
        like = next(call.event for call in self.rank.calls if call.lane is self.rank.main and call.event.get("cat"))
        args: dict[str, Any] = {"Call stack": stack} if stack else {}
        if category == "python_function":
            args = {"Python id": self.number(0), "Python parent id": 0}
        return {"ph": "X", "name": name, "pid": like["pid"], "tid": like["tid"], "cat": category, "args": args}

    def cann(self, name: str, tid: int | None = None) -> Event:
        """A call into CANN, of the main thread where no other is given; its like in CUDA where the run is on GPUs."""
        tid = self.python("")["tid"] if tid is None else tid
        if self.rank.on_gpu:
            args = {"correlation": self.number(0)}
            return self.python("") | {"name": _ON_GPUS[name], "cat": "cuda_runtime", "args": args}
        like = next(call.event for call in self.rank.calls if call.event.get("args", {}).get("level"))
        args = {
            "Thread Id": tid, "Mode": "ACL_RTS", "level": "acl", "id": name, "item_id": "0",
            "connection_id": self.number(0),
        }  # fmt: skip
        return {"ph": "X", "name": f"AscendCL@{name}", "pid": like["pid"], "tid": tid, "args": args}

    def wait_for_device(
        self, place: Moment, names: Sequence[str], cann: str, stack: str = "", row: Row | None = None
    ) -> Call:
        """Lets the main thread wait behind a moment until all that was sent before has run.

        `names` are those of the framework around the call into CANN, outermost first. Returns that call.
        """
        lane, time = self.rank.main, place.at
        around = [(Moment(work=2_000), Moment(work=2_000), self.python(name, stack, "cpu_op")) for name in names]
        begin, end = Moment(work=2_000), Moment(work=5_000)
        end.waits = [(task.end, _SYNCHRONISE) for task in self._sent_before(time)]
        order = [begin for begin, _, _ in around] + [begin, end] + [end for _, end, _ in reversed(around)]
        lane.insert(place, *order)
        for first, last, event in around:
            self.rank.calls.append(Call(first, last, event, lane, row=_like_row(event, row)))
        made = Call(begin, end, self.cann(cann), lane)
        self.rank.calls.append(made)
        return made

    def _sent_before(self, time: int) -> list[Task]:
        """The last task of each stream that belongs to an operator called before a time."""
        last: dict[int, Task] = {}
        for operator in self.operators:
            if operator.top.begin.at < time:
                for task in operator.tasks:
                    last[id(task.lane)] = task
        return list(last.values())

    def repeat(self, operator: Operator, place: Operator, behind: bool = False) -> Operator:
        """Calls an operator once more, before or behind another; its tasks run on the stream of the other's."""
        copy = _Copy(self, operator)
        where = (place.calls[0].end if behind else place.calls[0].begin.before) or place.calls[0].begin
        copy.insert(operator.calls, where, place.top.lane)
        if operator.sending:
            last = max(place.sending, key=lambda call: call.end.at)
            where = (last.end if behind else place.sending[0].begin.before) or place.sending[0].begin
            copy.insert(operator.sending, where, place.sending[0].lane)
        task = place.tasks[-1] if behind else place.tasks[0]
        where = (task.end if behind else task.begin.before) or task.begin
        tasks = copy.insert_tasks(operator.kernels, where, task.lane)
        return Operator(copy.calls[0], copy.calls, copy.calls[len(operator.calls) :], tasks)


def _top_operators(calls: Sequence[Call]) -> list[Call]:
    """Of the calls of a thread, in order, the operators that no other is around."""
    found: list[Call] = []
    for call in calls:
        operator = call.event.get("cat") in ("cpu_op", "Operator") and not _AROUND.match(call.name)
        if operator and (not found or call.begin.at >= found[-1].end.at):
            found.append(call)
    return found


def _is_inside(call: Call, outer: Call) -> bool:
    longer = call.end.at - call.begin.at > outer.end.at - outer.begin.at
    return call.end.at <= outer.end.at and not longer


def _like_row(event: Event, row: Row | None) -> Row | None:
    if row is None:
        return None
    return {heading: "" for heading in row} | {"Name": event["name"], "Call Stack": event["args"].get("Call stack", "")}


class _Copy:
    """One operator being copied: events with numbers of their own, moments that wait for each other as before."""

    def __init__(self, changes: Changes, operator: Operator) -> None:
        self.changes = changes
        self.calls: list[Call] = []
        self._moments: dict[int, Moment] = {}
        self._launches: dict[int, Call] = {}
        self._ids: dict[Any, Any] = {}

    def insert(self, calls: Sequence[Call], place: Moment, lane: Lane) -> None:
        """Copies calls, with all moments from the first to the last, behind a moment of a thread."""
        ends = {id(call.end) for call in calls}
        moment: Moment | None = calls[0].begin
        originals = []
        while moment is not None and ends:
            originals.append(moment)
            ends.discard(id(moment))
            moment = moment.after
        copies = [Moment(work=max(original.work, 0)) for original in originals]
        for original, made in zip(originals, copies, strict=True):
            self._moments[id(original)] = made
            made.waits = [(self._moments[id(o)], lag) for o, lag in original.waits if id(o) in self._moments]
        copies[0].work = 1_000
        lane.insert(place, *copies)
        for call in calls:
            event = self._event(call.event)
            made_call = Call(
                self._moments[id(call.begin)], self._moments[id(call.end)], event, lane,
                [Flow(self._flow(f.event, event), f.lag) for f in call.flows if f.event["cat"] != "fwdbwd"],
                dict(call.row) if call.row else None,
            )  # fmt: skip
            self._launches[id(call)] = made_call
            self.calls.append(made_call)
            self.changes.rank.calls.append(made_call)

    def insert_tasks(self, tasks: Sequence[Task], place: Moment, lane: Lane) -> list[Task]:
        """Copies tasks behind a moment of a stream."""
        made = []
        for task in tasks:
            launch = self._launches.get(id(task.launch))
            begin = Moment(work=max(min(task.begin.work, 2_000), 0))
            lags = [lag for other, lag in task.begin.waits if task.launch and other is task.launch.begin]
            begin.waits = [(launch.begin, min([20_000, *lags]))] if launch else []
            end = Moment(work=task.duration)
            lane.insert(place, begin, end)
            place = end
            event = self._event(task.event)
            flows = [Flow(self._flow(flow.event, event), flow.lag) for flow in task.flows]
            row = dict(task.row) if task.row else None
            if row and row.get("Task ID"):
                row["Task ID"] = str(event["args"].get("Task Id", row["Task ID"]))
            made.append(Task(begin, end, event, lane, task.kind, launch, flows, row))
        self.changes.rank.tasks += made
        return made

    def _event(self, event: Event) -> Event:
        args = dict(event.get("args", {}))
        for key in ("connection_id", "correlation_id", "correlation", "Task Id", "External id"):
            if key in args:
                args[key] = self._other(key, args[key])
        return event | {"args": args} if args else dict(event)

    def _flow(self, flow: Event, holder: Event) -> Event:
        other = self._other(flow["cat"], flow["id"])
        named = {"name": f"HostToDevice{other}"} if flow["cat"] == "HostToDevice" else {}
        return flow | {"id": other, "pid": holder["pid"], "tid": holder["tid"]} | named

    def _other(self, kind: str, value: Any) -> Any:
        key = kind, value
        if key not in self._ids:
            self._ids[key] = self.changes.number(value)
        return self._ids[key]
