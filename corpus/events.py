# SPDX-License-Identifier: Apache-2.0
"""What happened in a simulated job: the events that both export formats are written from.

All times are whole nanoseconds from the start of the job; writers add the epoch. Sizes are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NOT_COLLECTED = 4294967295
"""The number CANN writes where an id does not apply."""


@dataclass(frozen=True, slots=True)
class Tensors:
    """Shapes, data types and formats of the inputs or the outputs of a kernel, `;` between tensors."""

    shapes: str = ""
    dtypes: str = ""
    formats: str = ""


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """What a compute task was, beside its times."""

    op_type: str
    core: str = "AI_CORE"
    blocks: int = 20
    mix_blocks: int = 0
    inputs: Tensors = Tensors()
    outputs: Tensors = Tensors()
    state: str = "dynamic"
    shares: tuple[tuple[str, float], ...] = ()
    """Busy share of each pipe: mac, vec, scalar, mte1, mte2, mte3, fixpipe."""


@dataclass(slots=True)
class HostCall:
    """One interval on a host thread.

    `layer` is op, step, queue, python, gc (Python process) or acl, node, hccl, runtime (CANN).
    `connection` is the correlation id of the queue for layer `queue`, the connection id for CANN calls.
    """

    layer: str
    name: str
    thread: int
    start: int
    end: int = -1
    connection: int = 0
    item: str = ""
    shapes: str = ""
    dtypes: str = ""
    stack: str = ""
    launched: list[int] = field(default_factory=list)
    """Connection ids of the device tasks a framework operator gave rise to."""


@dataclass(slots=True)
class Task:
    """One task of the device's scheduler. `kind` is kernel, copy, wait, record or comm."""

    kind: str
    name: str
    stream: int
    task_id: int
    start: int
    end: int
    connection: int
    step: int
    kernel: KernelInfo | None = None
    size: int = 0
    direction: str = ""
    context: int = NOT_COLLECTED
    launch_start: int = -1
    launch_thread: int = -1
    origin: HostCall | None = None
    """The framework operator behind it."""


@dataclass(slots=True)
class Transfer:
    """One piece of a collective on one plane: a notify or a packet between two ranks of the group."""

    name: str
    plane: int
    start: int
    end: int
    source: int
    target: int
    size: int
    link: str
    task: Task
    rdma: str = ""
    """What it is of an RDMA packet: RDMA_SEND_PAYLOAD, RDMA_SEND_NOTIFY, RDMA_PAYLOAD_CHECK …"""
    moving: int = 0
    """Until its data was acknowledged, where that is longer than the task: a send to a network card returns at once."""

    @property
    def transit(self) -> int:
        """How long its data was under way, in ns."""
        return self.moving or self.end - self.start


@dataclass(slots=True)
class Collective:
    """One communication operator on one rank. start to end = wait + transit + idle."""

    op: str
    name: str
    group: str
    members: tuple[int, ...]
    """All ranks of the communicator; ranks inside transfers are places in it."""
    index: int
    """Number within the communicator on this rank."""
    meeting: int
    """The same number on all ranks that took part."""
    start: int
    end: int
    connection: int
    step: int
    count: int
    dtype: str
    wait: int
    transit: int
    launch_start: int
    launch_thread: int
    origin: HostCall | None
    transfers: list[Transfer] = field(default_factory=list)

    @property
    def p2p(self) -> bool:
        """Whether it is a send, a receive or both at once."""
        return self.op in ("send", "receive", "batchSendRecv")


@dataclass(slots=True)
class Memory:
    """The allocator's totals at one moment."""

    component: str
    time: int
    allocated: int
    reserved: int
    active: int


@dataclass(slots=True)
class Allocation:
    """One block an operator took from the allocator; `released` is -1 while it lives."""

    name: str
    size: int
    time: int
    total: int
    reserved: int
    released: int = -1
    total_after: int = 0
    reserved_after: int = 0


@dataclass(slots=True)
class RankTrace:
    """Everything one rank recorded."""

    rank: int
    device: int
    pid: int
    calls: list[HostCall] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    frequency: list[tuple[int, int]] = field(default_factory=list)
    end: int = 0
    node: int = 0
    """The host it ran on."""
    modules: list[HostCall] = field(default_factory=list)
    """Calls of modules of the model, which exports tell where the program marks them."""
    gradients: list[tuple[HostCall, HostCall]] = field(default_factory=list)
    """Operators of the forward and of the backward pass that belong together."""

    def steps(self) -> list[HostCall]:
        """The host's windows of the recorded steps, in order."""
        return [call for call in self.calls if call.layer == "step"]

    def kernels(self) -> list[Task]:
        """The compute tasks, in order of their start."""
        return sorted((task for task in self.tasks if task.kind == "kernel"), key=lambda task: task.start)


@dataclass(frozen=True, slots=True)
class Layout:
    """How many ranks, and how they are arranged: tensor parallel fastest, then data, pipeline slowest (Megatron)."""

    tp: int = 1
    dp: int = 1
    pp: int = 1
    ranks_per_node: int = 0
    """0 puts all on one node."""
    ep: int = 1
    """How many data parallel ranks share the experts."""
    plain: bool = False
    """Plain DDP: gradients go over the default group, and no framework tells the profiler how ranks are arranged."""

    @property
    def gradients(self) -> str:
        """What the group is called over which gradients are reduced."""
        return "default_group" if self.plain else "dp"

    def node_of(self, rank: int) -> int:
        """The node a rank runs on."""
        return rank // self.ranks_per_node if self.ranks_per_node else 0

    @property
    def world(self) -> int:
        """The number of ranks."""
        return self.tp * self.dp * self.pp

    def stage_of(self, rank: int) -> int:
        """The pipeline stage a rank belongs to."""
        return rank // (self.tp * self.dp)

    def group(self, kind: str, rank: int) -> tuple[int, ...]:
        """The ranks that share a group of the given kind (`tp`, `dp`, `pp`, `ep`) with a rank."""
        tp, dp, pp = rank % self.tp, rank // self.tp % self.dp, self.stage_of(rank)
        plane = self.tp * self.dp
        if kind == "tp":
            return tuple(i + self.tp * dp + plane * pp for i in range(self.tp))
        if kind == "dp":
            return tuple(tp + self.tp * i + plane * pp for i in range(self.dp))
        if kind == "ep":
            start = dp - dp % self.ep
            return tuple(tp + self.tp * i + plane * pp for i in range(start, start + self.ep))
        return tuple(tp + self.tp * dp + plane * i for i in range(self.pp))


@dataclass(frozen=True, slots=True)
class Cause:
    """One injected fault: its name, where it strikes and the step time without it.

    The name is that of the fault, not of a rule; `place` holds any of rank, stage, step, op_type, link.
    """

    name: str
    strength: float
    place: dict[str, Any]
    step_us_without: float


@dataclass(slots=True)
class Job:
    """One simulated run: what each rank recorded, and what is wrong with it."""

    name: str
    seed: int
    layout: Layout
    ranks: list[RankTrace]
    environment: dict[str, str] = field(default_factory=dict)
    causes: tuple[Cause, ...] = ()
    step_us: float = 0.0
    damage: str = ""
    raw: bool = False
    """Whether what is left of the raw data stays beside its captures."""
