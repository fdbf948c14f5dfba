# SPDX-License-Identifier: Apache-2.0
"""Ranks, stages and links beside one another."""

from typing import Annotated

from advisor.facts.base import (
    Bytes,
    Count,
    Fact,
    Flag,
    Index,
    Key,
    Mhz,
    Moment,
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
from advisor.messages.text import Text


class Meeting(Fact):
    """One communication operator seen on several ranks: who came last, how long the others waited."""

    table = "meetings"
    called = Text("collectives with all their ranks", "同一集合通信在各卡上的记录")
    observed = False
    across_ranks = True
    moment = Moment("last_start_ns", lasts="shortest_us", rank="last_rank")

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
    bare_wait_us: Annotated[
        float,
        Us(
            "The part of that during which no kernel runs, as far as that is known; what a rank waits in several "
            "calls at once counts for the one that began first, sends and receives apart from others."
        ),
    ]
    drained_us: Annotated[
        float,
        Us(
            "The part of that in which stages of a pipeline that ended their last micro-batch wait for those that did "
            "not yet, as in `stage_times`; missing without stages."
        ),
    ]
    gained_us: Annotated[
        float,
        Us(
            "The part of `bare_wait_us` by which steps would end sooner: of all that a rank waits no more than it "
            "gains where its communication takes no time (`removals`). Missing where launches were not recorded."
        ),
    ]
    last_rank: Annotated[int, Volatile("The rank with the shortest elapse: it came last, the others waited.")]
    last_start_ns: Annotated[int, Ns("When that rank came, by its own clock.")]
    exposed_us: Annotated[float, Us("Mean over the ranks of the time during which no kernel runs beside the call.")]


class GroupPace(Fact):
    """One communicator: how long its collectives take once all members have arrived, compared with others of its
    kind."""

    table = "group_paces"
    called = Text("collectives with all their ranks", "同一集合通信在各卡上的记录")
    observed = False
    across_ranks = True

    group: Annotated[str, Name("Communicator.")]
    group_kind: Annotated[str, Key("tp, dp, cp …")]
    member_ranks: Annotated[str, Name("Captured members, such as `8-15`.")]
    ranks: Annotated[float, Count("Number of captured members.")]
    calls: Annotated[float, Count("Its collectives per step, exchanges (all-to-all) and sends aside.")]
    needed_us: Annotated[
        float, Us("Time of these calls per step on the rank that arrived last at each, which waits for nobody.")
    ]
    single_us: Annotated[
        float,
        Us(
            "Of that, what the longest of its collectives takes beyond the next longest of the same kind in the "
            "capture: a single event, which says nothing of the communicator."
        ),
    ]
    bare_us: Annotated[float, Us("The part of that during which no kernel runs, mean over the ranks.")]
    others: Annotated[
        float, Count("Communicators of the same kind with as many members and calls, and similar sizes where known.")
    ]
    like_us: Annotated[float, Us("Median of `needed_us` of those.")]
    deviation: Annotated[
        float, Times("How much slower than the median, in scaled median absolute deviations; 0 or more.")
    ]
    size_ratio: Annotated[
        float, Times("Bytes per call over the median of those communicators; missing where sizes were not recorded.")
    ]
    work_ratio: Annotated[float, Times("Computation of its members in a step over the median of those.")]


class LinkUse(Fact):
    """All traffic from one rank to another over one kind of link, compared with links of the same kind."""

    table = "link_uses"
    called = Text("traffic between ranks", "卡间通信量")
    observed = False
    across_ranks = True

    source: Annotated[int, Volatile("Sending rank.")]
    target: Annotated[int, Volatile("Receiving rank.")]
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO.")]
    size_bytes: Annotated[float, Bytes("Moved per step.")]
    transit_us: Annotated[float, Us("Time moving per step.")]
    bulk_us: Annotated[
        float,
        Us("The part of that for large transfers: kinds of collective that move 1 MB or more over the link in a step."),
    ]
    bandwidth_gbps: Annotated[
        float,
        Rate("Bytes over time of large transfers; missing without any, for small transfers tell nothing of a link."),
    ]
    alike: Annotated[
        float,
        Count(
            "Links of the same kind with a comparable amount of large transfers, most of them for the same kind of "
            "collective, itself included."
        ),
    ]
    typical_gbps: Annotated[float, Rate("Median bandwidth of those.")]
    deviation: Annotated[float, Times("How far below the median, in scaled median absolute deviations; 0 or more.")]
    bulk_steps: Annotated[float, Count("Number of steps with large transfers over it.")]
    middle_gbps: Annotated[float, Rate("Median of its bandwidth over those steps.")]
    slowest_step: Annotated[
        int, Volatile("The step in which it loses most time against the median link; missing where it loses none.")
    ]
    exposed_share: Annotated[float, Share("Part of the communication of its ranks that no computation hides.")]
    filled_us: Annotated[
        float,
        Us(
            "What data-parallel collectives of its ranks fill, per step, of the time in which these would else wait "
            "for other pipeline stages to end: so much of them costs nothing. 0 on a link whose traffic in bulk is "
            "mostly something else; missing without stages."
        ),
    ]
    stage_worth_us: Annotated[
        float,
        Us(
            "How much sooner a step would end if no other pipeline stage waited for those of its ranks "
            "(`stage_times`): the most that it can cost. Missing where there are no others, or too little is known."
        ),
    ]
    gain_without_comm_us: Annotated[
        float,
        Us(
            "How much sooner a step of its ranks would end if their communication took no time (`removals`), the more "
            "of both: the most that it can cost. Where their hosts keep them busy as long it is less than they "
            "communicate. Missing where launches were not recorded."
        ),
    ]


class LinkEnd(Fact):
    """All large transfers of one rank over one kind of link, compared with those of the other ranks."""

    table = "link_ends"
    called = Text("traffic between ranks", "卡间通信量")
    observed = False
    across_ranks = True

    rank: Rank
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO.")]
    peers: Annotated[float, Count("Ranks at the other ends of its links.")]
    size_bytes: Annotated[float, Bytes("Sent and received per step.")]
    bulk_us: Annotated[float, Us("Time of large transfers per step on the link where that is longest.")]
    best_gbps: Annotated[
        float, Rate("Bandwidth of its fastest link, in either direction: where that is slow, all of its links are.")
    ]
    alike: Annotated[float, Count("Ranks that sent and received a comparable amount over such links, itself included.")]
    typical_gbps: Annotated[float, Rate("Median of `best_gbps` of those.")]
    deviation: Annotated[float, Times("How far below that, in scaled median absolute deviations; 0 or more.")]
    exposed_share: Annotated[
        float, Share("As in `link_uses`, the most on one of its links: the part that no computation hides.")
    ]
    filled_us: Annotated[float, Us("As in `link_uses`, the least on one of its links.")]
    stage_worth_us: Annotated[float, Us("As in `link_uses`, the least on one of its links.")]
    gain_without_comm_us: Annotated[float, Us("As in `link_uses`, the most on one of its links.")]


class RankSplit(Fact):
    """Where one rank's device time went in one step, with waits in kernels that exchange as communication.

    As `overlaps`, but for what a rank waits in kernels that compute and communicate at once: there it is computation,
    for the kernel runs, here it is exposed communication, as far as other ranks tell how long it is.
    """

    table = "rank_splits"
    called = Text("where the time of each rank and step goes", "各卡各步的时间分解")
    observed = False
    across_ranks = True
    moment = Moment(lasts="span_us", name=())

    rank: Rank
    step: Step
    stage: Stage
    start_ns: Annotated[int, Ns("As in `overlaps`.")]
    span_us: Annotated[float, Us("As in `overlaps`.")]
    compute_us: Annotated[float, Us("Union of the kernels, without those waits.")]
    comm_us: Annotated[float, Us("Union of the collectives, with those waits.")]
    exposed_comm_us: Annotated[float, Us("Time in collectives during which no kernel runs, and those waits.")]
    overlapped_us: Annotated[float, Us("As in `overlaps`.")]
    free_us: Annotated[float, Us("As in `overlaps`.")]
    copy_us: Annotated[float, Us("As in `overlaps`.")]
    event_wait_us: Annotated[float, Us("As in `overlaps`.")]
    bubble_us: Annotated[float, Us("As in `overlaps`.")]
    untold_us: Annotated[
        float,
        Us(
            "The part of computation in kernels that exchange with ranks of which none was captured: how much of it is "
            "waiting is not known; missing without a list of kernels."
        ),
    ]
    inside_wait_us: Annotated[
        float,
        Us(
            "The part of exposed communication that is waiting inside kernels that exchange data; missing "
            "without a list of kernels."
        ),
    ]
    gain_without_comm_us: Annotated[
        float,
        Us(
            "How much sooner a step of the rank would end, on average, if its communication took no time (`removals`) "
            "and it waited in no such kernels: at most so much of what is exposed can be won. Missing where launches "
            "were not recorded."
        ),
    ]


class RankTime(Fact):
    """One rank's mean step, compared with its peers: the other captured ranks of the same pipeline stage."""

    table = "rank_times"
    called = Text("times of all ranks side by side", "各卡时间对比")
    observed = False
    across_ranks = True

    rank: Rank
    stage: Stage
    peers: Annotated[float, Count("Ranks of the same stage, itself not counted.")]
    span_us: Annotated[float, Us("Step.")]
    compute_us: Annotated[
        float,
        Us(
            "Computation per step. Kernels that communicate inside count only with what they take beyond those of "
            "other groups where the rank came last for them: in all others it waits for other ranks."
        ),
    ]
    comm_us: Annotated[
        float,
        Us("Communication per step, with the rest of such kernels; the exposed part where no rank tells of more."),
    ]
    exposed_comm_us: Annotated[float, Us("Exposed communication per step.")]
    free_us: Annotated[float, Us("Free per step.")]
    host_gap_us: Annotated[float, Us("Idle charged to the host per step; missing without a timeline.")]
    peer_compute_us: Annotated[float, Us("Median computation of the peers.")]
    mean_compute_us: Annotated[float, Us("Mean computation of its stage, itself counted.")]
    attention_us: Annotated[float, Us("Attention per step; missing where no kernels were listed.")]
    mean_attention_us: Annotated[float, Us("Mean attention of its stage, itself counted.")]
    peer_rest_us: Annotated[float, Us("Median computation of the peers without their attention.")]
    chance_us: Annotated[
        float,
        Us(
            "Standard error of the difference between its computation and that of its peers: how much that difference "
            "varies from step to step, on the median rank, over the square root of the number of steps; missing with "
            "one step."
        ),
    ]
    peer_comm_us: Annotated[float, Us("Median communication of the peers.")]
    peer_free_us: Annotated[float, Us("Median free time of the peers.")]
    late_before_us: Annotated[
        float,
        Us(
            "How much longer than on its peers (median) the device waited for the host before the first step, as in "
            "`launch_delays`, in the mean of the steps: no step's free time holds that."
        ),
    ]
    least_peer_comm_us: Annotated[
        float, Us("Communication of the peer that communicates shortest: the others wait in theirs for the last rank.")
    ]
    next_peer_comm_us: Annotated[
        float,
        Us(
            "Shortest communication among the peers that are not late like this rank, whose communication is longer "
            "than its own by more than 5 % of the step. They set the pace once the rank, and those as late, keep up; "
            "missing where there are none."
        ),
    ]
    peer_gain_without_comm_us: Annotated[
        float,
        Us(
            "How much sooner a step of its peers would end if their communication took no time (`removals`), median: "
            "the most that a rank can cost them. Where their own hosts keep them busy as long it is less than they "
            "communicate. Missing where launches were not recorded."
        ),
    ]
    stage_worth_us: Annotated[
        float,
        Us(
            "How much sooner a step would end if no other pipeline stage waited for its own (`stage_times`), and no "
            "rank of theirs computed clearly longer than its peers: the most that such ranks can cost together. "
            "Missing where there are no stages, or too little is known of one."
        ),
    ]
    meetings: Annotated[float, Count("Collectives it took part in with captured peers.")]
    last_share: Annotated[float, Share("Part of those in which it came last.")]
    made_wait_us: Annotated[
        float,
        Us(
            "Per step: what each rank it kept waiting lost where it came last, computation aside, on average. Waits in "
            "two calls at once count once."
        ),
    ]
    made_wait_again_us: Annotated[
        float, Us("The same without the one meeting of the capture in which they lost most: what is no single event.")
    ]
    made_wait_once_us: Annotated[
        float,
        Us(
            "The same of the one meeting of each step in which they lost most. A host that is late holds them up in "
            "later meetings too, as far as theirs got ahead by then."
        ),
    ]
    blamed_share: Annotated[float, Share("Its part of all that ranks of its stage lost waiting for one another.")]
    pace: Annotated[
        float,
        Times(
            "How long its kernels take over what kernels of the same type and shapes take on the other captured ranks "
            "(median), by time; missing when fewer than half of its kernel time has a like elsewhere."
        ),
    ]
    kernels: Annotated[float, Count("Kernels per step.")]
    peer_kernels: Annotated[float, Count("Median of the peers.")]
    slower_type: Annotated[
        str, Key("The operator type that takes longest beyond what it takes on the peers (median), per step.")
    ]
    slower_us: Annotated[float, Us("By how much that type takes longer than on the peers.")]
    slower_usual_us: Annotated[float, Us("What that type takes on the peers, median.")]
    busiest_call: Annotated[
        str, Key("The call of its host that fills more of its pauses than of those of the peers (median), by most.")
    ]
    busiest_us: Annotated[float, Us("By how much that call fills more of them, per step.")]
    unlike_share: Annotated[
        float,
        Share(
            "Part of its kernel time, without kernels that wait for other ranks, in shapes that no other captured rank "
            "has, beyond that part of its peers (median); missing without shapes."
        ),
    ]
    peer_elements_ratio: Annotated[
        float,
        Times("Elements of the inputs of its kernels per step, over the median of its peers; missing without shapes."),
    ]
    mhz: Annotated[float, Mhz("Highest AI Core frequency it reached; missing when not recorded.")]
    peer_mhz: Annotated[float, Mhz("Median of the peers.")]
    fastest_mhz: Annotated[float, Mhz("Highest of all captured ranks.")]


class StepWork(Fact):
    """How much the kernels of one rank had to do in one step. Kernels that wait for other ranks inside are left out."""

    table = "step_work"
    called = Text("work of the kernels of each step", "每个 step 的算子工作量")
    observed = False

    rank: Rank
    step: Step
    kernel_us: Annotated[float, Us("Time of its kernels together.")]
    kernels: Annotated[float, Count("How many these are.")]
    mega_elements: Annotated[
        float, Number("Elements of all their inputs, in millions; missing where shapes were not recorded.")
    ]
    attention_us: Annotated[float, Us("Of that, attention.")]
    expert_us: Annotated[float, Us("Of that, grouped multiplications, as experts have.")]
    tokens: Annotated[
        float,
        Count(
            "Rows of the first inputs of these together, as in `expert_loads`; missing where shapes were not recorded."
        ),
    ]


class StepLoad(Fact):
    """The work of one rank in one step, compared with the other ranks of its pipeline stage in the same step.

    Steps that were not recorded on all ranks of the stage are left out.
    """

    table = "step_loads"
    called = Text("work of each rank in each step", "各卡每个 step 的工作量")
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    stage: Stage
    ranks: Annotated[float, Count("Ranks of the stage, itself counted.")]
    kernel_us: Annotated[float, Us("Time of its kernels.")]
    mean_kernel_us: Annotated[float, Us("Mean of the stage in this step.")]
    kernels_ratio: Annotated[float, Times("How many kernels it ran, over the mean of the stage in this step.")]
    elements_ratio: Annotated[
        float, Times("Elements of the inputs of its kernels, over the mean of the stage in this step.")
    ]
    attention_us: Annotated[float, Us("Its attention.")]
    mean_attention_us: Annotated[float, Us("Mean of the stage in this step.")]
    expert_us: Annotated[float, Us("Its grouped multiplications, as experts have.")]
    mean_expert_us: Annotated[float, Us("Mean of the stage in this step.")]
    tokens: Annotated[float, Count("Rows that these were given, as in `expert_loads`.")]
    mean_tokens: Annotated[float, Count("Mean of the stage in this step; 0 without experts.")]
    exposed_comm_us: Annotated[float, Us("Its exposed communication.")]
    others_comm_us: Annotated[float, Us("Mean exposed communication of the other ranks of the stage in this step.")]
    free_us: Annotated[float, Us("The time in which it neither computed nor communicated.")]
    others_free_us: Annotated[float, Us("Mean of that time of the other ranks of the stage in this step.")]
    span_us: Annotated[float, Us("Its step.")]
    heaviest: Annotated[bool, Flag("The rank whose kernels took longest in this step.")]
    other_steps_us: Annotated[
        float,
        Us(
            "By how much its kernels take longer than the mean of the stage in its other steps, on average; below 0 "
            "where shorter, missing where it has no other."
        ),
    ]
    mean_extra_us: Annotated[
        float,
        Us(
            "By how much its kernels take longer than the mean of the stage, on average over all these steps of the "
            "rank; below 0 where shorter."
        ),
    ]


class ExpertCall(Fact):
    """One grouped multiplication, as experts have, of one rank."""

    table = "expert_calls"
    called = Text("multiplications of experts", "专家的矩阵乘")
    observed = False

    rank: Rank
    step: Step
    turn: Annotated[int, Index("How many of them its rank called before it in this step.")]
    tokens: Annotated[float, Count("Rows of its first input; missing where shapes were not recorded.")]
    duration_us: Annotated[float, Us("Start to end.")]


class ExpertStep(Fact):
    """The grouped multiplications of all ranks of a stage in one step, each held against the same one of the others.

    Steps in which ranks called them unequally often, or that were not recorded on all of them, are left out.
    """

    table = "expert_steps"
    called = Text("tokens of the experts of each layer", "各层专家的 token 数")
    observed = False
    across_ranks = True

    step: Step
    stage: Stage
    ranks: Annotated[float, Count("Ranks of the stage with experts.")]
    calls: Annotated[float, Count("Grouped multiplications of each of them.")]
    most_tokens: Annotated[
        float,
        Count(
            "Rows of the rank with most, in all multiplications together in which rows of ranks differ; missing "
            "without shapes."
        ),
    ]
    mean_tokens: Annotated[float, Count("Mean rows of the ranks in the same multiplications.")]
    expert_us: Annotated[float, Us("All multiplications of a rank, mean of the ranks.")]
    beyond_mean_us: Annotated[
        float, Us("By how much each multiplication of the rank with most tokens takes longer than the mean, together.")
    ]
    standing_us: Annotated[
        float, Us("By how much all multiplications of one rank take longer than the mean, of the rank with most.")
    ]
    in_turn: Annotated[float, Count("Ranks that have most tokens in some multiplication.")]
    exposed_comm_us: Annotated[float, Us("Exposed communication, mean of the ranks.")]


class DelayTurn(Fact):
    """The rank that one kind of host cost delays most in one step, compared with the other ranks of its pipeline stage.

    Steps in which it costs no rank more than the others, and kinds that no rank of two or more shows, have no row.
    """

    table = "delay_turns"
    called = Text("host costs of ranks in each step", "各卡每个 step 的 host 开销")
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    stage: Stage
    cause: Annotated[str, Key("Kind of cost, as in `launch_delays`.")]
    ranks: Annotated[float, Count("Ranks of the stage that recorded the step, itself counted.")]
    lost_us: Annotated[float, Us("What the step of this rank loses by it.")]
    usual_lost_us: Annotated[float, Us("Median of the other ranks in this step.")]
    imposed_us: Annotated[
        float,
        Us(
            "What it loses beyond them, and beyond what it loses in each of its steps, as far as they wait for it: at "
            "most by how much their exposed communication in this step or the next, on average, is longer than its own."
        ),
    ]
    rank_imposed_us: Annotated[
        float, Us("The same of this rank in all steps in which it was held up most, spread over all steps.")
    ]


class HostTurn(Fact):
    """The rank whose host is furthest behind in one step, compared with the other ranks of its pipeline stage.

    A step loses what that rank loses in it, and one whose hosts fall behind in turn loses more than any rank does on
    average. Counted is what `launch_delays` has of kind `host`, for which no single kind of call is to blame, and of
    the kinds `read` and `synchronise`, after which a host that is behind starts afresh: the larger of these, for a
    value that is read is waited for as well.
    """

    table = "host_turns"
    called = Text("how far hosts of ranks are behind in each step", "各卡每个 step 的 host 滞后")
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    stage: Stage
    ranks: Annotated[float, Count("Ranks of the stage that recorded the step, itself counted; two or more.")]
    lost_us: Annotated[float, Us("What the step of this rank loses by its host.")]
    usual_lost_us: Annotated[float, Us("Median of the other ranks in this step.")]
    imposed_us: Annotated[
        float, Us("What it loses beyond them, as far as they wait for it, as in `delay_turns`; 0 where nobody does.")
    ]
    held_up_us: Annotated[float, Us("What the step loses: what this rank imposes, and what the others lose too.")]
    pause_us: Annotated[
        float, Us("The longest pause of its device for which the host is to blame, in one piece; missing without any.")
    ]
    rank_lost_us: Annotated[float, Us("What this rank loses per step, over all of its steps.")]
    most_lost_us: Annotated[float, Us("The same of the rank of the stage that loses most.")]
    least_lost_us: Annotated[
        float,
        Us("The least that any rank of the stage loses in a step between its first and its last, where it has one."),
    ]


class StageTime(Fact):
    """One pipeline stage in one step."""

    table = "stage_times"
    called = Text("times of pipeline stages", "各流水线 stage 的时间")
    observed = False
    across_ranks = True

    step: Step
    stage: Annotated[int, Index("Stage, from 0.")]
    stages: Annotated[float, Count("Stages of the pipeline.")]
    ranks: Annotated[float, Count("Captured ranks of the stage.")]
    span_us: Annotated[float, Us("Step, mean over its ranks.")]
    compute_us: Annotated[
        float, Us("Computation, of the rank in the middle, of two the quicker: a slow rank makes no stage heavy.")
    ]
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
    drained_us: Annotated[
        float,
        Us(
            "Exposed wait for other stages in the first collective that the stages share after its last send or "
            "receive, mean over its ranks; 0 where there is none."
        ),
    ]
    absent_us: Annotated[
        float,
        Us(
            "What it waits in that collective, beyond the captured stages, where ranks of stages take part of which "
            "none was captured, on the rank that waits shortest; 0 where none is seen."
        ),
    ]
    bare_moving_us: Annotated[
        float,
        Us(
            "Exposed time of its sends and receives in which data certainly move, mean over its ranks; a send and a "
            "receive at the same time count once; missing where no transit was measured."
        ),
    ]
    micro_batches: Annotated[
        float,
        Count(
            "Micro-batches per step, told by the sends, or batched sends and receives, of the ranks; more with two "
            "stages of several virtual ones; missing where none was recorded."
        ),
    ]
    virtual_stages: Annotated[
        float,
        Count(
            "Virtual stages of each stage, told by how often first, last and middle stages send; missing "
            "where no sends were recorded."
        ),
    ]
    average_compute_us: Annotated[
        float, Us("Mean computation of all stages, each over its steps; missing where one was not captured.")
    ]
    average_waiting_us: Annotated[
        float,
        Us(
            "Mean of bubble, unseen and drained waiting of all stages, each over its steps; missing where a "
            "stage was not captured."
        ),
    ]
    average_working_us: Annotated[
        float,
        Us(
            "Mean of what micro-batches take through all stages: computation and idle time as on the rank in the "
            "middle, other communication as on the one with least, for the others wait in it, without that which "
            "comes once in a step, after the last send or receive; missing where a stage was not captured."
        ),
    ]
    others_working_us: Annotated[
        float,
        Us("The sum of that over all stages but the one where it is most; missing where a stage was not captured."),
    ]
    most_compute_us: Annotated[
        float, Us("Computation of the stage that computes longest; missing where a stage was not captured.")
    ]
    least_compute_us: Annotated[
        float, Us("Computation of the stage that computes shortest; missing where a stage was not captured.")
    ]
    lightest_stage: Annotated[
        int, Index("The first stage that computes as short; missing where a stage was not captured.")
    ]
    average_unseen_us: Annotated[float, Us("The part of that which no recorded send or receive shows.")]
    average_moving_us: Annotated[
        float,
        Us(
            "The part of the mean waiting in which data certainly move, mean of all stages; a send and a receive at "
            "the same time count once; missing where no transit was measured."
        ),
    ]
    heaviest: Annotated[bool, Flag("Over all steps it computes longer than any other stage.")]
    waits_most: Annotated[
        bool, Flag("The first stage that waits nearly as long (90 %) as the one that waits longest over all steps.")
    ]
    own_pace_us: Annotated[
        float,
        Us(
            "Length of a step that waits for no other stage: the work of its slowest rank in the step, exposed "
            "transfers included, and the time one micro-batch takes through the other stages. Missing where "
            "micro-batches or a stage are unknown, and where the step was clearly shorter than that: what counts as "
            "work is waiting then."
        ),
    ]
    even_pace_us: Annotated[
        float, Us("The same if ranks that compute clearly longer than their peers computed as these do.")
    ]
    worth_us: Annotated[
        float,
        Us(
            "How much sooner a step would end if no stage waited for this one: what is left until another stage sets "
            "the pace, the most that anything in it can cost. Missing where micro-batches or a stage are unknown."
        ),
    ]
