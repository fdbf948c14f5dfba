# SPDX-License-Identifier: Apache-2.0
"""Windows of an engine are compared by as many of its steps."""

from __future__ import annotations

import pytest

from advisor.comparison import compare
from advisor.model.findings import Diagnosis
from advisor.model.job import EnginePhase, JobKind
from tests.comparison.comparison_samples import diagnosis, finding, measure


def served(window_us: float, *phases: tuple[str, float], stepped: bool = False) -> Diagnosis:
    """A window of an engine with so many steps of each kind, whose kernels and savings grow with it."""
    made = diagnosis(finding(us=window_us / 5), steps=(window_us,), free_us=window_us / 5, stepped=stepped)
    engine = [EnginePhase.model_validate({"phase": name, "by": "marks", "ranks": 1, "steps": n}) for name, n in phases]
    job = JobKind(workload="inference", engine=tuple(engine))
    return made.model_copy(update={"run": made.run.model_copy(update={"job": job})})


def test_a_window_of_more_steps_is_no_longer_one() -> None:
    found = compare(served(10_000, ("decode", 10)), served(12_000, ("decode", 12)))
    assert [shift.delta_us for shift in found.shifts] == pytest.approx([0, 0, 0, 0], abs=1e-6)
    assert {change.status for change in found.changes} == {"same"}
    assert any("12" in note.en and "10" in note.en for note in found.notes)
    assert found.after.split is not None and found.after.split.step_us == 12_000


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((("decode", 10.0),), (("decode", 10.0),)),
        ((("decode", 10.0),), (("mixed", 12.0),)),
        ((("decode", 9.0), ("mixed", 1.0)), (("decode", 6.0), ("mixed", 6.0))),
        ((("decode", 2.0),), (("decode", 4.0),)),
        ((), ()),
    ],
)
def test_windows_of_as_many_or_of_other_steps_stay_as_they_are(
    before: tuple[tuple[str, float], ...], after: tuple[tuple[str, float], ...]
) -> None:
    found = compare(served(10_000, *before), served(12_000, *after))
    assert found.shifts[0].delta_us == pytest.approx(2_000)


def test_what_a_quiet_rule_could_win_is_of_as_many_steps_too() -> None:
    could_win = {"outcome": "quiet", "measures": (measure(us=1_200),)}
    near = tuple(
        one.model_copy(update=could_win) if one.rule == "host/idle" else one
        for one in served(12_000, ("decode", 12)).outcomes
    )
    after = served(12_000, ("decode", 12)).model_copy(update={"findings": (), "outcomes": near})
    (change,) = compare(served(10_000, ("decode", 10)), after).changes
    assert change.saving_after is not None and change.saving_after.us == pytest.approx(1_000)


def test_windows_of_which_only_the_length_is_known_are_compared_by_as_many_steps() -> None:
    def bare(found: Diagnosis, us: float) -> Diagnosis:
        return found.model_copy(
            update={"split": None, "account": None, "run": found.run.model_copy(update={"step_us": us})}
        )

    before, after = served(10_000, ("decode", 10)), served(12_000, ("decode", 12))
    found = compare(bare(before, 10_000), bare(after, 12_000))
    assert found.shifts[0].delta_us == pytest.approx(0)


def test_where_steps_were_marked_these_compare() -> None:
    found = compare(served(10_000, ("decode", 10), stepped=True), served(12_000, ("decode", 12), stepped=True))
    assert found.shifts[0].delta_us == pytest.approx(2_000)
