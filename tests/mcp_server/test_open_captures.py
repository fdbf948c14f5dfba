# SPDX-License-Identifier: Apache-2.0
"""Captures are kept for the next question, few of them, and never when they have changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from advisor.mcp_server import open_captures as module
from advisor.mcp_server.open_captures import KEPT, Opened
from advisor.mcp_server.roots import Roots
from advisor.messages.errors import UsageError
from advisor.rules.catalog import Catalog


@pytest.fixture
def root(folder: Path, tmp_path: Path) -> Path:
    for number in range(KEPT + 1):
        shutil.copytree(folder / "prof", tmp_path / f"prof{number}")
    return tmp_path


def test_the_second_question_is_answered_from_what_is_there(root: Path, catalog: Catalog) -> None:
    opened = Opened(Roots([root]), catalog)
    assert opened.profile("prof0") is opened.profile("./prof0")
    assert opened.diagnosis("prof0") is opened.diagnosis("prof0")


def test_the_capture_asked_about_longest_ago_is_forgotten(root: Path, catalog: Catalog) -> None:
    opened = Opened(Roots([root]), catalog)
    first = opened.profile("prof0")
    last = [opened.profile(f"prof{number}") for number in range(1, KEPT + 1)][-1]
    assert opened.profile(f"prof{KEPT}") is last
    assert opened.profile("prof0") is not first


def test_little_input_is_kept(root: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 1)
    opened = Opened(Roots([root]), catalog)
    first, second = opened.profile("prof0"), opened.profile("prof1")
    assert opened.profile("prof1") is second
    assert opened.profile("prof0") is not first


def test_a_capture_that_changed_is_read_again(root: Path, catalog: Catalog) -> None:
    opened = Opened(Roots([root]), catalog)
    first = opened.diagnosis("prof0")
    (trace, *_) = sorted((root / "prof0").rglob("step_trace_time.csv"))
    trace.write_text(trace.read_text("utf-8") + "\n", "utf-8")
    assert opened.diagnosis("prof0") is not first
    assert len(opened._seen) == 1


def test_a_saved_diagnosis_has_findings_and_no_tables(folder: Path, catalog: Catalog) -> None:
    opened = Opened(Roots([folder]), catalog)
    saved = opened.diagnosis("report.json")
    assert [one.fingerprint for one in saved.findings] == [o.fingerprint for o in opened.diagnosis("prof").findings]
    with pytest.raises(UsageError, match="no tables"):
        opened.profile("report.json")
