# SPDX-License-Identifier: Apache-2.0
"""What a rank is told to do: the instructions a workload is made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from corpus.events import KernelInfo


@dataclass(frozen=True, slots=True)
class Kernel:
    """One compute task to launch, with its device time in µs."""

    name: str
    us: float
    info: KernelInfo
    stream: int = 0
    """Where it runs; 0 is where such a kernel usually does."""


@dataclass(frozen=True, slots=True)
class Step:
    """The loop enters its next step; a negative number ends the last one."""

    number: int


@dataclass(frozen=True, slots=True)
class Host:
    """The main thread is busy for a time: Python code, the data loader, a garbage collection."""

    name: str
    us: float
    layer: str = "op"


@dataclass(frozen=True, slots=True)
class Pause:
    """The main thread is busy for a time, and nothing of it is recorded."""

    us: float


@dataclass(frozen=True, slots=True)
class Begin:
    """A named range opens on the main thread, such as the optimizer's step."""

    name: str
    layer: str = "op"


@dataclass(frozen=True, slots=True)
class End:
    """The range opened last closes."""


@dataclass(frozen=True, slots=True)
class Enter:
    """A call of a module of the model begins, which takes no time by itself."""

    name: str


@dataclass(frozen=True, slots=True)
class Leave:
    """The call of a module entered last ends."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """What follows computes gradients of the module with this path, `/` between; of none where it is empty."""

    module: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """One framework operator: host time, then one entry of the queue that launches its kernels."""

    op: str
    api: str
    kernels: tuple[Kernel, ...]
    host_us: float
    compile_us: float = 0.0
    """Time the queue thread spends compiling the operator before it launches."""
    output_bytes: int = 0
    shapes: str = ""
    dtypes: str = ""
    stack: str = ""


@dataclass(frozen=True, slots=True)
class Free:
    """The allocator takes back the oldest of the blocks it gave out."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class GiveBack:
    """So many of the oldest blocks and of the newest go back with the operators that read them last, which takes no
    time of its own."""

    oldest: int
    newest: int


@dataclass(frozen=True, slots=True)
class Churn:
    """The allocator returns segments to the device and asks for them again."""

    us: float
    size: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy between host and device; a blocking one is called from the main thread, which waits for it."""

    op: str
    direction: str
    size: int
    us: float
    blocking: bool = False
    host_us: float = 20.0
    ahead: bool = False
    """On a stream of its own, beside the computation, as a loader does that fetches the next batch early."""


@dataclass(frozen=True, slots=True)
class Synchronize:
    """The main thread reads a value: the queue is emptied and every stream waited for."""

    op: str = "aten::item"
    stack: str = ""


@dataclass(frozen=True, slots=True)
class Communicate:
    """A collective over a group, after all computation launched so far; it runs beside what follows."""

    op: str
    kind: str
    members: tuple[int, ...]
    """Who takes part; of a send and its receive, the sender first."""
    size: int
    group: str
    """What the communicator is for: dp, tp, pp."""
    dtype: str = "FP32"
    communicator: tuple[int, ...] = ()
    """All ranks of the communicator, when it has more than those who take part."""
    host_us: float = 60.0
    slower: float = 1.0
    """How many times as long its data move as the links would allow: its packets are out of line, its buffer is too
    small, or kernels beside it use the memory as well."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One operator whose kernel computes and communicates at once, as those of MC2 do: on all members it ends when the
    last of them has done its part. No collective is recorded of it."""

    launch: Launch
    kind: str
    """What is done to the results of the members."""
    members: tuple[int, ...]
    size: int


Meeting = Communicate | Exchange
"""What a rank cannot do alone."""


@dataclass(frozen=True, slots=True)
class AwaitCommunication:
    """The compute stream waits for every collective launched so far, or for those of some members only."""

    members: tuple[int, ...] = ()


Instruction = (
    Step
    | Host
    | Pause
    | Begin
    | End
    | Launch
    | Free
    | GiveBack
    | Churn
    | Copy
    | Synchronize
    | Meeting
    | AwaitCommunication
)


@dataclass(frozen=True, slots=True)
class Machine:
    """How fast the parts of the machine are. Times in µs.

    Host and launch costs follow the two-card AlexNet capture that Ascend/msinsight publishes with its tests
    (msinsight_pytorch_matrix, Level2, rank 0): Enqueue median 3.1, Dequeue median 19.5, Node@launch median 7.5,
    AscendCL@hcom_allReduce_ 558 to 893, event calls 8 to 13, stream synchronisation from 8.
    """

    enqueue_us: float = 3.1
    dequeue_us: float = 12.0
    launch_us: float = 7.5
    launch_to_device_us: float = 9.0
    kernel_gap_us: float = 1.1
    collective_launch_us: float = 560.0
    event_us: float = 8.3
    synchronize_us: float = 8.0
    launch_blocking: bool = False
    link_gbps: float = 16.5
    """HCCS, one link, one direction: 15.8 to 17.6 for the larger AllReduces of the same capture."""
    slow_links: dict[tuple[int, int], float] = field(default_factory=dict)
    """Links with another bandwidth, by (source, target)."""
    packet_overhead_us: float = 4.0
    ranks_per_node: int = 0
    """Ranks of different nodes reach each other over RDMA; 0 puts all on one node."""
    rdma_gbps: float = 24.5
    """One network card of 200 Gb/s, one direction: packets of 21 and 66 MB move at 24.3 and 24.4 GB/s in the 16-rank
    capture that Ascend/msinsight publishes with its tests (server/test_rank_0), where one of 4 bytes takes 9.4 µs."""
    rdma_overhead_us: float = 9.4
    disturbed: dict[int, float] = field(default_factory=dict)
    """How many times as long data move over every link, in steps of these numbers: others use the network then."""
    losses: dict[tuple[int, int], dict[int, float]] = field(default_factory=dict)
    """By RDMA link (source, target): what the n-th collective over it (from 0) waits for a lost packet, in µs."""
    setup_us: float = 25.0
    packet_bytes: int = 0
    """Largest packet; 0 sends each peer's share in one piece."""
    host_scale: dict[int, float] = field(default_factory=dict)
    """How much slower the host of a rank is."""
    compute_scale: dict[int, float] = field(default_factory=dict)
    """How much slower the device of a rank computes."""
    mhz: dict[int, int] = field(default_factory=dict)
    """AI Core frequency of ranks that do not run at full speed; kernels slow down with it."""
    full_mhz: int = 1800
    paces: dict[int, float] = field(default_factory=dict)
    """How many times as long kernels take on all devices, in steps of these numbers, whatever the clock says."""
    overlap_cost: float = 0.0
    """How much longer a kernel takes, as a part of its time, that begins beside a collective of its rank."""
    noise: float = 0.02

    def in_step(self, step: int) -> Machine:
        """The machine as it is in a step: with slower links where others use the network."""
        return self.slowed(self.disturbed.get(step, 1.0))

    def slowed(self, slower: float) -> Machine:
        """The machine with links that take this many times as long."""
        if slower == 1.0:
            return self
        links = {link: gbps / slower for link, gbps in self.slow_links.items()}
        return replace(
            self, link_gbps=self.link_gbps / slower, rdma_gbps=self.rdma_gbps / slower, slow_links=links, disturbed={}
        )
