# SPDX-License-Identifier: Apache-2.0
"""What stands beside the steps of a remedy: what they take that is scarce, and what to watch when they are done."""

from __future__ import annotations

import re
from html import unescape

import pytest
from report_samples import DISPATCH, EXPOSED, FREE, finding

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, Evidence, Finding, RuleInfo, Severity
from advisor.model.run import Run
from advisor.report.diagnosis.document import diagnosis_document
from advisor.report.diagnosis.page import diagnosis_page
from advisor.report.renderers.markdown import document_text
from advisor.rules.catalog import Catalog

SHARE = Evidence(name="exposed_share", value=0.21, unit="share", threshold=0.1)
TAKING = EXPOSED.model_copy(
    update={"fix": tuple(step.model_copy(update={"takes": ("device_memory",)}) for step in EXPOSED.fix[:1])}
)
SCARCE = FREE.model_copy(update={"scarce": "device_memory"})


def diagnosed(*found: tuple[RuleInfo, Finding]) -> Diagnosis:
    rules, findings = zip(*found, strict=True)
    run = Run(ranks=(0,), steps=(1, 2), step_us=117_000)
    return Diagnosis(run=run, findings=findings, rules=tuple(dict.fromkeys(rules)))


def reported(language: Language, *found: tuple[RuleInfo, Finding]) -> str:
    return document_text(diagnosis_document(diagnosed(*found), language))


def page_text(language: Language, *found: tuple[RuleInfo, Finding]) -> str:
    return unescape(re.sub("<[^>]+>", "", diagnosis_page(diagnosed(*found), language)))


def of(info: RuleInfo, *evidence: Evidence) -> tuple[RuleInfo, Finding]:
    return info, finding(info, 20_000, Severity.high, evidence=evidence)


IDLE = Evidence(name="free_share", value=0.29, unit="share", threshold=0.1)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "It takes device memory, which is scarce here: The device is idle for 29 % of each step"),
        ("zh", "会占用显存，而此处显存已经紧张：设备在每步中有 29 % 的时间空闲"),
    ],
)
def test_a_step_says_that_it_takes_what_another_finding_says_is_scarce(language: Language, said: str) -> None:
    text = reported(language, of(TAKING, SHARE), of(SCARCE, IDLE))
    assert text.count(said) == 1
    assert said not in reported(language, of(TAKING, SHARE), of(FREE, IDLE))
    assert said not in reported(language, of(EXPOSED, SHARE), of(SCARCE, IDLE))


def test_a_finding_is_not_held_against_itself() -> None:
    both = TAKING.model_copy(update={"scarce": "device_memory"})
    assert "scarce" not in reported("en", of(both, SHARE))


def test_a_resource_of_a_later_version_is_named_as_it_is() -> None:
    later = tuple(step.model_copy(update={"takes": ("flux",)}) for step in EXPOSED.fix[:1])
    found = of(EXPOSED.model_copy(update={"fix": later}), SHARE), of(FREE.model_copy(update={"scarce": "flux"}), IDLE)
    assert "It takes flux, which is scarce here" in reported("en", *found)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "To watch afterwards: Exposed share of the step (21 % now, threshold 10 %)"),
        ("zh", "修改后关注：未掩盖通信占比（当前 21 %，阈值 10 %）"),
    ],
)
def test_what_was_held_against_a_threshold_is_what_to_watch(language: Language, said: str) -> None:
    plain = Evidence(name="exposed_us", value=24_000.0, unit="us")
    assert said in reported(language, of(EXPOSED, plain, SHARE))
    assert said in page_text(language, of(EXPOSED, plain, SHARE)).replace("\N{NO-BREAK SPACE}", " ")


def test_what_wins_time_and_was_held_against_no_threshold_has_its_first_value_to_watch() -> None:
    plain = Evidence(name="exposed_us", value=24_000.0, unit="us")
    assert "To watch afterwards: Exposed per step (24.0 ms now)" in reported("en", of(EXPOSED, plain))
    assert "修改后关注" in reported("zh", of(EXPOSED, plain))
    nothing = finding(EXPOSED, 0, Severity.high, evidence=(plain,))
    assert "watch" not in reported("en", (EXPOSED, nothing))


def test_whatever_a_shipped_step_takes_a_shipped_rule_may_call_scarce() -> None:
    rules = Catalog.load([shipped_folder("rules")]).rules
    taken = {what for rule in rules for step in rule.fix for what in step.takes}
    assert (
        taken
        == {rule.scarce for rule in rules if rule.scarce}
        == {
            "device_memory",
            "host_memory",
            "processors",
            "launching",
        }
    )


def test_a_saved_diagnosis_that_knows_no_resources_is_reported() -> None:
    assert "scarce" not in reported("en", of(DISPATCH, SHARE))
