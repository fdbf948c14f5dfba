# SPDX-License-Identifier: Apache-2.0
"""Collectives and transfers."""

from typing import Annotated

from advisor.facts.base import (
    Bytes,
    Count,
    Fact,
    Flag,
    Key,
    Moment,
    Name,
    Ns,
    Rank,
    Rate,
    Share,
    Stage,
    Step,
    Times,
    Us,
    Volatile,
)
from advisor.messages.text import Text


class TransferPace(Fact):
    """How long the data of collectives move on a rank in its slow steps, compared with its fast ones.

    Only collectives that every step runs equally often with equal payloads; slow and fast steps of a rank are separated
    at the largest gap between the summed times in which their data move. A rank has no row where fewer than two steps
    are slow or quick, or where the slow ones came first. The first step is left out.
    """

    table = "transfer_paces"
    called = Text("transfers in slow and quick steps", "快慢 step 中的传输耗时")
    observed = False

    rank: Rank
    quick_us: Annotated[float, Us("Their data move so long in a quick step, on average.")]
    slow_us: Annotated[float, Us("Their data move so long in a slow step, on average.")]
    slowdown: Annotated[float, Times("The latter over the former.")]
    bare_extra_us: Annotated[
        float, Us("How much longer data move with no kernel beside them than in a quick step, spread over all steps.")
    ]
    compared_steps: Annotated[float, Count("Steps of the rank that were compared.")]
    slow_steps: Annotated[float, Count("Those of them in which data move slowly.")]
    first_slow_step: Annotated[float, Count("Number of the first slow step.")]
    lasting: Annotated[bool, Flag("All steps from the first slow one on are slow.")]
    contrast: Annotated[float, Share("How clearly slow and quick steps lie apart, as in `operator_shapes`.")]
    compared_share: Annotated[float, Share("Part of the time in which data of collectives move that was compared.")]


class SeenPeer(Fact):
    """How many ranks there were at least, by whom the collectives of one rank waited for."""

    table = "seen_peers"
    called = Text("ranks that collectives waited for", "集合通信等待过的卡")
    observed = False

    rank: Rank
    least_ranks: Annotated[
        float,
        Count(
            "One more than the largest number of a rank that it waited for. Numbers inside of a communicator are none "
            "larger than those of the job."
        ),
    ]


class CollectiveCall(Fact):
    """One communication operator on one rank, compared with other calls of the same kind."""

    table = "collective_calls"
    called = Text("times of single collectives", "各次集合通信的时间")
    observed = False
    moment = Moment(lasts="elapse_us")

    rank: Rank
    step: Step
    stage: Stage
    name: Annotated[str, Name("Name.")]
    op: Annotated[str, Key("Kind of operator.")]
    group: Annotated[str, Name("Communicator.")]
    group_kind: Annotated[
        str,
        Key(
            "tp, pp, dp …; missing when unknown. Of groups that nothing describes, `tp` where a served model reduces "
            "in each of its layers, and where one that trains does in its forward pass."
        ),
    ]
    p2p: Annotated[bool, Flag("Send, receive or batchSendRecv.")]
    start_ns: Annotated[int, Ns("Start.")]
    elapse_us: Annotated[float, Us("Start to end.")]
    exposed_us: Annotated[float, Us("The part during which no kernel runs on the rank (exposed).")]
    unwaited_us: Annotated[
        float, Us("The part of that without waiting for other ranks, as far as waiting was recorded.")
    ]
    unshared_us: Annotated[
        float,
        Us(
            "The part of that not shared with an earlier call of the same kind on a communicator of the same kind "
            "(such as `dp` and `dp_modulo_exp`) that still runs: time of overlapping calls counts once."
        ),
    ]
    still_us: Annotated[
        float,
        Us(
            "The uninterrupted stretch around its middle during which no kernel runs; 0 where a kernel runs "
            "at its middle."
        ),
    ]
    stalled_us: Annotated[
        float,
        Us(
            "Of the pause between two kernels around that stretch, the time in which no collective runs; missing "
            "where there is none, or no kernel comes before or after."
        ),
    ]
    working_us: Annotated[float, Us("Elapse without waiting for other ranks, as far as waiting was recorded.")]
    cover_us: Annotated[
        float,
        Us("Computation of its rank and step during which nothing communicates: what could still hide communication."),
    ]
    micro_batches: Annotated[
        float,
        Count(
            "Micro-batches per step, counted by what the stages of a pipeline send, else by how often kernels that "
            "compute gradients repeat on its rank; missing where neither is known."
        ),
    ]
    transit_us: Annotated[
        float, Us("Data moving; what its links took where the profiler writes 0; missing where neither was measured.")
    ]
    bare_transit_us: Annotated[
        float,
        Us(
            "Lower bound of the time in which data move and no kernel runs: the exposed time less all time "
            "in which no data move."
        ),
    ]
    wait_us: Annotated[float, Us("Waiting for peers; missing where the profiler tells it from nothing else.")]
    idle_us: Annotated[
        float, Us("Neither moving data nor waiting; missing where the profiler does not tell these apart.")
    ]
    size_bytes: Annotated[float, Bytes("Payload.")]
    bus_bytes: Annotated[float, Bytes("What each member sends or receives for it, as in `collectives`.")]
    alike: Annotated[float, Count("Calls of the same kind, group and size on this rank, itself included.")]
    typical_us: Annotated[float, Us("Median elapse of those.")]
    turn: Annotated[
        float,
        Count(
            "Position in the step among calls of its kind and group by start, from 0; missing for calls with less "
            "than a tenth of the largest payload."
        ),
    ]
    apart_us: Annotated[
        float, Us("Time from the end of the call at the previous position to its start; 0 where they overlap.")
    ]
    queued_op: Annotated[
        str,
        Key(
            "Kind of the call that its communicator begins next, where it does before any kernel begins after this "
            "one: what computation then waits for. Missing where a kernel begins first."
        ),
    ]
    computed_share: Annotated[
        float,
        Share(
            "Share of the kernels of its rank and step that began before it, by time or by count, whichever is smaller."
        ),
    ]
    awaited_rank: Annotated[int, Volatile("The rank it waited for longest; missing where nothing tells who that is.")]
    awaited_place: Annotated[int, Volatile("Place of that rank in the communicator; missing where none was recorded.")]
    awaited_ns: Annotated[int, Ns("When that wait began.")]
    awaited_us: Annotated[float, Us("How long it was.")]
    awaited_late: Annotated[
        bool, Flag("That rank had not come when the wait began; missing where the wait does not tell.")
    ]
    absent_us: Annotated[
        float,
        Us(
            "The part of that wait for a rank that was not captured and had not come when it began: all of it, or 0; "
            "missing where no wait was recorded, or nothing tells for whom, as where another was waited for as long."
        ),
    ]
    awaited_alike: Annotated[float, Count("Number of ranks it waited for at least 90 % as long, that rank included.")]
    awaited_all_us: Annotated[
        float, Us("Sum over all calls of its rank of their longest waits, where these are for the same rank.")
    ]
    waited_again_us: Annotated[
        float,
        Us(
            "The part of that wait, or else of `wait_us`, in which another call of its rank waits that began to do so "
            "before; sends and receives apart from others."
        ),
    ]
    sole: Annotated[bool, Flag("Whether all collectives of the run use one communicator and none is point to point.")]


class ExchangingKernel(Fact):
    """One kernel that exchanges data with other ranks while it runs, such as MoeDistributeDispatch."""

    table = "exchanging_kernels"
    called = Text("kernels that exchange data with other ranks inside", "内部与其他卡交换数据的算子")
    observed = False
    moment = Moment(lasts="elapse_us", name=("op_type",))

    rank: Rank
    step: Step
    stage: Stage
    op_type: Annotated[str, Key("Operator type.")]
    start_ns: Annotated[int, Ns("Start.")]
    elapse_us: Annotated[float, Us("Start to end.")]
    bare_us: Annotated[float, Us("The part of it in which nothing else runs that began before, nor other work.")]


class Exchange(ExchangingKernel):
    """One kernel that exchanges data with other ranks while it runs, compared with the kernels it exchanges with.

    All ranks of a group end it at about the same time, as none can before it has what the last one sends: the rank on
    which it is shortest came last, and what it takes longer elsewhere is waiting.
    """

    table = "exchanges"
    called = Text("waits in kernels that exchange data with other ranks inside", "通算融合算子内部的等待")
    across_ranks = True

    ranks: Annotated[
        float,
        Count(
            "Captured ranks that take part in it; missing where no other rank of its group was captured, or nothing "
            "tells which ranks exchange with each other."
        ),
    ]
    inside_wait_us: Annotated[
        float,
        Us(
            "What it takes longer than on the captured rank where it is shortest: waiting for that rank, "
            "which came last. Missing where no other rank of its group was captured or its partners are not known."
        ),
    ]
    bare_wait_us: Annotated[float, Us("The part of that in which nothing else runs.")]
    last_rank: Annotated[
        int,
        Volatile(
            "The rank on which it is shortest: it came last. Missing where no other rank of its group was "
            "captured or its partners are not known."
        ),
    ]
    beyond_us: Annotated[
        float,
        Us(
            "On that rank: how much longer the shortest one is than those of other groups (median) at the same place "
            "of the step; what it waits for nobody is its own work. Missing on all others, and without another group."
        ),
    ]


class AbsentWait(Fact):
    """What one rank waits in one collective for ranks that were not captured."""

    table = "absent_waits"
    called = Text("waits for ranks that were not captured", "对未采集的卡的等待")
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    name: Annotated[str, Name("Name.")]
    op: Annotated[str, Key("Kind of operator.")]
    group: Annotated[str, Name("Communicator.")]
    elapse_us: Annotated[float, Us("Start to end.")]
    exposed_us: Annotated[float, Us("The part during which no kernel runs on the rank (exposed).")]
    common_exposed_us: Annotated[
        float,
        Us(
            "The same on the captured rank where it is least: what the others have beyond that, they wait "
            "for this rank."
        ),
    ]
    transit_us: Annotated[float, Us("Data moving, as in `collective_calls`.")]
    wait_us: Annotated[float, Us("Waiting for peers, as in `collective_calls`.")]
    waited_again_us: Annotated[float, Us("The part of it in which another call waits, as in `collective_calls`.")]
    size_bytes: Annotated[float, Bytes("Payload.")]
    awaited_rank: Annotated[int, Volatile("The rank it waited for longest; missing where nothing tells who that is.")]
    awaited_place: Annotated[int, Volatile("Place of that rank in the communicator.")]
    awaited_us: Annotated[float, Us("How long that wait was.")]
    awaited_late: Annotated[
        bool,
        Flag("Whether that rank had not yet entered the call when the wait began; missing where this is not known."),
    ]
    awaited_alike: Annotated[float, Count("Number of ranks it waited for at least 90 % as long, that rank included.")]
    awaited_all_us: Annotated[
        float, Us("Sum over all calls of its rank of their longest waits, where these are for the same rank.")
    ]
    absent_us: Annotated[
        float,
        Us(
            "What it waits for ranks that were not captured and had not come: the least that a captured rank waits in "
            "the same operation, as the last of them waits for none of them. Waits for ranks that were captured are 0; "
            "where nothing tells for whom, all waiting counts in an operation in which others take part, unless its "
            "data flow one way. Missing where no wait was recorded, or not who takes part."
        ),
    ]
    others_absent_us: Annotated[
        float,
        Us(
            "Median over the other captured ranks of what they wait in this way in the capture: where that is little, "
            "this rank waits for a member of its own communicators. Missing where fewer than two others were captured."
        ),
    ]


class LongestCall(Fact):
    """The longest call of one kind of collective on one communicator, on one rank in one step."""

    table = "longest_calls"
    called = Text("longest collectives", "最长的集合通信")
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    name: Annotated[str, Name("Name.")]
    op: Annotated[str, Key("Kind of operator.")]
    group: Annotated[str, Name("Communicator.")]
    group_kind: Annotated[str, Key("tp, pp, dp …; missing when unknown.")]
    start_ns: Annotated[int, Ns("Start.")]
    elapse_us: Annotated[float, Us("Start to end.")]
    exposed_us: Annotated[float, Us("The part during which no kernel runs on the rank (exposed).")]
    transit_us: Annotated[float, Us("Data moving, as in `collective_calls`.")]
    wait_us: Annotated[float, Us("Waiting for peers, as in `collective_calls`.")]
    idle_us: Annotated[float, Us("Neither, as in `collective_calls`.")]
    size_bytes: Annotated[float, Bytes("Payload.")]
    others: Annotated[float, Count("Other calls of its kind and communicator on this rank in this step.")]
    others_us: Annotated[float, Us("Their median elapse; missing where there are none.")]
    others_bytes: Annotated[float, Bytes("Their median payload.")]
    others_transit_us: Annotated[
        float, Us("The median time in which their data move; missing where it was measured of none.")
    ]
    seen_on: Annotated[float, Count("Captured ranks that took part in it, this one included.")]
    steps_us: Annotated[
        float,
        Us("Median of the longest of its kind and communicator in the other steps of its rank; missing without any."),
    ]
    in_turn_us: Annotated[
        float,
        Us(
            "Median of the calls of its kind and communicator that come as many-th in the other steps of its rank; "
            "missing with fewer than two of these, and where steps have different numbers of them."
        ),
    ]
    shortest_us: Annotated[float, Us("Shortest elapse of the same call among those ranks.")]
    opening: Annotated[bool, Flag("No earlier call of its communicator was recorded on this rank.")]
    exposed_part: Annotated[float, Share("Its part of all exposed collective time of this rank and step.")]
    awaited_us: Annotated[
        float, Us("Its longest wait for another rank; missing where it is less than half of the call.")
    ]
    awaited_rank: Annotated[
        int,
        Volatile("The rank it waited for in the end, from captured rank to captured rank; missing where not known."),
    ]
    awaited_place: Annotated[int, Volatile("Place of that rank in the communicator.")]
    awaited_alike: Annotated[
        float, Count("Ranks for which this rank waited as long, or nearly, as in `collective_calls`.")
    ]
    awaited_absent: Annotated[bool, Flag("That rank was not captured; missing where it is not known who it is.")]
    awaited_late: Annotated[
        bool, Flag("That rank came late itself, and was not held up by another one in this call; missing if not known.")
    ]
    also_awaiting: Annotated[
        float,
        Count(
            "Other calls of its kind and communicator in this step that wait for most of their time for the same rank, "
            "which was not captured and came late in each."
        ),
    ]
    also_awaiting_us: Annotated[float, Us("Those waits, computation aside.")]


class CollectivePlace(Fact):
    """Exposed collectives of one kind on one rank between the same two types of operators, per step.

    Only calls that are exposed for more than half of their time are counted, and no sends or receives. Copies, casts
    and cuts around them are passed over: those prepare what is exchanged.
    """

    table = "collective_places"
    called = Text("collectives by the operators around them", "按前后算子归类的集合通信")
    observed = False

    rank: Rank
    op: Annotated[str, Key("Kind of collective.")]
    group_kind: Annotated[str, Key("tp, pp, dp …; missing when unknown.")]
    before: Annotated[str, Key("Type of the operator that began last before; missing where none did in the step.")]
    after: Annotated[
        str, Key("Type of the first operator that begins when it has ended; missing where none follows in the step.")
    ]
    before_name: Annotated[str, Name("Name of the operator before it, where the collective is exposed longest.")]
    after_name: Annotated[str, Name("Name of the operator after it, in the same place.")]
    calls: Annotated[float, Count("How often per step.")]
    exposed_us: Annotated[float, Us("Time per step during which no kernel runs on the rank.")]
    unwaited_us: Annotated[
        float, Us("The part of that without waiting for other ranks, as far as waiting was recorded.")
    ]
    size_bytes: Annotated[float, Bytes("Payload per step; missing where it is not known.")]
    bus_gbps: Annotated[
        float,
        Rate(
            "What each member sends or receives for them (`bus_bytes`) over all their time, waits for others included."
        ),
    ]


class PacketTransfer(Fact):
    """What one collective moved over one kind of link in packets of one size, and the time that cost."""

    table = "packet_transfers"
    called = Text("transfers within collectives", "集合通信中的传输")
    observed = False

    rank: Rank
    step: Step
    name: Annotated[str, Name("Communication operator.")]
    op: Annotated[str, Key("Kind of operator.")]
    group: Annotated[str, Name("Communicator.")]
    group_kind: Annotated[str, Key("tp, pp, dp …; missing when unknown.")]
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO.")]
    packet_bytes: Annotated[float, Bytes("Size of one packet.")]
    packets: Annotated[float, Count("How many packets of this size, over all links.")]
    whole_lines: Annotated[bool, Flag("That size is a multiple of 512 bytes.")]
    transit_us: Annotated[float, Us("Time these packets took together, links side by side added up.")]
    rate_gbps: Annotated[float, Rate("Their bytes over that time: the bandwidth of one link.")]
    others_gbps: Annotated[
        float,
        Rate(
            "What other kinds of collectives and communicators of this rank reach on such links with packets of 1 MB "
            "and more: the median of their medians. Missing for smaller packets, and where all are of one kind."
        ),
    ]
    link_gbps: Annotated[
        float, Rate("Bandwidth of one such link by the name of the chip, recorded or told; missing where unknown.")
    ]
    shared_port: Annotated[
        bool,
        Flag(
            "All peers of the device share one port, so the rate of one transfer depends on how many there are at a "
            "time: HCCS where the dies of a module are joined by SIO."
        ),
    ]
    wall_us: Annotated[float, Us("Time that passed: their share of the transit of the call.")]
    bare_us: Annotated[
        float,
        Us(
            "The part of that which computation does not hide: the bare time of calls that follow each other without a "
            "pause, spread over what they moved on this kind of link; missing when not known."
        ),
    ]


class HostTraffic(Fact):
    """What a rank moved over one kind of link for one communicator whose members all ran on one host.

    Hosts are those that captures name; where a name stands for more ranks than a server has devices, it names none.
    """

    table = "host_traffic"
    called = Text("transfers between ranks of one host", "同一主机内各卡之间的传输")
    observed = False
    across_ranks = True

    rank: Rank
    group: Annotated[str, Name("Communicator.")]
    group_kind: Annotated[str, Key("tp, pp, dp …; missing when unknown.")]
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO.")]
    host: Annotated[str, Name("Host of its members.")]
    members: Annotated[float, Count("Members of the communicator.")]
    neighbours: Annotated[float, Count("Captured ranks on that host.")]
    joined: Annotated[
        bool,
        Flag(
            "Traffic over HCCS or SIO leads from each member to each other, from rank to rank of the run; missing "
            "where none was recorded on that host."
        ),
    ]
    wall_us: Annotated[float, Us("Time that passed, as in `packet_transfers`, all calls together.")]
    bare_us: Annotated[float, Us("The part of that which computation does not hide, as in `packet_transfers`.")]
    rate_gbps: Annotated[float, Rate("Bytes moved over the time that passed.")]
    near_share: Annotated[float, Share("Of all bytes that the rank moved for this communicator: over HCCS or SIO.")]
    near_gbps: Annotated[
        float, Rate("Median bandwidth of one HCCS link on that host in large packets; missing without any.")
    ]


class BusRate(Fact):
    """How fast one collective moved what it carries, on the rank that waited for no other captured one."""

    table = "bus_rates"
    called = Text("how fast collectives move data", "集合通信的传输速率")
    observed = False
    across_ranks = True
    moment = Moment(lasts="shortest_us", rank="last_rank")

    step: Step
    name: Annotated[str, Name("Name.")]
    op: Annotated[str, Key("Kind of operator.")]
    group: Annotated[str, Name("Communicator.")]
    group_kind: Annotated[str, Key("tp, pp, dp …; missing when unknown.")]
    ranks: Annotated[float, Count("Ranks that took part and were captured.")]
    last_rank: Annotated[int, Volatile("The rank on which it was shortest.")]
    start_ns: Annotated[int, Ns("Start on that rank, by its own clock.")]
    shortest_us: Annotated[float, Us("Elapse on that rank.")]
    bare_us: Annotated[
        float,
        Us(
            "The part of that during which no kernel runs, on the rank that hides most of it: where the others have "
            "nothing left to compute, the step still ends with that rank."
        ),
    ]
    bus_bytes: Annotated[float, Bytes("What each member sends or receives for it, as in `collectives`.")]
    bus_gbps: Annotated[float, Rate("That over its shortest elapse: the bus bandwidth of nccl-tests.")]
    link_gbps: Annotated[
        float,
        Rate(
            "What NVLink carries from one device to the others, by the name of the chip; missing where that is "
            "unknown, and where the captured ranks that took part were not all seen to run on one machine, each on a "
            "device of its own."
        ),
    ]


class CallMatch(Fact):
    """Synchronising calls of one rank that other ranks made as well, by number, and those that ended when theirs did
    not."""

    table = "call_matches"
    called = Text("collectives of several ranks", "各卡共有的集合通信")
    observed = False
    across_ranks = True

    rank: Rank
    calls: Annotated[float, Count("Calls that another rank made too: the same kind, step, communicator and number.")]
    apart: Annotated[
        float,
        Count(
            "Of these, calls that were the same operation on no other rank: brought to one clock they did not end "
            "together. They are compared with nothing."
        ),
    ]


class PairedCall(Fact):
    """A send and its receive on two captured ranks, or two batches of both that belong together."""

    table = "paired_calls"
    called = Text("sends with their receives", "配对的 send 与 receive")
    observed = False
    across_ranks = True
    on_request = True

    step: Step
    op: Annotated[str, Key("`send`, or `batchSendRecv` of both sides.")]
    group: Annotated[str, Name("Communicator.")]
    source: Annotated[int, Volatile("Sending rank; of batches the lower one.")]
    target: Annotated[int, Volatile("Receiving rank; of batches the higher one.")]
    start_ns: Annotated[int, Ns("When the source came, by its own clock.")]
    size_bytes: Annotated[float, Bytes("Payload, as the source sends it.")]
    together_us: Annotated[float, Us("The shorter of both: both were there for no longer.")]
    source_wait_us: Annotated[float, Us("What it took longer on the source: waiting for the target.")]
    target_wait_us: Annotated[float, Us("What it took longer on the target: waiting for the source.")]


class PortUse(Fact):
    """How busy one network port of a rank's device was during the capture, and what it lost meanwhile."""

    table = "port_uses"
    called = Text("counters of network ports", "网口计数器")
    observed = False

    rank: Rank
    network: Annotated[str, Key("As in `port_counters`.")]
    port: Annotated[int, Volatile("Port of the device.")]
    bandwidth_gbps: Annotated[float, Rate("What the port can carry each way.")]
    busiest_share: Annotated[
        float, Share("Received or sent, whichever is more, over what it can carry; mean over the capture.")
    ]
    packets: Annotated[
        float, Count("Packets received and sent during the capture; missing with fewer than two samples.")
    ]
    dropped: Annotated[float, Count("Packets dropped meanwhile.")]
    broken: Annotated[float, Count("Packets with errors meanwhile.")]
    repeated: Annotated[float, Count("Packets sent again after a time-out meanwhile.")]
    congested: Annotated[float, Count("Notifications of congestion (CNP) meanwhile.")]
    paused: Annotated[float, Count("Requests to pause (PFC) meanwhile.")]
