# SPDX-License-Identifier: Apache-2.0
"""Steps: their times as the profiler summed them up, their windows on the host."""

from __future__ import annotations

from typing import Annotated

from advisor.facts.base import Fact, Moment, Ns, Rank, Stage, Step, Us
from advisor.facts.observed.recording import NPU
from advisor.messages.text import Text


class StepTime(Fact):
    """Where one rank's time went in one step, as the profiler itself summed it up."""

    table = "step_times"
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


class OverlapTrack(Fact):
    """Where one rank's time went over the whole capture, as the profiler drew it: Overlap Analysis."""

    table = "overlap_tracks"
    among_events = True
    record_with = NPU

    rank: Rank
    compute_us: Annotated[float, Us("Computing.")]
    exposed_comm_us: Annotated[float, Us("Communication(Not Overlapped).")]
    free_us: Annotated[float, Us("Free.")]


class StepWindow(Fact):
    """The host's window of one step: ProfilerStep#N in the timeline, STEP_TIME in the database."""

    table = "step_windows"
    moment = Moment(end="end_ns", name=())
    among_events = True
    record_with = Text(
        en="call prof.step() at the end of every training step",
        zh="在每个训练 step 结束时调用 prof.step()",
    )

    rank: Rank
    step: Step
    start_ns: Annotated[int, Ns("Host start of the step.")]
    end_ns: Annotated[int, Ns("Host end of the step.")]
