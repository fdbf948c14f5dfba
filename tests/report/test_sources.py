# SPDX-License-Identifier: Apache-2.0
"""Where in the source code a finding belongs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import EXPOSED, finding

from advisor.model.findings import CodeLine, Diagnosis, Severity
from advisor.model.run import Run
from advisor.report.sources import Location, Sources, found_in


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of source code."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "train.py").write_text("1\n2\n3\n")
    (tmp_path / "train.py").write_text("1\n")
    return tmp_path


def located(source: CodeLine | None, sources: Sources) -> Location | None:
    one = finding(EXPOSED, 1.0, Severity.low, source=source)
    return sources.locations(Diagnosis(run=Run(), findings=(one,))).get(one.fingerprint)


@pytest.mark.parametrize(
    ("recorded", "line", "file"),
    [
        ("/job/code/pkg/train.py", 3, "pkg/train.py"),
        ("C:\\job\\pkg\\train.py", 3, "pkg/train.py"),
        ("pkg/train.py", 1, "pkg/train.py"),
        ("/job/train.py", 1, "train.py"),
        ("./train.py", 1, "train.py"),
        ("/job/train.py", 2, None),
        ("/job/pkg/other.py", 1, None),
        ("/job/pkg", 1, None),
        ("../train.py", 1, None),
        ("", 1, None),
    ],
)
def test_a_path_of_the_profiled_machine_is_found_in_the_source_code(
    recorded: str, line: int, file: str | None, root: Path
) -> None:
    assert found_in(root, recorded, line) == file


@settings(max_examples=40)
@given(st.text() | st.text("/.a\x00", max_size=300) | st.just("a/" * 3000 + "b.py"))
def test_any_recorded_path_is_looked_for_without_harm(recorded: str) -> None:
    assert found_in(Path("/nonexistent"), recorded, 1) is None


def test_a_recorded_line_in_the_source_code_comes_before_the_anchor(root: Path) -> None:
    sources = Sources(root, Location("main.py", 9))
    recorded = CodeLine(file="/job/pkg/train.py", line=2)
    assert located(recorded, sources) == Location("pkg/train.py", 2, recorded=True)
    assert located(None, sources) == Location("main.py", 9)


def test_what_was_recorded_elsewhere_belongs_to_the_anchor_and_only_without_one_to_its_own_path(root: Path) -> None:
    elsewhere = CodeLine(file="/job/lost.py", line=2)
    assert located(elsewhere, Sources(root, Location("main.py"))) == Location("main.py")
    assert located(elsewhere, Sources(root)) == Location("/job/lost.py", 2, recorded=True)
    assert located(elsewhere, Sources()) == Location("/job/lost.py", 2, recorded=True)
    assert located(None, Sources(root)) is None


@pytest.mark.parametrize(
    ("words", "location"),
    [
        ("train.py", Location("train.py", 1)),
        ("train.py:12", Location("train.py", 12)),
        ("./pkg/train.py:2", Location("pkg/train.py", 2)),
        ("train.py:0", Location("train.py:0", 1)),
        ("a:b.py", Location("a:b.py", 1)),
    ],
)
def test_an_anchor_is_a_file_and_a_line_where_it_names_one(words: str, location: Location, root: Path) -> None:
    assert Sources.named(root, words).anchor == location


def test_an_anchor_is_written_relative_to_the_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "pkg")
    assert Sources.named(root, str(root / "pkg" / "train.py") + ":2").anchor == Location("pkg/train.py", 2)
    assert Sources.named(root, "other.py").anchor == Location("pkg/other.py", 1)
    assert Sources.named(root, "train.py").anchor == Location("train.py", 1)
