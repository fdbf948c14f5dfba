# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.missing_tools import fail_for_a_missing_tool

TOP = Path(__file__).parent.parent
BROWSER = "Skipped: chromium and chromedriver are not installed"
MODULE = "Skipped: could not import 'selenium.webdriver': No module named 'selenium'"
LINTER = "Skipped: shellcheck is not installed: pip install -e '.[dev]'"
NODE = "Skipped: node is not installed: https://nodejs.org"
DATA = "Skipped: ADVISOR_REAL_DATA names no folder of real captures"


def skipped(why: str) -> pytest.TestReport:
    return pytest.TestReport("one.py::test", ("one.py", 1, "test"), {}, "skipped", ("one.py", 1, why), "call")


@pytest.mark.parametrize(
    ("extra", "why", "outcome"),
    [
        ("test", BROWSER, "failed"),
        ("test", MODULE, "failed"),
        ("test", LINTER, "skipped"),
        ("dev", LINTER, "failed"),
        ("dev", NODE, "skipped"),
        ("dev", DATA, "skipped"),
        ("", BROWSER, "skipped"),
    ],
)
def test_a_skip_for_a_missing_tool_fails_where_checks_decide(
    extra: str, why: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_CI", extra)
    report = skipped(why)
    fail_for_a_missing_tool(report)
    assert report.outcome == outcome


def test_the_browser_tests_need_nothing_that_the_extra_test_lacks() -> None:
    extras = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert any(wanted.startswith("selenium") for wanted in extras["test"])
