# SPDX-License-Identifier: Apache-2.0
"""Where device time goes, and what it waits for."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Index, Key, Moment, Ns, Rank, Share, Stage, Step, Times, Us


class Overlap(Fact):
    """Where one rank's device time went in one step: `span = compute + exposed_comm + free`.

    Where the list of kernels lacks rows, the profiler's own sums are given; without them the split is missing.
    """

    table = "overlaps"
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
        float,
        Us("The part of free in which a copy to the host runs; missing where directions were not recorded."),
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


class RankSplit(Fact):
    """Where one rank's device time went in one step, with waits in kernels that exchange as communication.

    As `overlaps`, but for what a rank waits in kernels that compute and communicate at once: there it is computation,
    for the kernel runs, here it is exposed communication, as far as other ranks tell how long it is.
    """

    table = "rank_splits"
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


class BareCopy(Fact):
    """Memory copies of one rank and step during which the device neither computes nor communicates."""

    table = "bare_copies"
    of_pauses = True
    observed = False

    rank: Rank
    step: Step
    span_us: Annotated[float, Us("Device time of the step, as in `overlaps`.")]
    free_us: Annotated[float, Us("Neither kernels nor collectives, as in `overlaps`.")]
    copy_us: Annotated[float, Us("The part of free in which a memory copy runs, as in `overlaps`.")]
    stretches: Annotated[
        float,
        Count("Number of such stretches; copies that overlap or follow each other directly count as one."),
    ]
    to_host_us: Annotated[float, Us("As in `overlaps`.")]
    device_copy_us: Annotated[float, Us("As in `overlaps`.")]
    for_cpu_us: Annotated[
        float,
        Us(
            "The part of `copy_us` that brings tensors to operators that compute on the CPU and back, as in `holdups`; "
            "missing where no launches or no calls of the host were recorded."
        ),
    ]
    ahead_us: Annotated[
        float,
        Us(
            "Such copies of the first step of a rank before its first task, where the pause before the step was not "
            "recorded; 0 in other steps, in which they count as part of the step before. At most as long as the middle "
            "one of the other steps begins with, and without those for operators on the CPU."
        ),
    ]


class Witness(Fact):
    """One sum that the profiler wrote next to the events, and what the events themselves add up to.

    Ranks whose list of kernels is known to lack rows have none: there the sums are believed.
    """

    table = "witnesses"
    observed = False
    of_all_steps = True

    rank: Rank
    witness: Annotated[
        str,
        Key(
            "`overlap_analysis` (the lane of the timeline, or the table of that name), `step_trace_time` "
            "(StepTraceTime) or `op_statistic`."
        ),
    ]
    part: Annotated[str, Key("`compute` or `exposed_comm`.")]
    said_us: Annotated[float, Us("As the profiler summed it up: over the steps, or over the whole capture.")]
    found_us: Annotated[
        float, Us("The same time of kernels and collectives; for `op_statistic` their durations added up.")
    ]
    whole_us: Annotated[float, Us("All the time the witness speaks of.")]


class RankCoverage(Fact):
    """How much of one table of a rank is there, by another table of it that needs its rows.

    Whole captures have all of it. A table that no other needs rows of has no row here: what is gone of it is not known.
    One row is of the whole recording, without a step; each step that lacks some has one more.
    """

    table = "rank_coverage"
    observed = False
    of_all_steps = True

    rank: Rank
    step: Step
    of: Annotated[
        str,
        Key(
            "Table that is looked at: `launches`, `host_calls`, `device_tasks`, `kernels`, `collectives`, `transfers`, "
            "`api_totals`, `step_windows` or `step_times`."
        ),
    ]
    by: Annotated[str, Key("Table whose rows each need one of it, or that counted them.")]
    needed: Annotated[float, Count("Rows of the other table that need a row in this one.")]
    found: Annotated[float, Count("Of these, rows whose counterpart is there.")]
    hole: Annotated[
        float,
        Count(
            "Longest run in time of rows without a counterpart between two that have one; missing where only "
            "numbers are compared."
        ),
    ]
    file: Annotated[str, Key("File that holds the table, or table of the database.")]


class Coverage(Fact):
    """How much of one table of a rank is there, by other tables of it, and by the calls that other ranks recorded.

    One row is of the whole recording, without a step; each step that lacks some has one more.
    """

    table = "coverage"
    observed = False
    across_ranks = True

    rank: Rank
    step: Step
    of: Annotated[str, Key("Table that is looked at, as in `rank_coverage`.")]
    by: Annotated[
        str, Key("Table whose rows each need one of it; `collectives` by `collectives` are those of other members.")
    ]
    needed: Annotated[float, Count("Rows of the other table that need a row in this one.")]
    found: Annotated[float, Count("Of these, rows whose counterpart is there.")]
    hole: Annotated[
        float,
        Count(
            "Longest run in time of rows without a counterpart between two that have one; missing where only "
            "numbers are compared."
        ),
    ]
    file: Annotated[str, Key("File that holds the table, or table of the database.")]


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


class StepSpan(Fact):
    """The length of one step, compared with the other steps of the rank."""

    table = "step_spans"
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


class UnmarkedPause(Fact):
    """The pauses between what the device of one rank did, where work alone counts because msprof marked no step: nobody
    knows which of them are the job's and which lie before, behind or between its runs."""

    table = "unmarked_pauses"
    observed = False
    moment = Moment("longest_start_ns", lasts="longest_us", name=())

    rank: Rank
    work_us: Annotated[float, Us("Kernels, collectives and copies, what runs at once counted once.")]
    copied_us: Annotated[float, Us("The part of it in which copies alone ran.")]
    pauses: Annotated[float, Count("Pauses between them.")]
    paused_us: Annotated[float, Us("Pauses together.")]
    median_us: Annotated[float, Us("The median one; missing where there is none, as what follows.")]
    longest_us: Annotated[float, Us("The longest one.")]
    longest_start_ns: Annotated[int, Ns("When that began.")]
    call: Annotated[
        str,
        Key(
            "The call that, with those of its kind on launching threads of the host, lasts through most of them; "
            "missing where no calls were recorded."
        ),
    ]
    call_does: Annotated[str, Key("What that call does, as in `host_calls`; missing where that makes no difference.")]
    call_us: Annotated[float, Us("How much of the pauses calls of its kind last through.")]


class StepVariation(Fact):
    """By how much one step is longer than the others of its rank, and what of it is known."""

    table = "step_variations"
    observed = False

    rank: Rank
    step: Step
    edge: Annotated[bool, Flag("First or last recorded step, as in `step_spans`.")]
    span_us: Annotated[float, Us("Device span of the step.")]
    slowed_us: Annotated[
        float,
        Us("What its kernels take beyond their like in quick steps, as in `operator_paces`, where the step is longer."),
    ]
    paused_us: Annotated[
        float,
        Us("What its longest pause of the host has beyond those of other steps, as in `stalls`, where it is longer."),
    ]
    held_us: Annotated[
        float,
        Us(
            "What the costliest kind of host cost loses in this step beyond its median over the other steps, as in "
            "`holdups`, or its exposed copies (`overlaps`), where these are more and the step is longer."
        ),
    ]
    left_us: Annotated[float, Us("The span without what is known.")]
    more_kernels: Annotated[
        float, Times("How many kernels it runs over the middle one of the other steps; missing where none are known.")
    ]


class StepJitter(StepVariation):
    """By how much one step is longer than the others of its rank, waits for other ranks and known causes aside."""

    table = "step_jitters"
    across_ranks = True

    waited_us: Annotated[
        float,
        Us(
            "Its exposed communication beyond that of the other steps, as far as another rank has none of it then: the "
            "wait for that one. 0 where one rank was captured."
        ),
    ]
    moved_us: Annotated[
        float,
        Us("How much longer the data of equal collectives move in it than in quick steps, no kernel beside them."),
    ]
    compute_us: Annotated[float, Us("What it computes, as in `overlaps`.")]
    exposed_comm_us: Annotated[float, Us("Its communication that no computation hides.")]
    free_us: Annotated[float, Us("Its idle time.")]


class StartUp(Fact):
    """What a rank without steps did before its work began: one long pause, with hardly any work before it."""

    table = "start_ups"
    of_pauses = True
    observed = False
    moment = Moment(lasts="apart_us", name=())

    rank: Rank
    start_ns: Annotated[int, Ns("Start of its first kernel or collective.")]
    apart_us: Annotated[float, Us("From its first kernel or collective to the begin of its work; part of no span.")]
    tasks: Annotated[float, Count("Kernels and collectives in that time.")]


class Dispatch(Fact):
    """One launch of a kernel, collective or copy: how long it queued, and whether the device waited for it."""

    table = "dispatches"
    observed = False
    heavy = True
    moment = Moment(name=("op_type",))

    rank: Rank
    step: Step
    kind: Annotated[str, Key("`kernel`, `comm` or `copy`.")]
    op_type: Annotated[str, Key("Operator type of a kernel, kind of collective, or `copy`.")]
    start_ns: Annotated[int, Ns("Device start.")]
    latency_us: Annotated[
        float,
        Us(
            "Device start minus host launch: the slant of the link. Negative by clock error. A launching call above "
            "200 µs that was over when the device began launched as it returned."
        ),
    ]
    queued_us: Annotated[float, Us("The same for people: 0 where clocks that err make it negative.")]
    idle_before_us: Annotated[float, Us("How long the device had been idle when this began; 0 when it was busy.")]
    vertical: Annotated[
        bool, Flag("The host launched it only after the device had run dry: the device waited for this call.")
    ]


class LaunchWait(Fact):
    """All launches of one rank, and how long the device stood still until late ones, in all steps."""

    table = "launch_waits"
    of_pauses = True
    observed = False

    rank: Rank
    tasks: Annotated[float, Count("Kernels, collectives and copies whose launch was recorded, as in `dispatches`.")]
    late_tasks: Annotated[float, Count("Those with a vertical link.")]
    dry_us: Annotated[float, Us("Total idle time of the device before the late ones.")]
    longest_dry_us: Annotated[float, Us("The longest of these; missing without any.")]


class Gap(Fact):
    """One idle interval of the device inside a step, charged to exactly one cause. Charges add up to free time."""

    table = "gaps"
    of_pauses = True
    observed = False
    heavy = True
    moment = Moment(lasts="duration_us", name=("call",))

    rank: Rank
    step: Step
    start_ns: Annotated[int, Ns("Start of the idle interval.")]
    duration_us: Annotated[float, Us("Length.")]
    cause: Annotated[
        str,
        Key(
            "`python`, `data_loader`, `synchronise`, `blocking_copy`, `compile`, `gc`, `start_up` (a first call that "
            "loads code or creates a context), `dequeue`, `host_late` (host late, no closer cause seen), `graph` "
            "(between tasks that one call launched, of which the host brings none up to date meanwhile), `wait` "
            "(event or another stream), `copy`, `comm_setup`, `step_boundary`, `unknown`. A kernel that was launched "
            "long before and starts late on an idle device, with no wait recorded (about 0.1 ms at a time in public "
            "captures), is `unknown`: the device or its driver took that time, the files do not say for what. So is "
            "a gap whose ending task has no recorded launch; where no launch at all was recorded, such a cause is "
            "missing."
        ),
    ]
    host: Annotated[bool, Flag("The cause lies on the host (the first nine causes); missing with the cause.")]
    call: Annotated[str, Key("The host call that covers most of the interval, where one does.")]
    next_op: Annotated[str, Key("Operator type, collective or copy that ended the interval.")]


class IdleCause(Fact):
    """All idle time of one rank that is charged to one cause, over the whole capture."""

    table = "idle_causes"
    of_pauses = True
    observed = False

    rank: Rank
    cause: Annotated[str, Key("As in `gaps`; missing likewise.")]
    host: Annotated[bool, Flag("The cause lies on the host; missing with the cause.")]
    total_us: Annotated[float, Us("Its gaps together.")]


LATENCY_BINS_PER_DECADE = 3


class LaunchLatency(Fact):
    """Number of launches of one rank by launch latency: three bins per factor of ten, from 1 µs on."""

    table = "launch_latencies"
    of_pauses = True
    observed = False

    rank: Rank
    to_us: Annotated[float, Us("Upper bound of the bin; the first one, up to 1 µs, holds everything shorter.")]
    launches: Annotated[float, Count("Launches with a latency, as in `dispatches`, in this bin.")]


class StepCourse(Fact):
    """The course of a step: what the device did in each of its slices, which are equally long.

    Of each rank two steps: the one in the middle of its recording, and its longest.
    """

    table = "step_courses"
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


class Stall(Fact):
    """One long idle interval of the device that the host is to blame for; by rank, the longest first."""

    table = "stalls"
    of_pauses = True
    observed = False
    moment = Moment(lasts="duration_us", name=("call",))

    rank: Rank
    step: Step
    host_step: Annotated[
        int,
        Index(
            "The marked step that the host was in at the middle of the interval, which may be the next one: a step of "
            "the device ends where the next one begins to run. Missing outside of all marks."
        ),
    ]
    start_ns: Annotated[int, Ns("Start of the idle interval.")]
    duration_us: Annotated[float, Us("Length; a hundredth of the step at least.")]
    cause: Annotated[
        str,
        Key(
            "As in `gaps`, the causes that lie on the host; an interval that only begins in a wait is what came after: "
            "`python` where a call of the framework covers most of it, else `host_late`."
        ),
    ]
    call: Annotated[str, Key("The host call that covers most of the interval, where one does.")]
    after_wait: Annotated[
        bool,
        Flag("Whether it begins while the host waits for the device, as in `item()`: what follows uses the value."),
    ]
    busy_share: Annotated[
        float,
        Share(
            "Part of it in which any recorded call ran on the host, ranges that hold other calls aside; missing where "
            "none was recorded."
        ),
    ]
    span_us: Annotated[float, Us("Device span of its step.")]
    typical_us: Annotated[float, Us("Median span of the other steps of the rank; missing when there is no other.")]
    usual_us: Annotated[
        float,
        Us(
            "Median over the other steps of their longest interval charged to the host, of intervals with a known "
            "cause where this one has a known cause, else of those without; missing where there are none."
        ),
    ]


class Interruption(Fact):
    """A long collective or copy that drained the launch queue, and the vertical links that follow it."""

    table = "interruptions"
    of_pauses = True
    observed = False
    moment = Moment(lasts="head_us", name=("op",))

    rank: Rank
    step: Step
    kind: Annotated[str, Key("`comm` or `copy`.")]
    op: Annotated[str, Key("Kind of collective, or `copy`.")]
    start_ns: Annotated[int, Ns("Start of the long task.")]
    head_us: Annotated[float, Us("Length of the long task.")]
    synchronised: Annotated[bool, Flag("A synchronising host call waited for it.")]
    links: Annotated[float, Count("Vertical links in the stretch that follows, without a break.")]
    idle_us: Annotated[
        float, Us("Idle time of the device in that stretch, in pauses as short as those before launches.")
    ]


class Preparation(Fact):
    """What passes from the host's start of one step to the first work of the device on it."""

    table = "preparations"
    observed = False

    rank: Rank
    step: Step
    preparing_us: Annotated[float, Us("From the host's start of the step to the first device work, as recorded.")]
    idle_us: Annotated[
        float,
        Us(
            "Of that, while the device neither computes, communicates nor copies; missing for the first recorded step "
            "and where kernels or starts of steps are not known."
        ),
    ]
    compute_us: Annotated[float, Us("Device busy with computation.")]
    free_us: Annotated[float, Us("Device neither computing nor communicating in the step.")]


class Ending(Fact):
    """What passes on the host from the last work of the device to the end of the last marked step."""

    table = "endings"
    observed = False
    of_pauses = True
    moment = Moment(lasts="ending_us", name=())

    rank: Rank
    step: Step
    start_ns: Annotated[int, Ns("End of the last kernel or collective.")]
    ending_us: Annotated[float, Us("From there to the end of the step on the host; 0 where that ends sooner.")]
    usual_us: Annotated[float, Us("The same of the middle one of the other steps; missing where there is no other.")]


class OuterPause(Fact):
    """A pause of the device between two marked steps for most of which the host was in neither: part of no step."""

    table = "outer_pauses"
    observed = False
    of_pauses = True
    moment = Moment(lasts="duration_us", name=())

    rank: Rank
    step: Annotated[int | None, Index("The step before it.")]
    start_ns: Annotated[int, Ns("End of the last kernel or collective of that step.")]
    duration_us: Annotated[float, Us("From there to the first kernel or collective of the next step.")]
    outside_us: Annotated[float, Us("From the end of the step before it to the begin of the next one, on the host.")]


class RecordedSpan(Fact):
    """From the first to the last event in the timeline of one rank, on the host or on the device."""

    table = "recorded_spans"
    observed = False
    of_all_steps = True

    rank: Rank
    start_ns: Annotated[int, Ns("Start of the first.")]
    end_ns: Annotated[int, Ns("End of the last.")]
    worked_ns: Annotated[int, Ns("Start of the first kernel; missing where none has a time.")]
    began_us: Annotated[float, Us("The start, counted from 1970; missing where clocks count from the start of a host.")]
    ended_us: Annotated[float, Us("The end, counted from 1970; missing where clocks count from the start of a host.")]
