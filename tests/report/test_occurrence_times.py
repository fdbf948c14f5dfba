# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.model.findings import Confidence, Finding, Occurrence, Severity
from advisor.report.occurrence_times import event_name, worst_events
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


@pytest.mark.parametrize(
    ("changes", "en", "zh"),
    [
        (
            {"since_step_us": 60_800.0},
            "rank 1, step 50, 60.8 ms into the step, lasting 86.2 ms (aten::item)",
            "rank 1，step 50，开始后 60.8 ms，持续 86.2 ms（aten::item）",
        ),
        (
            {"since_step_us": 60_800.0, "since_mark": True},
            "rank 1, step 50, 60.8 ms after its mark, lasting 86.2 ms (aten::item)",
            "rank 1，step 50，标记后 60.8 ms，持续 86.2 ms（aten::item）",
        ),
        (
            {"since_step_us": -32_100.0, "since_mark": True},
            "rank 1, step 50, 32.1 ms before its mark, lasting 86.2 ms (aten::item)",
            "rank 1，step 50，标记前 32.1 ms，持续 86.2 ms（aten::item）",
        ),
        (
            {"since_step_us": -32_100.0},
            "rank 1, step 50, 32.1 ms before the step, lasting 86.2 ms (aten::item)",
            "rank 1，step 50，开始前 32.1 ms，持续 86.2 ms（aten::item）",
        ),
        (
            {"since_step_us": 0.0, "since_start_us": 5.0},
            "rank 1, step 50, at the start of the step, lasting 86.2 ms (aten::item)",
            "rank 1，step 50，自该步开始，持续 86.2 ms（aten::item）",
        ),
        (
            {"table": "overlaps", "name": "", "since_step_us": 0.0, "since_start_us": 5.0},
            "rank 1, step 50, lasting 86.2 ms (the whole step)",
            "rank 1，step 50，持续 86.2 ms（整个 step）",
        ),
        (
            {"step": None, "since_start_us": 499_000.0},
            "rank 1, 499 ms into the recording, lasting 86.2 ms (aten::item)",
            "rank 1，采集开始后 499 ms，持续 86.2 ms（aten::item）",
        ),
        (
            {"step": None, "since_start_us": 0.0, "duration_us": 0.0},
            "rank 1 (aten::item)",
            "rank 1（aten::item）",
        ),
    ],
)
def test_a_moment_says_which_time_is_when_it_began_and_which_how_long_it_lasted(
    changes: dict[str, float | None], en: str, zh: str
) -> None:
    event = Occurrence(table="host_calls", rank=1, step=50, name="aten::item", start_ns=5, duration_us=86_200)
    finding = Finding(
        rule="host/calls", fingerprint="1", severity=Severity.low, confidence=Confidence.low,
        occurrences=(event.model_copy(update=changes),),
    )  # fmt: skip
    assert flat_text(worst_events(finding, "en")[0].line) == en
    assert flat_text(worst_events(finding, "zh")[0].line) == zh
