# SPDX-License-Identifier: Apache-2.0
"""Verdict: what a project's policy says of a diagnosis. `gate` makes it; reports for CI and the bot read it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from advisor.messages.text import Text
from advisor.model.comparison import Status
from advisor.model.findings import SeverityName
from advisor.model.json_text import json_text

Action = Literal["off", "warn", "error"]
BudgetName = Literal["free_share", "step_time", "memory", "saving_left", "slowdown"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Suppression(_Model):
    """A finding that a project lives with for now. At least one of `rule` and `fingerprint` is given."""

    rule: str = ""
    """An id, or a pattern such as `memory/*`."""
    fingerprint: str = ""
    reason: str
    owner: str = ""
    expires: str = ""
    """The last day it holds, as YYYY-MM-DD; empty for ever."""
    line: int = 0
    """Where it stands in the settings."""


class Ruling(_Model):
    """What the policy says of one finding."""

    rule: str
    fingerprint: str
    severity: SeverityName
    status: Status | None = None
    """Against the baseline; None without one."""
    action: Action
    by: str = ""
    """The setting that decided, such as `policy.rules.host/*` or `fail_on new:high`; empty where none did."""
    suppressed: Suppression | None = None
    """The suppression that took it out of the verdict."""

    @property
    def fails(self) -> bool:
        """Whether it fails the run."""
        return self.action == "error" and self.suppressed is None

    @property
    def warns(self) -> bool:
        """Whether it warns and no more."""
        return self.action == "warn" and self.suppressed is None

    @property
    def is_known(self) -> bool:
        """Whether the baseline has it too, and no better."""
        return self.status in ("same", "better")


class Budget(_Model):
    """A limit a project sets for the run."""

    name: BudgetName
    unit: str
    limit: float
    """As in force: a slowdown within the noise between two captures is none, whatever the project says."""
    measured: float | None = None
    """None when the capture does not tell."""
    action: Action = "error"

    @property
    def kept(self) -> bool | None:
        """Whether the run stays within; None when that cannot be told."""
        return None if self.measured is None else self.measured <= self.limit

    @property
    def fails(self) -> bool:
        """Whether it fails the run."""
        return self.action == "error" and self.kept is False


class Verdict(_Model):
    """Whether a run may pass, and why."""

    format: Literal["advisor.verdict/1"] = "advisor.verdict/1"
    passed: bool
    blind: bool = False
    """Whether too little of the run could be read to judge it, or what is new would decide and its baseline does not
    compare with it; it does not pass then, though nothing fails it."""
    rulings: tuple[Ruling, ...] = ()
    """One for each finding, in the order of the diagnosis."""
    budgets: tuple[Budget, ...] = ()
    unused: tuple[Suppression, ...] = ()
    """Suppressions that met no finding."""
    expired: tuple[Suppression, ...] = ()
    """Suppressions past their last day: they hold no longer."""
    notes: tuple[Text, ...] = ()
    unjudged: tuple[str, ...] = ()
    """What of `fail_on` asks for changes, where there is no baseline to tell them: `new:high` and its like."""

    def to_json(self) -> str:
        """The published form."""
        return json_text(self.model_dump(mode="json"))
