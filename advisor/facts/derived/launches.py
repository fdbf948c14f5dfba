# SPDX-License-Identifier: Apache-2.0
"""How work was launched, and what held the host up."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Key, Moment, Ns, Number, Rank, Share, Step, Times, Us
from advisor.facts.derived.idle import Gap
from advisor.messages.text import Text


class Dispatch(Fact):
    """One launch of a kernel, collective or copy: how long it queued, and whether the device waited for it."""

    table = "dispatches"
    called = Text("times from launch to kernel", "下发到执行的时间")
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
    called = Text("times from launch to kernel", "下发到执行的时间")
    of_pauses = True
    observed = False

    rank: Rank
    tasks: Annotated[float, Count("Kernels, collectives and copies whose launch was recorded, as in `dispatches`.")]
    late_tasks: Annotated[float, Count("Those with a vertical link.")]
    dry_us: Annotated[float, Us("Total idle time of the device before the late ones.")]
    longest_dry_us: Annotated[float, Us("The longest of these; missing without any.")]


LATENCY_BINS_PER_DECADE = 3


class LaunchLatency(Fact):
    """Number of launches of one rank by launch latency: three bins per factor of ten, from 1 µs on."""

    table = "launch_latencies"
    called = Text("times from launch to kernel", "下发到执行的时间")
    of_pauses = True
    observed = False

    rank: Rank
    to_us: Annotated[float, Us("Upper bound of the bin; the first one, up to 1 µs, holds everything shorter.")]
    launches: Annotated[float, Count("Launches with a latency, as in `dispatches`, in this bin.")]


class LaunchClock(Fact):
    """All launches of one rank: how long from the host call to the task on the device."""

    table = "launch_clocks"
    called = Text("times from launch to kernel", "下发到执行的时间")
    observed = False

    rank: Rank
    launches: Annotated[float, Count("Launches whose call and task were both recorded.")]
    early: Annotated[float, Count("Those whose task begins more than 1 ms before the call that launched it.")]
    least_lag_us: Annotated[
        float, Us("Shortest time from the start of a call to that of its task; below zero where a task began first.")
    ]
    called_us: Annotated[float, Us("From the first of these calls to the last one.")]


class Handover(Fact):
    """Operators that the framework called on one rank, and how often launching was handed to a second thread."""

    table = "handovers"
    called = Text("operators called and launches handed over", "算子调用与任务队列的入队")
    of_pauses = True
    observed = False

    rank: Rank
    operators: Annotated[float, Count("Number of operators called, all steps together.")]
    handed_over: Annotated[
        float,
        Count(
            "Number of entries put into the task queue and taken from it, all steps together; missing where a tenth of "
            "the calls is gone."
        ),
    ]
    lost_us: Annotated[
        float,
        Us(
            "How much shorter a step would be if a second thread made the launching calls; missing where that is not "
            "known, and where one does."
        ),
    ]


class PhaseLaunch(Fact):
    """How the host launched the kernels of one rank, one by one or many at once as graphs: over all steps, and again
    over what each phase of a serving engine launched (see `engine_steps`)."""

    table = "phase_launches"
    called = Text("launches by phase of a serving engine", "按推理阶段统计的下发")
    of_pauses = True
    observed = False

    rank: Rank
    engine_phase: Annotated[
        str,
        Key(
            "As in `engine_steps`, or of passes that generate tokens within recorded steps (reinforcement learning), "
            "and `other` for all other work; missing in the row of all kernels of the rank."
        ),
    ]
    kernels: Annotated[float, Count("Kernels whose launch was recorded; of steps that count, where steps are told.")]
    calls: Annotated[float, Count("Host calls that launched them; one that replays a graph launches many.")]
    kernel_us: Annotated[float, Us("These kernels together.")]
    lost_us: Annotated[
        float,
        Us(
            "How much shorter a step would be with a host that launches early enough (`launch_delays`, `host`), by "
            "what this phase launches, but for pauses of more than 1 ms; missing where that is not known."
        ),
    ]
    phase_us: Annotated[
        float,
        Us(
            "How much of a step the phase takes on the device, from the end of what came before it: the most that it "
            "can lose. Missing in the row of all kernels."
        ),
    ]
    fewest_calls: Annotated[
        float,
        Times(
            "Such calls for each kernel that ran, listed with a launch or not, in the tenth of the steps of the engine "
            "with fewest: at most so many. One where each is launched by itself, few where graphs are replayed. "
            "Missing where steps are not known."
        ),
    ]


class LaunchForm(PhaseLaunch):
    """Whether the host launched the kernels of one rank one by one, or many at once as graphs, in all steps; by phases
    where a serving engine read prompts in some of its steps and generated tokens in others, on ranks that all tell."""

    table = "launch_forms"
    called = Text("kernels launched one by one or as graphs", "算子逐个下发还是以图下发")
    across_ranks = True


class LaunchPause(Gap):
    """One idle interval of the device for which a host is to blame that launches late: once for its rank, and again for
    the phase of a serving engine whose work ended it. One of more than 1 ms that only begins in a wait for the device
    is given to what the host did after it."""

    table = "launch_pauses"
    called = Text("pauses of the device for late launches", "等待 host 下发的空闲区间")

    engine_phase: Annotated[str, Key("As in `phase_launches`.")]


class LaunchDelay(Fact):
    """One kind of host cost in one step, and what it loses: how much sooner the rank's step would end without it."""

    table = "launch_delays"
    called = Text("what held up launches on the host", "host 侧阻塞下发的原因")
    of_pauses = True
    observed = False

    rank: Rank
    step: Step
    cause: Annotated[
        str,
        Key(
            "`data_loader`, `synchronise` (reads included), `read` (a value brought to the host), `drain` (a wait that "
            "is no part of a read or a copy, as of ASCEND_LAUNCH_BLOCKING), `blocking_copy`, `compile` (an operator), "
            "`graph_compile` (a part of the program, as torch.compile and Triton do), `gc`, `start_up` (calls into the "
            "software of the device that do what happens once, such as loading code), `allocate` (device memory from "
            "the driver), `pin` (host memory), `cpu_operator` (operators that compute on the host what was copied from "
            "the device; their copies to and fro count in `lost_us` alone, and as no `blocking_copy`), `unqueued` "
            "(launching calls of a rank without a second thread for them), and `host`: all other work of the host, one "
            "row per call that filled the pauses, missing where none did."
        ),
    ]
    call: Annotated[str, Key("The call with the largest total time.")]
    call_kind: Annotated[str, Key("For `host`: its kind, as in `host_calls`; missing for all others.")]
    calls: Annotated[float, Count("How often, nested calls counted once. For `host`: tasks that began late for it.")]
    launching_calls: Annotated[
        float,
        Count(
            "For `host`, of those tasks: before how many an operator filled the pause that launched something itself; "
            "missing where the call is none."
        ),
    ]
    host_us: Annotated[float, Us("Together, nested calls counted once; missing for `host`.")]
    longest_us: Annotated[
        float,
        Us(
            "The longest. For `host`: the longest pause before one of those tasks, without what other kinds fill of it."
        ),
    ]
    longest_after: Annotated[
        str,
        Key(
            "For `host`, of the longest pause of a step, where that is more than 1 ms: the call that ended last before "
            "the launching threads fell silent. Missing where recorded calls fill half of it."
        ),
    ]
    longest_before: Annotated[str, Key("The call that they began first after that.")]
    usual_longest_us: Annotated[
        float, Us("The longest of its kind in the middle one of the other steps of the rank; missing without others.")
    ]
    idle_us: Annotated[float, Us("The part during which the device was free. For `host`: those pauses together.")]
    call_idle_us: Annotated[
        float,
        Us(
            "The same of all rows of this rank, kind and call: over all steps, of three and more without what the "
            "longest of a step is longer than that of the other steps."
        ),
    ]
    lost_us: Annotated[
        float,
        Us(
            "How much sooner the step would end without these calls: launches move up by their time, and the device "
            "follows as far as its other work allows. The last wait or read of each step is kept, for a job may read "
            "its loss once; of many reads, those are kept as well after which the host works so long that a few reads "
            "lose most of the time. For `unqueued`: if a second thread made these calls. For `host`: without all of "
            "these kinds but the last, against a host that launches early enough except after it waited."
        ),
    ]
    before_us: Annotated[
        float,
        Us(
            "For `host`: what the first of three steps or more loses beside that before its first task, as much as "
            "the middle one of the others does, as far as the host was late before the first or after the last. No "
            "step's idle time holds it; 0 in other steps. For `data_loader`, `synchronise` and `blocking_copy`: how "
            "much earlier a single step would begin, which is in no number of it; 0 with more steps. Missing for other "
            "kinds."
        ),
    ]
    own_work_us: Annotated[
        float,
        Us(
            "For `data_loader`: the part in which the fetching thread itself ran operators, or Python functions that "
            "wait for nobody, as to unpack what workers sent; where no Python was recorded the least it can be. "
            "Missing where nothing was recorded inside."
        ),
    ]
    copied_us: Annotated[
        float, Us("For `blocking_copy`: how long copies run on the device during these calls; missing where none does.")
    ]
    to_host_share: Annotated[
        float,
        Share(
            "For `blocking_copy`: of the copies that run during these calls the part, by time, that goes to the host; "
            "missing where directions were not recorded. For `cpu_operator`: 1, or missing where it was not recorded "
            "whether the copy before it went to the host, and all that it costs is missing too."
        ),
    ]
    lossy_steps: Annotated[
        float,
        Count(
            "Number of steps that hold nearly all (four fifths) of what this kind loses on the rank, where these are "
            "half of the steps or fewer: the steps that lose more than a quarter of what the worst one loses. Missing "
            "where no such few steps stand out, and where fewer than three can be compared. For `host` without the "
            "longest pause of each row."
        ),
    ]
    lossy_since: Annotated[
        float,
        Count(
            "Number of the first of these steps where they are the last ones of the rank, two or more; else missing."
        ),
    ]
    restart_us: Annotated[
        float,
        Us(
            "For `host`: how much of `lost_us` falls away where the step reads no value of the device, not even the "
            "last: what the host does after a read is hidden else. Missing in steps that read no more than two, and "
            "for all other kinds."
        ),
    ]


class DelayingCall(Fact):
    """One call behind a row of `launch_delays`: of each kind and rank the twenty that leave the device idle longest."""

    table = "delaying_calls"
    called = Text("host calls that held up launches", "阻塞下发的 host 调用")
    of_pauses = True
    observed = False
    moment = Moment(lasts="duration_us")

    rank: Rank
    step: Step
    cause: Annotated[str, Key("As in `launch_delays`; `host`, `drain` and `unqueued` aside.")]
    name: Annotated[str, Key("The call; of calls inside each other the outermost of its kind.")]
    start_ns: Annotated[int, Ns("Start.")]
    duration_us: Annotated[float, Us("Length.")]
    idle_us: Annotated[
        float,
        Us("The part during which the device was free; missing where gaps are not known, as before the first kernel."),
    ]


class LaunchMode(Fact):
    """ASCEND_LAUNCH_BLOCKING as recorded on one rank, and what the waits that it brings would lose."""

    table = "launch_modes"
    called = Text("how operators were launched", "算子下发方式")
    observed = False

    rank: Rank
    name: Annotated[str, Key("Name of the variable.")]
    value: Annotated[str, Key("Value as recorded; empty text for a variable that was recorded as unset.")]
    number: Annotated[float, Number("The value as a number, where it is one; true is 1, false is 0.")]
    lost_us: Annotated[
        float,
        Us(
            "How much shorter a step would be without waits for the device that are no part of a read or a copy, the "
            "last of each step aside (`launch_delays`, `drain`); missing where that is not known."
        ),
    ]
