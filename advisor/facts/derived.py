# SPDX-License-Identifier: Apache-2.0
"""What analysis adds: one class per derivation. Most rules read these tables."""

from __future__ import annotations

from typing import Annotated

from advisor.facts.base import (
    Bytes,
    Count,
    Fact,
    Flag,
    Index,
    Key,
    Mhz,
    Name,
    Ns,
    Number,
    Rank,
    Rate,
    Share,
    Stage,
    Step,
    Times,
    Us,
    Volatile,
)


class Overlap(Fact):
    """Where one rank's device time went in one step: `span = compute + exposed_comm + free`.

    Where the list of kernels lacks rows, the profiler's own sums are given; without them the split is missing.
    """

    table = "overlaps"
    observed = False

    rank: Rank
    step: Step
    stage: Stage
    span_us: Annotated[
        float,
        Us("From the first kernel or collective of the step to its last, and through the pause before the next step."),
    ]
    compute_us: Annotated[float, Us("Union of the kernels.")]
    comm_us: Annotated[float, Us("Union of the collectives.")]
    exposed_comm_us: Annotated[float, Us("Collectives with no kernel beside them.")]
    overlapped_us: Annotated[float, Us("Collectives with kernels beside them.")]
    free_us: Annotated[float, Us("Neither kernels nor collectives.")]
    copy_us: Annotated[float, Us("The part of free in which a memory copy runs; missing when only sums were recorded.")]
    event_wait_us: Annotated[
        float, Us("The part of free, copies aside, in which a stream waits for an event; missing likewise.")
    ]
    bubble_us: Annotated[float, Us("Time in pipeline sends and receives not hidden behind computation.")]
    listed_us: Annotated[float, Us("Union of the kernels that are in the list; missing when there is no list.")]
    unlisted_us: Annotated[
        float,
        Us(
            "How much of the step the list of kernels contradicts: the profiler's own sums where they were recorded, "
            "else the idle time the rows themselves give; 0 for a list that is whole, missing when there is no list."
        ),
    ]
    source: Annotated[
        str,
        Key(
            "`intervals` (recomputed from events), `recorded` (the profiler's own sums), or `incomplete` "
            "(kernels are missing from the list and no sums were recorded)."
        ),
    ]


class Spending(Fact):
    """What a step was spent on, name by name; the entries of a step add up to its time."""

    table = "spending"
    observed = False

    rank: Rank
    step: Step
    part: Annotated[str, Key("`compute`, `communication` (exposed) or `free`.")]
    name: Annotated[
        str,
        Key("Operator type, kind of collective, or cause of idle time as in `gaps`; missing for what has no name."),
    ]
    us: Annotated[
        float,
        Us(
            "Time charged to it. Of kernels that run at once, each moment is charged to the one that began first; "
            "collectives are charged only with what no kernel hides. An entry without a name holds the difference "
            "to the time split, and may be negative."
        ),
    ]
    calls: Annotated[float, Count("How many; missing without a name.")]


class Dispatch(Fact):
    """One launch of a kernel, collective or copy: how long it queued, and whether the device waited for it."""

    table = "dispatches"
    observed = False
    heavy = True

    rank: Rank
    step: Step
    kind: Annotated[str, Key("`kernel`, `comm` or `copy`.")]
    op_type: Annotated[str, Key("Operator type of a kernel, kind of collective, or `copy`.")]
    start_ns: Annotated[int, Ns("Device start.")]
    latency_us: Annotated[float, Us("Device start minus host launch: the slant of the link. Negative by clock error.")]
    idle_before_us: Annotated[float, Us("How long the device had been idle when this began; 0 when it was busy.")]
    vertical: Annotated[
        bool, Flag("The host launched it only after the device had run dry: the device waited for this call.")
    ]


class Gap(Fact):
    """One idle interval of the device inside a step, charged to exactly one cause. Charges add up to free time."""

    table = "gaps"
    observed = False
    heavy = True

    rank: Rank
    step: Step
    start_ns: Annotated[int, Ns("Start of the idle interval.")]
    duration_us: Annotated[float, Us("Length.")]
    cause: Annotated[
        str,
        Key(
            "`python`, `data_loader`, `synchronise`, `blocking_copy`, `compile`, `gc`, `dequeue`, `host_late` "
            "(host late, no closer cause seen), `wait` (event or another stream), `copy`, `comm_setup`, "
            "`step_boundary`, `unknown`. A kernel that was launched long before and starts late on an idle device, "
            "with no wait recorded (about 0.1 ms at a time in public captures), is `unknown`: the device or its driver "
            "took that time, the files do not say for what. So is a gap whose ending task has no recorded launch; "
            "where no launch at all was recorded, such a cause is missing."
        ),
    ]
    host: Annotated[bool, Flag("The cause lies on the host (the first eight causes); missing with the cause.")]
    call: Annotated[str, Key("The host call that covers most of the interval, where one does.")]
    next_op: Annotated[str, Key("Operator type, collective or copy that ended the interval.")]


class Interruption(Fact):
    """A long collective or copy that drained the launch queue, and the vertical links that follow it."""

    table = "interruptions"
    observed = False

    rank: Rank
    step: Step
    kind: Annotated[str, Key("`comm` or `copy`.")]
    op: Annotated[str, Key("Kind of collective, or `copy`.")]
    start_ns: Annotated[int, Ns("Start of the long task.")]
    head_us: Annotated[float, Us("Length of the long task.")]
    synchronised: Annotated[bool, Flag("A synchronising host call waited for it.")]
    links: Annotated[float, Count("Vertical links in the stretch that follows, without a break.")]
    idle_us: Annotated[float, Us("Idle time of the device in that stretch.")]


class HostKind(Fact):
    """All calls of one kind on the host in one step."""

    table = "host_kinds"
    observed = False

    rank: Rank
    step: Step
    kind: Annotated[str, Key("As in `host_calls`.")]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Their durations added up; calls inside calls of the same kind count again.")]


class HostCost(Fact):
    """All calls of one name on the host in one step, and how much device idle time they cover."""

    table = "host_costs"
    observed = False
    on_request = True

    rank: Rank
    step: Step
    kind: Annotated[str, Key("As in `host_calls`.")]
    name: Annotated[str, Key("Call.")]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Together, nested calls of the same name counted once.")]
    longest_us: Annotated[float, Us("The longest.")]
    idle_us: Annotated[float, Us("The part during which the device was free.")]


class Holdup(Fact):
    """One kind of host cost in one step, and what it loses: the rank is replayed without it (see `analysis.replay`)."""

    table = "holdups"
    observed = False

    rank: Rank
    step: Step
    cause: Annotated[
        str,
        Key(
            "`data_loader`, `synchronise` (reads included), `read` (a value brought to the host), `blocking_copy`, "
            "`compile`, `gc`, `allocate` (device memory from the driver), and `host`: all other work of the host, "
            "one row per call that filled the pauses, missing where none did."
        ),
    ]
    call: Annotated[str, Key("The call on which most of the time was spent.")]
    calls: Annotated[float, Count("How often, nested calls counted once. For `host`: tasks that began late for it.")]
    host_us: Annotated[float, Us("Together, nested calls counted once; missing for `host`.")]
    longest_us: Annotated[float, Us("The longest. For `host`: the longest pause before one of those tasks.")]
    idle_us: Annotated[float, Us("The part during which the device was free. For `host`: the pauses together.")]
    lost_us: Annotated[
        float,
        Us(
            "How much sooner the step would end without these calls: launches move up by their time, and the device "
            "follows as far as its other work allows. Of waits and reads the last of each step stays, for a job may "
            "read its loss once. For `host`: without all of these kinds, against a host that launches early enough "
            "except after it waited."
        ),
    ]


class LaunchMode(Fact):
    """ASCEND_LAUNCH_BLOCKING as recorded on one rank, and what the waits that it brings would lose."""

    table = "launch_modes"
    observed = False

    rank: Rank
    name: Annotated[str, Key("Name of the variable.")]
    value: Annotated[str, Key("Value as recorded; empty text for a variable that was recorded as unset.")]
    number: Annotated[float, Number("The value as a number, where it is one; true is 1, false is 0.")]
    lost_us: Annotated[
        float,
        Us(
            "How much shorter a step would be without waits for the device, the last of each aside "
            "(`holdups`, `synchronise`); missing where that is not known."
        ),
    ]


class OperatorShare(Fact):
    """All kernels of one type on one rank, per step."""

    table = "operators"
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    core: Annotated[str, Key("Core type; the one with most time where a type ran on several.")]
    conversion: Annotated[bool, Flag("Changes only type or layout: Cast, TransData, Transpose, TensorMove.")]
    calls: Annotated[float, Count("How often per step.")]
    total_us: Annotated[float, Us("Device time per step.")]
    alone_us: Annotated[float, Us("The part per step in which nothing else ran on the device.")]
    unshared_us: Annotated[
        float,
        Us(
            "The part per step in which no kernel of another type ran, nor a collective at whose end the device stood "
            "still (that one would take as long anyway). Kernels on a side stream that the main stream does not wait "
            "for count for nothing. Without these kernels the step would be so much shorter."
        ),
    ]
    median_us: Annotated[float, Us("Median duration of one.")]
    longest_us: Annotated[float, Us("Longest of all.")]
    kernel_share: Annotated[float, Share("Part of the kernel time.")]
    step_share: Annotated[float, Share("Part of the step.")]
    dynamic_share: Annotated[float, Share("Part of its time in kernels with dynamic shape; missing when not recorded.")]
    shapes: Annotated[float, Count("Distinct input shapes.")]


class OperatorShape(Fact):
    """All kernels of one type with the same inputs, per step."""

    table = "operator_shapes"
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    core: Annotated[str, Key("Core type.")]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]
    input_dtypes: Annotated[str, Key("Data types of the inputs.")]
    input_formats: Annotated[str, Key("Formats of the inputs.")]
    calls: Annotated[float, Count("How often per step.")]
    total_us: Annotated[float, Us("Device time per step.")]
    mean_us: Annotated[float, Us("Mean duration.")]
    spread: Annotated[float, Times("Standard deviation of the duration over its mean.")]
    mac_share: Annotated[float, Share("Cube busy, weighted by time.")]
    vector_share: Annotated[float, Share("Vector unit busy, weighted by time.")]
    scalar_share: Annotated[float, Share("Scalar unit busy, weighted by time.")]
    mte2_share: Annotated[float, Share("Loading busy, weighted by time.")]
    blocks: Annotated[float, Count("Blocks, the smallest seen.")]
    step_share: Annotated[float, Share("Part of the step.")]


class FusibleChain(Fact):
    """Runs of small operators that one fused operator would replace, all of one kind on one rank, per step."""

    table = "fusible_chains"
    observed = False

    rank: Rank
    pattern: Annotated[str, Key("`attention`, `norm`, `rotary`, `swiglu` or `optimizer`, forward and backward.")]
    chains: Annotated[float, Count("Chains per step.")]
    kernels: Annotated[float, Count("Kernels per chain.")]
    total_us: Annotated[float, Us("Kernels of the chains, conversions between them included, per step.")]
    unshared_us: Annotated[float, Us("The part per step in which no other kernel ran, as in `operators`.")]
    longest_us: Annotated[float, Us("The longest kernel of each chain, together per step.")]
    fused_us: Annotated[
        float,
        Us(
            "What fused operators would still need per step: what is bound by memory as many passes over its tensors "
            "as they must make, at the pace of the longest kernel of each chain; attention its matrix products."
        ),
    ]
    gap_us: Annotated[
        float,
        Us("Pauses between the kernels of the chains, per step; of each chain no more than its kernels take."),
    ]
    step_share: Annotated[float, Share("Part of the step the kernels of the chains take.")]


class CollectiveCall(Fact):
    """One communication operator on one rank, set against its like."""

    table = "collective_calls"
    observed = False

    rank: Rank
    step: Step
    stage: Stage
    name: Annotated[str, Name("Name.")]
    op: Annotated[str, Key("Kind of operator.")]
    group: Annotated[str, Name("Communicator.")]
    group_kind: Annotated[str, Key("tp, pp, dp …; missing when unknown.")]
    p2p: Annotated[bool, Flag("Send, receive or batchSendRecv.")]
    start_ns: Annotated[int, Ns("Start.")]
    elapse_us: Annotated[float, Us("Start to end.")]
    exposed_us: Annotated[float, Us("The part with no kernel beside it.")]
    transit_us: Annotated[float, Us("Data moving.")]
    wait_us: Annotated[float, Us("Waiting for peers.")]
    idle_us: Annotated[float, Us("Neither.")]
    size_bytes: Annotated[float, Bytes("Payload.")]
    alike: Annotated[float, Count("Calls of the same kind, group and size on this rank, itself included.")]
    typical_us: Annotated[float, Us("Median elapse of those.")]
    turn: Annotated[
        float,
        Count(
            "Its place in the step among calls of its kind and group, by start, from 0; calls that carry less than a "
            "tenth of the largest have none."
        ),
    ]
    apart_us: Annotated[float, Us("From the end of the one whose turn was before to its start; 0 where they overlap.")]


class Move(Fact):
    """What one collective moved over one kind of link in packets of one size, and the time that cost."""

    table = "moves"
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
    transit_us: Annotated[float, Us("Time these packets took together, links side by side added up.")]
    rate_gbps: Annotated[float, Rate("Their bytes over that time: the bandwidth of one link.")]
    wall_us: Annotated[float, Us("Time that passed: their share of the transit of the call.")]
    bare_us: Annotated[
        float,
        Us(
            "The part of that which computation does not hide: the bare time of calls that follow each other without a "
            "pause, spread over what they moved on this kind of link; missing when not known."
        ),
    ]


class Meeting(Fact):
    """One communication operator seen on several ranks: who came last, how long the others waited."""

    table = "meetings"
    observed = False
    across_ranks = True

    step: Step
    name: Annotated[str, Name("Name.")]
    op: Annotated[str, Key("Kind of operator.")]
    group: Annotated[str, Name("Communicator.")]
    group_kind: Annotated[str, Key("tp, pp, dp …; missing when unknown.")]
    p2p: Annotated[bool, Flag("Send, receive or batchSendRecv.")]
    ranks: Annotated[float, Count("Ranks that took part and were captured.")]
    shortest_us: Annotated[float, Us("Elapse on the rank where it was shortest: the time it really takes.")]
    longest_us: Annotated[float, Us("Elapse on the rank that waited longest.")]
    waited_us: Annotated[float, Us("Mean over the ranks of elapse minus the shortest elapse.")]
    last_rank: Annotated[int, Volatile("The rank with the shortest elapse: it came last, the others waited.")]
    exposed_us: Annotated[float, Us("Mean over the ranks of the part with no kernel beside it.")]


class RankTime(Fact):
    """One rank's mean step beside its peers: the other captured ranks of the same pipeline stage."""

    table = "rank_times"
    observed = False
    across_ranks = True

    rank: Rank
    stage: Stage
    peers: Annotated[float, Count("Ranks of the same stage, itself not counted.")]
    span_us: Annotated[float, Us("Step.")]
    compute_us: Annotated[float, Us("Computation per step.")]
    comm_us: Annotated[float, Us("Communication per step.")]
    exposed_comm_us: Annotated[float, Us("Exposed communication per step.")]
    free_us: Annotated[float, Us("Free per step.")]
    host_gap_us: Annotated[float, Us("Idle charged to the host per step; missing without a timeline.")]
    peer_compute_us: Annotated[float, Us("Median computation of the peers.")]
    peer_comm_us: Annotated[float, Us("Median communication of the peers.")]
    peer_free_us: Annotated[float, Us("Median free time of the peers.")]
    meetings: Annotated[float, Count("Collectives it took part in with captured peers.")]
    last_share: Annotated[float, Share("Part of those in which it came last.")]
    made_wait_us: Annotated[
        float, Us("Per step: what each rank it kept waiting lost where it came last, computation aside, on average.")
    ]
    pace: Annotated[
        float,
        Times(
            "How long its kernels take over what kernels of the same type and shapes take on the other captured ranks "
            "(median), by time; missing when fewer than half of its kernel time has a like elsewhere."
        ),
    ]
    mhz: Annotated[float, Mhz("Highest AI Core frequency it reached; missing when not recorded.")]
    peer_mhz: Annotated[float, Mhz("Median of the peers.")]
    fastest_mhz: Annotated[float, Mhz("Highest of all captured ranks.")]


class LinkUse(Fact):
    """All traffic from one rank to another over one kind of link, set against links of the same kind."""

    table = "link_uses"
    observed = False
    across_ranks = True

    source: Annotated[int, Volatile("Sending rank.")]
    target: Annotated[int, Volatile("Receiving rank.")]
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO.")]
    size_bytes: Annotated[float, Bytes("Moved per step.")]
    transit_us: Annotated[float, Us("Time moving per step.")]
    bandwidth_gbps: Annotated[float, Rate("Size over time.")]
    alike: Annotated[float, Count("Links of the same kind that carried a comparable amount, itself included.")]
    typical_gbps: Annotated[float, Rate("Median bandwidth of those.")]
    deviation: Annotated[float, Times("How far below the median, in scaled median absolute deviations; 0 or more.")]
    exposed_share: Annotated[float, Share("Part of the communication of its ranks that no computation hides.")]


class StageTime(Fact):
    """One pipeline stage in one step."""

    table = "stage_times"
    observed = False
    across_ranks = True

    step: Step
    stage: Annotated[int, Index("Stage, from 0.")]
    stages: Annotated[float, Count("Stages of the pipeline.")]
    ranks: Annotated[float, Count("Captured ranks of the stage.")]
    span_us: Annotated[float, Us("Step, mean over its ranks.")]
    compute_us: Annotated[float, Us("Computation, mean over its ranks.")]
    slowest_compute_us: Annotated[float, Us("Computation of its slowest rank.")]
    exposed_comm_us: Annotated[float, Us("Exposed communication, mean over its ranks.")]
    bubble_us: Annotated[float, Us("Time in sends and receives not hidden behind computation, mean over its ranks.")]
    free_us: Annotated[float, Us("Free, mean over its ranks.")]
    unseen_us: Annotated[
        float,
        Us(
            "How much shorter its step looks than that of the stage where it is longest: in the first step it waits "
            "before its first task, which no recorded receive shows, or after its last."
        ),
    ]
    least_sends: Annotated[
        float,
        Count(
            "Sends per step on a rank of the stage that has fewest: its micro-batches, more with virtual stages; "
            "missing where none was recorded."
        ),
    ]
    average_compute_us: Annotated[float, Us("Mean computation of all stages, each over its steps.")]
    average_waiting_us: Annotated[float, Us("Mean of bubble and unseen waiting of all stages, each over its steps.")]
    heaviest: Annotated[bool, Flag("Over all steps it computes longer than any other stage.")]
    waits_most: Annotated[
        bool, Flag("The first stage that waits nearly as long (90 %) as the one that waits longest over all steps.")
    ]


class StepSpan(Fact):
    """The length of one step beside the other steps of the rank."""

    table = "step_spans"
    observed = False

    rank: Rank
    step: Step
    steps: Annotated[float, Count("Recorded steps of the rank.")]
    span_us: Annotated[float, Us("Device span of the step.")]
    typical_us: Annotated[float, Us("Median span of the other steps; missing when there is no other.")]
    edge: Annotated[bool, Flag("First or last recorded step.")]


class MemoryPeak(Fact):
    """The moment at which one component held most device memory on one rank."""

    table = "memory_peaks"
    observed = False

    rank: Rank
    component: Annotated[str, Key("As in `memory_uses`.")]
    reserved_bytes: Annotated[float, Bytes("Most reserved.")]
    allocated_bytes: Annotated[float, Bytes("Allocated at that moment.")]
    largest_allocated_bytes: Annotated[float, Bytes("Most allocated at any moment.")]
    capacity_bytes: Annotated[float, Bytes("Memory of the chip where its name tells; missing otherwise.")]
    time_ns: Annotated[int, Ns("Moment of the peak.")]


class FrequencyUse(Fact):
    """How fast the AI Cores of one rank ran."""

    table = "frequency_uses"
    observed = False

    rank: Rank
    highest_mhz: Annotated[float, Mhz("Highest recorded.")]
    lowest_mhz: Annotated[float, Mhz("Lowest recorded.")]
    mean_mhz: Annotated[float, Mhz("Mean over time.")]
    low_share: Annotated[float, Share("Part of the time below 95 % of the highest.")]
    compute_us: Annotated[float, Us("Computation per step during the time counted in `low_share`.")]


DERIVED: tuple[type[Fact], ...] = (
    Overlap,
    Spending,
    Dispatch,
    Gap,
    Interruption,
    HostKind,
    HostCost,
    Holdup,
    LaunchMode,
    OperatorShare,
    OperatorShape,
    FusibleChain,
    CollectiveCall,
    Move,
    Meeting,
    RankTime,
    LinkUse,
    StageTime,
    StepSpan,
    MemoryPeak,
    FrequencyUse,
)
