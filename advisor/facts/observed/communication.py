# SPDX-License-Identifier: Apache-2.0
"""Collectives, and what they moved between ranks."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Flag, Index, Key, Moment, Name, Ns, Rank, Rate, Step, Us, Volatile
from advisor.facts.observed.recording import LEVEL1, NPU
from advisor.messages.text import Text


class Collective(Fact):
    """One communication operator on one rank."""

    table = "collectives"
    called = Text("collectives", "集合通信")
    moment = Moment(lasts="elapse_us")
    among_events = True
    record_with = NPU

    rank: Rank
    step: Step
    name: Annotated[str, Name("Name, such as hcom_allReduce__271_0_1.")]
    op: Annotated[str, Key("allReduce, allGather, reduceScatter, broadcast, allToAllV, send, receive, batchSendRecv …")]
    group: Annotated[str, Name("Hash or name of the communicator, as recorded.")]
    group_kind: Annotated[str, Key("tp, pp, dp, ep, cp, world … when the parallel groups are recorded.")]
    p2p: Annotated[bool, Flag("Send, receive or batchSendRecv.")]
    start_ns: Annotated[int, Ns("Device start.")]
    elapse_us: Annotated[float, Us("Start to end on this rank: transit, wait and idle together.")]
    transit_us: Annotated[float, Us("Data moving; Level1 and above.")]
    wait_us: Annotated[float, Us("Waiting for peers; Level1 and above.")]
    sync_us: Annotated[float, Us("The part of the wait before the first transfer.")]
    idle_us: Annotated[float, Us("Neither moving data nor waiting, as the profiler sees it.")]
    size_bytes: Annotated[float, Bytes("Payload: count times size of the data type.")]
    bus_bytes: Annotated[
        float,
        Bytes(
            "What each member has at least to send or receive over its link, as nccl-tests count it for their bus "
            "bandwidth: of an allReduce among n ranks 2 (n - 1) / n of the payload. Missing where the payload or n is "
            "not recorded, for an allToAllV, and on NPUs, which record what moved over each link."
        ),
    ]
    dtype: Annotated[str, Key("Data type, such as FP32.")]
    algorithm: Annotated[str, Key("Algorithm, such as MESH-RING.")]


class PeerWait(Fact):
    """The longest wait of one call of a collective for a signal of one other rank."""

    table = "peer_waits"
    called = Text("for whom collectives wait", "集合通信在等哪张卡")
    moment = Moment(lasts="wait_us")
    among_events = True
    record_with = LEVEL1

    rank: Rank
    name: Annotated[str, Name("The call, as in `collectives`.")]
    group: Annotated[str, Name("Communicator, as in `collectives`.")]
    call_ns: Annotated[int, Ns("Start of the call, as in `collectives`.")]
    peer: Annotated[
        int, Volatile("The rank it waited for; missing where the rank at that place of the communicator is not known.")
    ]
    place: Annotated[int, Volatile("Number of that rank, as recorded: its place in the communicator, from 0.")]
    start_ns: Annotated[int, Ns("When the wait began.")]
    wait_us: Annotated[float, Us("How long it was.")]
    opening: Annotated[
        bool,
        Flag(
            "The first for that rank in this call, before data moved between this rank and another: it had yet to come."
        ),
    ]


class Transfer(Fact):
    """What one communication operator moved over one kind of link, in packets of one size."""

    table = "transfers"
    called = Text("transfers by link and size", "按链路与大小统计的传输")
    record_with = LEVEL1

    rank: Rank
    step: Step
    name: Annotated[str, Name("Communication operator.")]
    op: Annotated[str, Key("Kind of operator, as in `collectives`.")]
    group: Annotated[str, Name("Communicator, as in `collectives`.")]
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO. The SDMA sum of the files is left out: it counts them again.")]
    packet_bytes: Annotated[float, Bytes("Size of one packet (MB of the files are 1e6 bytes).")]
    packets: Annotated[float, Count("How many packets of this size.")]
    transit_us: Annotated[float, Us("Time these packets took together.")]


class Link(Fact):
    """What one kind of collective moved from one rank to another."""

    table = "links"
    called = Text("traffic between ranks", "卡间通信量")
    record_with = LEVEL1

    rank: Rank
    step: Step
    op: Annotated[str, Key("Kind of operator, lower case, as communication_matrix names it.")]
    group: Annotated[str, Name("Communicator.")]
    source: Annotated[int, Volatile("Sending rank, global where the group is known.")]
    target: Annotated[int, Volatile("Receiving rank, global where the group is known.")]
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO; on-chip copies (LOCAL) are left out.")]
    size_bytes: Annotated[float, Bytes("Bytes moved.")]
    transit_us: Annotated[float, Us("Time moving.")]
    bandwidth_gbps: Annotated[float, Rate("Size over time.")]


class Group(Fact):
    """One member of one communication group."""

    table = "groups"
    called = Text("communication groups", "通信域")
    record_with = Text(
        en="use a torch_npu that writes parallel_group_info, or add distributed_args with prof.add_metadata_json",
        zh="使用会写出 parallel_group_info 的 torch_npu，或用 prof.add_metadata_json 写入 distributed_args",
    )

    group: Annotated[str, Name("Communicator as `collectives` names it.")]
    group_kind: Annotated[str, Key("tp, pp, dp, ep, cp, world …")]
    rank: Rank
    position: Annotated[int, Index("Place of the rank inside the group, from 0.")]
