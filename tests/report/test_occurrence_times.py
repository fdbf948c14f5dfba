# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.model.findings import Occurrence
from advisor.report.occurrence_times import event_name
from advisor.report.prose import flat_text


@pytest.mark.parametrize(
    ("table", "said"),
    [("overlaps", "the whole step"), ("step_phases", "the step with the interval before it"), ("gaps", "idle")],
)
def test_an_event_without_a_name_is_called_what_its_time_is_of(table: str, said: str) -> None:
    event = Occurrence(table=table, rank=0, step=2, name="", start_ns=5, duration_us=47_500)
    assert flat_text(event_name(event, "en")) == said


def test_a_moment_of_memory_is_called_the_peak_of_its_component() -> None:
    event = Occurrence(table="memory_peaks", rank=0, step=None, name="PTA", start_ns=5, duration_us=0)
    assert flat_text(event_name(event, "en")) == "peak of PTA"
    assert flat_text(event_name(event, "zh")) == "PTA 的峰值"
