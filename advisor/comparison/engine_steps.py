# SPDX-License-Identifier: Apache-2.0
"""Windows in which an engine took different numbers of steps, made to compare: steps do alike, windows do not.

Only where both windows hold the same kinds of steps in the same mix: else a step of one is no step of the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from advisor.messages.text import Text
from advisor.model.findings import Account, Diagnosis, Finding, Outcome, Saving, Spent
from advisor.model.run import Run
from advisor.units import show_value

M = TypeVar("M", bound=BaseModel)
_ENOUGH = 5
"""Steps from which on a mix is told (`engine_steps`)."""
_LIKE = 0.1
"""Shares of kinds of steps that differ by less are one mix; as much as a budget for slowdowns usually allows."""


def with_as_many_steps(before: Diagnosis, after: Diagnosis) -> tuple[Diagnosis, Text | None]:
    """The later diagnosis as if its window held as many steps of the engine as the earlier one, and what is said of
    that; as it is where nothing tells, or where both hold as many."""
    one, other = _steps_by_phase(before.run), _steps_by_phase(after.run)
    then, now = sum(one.values()), sum(other.values())
    if then == now or min(then, now) < _ENOUGH or not _are_one_mix(one, other):
        return after, None
    old, new = show_value(then, "count"), show_value(now, "count")
    return _scaled_diagnosis(after, then / now), Text(
        en=f"The engine took {old} steps in the window before and {new} now: times, counts and savings of now are "
        f"those of {old} such steps.",
        zh=f"窗口内引擎 step 数由 {old} 变为 {new}：现在的时间、次数与收益已折算为 {old} 个 step。",
    )


def _steps_by_phase(run: Run) -> Mapping[str, float]:
    """How many steps of each kind the window of a run holds; none where times are of something else."""
    if run.times_of != "window":
        return {}
    return {one.phase: one.steps for one in run.job.engine}


def _are_one_mix(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    then, now = sum(one.values()), sum(other.values())
    return one.keys() == other.keys() and all(abs(one[name] / then - other[name] / now) < _LIKE for name in one)


def _scaled_diagnosis(found: Diagnosis, by: float) -> Diagnosis:
    split = found.split
    return found.model_copy(
        update={
            "run": found.run.model_copy(update={"step_us": found.run.step_us * by}),
            "split": None if split is None else _scaled_times(split, by),
            "account": None if found.account is None else _scaled_account(found.account, by),
            "findings": tuple(_scaled_finding(one, by) for one in found.findings),
            "outcomes": tuple(_scaled_outcome(one, by) for one in found.outcomes),
        }
    )


def _scaled_times(model: M, by: float) -> M:
    """The same with each of its own times multiplied."""
    times = {name: getattr(model, name) for name in type(model).model_fields if name.endswith("_us")}
    return model.model_copy(update={name: us * by for name, us in times.items() if isinstance(us, float)})


def _scaled_account(account: Account, by: float) -> Account:
    return account.model_copy(
        update={
            "spent": tuple(_scaled_entry(one, by) for one in account.spent),
            "steps": tuple(_scaled_times(one, by) for one in account.steps),
        }
    )


def _scaled_entry(entry: Spent, by: float) -> Spent:
    spread, count = (None if value is None else value * by for value in (entry.spread_us, entry.count))
    return entry.model_copy(update={"us": entry.us * by, "spread_us": spread, "count": count})


def _scaled_finding(finding: Finding, by: float) -> Finding:
    savings = {name: getattr(finding, name) for name in ("saving", "alone", "imposed", "restated")}
    known = {name: saving for name, saving in savings.items() if isinstance(saving, Saving)}
    return finding.model_copy(update={name: _scaled_saving(saving, by) for name, saving in known.items()})


def _scaled_outcome(outcome: Outcome, by: float) -> Outcome:
    near = (one.model_copy(update={"saving": _scaled_saving(one.saving, by)}) for one in outcome.measures)
    return outcome.model_copy(update={"measures": tuple(near)})


def _scaled_saving(saving: Saving, by: float) -> Saving:
    return saving.model_copy(update={"us": saving.us * by})
