# SPDX-License-Identifier: Apache-2.0
"""RunOfRanks: what the facts of some ranks may rest on of the run they belong to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from advisor.model.job import JobKind
from advisor.model.run import Capture, Run


class RunOfRanks(Struct, frozen=True):
    """What of a run is told to whoever derives facts of some of its ranks.

    It says nothing of other ranks but what holds of all, so that another rank more changes nothing of what was
    derived of these.
    """

    framework: str
    chip: str
    job: JobKind
    steps: tuple[int, ...]
    times_of: Literal["step", "window", "work"]
    captures: Mapping[int, Capture]
    """By rank."""
    stages: Mapping[int, int]
    """By rank: its pipeline stage, where it is known."""

    @property
    def step_count(self) -> int:
        """How many steps the totals of a rank spread over; a run without steps counts as one."""
        return max(len(self.steps), 1)

    def only(self, *ranks: int) -> RunOfRanks:
        """The same of some of the ranks."""
        captures = {rank: self.captures[rank] for rank in ranks if rank in self.captures}
        stages = {rank: self.stages[rank] for rank in ranks if rank in self.stages}
        return replace(self, captures=captures, stages=stages)

    def without_steps(self, left_out: Collection[int]) -> RunOfRanks:
        """The same where these steps do not count."""
        return replace(self, steps=tuple(step for step in self.steps if step not in left_out))


def run_of_ranks(run: Run) -> RunOfRanks:
    """What is told of all ranks."""
    placed = [(rank, stage) for stage, ranks in enumerate(run.parallel.stages) for rank in ranks]
    return RunOfRanks(
        framework=run.framework,
        chip=run.chip,
        job=run.job,
        steps=run.steps,
        times_of=run.times_of,
        captures={capture.rank: capture for capture in run.captures},
        stages=dict(reversed(placed)),  # the first of several counts
    )
