# SPDX-License-Identifier: Apache-2.0
"""Steps: where their time went, how long they are beside one another, and which are left out."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Key, Moment, Name, Ns, Rank, Stage, Step, Us, Volatile
from advisor.messages.text import Text


class Overlap(Fact):
    """Where one rank's device time went in one step: `span = compute + exposed_comm + free`.

    Where the list of kernels lacks rows, the profiler's own sums are given; without them the split is missing.
    """

    table = "overlaps"
    called = Text("compute, communication and idle time of steps", "step 的计算、通信与空闲时间")
    observed = False
    moment = Moment(lasts="span_us", name=())

    rank: Rank
    step: Step
    stage: Stage
    start_ns: Annotated[
        int,
        Ns(
            "Start of the first kernel or collective of the step, or of the pause before it where that is known to be "
            "the step's; missing where only sums were recorded."
        ),
    ]
    span_us: Annotated[
        float,
        Us(
            "From the first kernel or collective of the step to its last, and through the pause before the next step; "
            "of a GPU each pause is divided where the host begins the next step. "
            "Where msprof recorded a whole program and nothing in it is marked, no pause is known to be the job's: "
            "only the time of kernels and collectives, and free is missing."
        ),
    ]
    compute_us: Annotated[float, Us("Union of the kernels.")]
    comm_us: Annotated[float, Us("Union of the collectives.")]
    exposed_comm_us: Annotated[float, Us("Time in collectives during which no kernel runs.")]
    overlapped_us: Annotated[float, Us("Time in collectives during which a kernel runs as well.")]
    free_us: Annotated[float, Us("Neither kernels nor collectives.")]
    copy_us: Annotated[float, Us("The part of free in which a memory copy runs; missing when only sums were recorded.")]
    to_host_us: Annotated[
        float, Us("The part of free in which a copy to the host runs; missing where directions were not recorded.")
    ]
    device_copy_us: Annotated[
        float,
        Us(
            "The part of free in which copies within the device run, and none to or from the host; missing "
            "where directions were not recorded."
        ),
    ]
    event_wait_us: Annotated[
        float,
        Us(
            "The part of free, copies aside, in which a stream waits for an event; missing when only sums "
            "were recorded."
        ),
    ]
    graph_idle_us: Annotated[
        float,
        Us(
            "The part of free, copies and waits aside, between tasks that one call launched, such as those of a graph: "
            "no host is waited for; missing when only sums were recorded."
        ),
    ]
    bubble_us: Annotated[float, Us("Time in pipeline sends and receives not hidden behind computation.")]
    listed_us: Annotated[float, Us("Union of the kernels that are in the list; missing when there is no list.")]
    listed_exposed_us: Annotated[
        float, Us("Time in listed collectives during which no listed kernel runs; missing without a list of kernels.")
    ]
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


class StepSpan(Fact):
    """The length of one step, compared with the other steps of the rank."""

    table = "step_spans"
    called = Text("lengths of steps", "step 时长")
    observed = False

    rank: Rank
    step: Step
    steps: Annotated[float, Count("Recorded steps of the rank.")]
    span_us: Annotated[float, Us("Device span of the step.")]
    typical_us: Annotated[float, Us("Median span of the other steps; missing when there is no other.")]
    edge: Annotated[
        bool,
        Flag(
            "First or last recorded step. None is where three were recorded of which the first and the last are alike "
            "and the one between them is longer."
        ),
    ]
    shortest_between_us: Annotated[
        float, Us("The shortest step of the rank between its first and its last; missing when there is none.")
    ]
    longest_between_us: Annotated[
        float, Us("The longest step of the rank between its first and its last; missing when there is none.")
    ]


class LeftOutStep(Fact):
    """A step that no other table counts: one of the first recorded ones of a rank, where they took much longer than any
    later one, or one of which a file that ends early holds a part."""

    table = "left_out_steps"
    called = Text("steps that do not count", "未计入的 step")
    observed = False
    of_all_steps = True
    moment = Moment(lasts="span_us", name=())

    rank: Rank
    step: Step
    reason: Annotated[
        str, Key("`start_up` (one of the first, which took much longer) or `cut` (the file ends in or before it).")
    ]
    start_ns: Annotated[int, Ns("Host start of the step; missing where only its times were summed up.")]
    span_us: Annotated[float, Us("How long it took, by the profiler's sums or else from start to end on the host.")]
    longest_us: Annotated[
        float, Us("The longest of the steps that count, told in the same way; missing of steps that are cut.")
    ]


class StartUpStep(Fact):
    """One of the first recorded steps of a rank that no other table counts, and what its collectives took."""

    table = "start_up_steps"
    called = Text("first steps that do not count", "未计入的最初 step")
    observed = False
    of_all_steps = True
    moment = Moment(lasts="span_us", name=())

    rank: Rank
    step: Step
    start_ns: Annotated[int, Ns("As in `left_out_steps`, like what follows.")]
    span_us: Annotated[float, Us("How long it took.")]
    longest_us: Annotated[float, Us("The longest of the steps that count.")]
    collectives_us: Annotated[
        float, Us("For how long a collective of the step ran; missing where none is told, or none with its time.")
    ]
    collectives_wait_us: Annotated[
        float, Us("How much of that its collectives waited for other ranks; missing when not recorded.")
    ]
    op: Annotated[str, Name("What the longest of them does, such as allReduce.")]


class StartUp(Fact):
    """What a rank without steps did before its work began: one long pause, with hardly any work before it."""

    table = "start_ups"
    called = Text("how the capture began", "采集开始时的启动段")
    of_pauses = True
    observed = False
    moment = Moment(lasts="apart_us", name=())

    rank: Rank
    start_ns: Annotated[int, Ns("Start of its first kernel or collective.")]
    apart_us: Annotated[float, Us("From its first kernel or collective to the begin of its work; part of no span.")]
    tasks: Annotated[float, Count("Kernels and collectives in that time.")]


class SetUp(Fact):
    """The kernels by which a benchmark without steps makes its inputs: they draw random numbers, and convert those,
    before the pause in front of what is timed. No other table counts them."""

    table = "set_ups"
    called = Text("how the inputs were made", "输入数据的生成")
    observed = False
    moment = Moment(lasts="span_us", name=("op_type",))

    rank: Rank
    start_ns: Annotated[int, Ns("Start of the first of them.")]
    span_us: Annotated[float, Us("From there to the end of the last of them.")]
    busy_us: Annotated[float, Us("How long they run, added up.")]
    kernels: Annotated[float, Count("How many kernels.")]
    op_type: Annotated[str, Name("Operator type that takes most of it.")]


class StepCourse(Fact):
    """The course of a step: what the device did in each of its slices, which are equally long.

    Of each rank two steps: the one in the middle of its recording, and its longest.
    """

    table = "step_courses"
    called = Text("the course of a step", "step 内各时间片的去向")
    of_pauses = True
    observed = False

    rank: Rank
    step: Step
    from_us: Annotated[float, Us("Beginning of the slice, from the beginning of the step.")]
    to_us: Annotated[float, Us("Its end.")]
    compute_us: Annotated[float, Us("Union of the kernels in it.")]
    exposed_comm_us: Annotated[float, Us("Time in its collectives during which no kernel runs.")]
    free_us: Annotated[float, Us("Neither kernels nor collectives.")]
    lead_us: Annotated[
        float,
        Us("Median time from launch to start of what began in it, as in `dispatches`; missing where nothing did."),
    ]


class Ending(Fact):
    """What passes on the host from the last work of the device to the end of the last marked step."""

    table = "endings"
    called = Text("what passes after the last work of the last step", "最后一个 step 的末个任务之后的时间")
    observed = False
    of_pauses = True
    moment = Moment(lasts="ending_us", name=())

    rank: Rank
    step: Step
    start_ns: Annotated[int, Ns("End of the last kernel or collective.")]
    ending_us: Annotated[float, Us("From there to the end of the step on the host; 0 where that ends sooner.")]
    usual_us: Annotated[float, Us("The same of the middle one of the other steps; missing where there is no other.")]


class RecordedSpan(Fact):
    """From the first to the last event in the timeline of one rank, on the host or on the device."""

    table = "recorded_spans"
    called = Text("recorded intervals", "采集区间")
    observed = False
    of_all_steps = True

    rank: Rank
    start_ns: Annotated[int, Ns("Start of the first.")]
    end_ns: Annotated[int, Ns("End of the last.")]
    worked_ns: Annotated[int, Ns("Start of the first kernel; missing where none has a time.")]
    began_us: Annotated[float, Us("The start, counted from 1970; missing where clocks count from the start of a host.")]
    ended_us: Annotated[float, Us("The end, counted from 1970; missing where clocks count from the start of a host.")]


class RepeatedRecording(Fact):
    """One rank with the very recording of another one: its first and last event and its first kernel have equal
    times."""

    table = "repeated_recordings"
    called = Text("recorded intervals", "采集区间")
    observed = False
    of_all_steps = True
    across_ranks = True

    rank: Rank
    same_as: Annotated[int, Volatile("The first rank that has this recording.")]
    start_ns: Annotated[int, Ns("Start of the first event.")]
    end_ns: Annotated[int, Ns("End of the last event.")]
