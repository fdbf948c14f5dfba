# SPDX-License-Identifier: Apache-2.0
"""Idle time of devices by its cause."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Index, Key, Moment, Ns, Rank, Step, Us
from advisor.messages.text import Text


class BareCopy(Fact):
    """Memory copies of one rank and step during which the device neither computes nor communicates."""

    table = "bare_copies"
    called = Text("copies beside which nothing runs", "未被掩盖的拷贝")
    of_pauses = True
    observed = False

    rank: Rank
    step: Step
    span_us: Annotated[float, Us("Device time of the step, as in `overlaps`.")]
    free_us: Annotated[float, Us("Neither kernels nor collectives, as in `overlaps`.")]
    copy_us: Annotated[float, Us("The part of free in which a memory copy runs, as in `overlaps`.")]
    stretches: Annotated[
        float, Count("Number of such stretches; copies that overlap or follow each other directly count as one.")
    ]
    to_host_us: Annotated[float, Us("As in `overlaps`.")]
    device_copy_us: Annotated[float, Us("As in `overlaps`.")]
    for_cpu_us: Annotated[
        float,
        Us(
            "The part of `copy_us` that brings tensors to operators that compute on the CPU and back, as in "
            "`launch_delays`; missing where no launches or no calls of the host were recorded."
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


class Spending(Fact):
    """What a step was spent on, name by name; the entries of a step add up to its time."""

    table = "spending"
    called = Text("account of the step", "单步时间账目")
    observed = False

    rank: Rank
    step: Step
    part: Annotated[str, Key("`compute`, `communication` (exposed) or `free`.")]
    name: Annotated[
        str, Key("Operator type, kind of collective, or cause of idle time as in `gaps`; missing for what has no name.")
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


class UnmarkedPause(Fact):
    """The pauses between what the device of one rank did, where work alone counts because msprof marked no step: nobody
    knows which of them are the job's and which lie before, behind or between its runs."""

    table = "unmarked_pauses"
    called = Text("pauses where no step was marked", "未标记 step 时的停顿")
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


class GraphRun(Fact):
    """How one rank ran compiled graphs, and its idle time between their runs; by the list of kernels alone, which names
    the graph of each."""

    table = "graph_runs"
    called = Text("runs of compiled graphs", "图的各次执行")
    of_pauses = True
    observed = False
    moment = Moment("longest_start_ns", lasts="longest_us", name=())

    rank: Rank
    runs: Annotated[float, Count("Runs of a graph per step: mean.")]
    run_us: Annotated[float, Us("How long one lasts, from its first kernel to the end of its last: median.")]
    kernels: Annotated[float, Count("Kernels of a run: mean.")]
    single_kernels: Annotated[float, Count("Kernels that the host launched by themselves, per run: mean.")]
    within_us: Annotated[float, Us("Idle time of the device within runs, per step: mean. Copies are no idle time.")]
    between_us: Annotated[float, Us("The same outside of runs.")]
    longest_us: Annotated[float, Us("The longest pause outside of runs; missing where there is none, as what follows.")]
    longest_start_ns: Annotated[int, Ns("When that began.")]
    awaited_type: Annotated[
        str, Key("The operator that begins when such pauses end, of the one for which the device waits longest in all.")
    ]
    awaited_us: Annotated[float, Us("How long the device waits for that one per step, outside of runs.")]


class Gap(Fact):
    """One idle interval of the device inside a step, charged to exactly one cause. Charges add up to free time."""

    table = "gaps"
    called = Text("idle intervals of the device", "设备空闲区间")
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
    called = Text("causes of idle time", "空闲时间的成因")
    of_pauses = True
    observed = False

    rank: Rank
    cause: Annotated[str, Key("As in `gaps`; missing likewise.")]
    host: Annotated[bool, Flag("The cause lies on the host; missing with the cause.")]
    total_us: Annotated[float, Us("Its gaps together.")]


class Interruption(Fact):
    """A long collective or copy that drained the launch queue, and the vertical links that follow it."""

    table = "interruptions"
    called = Text("gaps of the launching thread", "下发线程的中断")
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
    called = Text("what passes before the first work of each step", "每个 step 首个任务之前的时间")
    observed = False

    rank: Rank
    step: Step
    preparing_us: Annotated[
        float,
        Us("From the host's start of the step to the first device work, as recorded; of a single step as marked."),
    ]
    idle_us: Annotated[
        float,
        Us(
            "Of that, while the device neither computes, communicates nor copies; missing for the first recorded step "
            "and where kernels or starts of steps are not known."
        ),
    ]
    compute_us: Annotated[float, Us("Device busy with computation.")]
    free_us: Annotated[float, Us("Device neither computing nor communicating in the step.")]
    counted_us: Annotated[float, Us("From the first device work to the end of the step; what its time is.")]


class OuterPause(Fact):
    """A pause of the device between two marked steps for most of which the host was in neither: part of no step."""

    table = "outer_pauses"
    called = Text("pauses between steps that belong to none", "不属于任何 step 的停顿")
    observed = False
    of_pauses = True
    moment = Moment(lasts="duration_us", name=())

    rank: Rank
    step: Annotated[int | None, Index("The step before it.")]
    start_ns: Annotated[int, Ns("End of the last kernel or collective of that step.")]
    duration_us: Annotated[float, Us("From there to the first kernel or collective of the next step.")]
    outside_us: Annotated[float, Us("From the end of the step before it to the begin of the next one, on the host.")]
