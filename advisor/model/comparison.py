# SPDX-License-Identifier: Apache-2.0
"""Comparison: what changed between two diagnoses, and its versioned JSON form. `baseline` makes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from advisor.messages.text import Text
from advisor.model.findings import ConfidenceName, Diagnosis, Rows, Saving, Scalar, SeverityName, SpentPart
from advisor.model.json_text import json_text

Status = Literal["new", "worse", "same", "better", "gone", "not comparable"]
ShiftName = Literal["step", "compute", "communication", "free"]
ShiftStatus = Literal["worse", "same", "better", "not comparable"]
Barrier = Literal["times", "device", "workload", "chip", "size", "program", "work", "ranks"]
"""What keeps two captures from being compared. `times`: those of the one are of a step, those of the other of a window
that was captured or of all work of the device; `device`: one ran on an NPU, the other on a GPU; `workload`: they do
different things, such as training and inference. What makes a comparison less sure: `chip`: they ran on different
chips; `size`: the job had more ranks or fewer; `program`: they have little computation in common; `work`: a step of one
has far more operations than one of the other; `ranks`: other ranks were captured, over which times are means."""
DOUBTS: tuple[Barrier, ...] = ("chip", "size", "program", "work", "ranks")
"""Those that make a comparison less sure and do not forbid it."""
STATUSES: tuple[Status, ...] = ("new", "worse", "same", "better", "gone", "not comparable")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tolerance(_Model):
    """What a difference must exceed to count as a change: all of them."""

    floor: float = 0.01
    """Part of the longer of the two step times. Two captures of one program differ by about this much."""
    relative: float = 0.2
    """Part of the larger of the two savings, or of the two values of a metric."""
    spread: float = 1.0
    """How many times the spread over the steps (the larger of the two standard deviations)."""
    one_step: float = 0.33
    """Part of a value that is allowed where a capture holds one step and has no spread. Public captures of one
    program, one step each, differ by up to 26 % in step time and in communication, and by 32 % in the communication
    that each rank has exposed at least."""


class Metric(_Model):
    """One value a rule looks at, before and after. None where it is not known."""

    name: str
    unit: str = ""
    before: Scalar = None
    after: Scalar = None
    threshold: float | None = None


class Change(_Model):
    """What became of one finding."""

    rule: str
    fingerprint: str
    status: Status
    confidence: ConfidenceName
    """Low when one of the two captures has a single step."""
    subject: dict[str, Scalar] = {}
    severity_before: SeverityName | None = None
    """None where it was not found."""
    severity_after: SeverityName | None = None
    saving_before: Saving | None = None
    """What it could win; known of a quiet rule too, where it came near. None when not known."""
    saving_after: Saving | None = None
    metrics: tuple[Metric, ...] = ()
    """The one that is held against a threshold first."""
    reason: Text | None = None
    """Why it is not comparable, or why a finding that came or went counts as the same."""


class Shift(_Model):
    """One time of the mean step, before and after, µs."""

    name: ShiftName
    before_us: float
    after_us: float
    noise_us: float
    """What a difference must exceed to count."""
    longest_alike_us: float | None = None
    """Of the step: how long it may become before that counts, whatever it was measured to be. None where that is not
    known or no length would count."""
    status: ShiftStatus

    @property
    def delta_us(self) -> float:
        """After minus before: positive is slower."""
        return self.after_us - self.before_us


class Moved(_Model):
    """One entry of both accounts. The differences of all entries add up to that of the step."""

    part: SpentPart
    name: str = ""
    before_us: float
    after_us: float
    count_before: float | None = None
    count_after: float | None = None
    beyond_noise: bool
    """The difference is larger than the spread over the steps and the floor."""

    @property
    def delta_us(self) -> float:
        """After minus before: positive is slower."""
        return self.after_us - self.before_us


class Difference(_Model):
    """A table of both captures side by side, per step and averaged over ranks where it is not rank by rank."""

    name: str
    """`ranks`, `kernels`, `operators`, `calls`, `collectives`, `memory` or `allocations`."""
    rows: Rows
    """Largest difference first. Columns of an amount come in threes: `…_before…`, `…_after…`, `…_delta…`."""


def is_unrelated(barriers: Iterable[Barrier]) -> bool:
    """Whether findings of two captures say nothing of each other: shares are of other times, or other rules looked."""
    return any(barrier in ("times", "device") for barrier in barriers)


class Comparison(_Model):
    """Everything a report, a gate or a bot says about a change."""

    format: Literal["advisor.comparison/1"] = "advisor.comparison/1"
    before: Diagnosis
    after: Diagnosis
    tolerance: Tolerance = Tolerance()
    confidence: ConfidenceName
    shifts: tuple[Shift, ...] = ()
    """Step first, then its parts; empty where one of the two does not know its step time."""
    changes: tuple[Change, ...] = ()
    """In the order of `STATUSES`, within it as the diagnoses rank them. Each fingerprint once."""
    moved: tuple[Moved, ...] = ()
    """Largest difference first; empty where one of the two has no account."""
    barriers: tuple[Barrier, ...] = ()
    """What keeps the two from being compared, gravest first; empty where nothing does."""
    notes: tuple[Text, ...] = ()
    """What stands between the two captures: other ranks, levels, sources, rules, a single step."""
    tables: tuple[Difference, ...] = ()
    """Only where both captures were at hand."""

    def __repr__(self) -> str:
        counts = ((status, len(self.having(status))) for status in STATUSES)
        said = ", ".join(f"{count} {status}" for status, count in counts if count) or "no findings"
        return f"<comparison of {self.before.run.name!r} with {self.after.run.name!r}: {said}>"

    __str__ = __repr__

    @property
    def step(self) -> Shift | None:
        """What became of the step; None where one of the two does not know its time."""
        return next((shift for shift in self.shifts if shift.name == "step"), None)

    @property
    def apart(self) -> tuple[Barrier, ...]:
        """Why neither of the two steps can be called the faster; empty where one can."""
        return tuple(barrier for barrier in self.barriers if barrier not in DOUBTS)

    @property
    def unrelated(self) -> bool:
        """Whether not even the findings of the two compare."""
        return is_unrelated(self.barriers)

    def having(self, *statuses: Status) -> tuple[Change, ...]:
        """The changes of these kinds."""
        return tuple(change for change in self.changes if change.status in statuses)

    def change(self, fingerprint: str) -> Change | None:
        """What became of one finding, where it is among the changes."""
        return next((change for change in self.changes if change.fingerprint == fingerprint), None)

    def to_json(self) -> str:
        """The published form: two blanks of indent, keys in declared order, a final line break."""
        return json_text(self.model_dump(mode="json"))
