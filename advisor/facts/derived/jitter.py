# SPDX-License-Identifier: Apache-2.0
"""What some steps or calls have and their like have not."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Flag, Index, Key, Moment, Ns, Rank, Share, Step, Times, Us
from advisor.messages.text import Text


class StepVariation(Fact):
    """By how much one step is longer than the others of its rank, and what of it is known."""

    table = "step_variations"
    called = Text("what makes steps longer than others", "各 step 变长的原因")
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
            "`launch_delays`, or its exposed copies (`overlaps`), where these are more and the step is longer."
        ),
    ]
    left_us: Annotated[float, Us("The span without what is known.")]
    more_kernels: Annotated[
        float, Times("How many kernels it runs over the middle one of the other steps; missing where none are known.")
    ]


class StepJitter(StepVariation):
    """By how much one step is longer than the others of its rank, waits for other ranks and known causes aside."""

    table = "step_jitters"
    called = Text("steps longer than others, waits for other ranks aside", "各 step 的时长波动（不含等待其他卡）")
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


class Stall(Fact):
    """One long idle interval of the device that the host is to blame for; by rank, the longest first."""

    table = "stalls"
    called = Text("long pauses of the host", "host 侧的长停顿")
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
            "cause where this one has a known cause, else of those without; missing where there are none. For the "
            "longest of its step less by what its second longest exceeds that of the others, and at least that one: "
            "the usual interval may still be there beside it."
        ),
    ]
    alike_us: Annotated[
        float,
        Us(
            "By how much the intervals of its step are together longer than the usual that exceed it by at least half "
            "as much as the one that does most; missing where this is none of them."
        ),
    ]


class LaunchJitter(Fact):
    """How evenly one rank launched kernels one by one, and what delayed launches cost."""

    table = "launch_jitter"
    called = Text("evenness of launches", "下发耗时的抖动")
    of_pauses = True
    observed = False

    rank: Rank
    launches: Annotated[
        float, Count("Calls that launch one kernel, of kernels alike in type and shapes all but the first.")
    ]
    usual_us: Annotated[float, Us("Median time of such a call.")]
    held: Annotated[float, Count("Calls that took more than ten times as long.")]
    longest_us: Annotated[float, Us("The longest call.")]
    idle_us: Annotated[
        float, Us("How long the device was idle in what those calls took beyond the usual time, in all steps.")
    ]
