# SPDX-License-Identifier: Apache-2.0
"""Where findings lie in time."""

from __future__ import annotations

from advisor.engine.event_places import without_steps
from advisor.model.findings import Confidence, Finding, Occurrence, Place, Severity


def test_where_no_step_was_marked_no_finding_names_one() -> None:
    found = Finding(
        rule="host/idle",
        fingerprint="0" * 16,
        severity=Severity.low,
        confidence=Confidence.low,
        seen=(Place(rank=0, step=1), Place(rank=0, step=2), Place(rank=1, step=1)),
        occurrences=(Occurrence(rank=0, step=2, start_ns=5, name="a"), Occurrence(rank=1, step=1, start_ns=7)),
    )
    (same,) = without_steps([found])
    assert same.seen == (Place(rank=0), Place(rank=1))
    assert same.occurrences == (Occurrence(rank=0, start_ns=5, name="a"), Occurrence(rank=1, start_ns=7))
