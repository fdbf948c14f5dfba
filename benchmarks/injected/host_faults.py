# SPDX-License-Identifier: Apache-2.0
"""Faults of the host: it works, waits or stands still where it should launch."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.injected.changes import Changes, Operator
from benchmarks.injected.faults import HOST, JITTER, Fault, Run, forward, pieces, spread
from benchmarks.injected.program import Call, Flow, Moment, Task

_BUILD = 25_000_000
"""Building an operator takes the compiler tens of ms, in ns."""
_STACK = "/job/train.py({line}): {name};\r\n/job/train.py(212): <module>"


def _place(operator: Operator) -> Moment:
    return operator.top.begin.before or operator.top.begin


def _stalls(run: Run, amount: float, name: str, places: int, early: float = 1.0) -> None:
    """Python work in so many places of the forward pass; of its first part where it comes early."""
    for changes in run.ranks:
        for operators in forward(changes):
            chosen = spread(operators[: max(round(len(operators) * early), 1)], places)
            for operator in chosen:
                changes.stall(_place(operator), operator.top.lane, round(amount / len(chosen)), changes.python(name))


def python_work(run: Run, amount: float) -> None:
    """Python between the launches of the forward pass."""
    _stalls(run, amount, "train.py(87): update_metrics", 12)


def growing_python(run: Run, amount: float) -> None:
    """Python between the launches of the forward pass that takes as much longer in every step."""
    for changes in run.ranks:
        steps = forward(changes)
        for number, operators in enumerate(steps):
            chosen = spread(operators, 12)
            part = 2 * number / max(len(steps) - 1, 1) * amount / len(chosen)
            for operator in chosen if number else ():
                event = changes.python("train.py(91): compare_with_history")
                changes.stall(_place(operator), operator.top.lane, round(part), event)


def slowed_host(run: Run, amount: float) -> None:
    """From the middle step on everything takes the host longer, as on CPUs that are clocked down by then."""
    for changes in run.ranks:
        steps = forward(changes)
        late = steps[len(steps) // 2 :]
        for operators in late:
            part = round(amount * len(steps) / len(late) / len(operators))
            for operator in operators:
                changes.stall(operator.top.end, operator.top.lane, part)


def print_stall(run: Run, amount: float) -> None:
    """A slow print early in each step."""
    _stalls(run, amount, "<built-in function print>", 1, 0.2)


def stall_in_one_step(run: Run, amount: float) -> None:
    """A long pause of Python in one step only."""
    for changes in run.ranks:
        steps = forward(changes)
        operator = spread(steps[len(steps) // 2], 2)[0]
        event = changes.python("checkpoint.py(31): save")
        changes.stall(_place(operator), operator.top.lane, round(amount * len(steps)), event)


def python_without_name(run: Run, amount: float) -> None:
    """Time of the main thread that no event covers, as in a capture without call stacks."""
    for changes in run.ranks:
        for operators in forward(changes):
            for operator in spread(operators, 6):
                changes.stall(_place(operator), operator.top.lane, round(amount / 6))


def garbage(run: Run, amount: float) -> None:
    """A collection in each step, seen by the profiler."""
    _stalls_as(run, amount, "GC")


def asked_garbage(run: Run, amount: float) -> None:
    """The program collects garbage in each step, seen in its call stack."""
    _stalls(run, amount, "<built-in function collect>", 1, 0.5)


def _stalls_as(run: Run, amount: float, category: str) -> None:
    for changes in run.ranks:
        for operators in forward(changes):
            for operator in spread(operators[: len(operators) // 2], 1):
                event = changes.python("GC", category=category) | {"args": {}}
                changes.stall(_place(operator), operator.top.lane, round(amount), event)


def _third(run: Run) -> list[tuple[Changes, list[list[Operator]]]]:
    """Of each rank the forward operators of every third step."""
    return [(changes, forward(changes)[2::3]) for changes in run.ranks]


def garbage_every_third_step(run: Run, amount: float) -> None:
    """A collection in every third step, seen by the profiler."""
    for changes, steps in _third(run):
        for operators in steps:
            operator = spread(operators[: len(operators) // 2], 1)[0]
            event = changes.python("GC", category="GC") | {"args": {}}
            changes.stall(_place(operator), operator.top.lane, round(3 * amount), event)


def growing_pool(run: Run, amount: float) -> None:
    """The pool of device memory grows in one step, by calls that take long."""
    for changes in run.ranks:
        steps = forward(changes)
        chosen = spread(steps[len(steps) // 2], 6)
        for operator in chosen:
            event = changes.cann("aclrtMallocAlign32")
            time = round(amount * len(steps) / len(chosen))
            changes.stall(operator.top.begin, operator.top.lane, time, event)


def loader_every_third_step(run: Run, amount: float) -> None:
    """The batch of every third step is late: its workers do not keep up."""
    for changes in run.ranks:
        fetches = [call for call in changes.rank.calls if "DataLoader" in call.name and "__next__" in call.name]
        for call in sorted(fetches, key=lambda call: call.begin.at)[2::3]:
            call.end.work += round(3 * amount)


def data_loader(run: Run, amount: float) -> None:
    """Each step begins with a wait for the next batch."""
    for changes in run.ranks:
        wait_for_batch(changes, amount)


def wait_for_batch(changes: Changes, amount: float) -> None:
    """Lengthens the calls that fetch a batch."""
    for call in changes.rank.calls:
        if "DataLoader" in call.name and "__next__" in call.name:
            call.end.work += round(amount)


def _reads(run: Run, most: int, amount: float, names: tuple[str, ...]) -> None:
    """Waits for the device in so many places, and what Python does with each value."""
    count = pieces(run, amount, most)
    for changes in run.ranks:
        like = next((call.row for call in changes.rank.calls if call.row), None)
        for operators in forward(changes):
            chosen = spread(operators, count)
            for operator in chosen:
                place = operator.top.end
                stack = _STACK.format(line=94, name="check")
                changes.stall(place, operator.top.lane, round(amount / len(chosen)), None)
                waiting = changes.wait_for_device(place, names, "aclrtSynchronizeStreamWithTimeout", stack, like)
                if changes.rank.on_gpu:
                    copy_on_gpu(changes, operator, waiting, 2_000, "DtoH (Device -> Pageable)")


def item_reads(run: Run, amount: float) -> None:
    """`.item()` after every few operators."""
    _reads(run, 16, amount, ("aten::item", "aten::_local_scalar_dense"))


def two_waits(run: Run, amount: float) -> None:
    """Two `.item()` in a step, and Python that goes on with the values while the device has nothing to do."""
    _reads(run, 2, amount, ("aten::item", "aten::_local_scalar_dense"))


def two_copies(run: Run, amount: float) -> None:
    """Two `.to("cpu")` in a step, and Python that goes on with the values."""
    _reads(run, 2, amount, ("aten::to", "aten::_to_copy", "aten::copy_"))


def synchronise(run: Run, amount: float) -> None:
    """`torch.npu.synchronize()` after every few operators, as a timer does."""
    for changes in run.ranks:
        for operators in forward(changes):
            chosen = spread(operators, pieces(run, amount, 10))
            for operator in chosen:
                changes.stall(operator.top.end, operator.top.lane, round(amount / len(chosen)))
                changes.wait_for_device(operator.top.end, (), "aclrtSynchronizeDevice")


def online_compilation(run: Run, amount: float) -> None:
    """Operators are compiled in every step."""
    for changes in run.ranks:
        for operators in changes.in_steps(changes.operators):
            chosen = spread([op for op in operators if op.sending], max(round(amount / _BUILD), 1))
            for operator in chosen:
                sender = operator.sending[0]
                outer, inner = (
                    changes.cann(name, sender.event["tid"]) for name in ("aclopCompileAndExecute", "opCompile")
                )
                begin, end = Moment(work=2_000), Moment(work=50_000)
                sender.lane.insert(sender.begin, begin, end)
                changes.rank.calls.append(Call(begin, end, outer, sender.lane))
                changes.stall(begin, sender.lane, round(amount / len(chosen)), inner)


def allocations(run: Run, amount: float) -> None:
    """Device memory is given back and taken again in every step."""
    for changes in run.ranks:
        for operators in forward(changes):
            chosen = spread(operators, 8)
            for number, operator in enumerate(chosen):
                event = changes.cann("aclrtFree" if number % 2 else "aclrtMallocAlign32")
                changes.stall(operator.top.begin, operator.top.lane, round(amount / len(chosen)), event)


def pinning(run: Run, amount: float) -> None:
    """Host memory is pinned in every step."""
    for changes in run.ranks:
        for operators in forward(changes):
            chosen = spread(operators, 4)
            for operator in chosen:
                time, event = round(amount / len(chosen)), changes.cann("aclrtMallocHost")
                changes.stall(operator.top.begin, operator.top.lane, time, event)


def recompilation(run: Run, amount: float) -> None:
    """A compiled model meets another size in every step, and is compiled again."""
    _stalls(run, amount, "torch/_dynamo/convert_frame.py(1072): _compile", 2)


def blocking_copies(run: Run, amount: float) -> None:
    """The batch is copied in pieces, each of which the host waits for."""
    for changes in run.ranks:
        for operators in forward(changes):
            chosen = spread(operators[: len(operators) // 2], pieces(run, amount, 4))
            for operator in chosen:
                place = operator.top.end
                names = ("aten::to", "aten::_to_copy", "aten::copy_")
                waiting = changes.wait_for_device(place, names, "aclrtSynchronizeStreamWithTimeout")
                _copy(changes, operator, waiting, round(amount / len(chosen)))


def _copy(changes: Changes, operator: Operator, waiting: Call, time: int) -> None:
    """A copy to the device that a waiting call waits for."""
    if changes.rank.on_gpu:
        copy_on_gpu(changes, operator, waiting, time, "HtoD (Pageable -> Device)")
        return
    like = next((task for task in changes.rank.tasks if task.kind == "copy" and task.launch), None)
    if like is None:
        return
    link = changes.number(0)
    event = changes.cann("aclrtMemcpyAsync")
    event["args"]["connection_id"] = link
    launch_begin, launch_end = Moment(work=1_000), Moment(work=8_000)
    operator.top.lane.insert(waiting.begin.before or waiting.begin, launch_begin, launch_end)
    launch = Call(launch_begin, launch_end, event, operator.top.lane)
    changes.rank.calls.append(launch)
    last = operator.tasks[-1]
    begin, end = Moment(work=500, waits=[(launch_begin, 15_000)]), Moment(work=time)
    last.lane.insert(last.end, begin, end)
    args = like.event["args"] | {"connection_id": link, "Task Id": changes.number(0)}
    args |= {"data size(Byte)": time * 20, "memcpy direction": "host to device"}
    copied = like.event | {"args": args, "pid": last.event["pid"], "tid": last.event["tid"]}
    copied["args"]["Physic Stream Id"] = last.event["args"].get("Physic Stream Id", last.event["tid"])
    task = Task(begin, end, copied, last.lane, "copy", launch)
    number = changes.number("0")
    arrow = {"name": f"HostToDevice{number}", "cat": "HostToDevice", "id": number}
    launch.flows.append(Flow(arrow | {"ph": "s", "pid": event["pid"], "tid": event["tid"], "ts": "0"}))
    task.flows.append(Flow(arrow | {"ph": "f", "bp": "e", "pid": copied["pid"], "tid": copied["tid"], "ts": "0"}))
    changes.rank.tasks.append(task)
    waiting.end.waits.append((end, 20_000))


def copy_on_gpu(changes: Changes, operator: Operator, waiting: Call, time: int, way: str) -> None:
    """A copy of a GPU, to the device or back, that a waiting call waits for."""
    event = changes.cann("aclrtMemcpyAsync")
    launch = Call(Moment(work=1_000), Moment(work=8_000), event, operator.top.lane)
    operator.top.lane.insert(waiting.begin.before or waiting.begin, launch.begin, launch.end)
    changes.rank.calls.append(launch)
    last = operator.tasks[-1]
    begin, end = Moment(work=500, waits=[(launch.begin, 8_000)]), Moment(work=time)
    last.lane.insert(last.end, begin, end)
    known = ("device", "context", "stream")
    args = {key: last.event["args"][key] for key in known} | {"bytes": max(time * 10, 4)} | event["args"]
    place = {key: last.event[key] for key in ("pid", "tid")}
    copied = {"ph": "X", "cat": "gpu_memcpy", "name": f"Memcpy {way}", "args": args} | place
    task = Task(begin, end, copied, last.lane, "copy", launch)
    arrow = {"name": "ac2g", "cat": "ac2g", "id": launch.link}
    launch.flows.append(Flow(arrow | {"ph": "s", "pid": event["pid"], "tid": event["tid"]}))
    task.flows.append(Flow(arrow | {"ph": "f", "bp": "e"} | place))
    changes.rank.tasks.append(task)
    waiting.end.waits.append((end, 20_000))


FAULTS: Mapping[str, Fault] = {
    "python-work": Fault(python_work, frozenset({"host/python-bound"}), HOST),
    "growing-python": Fault(growing_python, frozenset({"host/python-bound"}), HOST | JITTER, bases=("balanced",)),
    "slowed-host": Fault(slowed_host, frozenset({"host/python-bound"}), HOST | JITTER, bases=("balanced",)),
    "print-stall": Fault(print_stall, frozenset({"host/python-bound"}), HOST),
    "unnamed-python": Fault(python_without_name, frozenset({"host/python-bound", "host/silent-pauses"}), HOST),
    "stall-in-one-step": Fault(
        stall_in_one_step,
        frozenset({"host/python-bound", "host/step-jitter", "host/stalled-step"}),
        HOST | JITTER,
        bases=("balanced",),
    ),
    "garbage-collection": Fault(garbage, frozenset({"host/garbage-collection"}), HOST),
    "asked-garbage-collection": Fault(asked_garbage, frozenset({"host/garbage-collection"}), HOST),
    "garbage-every-third-step": Fault(
        garbage_every_third_step, frozenset({"host/garbage-collection"}), HOST | JITTER, bases=("balanced",)
    ),
    "growing-pool": Fault(growing_pool, frozenset({"memory/allocator-churn"}), HOST | JITTER, bases=("balanced",)),
    "loader-every-third-step": Fault(
        loader_every_third_step, frozenset({"io/data-loader"}), HOST | JITTER, bases=("balanced",)
    ),
    "data-loader": Fault(data_loader, frozenset({"io/data-loader", "io/first-batch"}), HOST),
    "item-reads": Fault(
        item_reads,
        frozenset({"host/device-to-host-reads", "host/synchronising-calls"}),
        HOST | {"host/python-bound"},
        bases=("balanced",),
    ),
    "two-waits": Fault(
        two_waits, frozenset({"host/device-to-host-reads", "host/synchronising-calls", "host/python-bound"}), HOST
    ),
    "two-copies-back": Fault(
        two_copies,
        frozenset(
            {"host/blocking-copies", "host/synchronising-calls", "host/device-to-host-reads", "host/python-bound"}
        ),
        HOST,
    ),
    "synchronise": Fault(
        synchronise, frozenset({"host/synchronising-calls"}), HOST | {"host/python-bound"}, bases=("balanced",)
    ),
    "online-compilation": Fault(online_compilation, frozenset({"host/online-compilation"}), HOST),
    "recompilation": Fault(recompilation, frozenset({"host/graph-compilation"}), HOST),
    "pinned-memory": Fault(pinning, frozenset({"memory/pinned-in-step"}), HOST),
    "allocator-churn": Fault(allocations, frozenset({"memory/allocator-churn"}), HOST),
    "blocking-copies": Fault(
        blocking_copies, frozenset({"host/blocking-copies", "io/exposed-copies"}), HOST | {"host/synchronising-calls"}
    ),
}
