# SPDX-License-Identifier: Apache-2.0
"""Steps of a serving engine are shown as a table below the run, and an estimate is called one."""

from __future__ import annotations

import pytest

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis
from advisor.model.job import EnginePhase, JobKind
from advisor.model.run import Run
from advisor.report.diagnosis.document import diagnosis_document
from advisor.report.diagnosis.page import diagnosis_page
from advisor.report.renderers.markdown import document_text

DECODE = EnginePhase(
    phase="decode", by="repetition", ranks=2, steps=40, requests=32, tokens=32, apart_us=9000, idle_us=400
)
PREFILL = EnginePhase(phase="prefill", by="repetition", ranks=2, steps=3, requests=1, tokens=512)


def diagnosis_of(*phases: EnginePhase) -> Diagnosis:
    return Diagnosis(run=Run(job=JobKind(workload="inference", engine=phases)))


def lines_of(language: Language, *phases: EnginePhase) -> list[str]:
    text = document_text(diagnosis_document(diagnosis_of(*phases), language))
    return [line for line in text.splitlines() if line.startswith("|")]


def test_each_phase_is_a_row() -> None:
    rows = lines_of("en", DECODE, PREFILL)
    assert (
        "| generating tokens (decode) | 40 | 32 | 32 | 9.00 ms | 400 µs | an estimate: what repeats on the device |"
        in rows
    )
    assert "| processing prompts (prefill) | 3 | 1 | 512 | – | – | an estimate: what repeats on the device |" in rows


def test_the_table_is_in_chinese_too() -> None:
    assert any(line.startswith("| decode | 40 |") and "估计" in line for line in lines_of("zh", DECODE))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_has_it(language: Language) -> None:
    page = diagnosis_page(diagnosis_of(DECODE), language)
    assert ("an estimate: what repeats" if language == "en" else "估计") in page


def test_without_engine_steps_there_is_no_table() -> None:
    assert lines_of("en") == []


def test_a_saved_report_of_before_has_none() -> None:
    saved = diagnosis_of().to_json().replace(',\n      "engine": []', "")
    assert Diagnosis.model_validate_json(saved).run.job.engine == ()
