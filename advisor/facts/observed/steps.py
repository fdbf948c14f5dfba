# SPDX-License-Identifier: Apache-2.0
"""Steps: their times as the profiler summed them up, their windows on the host."""

from typing import Annotated

from advisor.facts.base import Fact, Flag, Key, Moment, Ns, Rank, Stage, Step, Us
from advisor.facts.observed.recording import NPU, PHASES
from advisor.messages.text import Text


class StepTime(Fact):
    """Where one rank's time went in one step, as the profiler itself summed it up."""

    table = "step_times"
    called = Text("the profiler's step times", "profiler 的 step 时间统计")
    record_with = NPU

    rank: Rank
    step: Step
    stage: Stage
    compute_us: Annotated[float, Us("Device busy with computation.")]
    comm_us: Annotated[float, Us("Device communicating, hidden behind computation or not.")]
    exposed_comm_us: Annotated[float, Us("Communication not hidden behind computation.")]
    overlapped_us: Annotated[float, Us("Communication hidden behind computation.")]
    free_us: Annotated[float, Us("Device neither computing nor communicating; copies and event waits included.")]
    bubble_us: Annotated[float, Us("Time in pipeline receives; 0 when the job uses batchSendRecv.")]
    preparing_us: Annotated[float, Us("From the host's start of the step to the first device work.")]


class StepPhase(Fact):
    """One step as MindSpore marks it on the device: interval, forward and backward, and tail add up to it."""

    table = "step_phases"
    called = Text("phases of steps", "迭代各阶段的时间")
    moment = Moment(lasts="whole_us", name=())
    record_with = PHASES

    rank: Rank
    step: Step
    stage: Stage
    layout: Annotated[
        str,
        Key("How the job is cut, as the profiler says: `pipeline`, else `model`, else `data`; missing on one device."),
    ]
    first: Annotated[
        bool, Flag("First recorded step of several: where it begins is not recorded, so it has no interval.")
    ]
    start_ns: Annotated[int, Ns("End of the step before, by the clock of the device; the forward pass of the first.")]
    whole_us: Annotated[float, Us("The step, from the end of the one before.")]
    interval_us: Annotated[float, Us("Until the first operator of the forward pass: as a rule it waits for data.")]
    forward_backward_us: Annotated[float, Us("From there to the last operator of the backward pass.")]
    tail_us: Annotated[float, Us("The rest: gradients that were not reduced before, and the update of parameters.")]
    compute_us: Annotated[
        float, Us("Only operators that compute; the summary of the cluster holds it, as what follows.")
    ]
    pure_comm_us: Annotated[float, Us("Communication during which nothing computes.")]
    receive_us: Annotated[float, Us("The part of it that waits for another pipeline stage (Receive).")]
    collective_us: Annotated[float, Us("The rest of it.")]


class OverlapTrack(Fact):
    """Where one rank's time went over the whole capture, as the profiler drew it: Overlap Analysis."""

    table = "overlap_tracks"
    called = Text("the profiler's own overlap analysis", "profiler 自带的重叠分析")
    among_events = True
    record_with = NPU

    rank: Rank
    compute_us: Annotated[float, Us("Computing.")]
    exposed_comm_us: Annotated[float, Us("Communication(Not Overlapped).")]
    free_us: Annotated[float, Us("Free.")]


class StepWindow(Fact):
    """The host's window of one step: ProfilerStep#N in the timeline, STEP_TIME in the database."""

    table = "step_windows"
    called = Text("marks of steps", "step 标记")
    moment = Moment(end="end_ns", name=())
    among_events = True
    record_with = Text(
        en="call prof.step() at the end of every step",
        zh="在每个 step 结束时调用 prof.step()",
    )

    rank: Rank
    step: Step
    start_ns: Annotated[int, Ns("Host start of the step.")]
    end_ns: Annotated[int, Ns("Host end of the step.")]
    cut: Annotated[
        bool,
        Flag("The file ends before all work of the step; missing where files are whole, or none of their steps is."),
    ]
    counts_from_ns: Annotated[
        int,
        Ns(
            "From when on the idle time before its first work is part of the step itself: its start; of a step before "
            "which none was recorded, later by what calls into the driver take there. Missing where that time is "
            "counted in the step before, as torch_npu does, and where nothing tells what the host did in it."
        ),
    ]
