# SPDX-License-Identifier: Apache-2.0
"""One rank of a simulated job: main thread, queue thread, streams and allocator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass

from corpus import program as do
from corpus.allocator import Allocator
from corpus.events import Collective, HostCall, RankTrace, Task
from corpus.links import Route, noise, ns
from corpus.planes import Planes, dtype_bytes, group_name, operator_name

_COMPUTE_STREAM = 2
_FIRST_COMM_STREAM = 4
_COPY_STREAM = 1
_OPEN_COLLECTIVES = 64
"""So many of the last collectives may still run."""
_STREAM_OF_CORE = {"DSA_SQE": 3}
_SHORTEST_NS = 20


@dataclass(frozen=True, slots=True)
class Met:
    """What the members of a collective learn when the last one is there."""

    meeting: int
    there: Mapping[int, int]
    """When each member came."""
    route: Route

    @property
    def everyone_there(self) -> int:
        """When the last one came."""
        return max(self.there.values())


_Work = Callable[[int, int], int]
"""What a queue entry does: from (thread, start) to its end."""


class RankMachine:
    """Runs the program of one rank and records what a profiler would see."""

    def __init__(self, rank: int, machine: do.Machine, seed: int) -> None:
        self.machine = machine
        self.seed = seed
        pid = 3178000 + 997 * rank
        node = rank // machine.ranks_per_node if machine.ranks_per_node else 0
        self.trace = RankTrace(rank=rank, device=rank % (machine.ranks_per_node or 8), pid=pid, node=node)
        self.main_thread, self.queue_thread = pid, pid + 3539
        self.main = self.queue = 0
        self.comm_ready = 0
        self.streams: Counter[int] = Counter()
        self._tasks: Counter[int] = Counter()
        self._seen: dict[tuple[int, str], int] = {}
        self._rank, self._noise = rank, machine.noise
        self._enqueue_ns, self._gap_ns = ns(machine.enqueue_us), ns(machine.kernel_gap_us)
        self._connection = 900
        self._correlation = 8_000_000
        self._comm_streams: dict[tuple[int, ...], int] = {}
        self._met: Counter[str] = Counter()
        self._open: list[HostCall] = []
        self._modules: list[HostCall] = []
        self._forward: dict[str, dict[str, HostCall]] = {}
        self._gradient = ""
        self.step = -1
        """The one whose instructions the host carries out; -1 before the first."""
        self._host = machine.host_scale.get(rank, 1.0)
        mhz = machine.mhz.get(rank, machine.full_mhz)
        self._slowdown = machine.compute_scale.get(rank, 1.0) * machine.full_mhz / mhz
        self.trace.frequency.append((0, mhz))
        self.allocator = Allocator(self.trace)

    def run(self, program: Iterable[do.Instruction]) -> Generator[do.Meeting, Met, None]:
        """Follow the program; stop at each collective until everyone is there."""
        for instruction in program:
            if isinstance(instruction, do.Communicate):
                origin, launch = self._launch_collective(instruction)
                met = yield instruction
                self._communicate(instruction, origin, launch, met)
            elif isinstance(instruction, do.Exchange):
                kernel = self._launch_exchange(instruction)
                met = yield instruction
                self._exchange(kernel, met)
            else:
                self._DO[type(instruction)](self, instruction)

    def finish(self) -> RankTrace:
        """Close what is open and give the trace."""
        self.trace.end = max([self.main, self.queue, *self.streams.values()]) + 200_000
        while self._open:
            self._close()
        self.allocator.sample(self.trace.end)
        return self.trace

    # The main thread

    def _enter_step(self, step: do.Step) -> None:
        while self._open:
            self._close()
        if step.number >= 0:
            self.step = step.number
            self._open_range("step", f"ProfilerStep#{step.number}")

    def _open_range(self, layer: str, name: str, shapes: str = "", dtypes: str = "", stack: str = "") -> HostCall:
        call = HostCall(layer, name, self.main_thread, self.main, shapes=shapes, dtypes=dtypes, stack=stack)
        self.trace.calls.append(call)
        self._open.append(call)
        return call

    def _close(self) -> None:
        self._open.pop().end = self.main
        self.main += 400

    def _begin(self, begin: do.Begin) -> None:
        self._open_range(begin.layer, begin.name)

    def _end(self, _: do.End) -> None:
        self._close()

    def _enter(self, enter: do.Enter) -> None:
        call = HostCall("module", enter.name, self.main_thread, self.main)
        self.trace.modules.append(call)
        self._modules.append(call)

    def _leave(self, _: do.Leave) -> None:
        self._modules.pop().end = self.main

    def _compute_gradients(self, gradient: do.Gradient) -> None:
        self._gradient = gradient.module

    def _link_gradient(self, call: HostCall) -> None:
        """An operator inside of modules is one whose gradient is computed: by the operator named after it, else by any
        that no operator is named after."""
        if self._modules:
            path = "/".join(module.name for module in self._modules)
            self._forward.setdefault(path, {}).update({call.name: call, "": call})
        elif forward := self._forward.get(self._gradient):
            self.trace.gradients.append((forward.get(call.name.removesuffix("_grad"), forward[""]), call))

    def _be_busy(self, host: do.Host) -> None:
        call = self._open_range(host.layer, host.name)
        if host.layer == "acl":  # each call into CANN has a number of its own
            call.connection = self._next_connection()
        self.main += self._host_ns(host.us, host.name)
        self._close()

    def _pause(self, pause: do.Pause) -> None:
        self.main += self._host_ns(pause.us, "pause")

    def _launch(self, launch: do.Launch) -> None:
        op = self._open_range("op", launch.op, shapes=launch.shapes, dtypes=launch.dtypes, stack=launch.stack)
        self._link_gradient(op)
        host = self._host_ns(launch.host_us, launch.op)
        if launch.output_bytes:
            self.allocator.take(launch.op, launch.output_bytes, self.main + host // 3)
        self.main += host
        self._submit(launch.api, lambda thread, at: self._launch_kernels(launch, op, thread, at))
        self._close()

    def _release(self, free: do.Free) -> None:
        for _ in range(free.count):
            self.allocator.give_back(self.main)
            self.main += 300

    def _give_back(self, blocks: do.GiveBack) -> None:
        for newest, count in ((False, blocks.oldest), (True, blocks.newest)):
            for _ in range(count):
                self.allocator.give_back(self.main, newest=newest)

    def _churn(self, churn: do.Churn) -> None:
        """The cache is emptied and filled again: both calls go to the driver and block."""
        for name, grow in (("aclrtFreePhysical", False), ("aclrtMallocPhysical", True)):
            end = self.main + self._host_ns(churn.us / 2, name)
            self._call("acl", name, self.main_thread, self.main, end)
            self.main = end
            self.allocator.reserve(churn.size if grow else -churn.size, self.main)

    def _copy(self, copy: do.Copy) -> None:
        op = self._open_range("op", copy.op)
        self.main += self._host_ns(copy.host_us, copy.op)
        if copy.blocking:
            self._copy_and_wait(copy, op)
        else:
            entry = "acl_memcpy_host_to_device" if copy.direction == "host to device" else "acl_memcpy_device_to_host"
            self._submit(entry, lambda thread, at: self._copy_async(copy, op, thread, at))
        self._close()

    def _copy_and_wait(self, copy: do.Copy, op: HostCall) -> None:
        self.main = max(self.main, self.queue)
        connection = self._next_connection()
        start = self.main
        task = self._copy_task(copy, op, connection, start, self.main_thread)
        self.main = task.end + ns(self.machine.synchronize_us)
        self._call("acl", "aclrtMemcpy", self.main_thread, start, self.main, connection=connection)

    def _synchronize(self, sync: do.Synchronize) -> None:
        op = self._open_range("op", sync.op, stack=sync.stack)
        self.main += self._host_ns(12, sync.op)
        self._open_range("op", "aten::_local_scalar_dense")
        self.main = max(self.main + 4_000, self.queue)
        copy = do.Copy(sync.op, "device to host", 4, 1.6)
        self.main = self._copy_async(copy, op, self.main_thread, self.main)
        self._wait_for_stream(self.main_thread)
        self._close()
        self._close()

    def _wait_for_stream(self, thread: int) -> None:
        start = self.main
        self.main = max(start, self.streams[_COMPUTE_STREAM]) + ns(self.machine.synchronize_us)
        self._call("acl", "aclrtSynchronizeStreamWithTimeout", thread, start, self.main)
        self._call("runtime", "StreamSynchronize", thread, start + 600, self.main - 1_200)

    # The queue

    def _submit(self, entry: str, work: _Work) -> None:
        """Hand work to the queue thread; with launch blocking the main thread does it and waits for the device."""
        if self.machine.launch_blocking:
            self.main = self.queue = work(self.main_thread, self.main)
            self._wait_for_stream(self.main_thread)
            return
        self._correlation += 1
        put = self.main + self._enqueue_ns
        self.trace.calls.append(HostCall("queue", "Enqueue", self.main_thread, self.main, put, self._correlation))
        self.main = put + 1_000
        start = max(put + 1_500, self.queue)
        taken = HostCall("queue", f"Dequeue@{entry}", self.queue_thread, start, -1, self._correlation)
        self.trace.calls.append(taken)
        taken.end = work(self.queue_thread, start + 2_000) + 1_000
        self.queue = taken.end + 3_000

    def _launch_kernels(self, launch: do.Launch, op: HostCall, thread: int, at: int) -> int:
        name = "aclopCompileAndExecute" if launch.compile_us else launch.api
        call = self._call("acl", name, thread, at, at)
        at += 2_000
        if launch.compile_us:
            end = at + self._host_ns(launch.compile_us, "opCompile")
            self._call("acl", "opCompile", thread, at, end)
            at = end + 1_000
        for kernel in launch.kernels:
            at = self._launch_kernel(kernel, op, thread, at) + 1_000
        call.end = at + ns(max(0, self.machine.dequeue_us - self.machine.launch_us) * self._host)
        return call.end

    def _launch_kernel(self, kernel: do.Kernel, op: HostCall, thread: int, at: int) -> int:
        end = at + self._host_ns(self.machine.launch_us, "launch")
        node = self._call("node", "launch", thread, at, end, item=kernel.name)
        self._call("runtime", "KernelLaunchWithHandle", thread, at + 1_900, at + 5_000)
        stream = kernel.stream or _STREAM_OF_CORE.get(kernel.info.core, _COMPUTE_STREAM)
        slowdown = self._slowdown * self.machine.paces.get(self.step, 1.0)
        took = self._varied(kernel.us * (1 if kernel.info.core == "AI_CPU" else slowdown), kernel.name)
        task = self._run_task("kernel", kernel.name, stream, took, launch=node, op=op)
        task.kernel = kernel.info
        if self.machine.overlap_cost and kernel.info.core != "AI_CPU" and self._is_communicating(task.start):
            task.end += round(took * self.machine.overlap_cost)
            self.streams[stream] = task.end
        return end

    def _is_communicating(self, moment: int) -> bool:
        latest = self.trace.collectives[-_OPEN_COLLECTIVES:]
        return any(one.start <= moment < one.end for one in latest)

    def _copy_async(self, copy: do.Copy, op: HostCall, thread: int, at: int) -> int:
        connection = self._next_connection()
        self._copy_task(copy, op, connection, at, thread)
        end = at + self._host_ns(11.9, "aclrtMemcpyAsync")
        self._call("acl", "aclrtMemcpyAsync", thread, at, end, connection=connection)
        return end

    def _copy_task(self, copy: do.Copy, op: HostCall, connection: int, at: int, thread: int) -> Task:
        call = HostCall("acl", "", thread, at, at, connection)
        stream = _COPY_STREAM if copy.ahead else _COMPUTE_STREAM
        task = self._run_task("copy", "MEMCPY_ASYNC", stream, self._varied(copy.us, "copy"), launch=call, op=op)
        task.size, task.direction = copy.size, copy.direction
        return task

    # Communication

    def _comm_stream(self, members: tuple[int, ...]) -> int:
        return self._comm_streams.setdefault(members, _FIRST_COMM_STREAM + len(self._comm_streams))

    def _event(self, name: str, stream: int, until: int) -> _Work:
        """Queue work: record an event on a stream, or make the stream wait until a moment."""
        api, kind = {"record_event": ("aclrtRecordEvent", "record"), "wait_event": ("aclrtStreamWaitEvent", "wait")}[
            name
        ]

        def work(thread: int, at: int) -> int:
            end = at + self._host_ns(self.machine.event_us, api)
            call = self._call("acl", api, thread, at, end)
            self._call("runtime", "EventRecord" if kind == "record" else "StreamWaitEvent", thread, at + 800, end - 600)
            task = self._run_task(kind, f"EVENT_{kind.upper()}", stream, 20, launch=call, op=None)
            task.end = max(task.end, until)
            self.streams[stream] = max(self.streams[stream], task.end)
            return end

        return work

    def _launch_collective(self, wanted: do.Communicate) -> tuple[HostCall, HostCall]:
        stream = self._comm_stream(wanted.members)
        origin = self._open_range("op", wanted.op)
        self.main += self._host_ns(wanted.host_us, wanted.op)
        self._submit("record_event", self._event("record_event", _COMPUTE_STREAM, 0))
        self._submit("wait_event", self._event("wait_event", stream, self.streams[_COMPUTE_STREAM]))
        launched: list[HostCall] = []

        def work(thread: int, at: int) -> int:
            end = at + self._host_ns(self.machine.collective_launch_us, "hcom")
            launched.append(self._call("acl", f"hcom_{wanted.kind}_", thread, at, end))
            self._call("node", "launch", thread, at, end, item=f"hcom_{wanted.kind}_")
            self._call("hccl", "Launch_Ffts", thread, end - 100_000, end - 10_000, item="Launch_Ffts")
            return end

        self._submit(f"Hccl{wanted.kind.capitalize()}", work)
        self._close()
        launch = launched[0]
        self.comm_ready = max(launch.end - 10_000, self.streams[stream] + 3_600)
        return origin, launch

    def _communicate(self, wanted: do.Communicate, origin: HostCall, launch: HostCall, met: Met) -> None:
        stream = self._comm_stream(wanted.members)
        members = wanted.communicator or wanted.members
        group = group_name(wanted.group, members)
        start, end = self.comm_ready, met.everyone_there + ns(self.machine.setup_us) + met.route.transit
        done = Collective(
            op=wanted.kind, name=operator_name(wanted.kind, group, self._met[group]), group=group, members=members,
            index=self._met[group], meeting=met.meeting, start=start, end=end, connection=launch.connection,
            step=self.step, count=wanted.size // dtype_bytes(wanted.dtype), dtype=wanted.dtype,
            wait=met.everyone_there - start, transit=met.route.transit, launch_start=launch.start,
            launch_thread=launch.thread, origin=origin,
        )  # fmt: skip
        self._met[group] += 1
        self._tasks[stream] += 1
        machine = self.machine.in_step(self.step).slowed(wanted.slower)
        planes = Planes(done, wanted, self.trace.rank, machine, met.route, met.there)
        done.transfers = planes.transfers(stream, self._tasks[stream])
        self.trace.collectives.append(done)
        self.trace.tasks.extend(transfer.task for transfer in done.transfers)
        origin.launched.append(launch.connection)
        self.streams[stream] = end

    def _launch_exchange(self, wanted: do.Exchange) -> Task:
        """Launches the kernel, and says when it has done its part: when its own work is through."""
        self._launch(wanted.launch)
        kernel = next(task for task in reversed(self.trace.tasks) if task.kind == "kernel")
        self.comm_ready = kernel.end
        return kernel

    def _exchange(self, kernel: Task, met: Met) -> None:
        """The kernel ends when the last part has come; what moves beside the computation takes no time of its own."""
        beyond = max(0, met.route.transit - (kernel.end - kernel.start))
        kernel.end = met.everyone_there + ns(self.machine.packet_overhead_us) + beyond
        self.streams[kernel.stream] = kernel.end

    def _await_communication(self, wanted: do.AwaitCommunication) -> None:
        for members, stream in self._comm_streams.items():
            if wanted.members and members != wanted.members:
                continue
            self._submit("record_event", self._event("record_event", stream, 0))
            self._submit("wait_event", self._event("wait_event", _COMPUTE_STREAM, self.streams[stream]))

    # What all have in common

    def _next_connection(self) -> int:
        self._connection += 1
        return self._connection

    def _call(
        self, layer: str, name: str, thread: int, start: int, end: int, *, connection: int = 0, item: str = "0"
    ) -> HostCall:
        if not connection or layer == "runtime":
            connection = self._next_connection()
        call = HostCall(layer, name, thread, start, end, connection, item)
        self.trace.calls.append(call)
        return call

    def _run_task(self, kind: str, name: str, stream: int, took: int, *, launch: HostCall, op: HostCall | None) -> Task:
        ready = launch.start + self._varied(self.machine.launch_to_device_us, "ready")
        free = self.streams[stream]
        start = max(ready, free + self._gap_ns) if free else ready
        self._tasks[stream] += 1
        task = Task(kind, name, stream, self._tasks[stream], start, start + took, launch.connection, self.step)
        task.launch_start, task.launch_thread, task.origin = launch.start, launch.thread, op
        self.streams[stream] = task.end
        self.trace.tasks.append(task)
        if op is not None:
            op.launched.append(launch.connection)
        return task

    def _host_ns(self, us: float, name: str) -> int:
        return self._varied(us * self._host, name)

    def _varied(self, us: float, name: str) -> int:
        key = (self.step, name)
        self._seen[key] = times = self._seen.get(key, 0) + 1
        varied = ns(us * (1 + self._noise * noise(self.seed, self._rank, self.step, name, times)))
        return varied if varied > _SHORTEST_NS else _SHORTEST_NS

    _DO: dict[type, Callable[..., None]] = {  # noqa: RUF012
        do.Step: _enter_step,
        do.Begin: _begin,
        do.End: _end,
        do.Enter: _enter,
        do.Leave: _leave,
        do.Gradient: _compute_gradients,
        do.Host: _be_busy,
        do.Pause: _pause,
        do.Launch: _launch,
        do.Free: _release,
        do.GiveBack: _give_back,
        do.Churn: _churn,
        do.Copy: _copy,
        do.Synchronize: _synchronize,
        do.AwaitCommunication: _await_communication,
    }
