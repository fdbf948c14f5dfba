# SPDX-License-Identifier: Apache-2.0
"""Ranks and pipeline stages compared with each other."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Index, Key, Mhz, Number, Rank, Share, Stage, Step, Times, Us


class RankTime(Fact):
    """One rank's mean step, compared with its peers: the other captured ranks of the same pipeline stage."""

    table = "rank_times"
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
            "`holdups`, in the mean of the steps: no step's free time holds that."
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


class ExpertLoad(Fact):
    """How much the experts of one rank had to do per step, compared with the other ranks of its pipeline stage."""

    table = "expert_loads"
    observed = False
    across_ranks = True

    rank: Rank
    stage: Stage
    ranks: Annotated[float, Count("Ranks of the stage with experts, itself counted.")]
    tokens: Annotated[
        float,
        Count("Rows of the first inputs of its grouped multiplications together: a token for each time it is used."),
    ]
    mean_tokens: Annotated[float, Count("Mean of the stage.")]
    expert_us: Annotated[float, Us("Grouped multiplications.")]
    mean_expert_us: Annotated[float, Us("Mean of the stage.")]
    peer_expert_us: Annotated[float, Us("Median of the other ranks of the stage.")]
    comm_us: Annotated[float, Us("Its communication per step.")]
    peer_comm_us: Annotated[float, Us("Median communication of the other ranks of its stage.")]


class StepWork(Fact):
    """How much the kernels of one rank had to do in one step. Kernels that wait for other ranks inside are left out."""

    table = "step_work"
    observed = False

    rank: Rank
    step: Step
    kernel_us: Annotated[float, Us("Time of its kernels together.")]
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
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    stage: Stage
    ranks: Annotated[float, Count("Ranks of the stage, itself counted.")]
    kernel_us: Annotated[float, Us("Time of its kernels.")]
    mean_kernel_us: Annotated[float, Us("Mean of the stage in this step.")]
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
    observed = False
    across_ranks = True

    step: Step
    stage: Stage
    ranks: Annotated[float, Count("Ranks of the stage with experts.")]
    calls: Annotated[float, Count("Grouped multiplications of each of them.")]
    most_tokens: Annotated[
        float,
        Count("Rows of the rank with most, in all multiplications together in which rows of ranks differ."),
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


class HoldupTurn(Fact):
    """The rank that one kind of host cost delays most in one step, compared with the other ranks of its pipeline stage.

    Steps in which it costs no rank more than the others, and kinds that no rank of two or more shows, have no row.
    """

    table = "holdup_turns"
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    stage: Stage
    cause: Annotated[str, Key("Kind of cost, as in `holdups`.")]
    ranks: Annotated[float, Count("Ranks of the stage that recorded the step, itself counted.")]
    lost_us: Annotated[float, Us("What the step of this rank loses by it.")]
    usual_lost_us: Annotated[float, Us("Median of the other ranks in this step.")]
    imposed_us: Annotated[
        float,
        Us(
            "What it loses beyond them, as far as they wait for it: at most by how much their exposed communication in "
            "this step or the next, on average, is longer than its own."
        ),
    ]
    rank_imposed_us: Annotated[
        float, Us("The same of this rank in all steps in which it was held up most, spread over all steps.")
    ]


class HostTurn(Fact):
    """The rank whose host is furthest behind in one step, compared with the other ranks of its pipeline stage.

    A step loses what that rank loses in it, and one whose hosts fall behind in turn loses more than any rank does on
    average. Counted is what `holdups` has of kind `host`, for which no single kind of call is to blame, and of the
    kinds `read` and `synchronise`, after which a host that is behind starts afresh: the larger of these, for a value
    that is read is waited for as well.
    """

    table = "host_turns"
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    stage: Stage
    ranks: Annotated[float, Count("Ranks of the stage that recorded the step, itself counted; two or more.")]
    lost_us: Annotated[float, Us("What the step of this rank loses by its host.")]
    usual_lost_us: Annotated[float, Us("Median of the other ranks in this step.")]
    imposed_us: Annotated[
        float, Us("What it loses beyond them, as far as they wait for it, as in `holdup_turns`; 0 where nobody does.")
    ]
    held_up_us: Annotated[float, Us("What the step loses: what this rank imposes, and what the others lose too.")]
    pause_us: Annotated[
        float, Us("The longest pause of its device for which the host is to blame, in one piece; missing without any.")
    ]
    rank_lost_us: Annotated[float, Us("What this rank loses per step, over all of its steps.")]
    most_lost_us: Annotated[float, Us("The same of the rank of the stage that loses most.")]
    least_lost_us: Annotated[float, Us("The least that any rank of the stage loses in any of its steps.")]


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
            "middle, other communication as on the one with least, for the others wait in it; missing where a stage "
            "was not captured."
        ),
    ]
    most_compute_us: Annotated[
        float, Us("Computation of the stage that computes longest; missing where a stage was not captured.")
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
            "micro-batches or a stage are unknown."
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
