# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import xmlschema
from hypothesis import HealthCheck, given, settings
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from advisor.model.findings import Diagnosis, Severity
from advisor.model.run import Run
from advisor.model.verdict import Verdict
from advisor.report.output_formats import Reported
from tests.report.formats.formats_samples import SUPPRESSION, judged, of, reports, written
from tests.report.report_samples import EXPOSED, SHAPES, finding, outcomes


@cache
def schema() -> xmlschema.XMLSchema:
    """What Jenkins takes."""
    return xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))


def suite_of(reported: Reported) -> TestSuite:
    """The one suite, after validation, as another library reads it."""
    text = written("junit", reported)
    schema().validate(text.encode("utf-8", "backslashreplace"))
    (suite,) = JUnitXml.fromstring(text.encode("utf-8", "backslashreplace"))
    assert isinstance(suite, TestSuite)
    return suite


def kinds(suite: TestSuite) -> dict[str, type | None]:
    return {str(case.name): type(case.result[0]) if case.result else None for case in suite}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_read_by_others(shape: str, language: str) -> None:
    suite_of(of(shape, language))
    suite_of(of(shape, language, verdict=judged(SHAPES[shape])))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_whatever_names_hold_the_xml_parses_and_the_counts_are_right(reported: Reported) -> None:
    suite = suite_of(reported)
    found = list(suite)
    assert suite.tests == len(found)
    for kind, count in ((Failure, suite.failures), (Error, suite.errors), (Skipped, suite.skipped)):
        assert sum(isinstance(result, kind) for case in found for result in case.result) == count
    if reported.verdict is None:
        assert len(found) == len(
            {o.rule for o in reported.diagnosis.outcomes} | {f.rule for f in reported.diagnosis.findings}
        )


def test_each_outcome_has_its_result() -> None:
    diagnosis = SHAPES["rich"].model_copy(
        update={"findings": (finding(EXPOSED, 1000.0, Severity.low),), "outcomes": outcomes(EXPOSED)}
    )
    assert kinds(suite_of(Reported(diagnosis, "en"))) == {
        EXPOSED.id: Failure,
        "memory/near-capacity": None,
        "ranks/slow-rank": Skipped,
        "compute/top-operators": Skipped,
        "compute/dynamic-shapes": Skipped,
        "memory/churn": Skipped,
        "io/data-loader": Error,
    }


def one(severity: Severity, verdict: Verdict | None = None) -> TestCase:
    """The case of a single finding."""
    diagnosis = Diagnosis(run=Run(name="x"), findings=(finding(EXPOSED, 1000.0, severity),), rules=(EXPOSED,))
    return next(iter(suite_of(Reported(diagnosis, "en", verdict=verdict))))


def test_a_remark_fails_nothing_but_is_there_to_read() -> None:
    case = one(Severity.info)
    assert not case.result
    assert "Communication is exposed" in case.system_out


def ruled(action: str, suppressed: bool = False) -> Verdict:
    """A policy for the one finding, without budgets."""
    all_of_it = judged(Diagnosis(run=Run(), findings=(finding(EXPOSED, 1.0, Severity.high),)))
    ruling = all_of_it.rulings[0].model_copy(
        update={"action": action, "suppressed": SUPPRESSION if suppressed else None}
    )
    return all_of_it.model_copy(update={"rulings": (ruling,), "budgets": ()})


def test_with_a_policy_only_its_errors_fail() -> None:
    assert [type(result) for result in one(Severity.low, ruled("error")).result] == [Failure]
    assert not one(Severity.critical, ruled("warn")).result
    case = one(Severity.critical, ruled("error", suppressed=True))
    assert not case.result
    assert "perf team" in case.system_out


def test_budgets_are_cases_too() -> None:
    suite = suite_of(of("fine", verdict=judged(SHAPES["fine"])))
    found = {name: kind for name, kind in kinds(suite).items() if name.startswith("budget/")}
    assert found.pop("budget/free_share") is Failure
    assert found.pop("budget/memory") is Skipped
    (skipped,) = (case.result for case in suite if case.name == "budget/memory")
    assert skipped[0].message.startswith("peak memory: not measured; at most"), "not that the capture lacks it"
    assert set(found.values()) == {None}


def test_nothing_checked_is_no_pass() -> None:
    assert set(kinds(suite_of(of("blind"))).values()) == {Skipped}
