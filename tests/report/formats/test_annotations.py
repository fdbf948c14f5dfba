# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from advisor.messages.text import LANGUAGES, Language
from advisor.report.comparison.words import STATUSES
from advisor.report.formats.annotations import workflow_command
from advisor.report.output_formats import Reported
from advisor.report.sources import Location
from tests.report.formats.formats_samples import MORE_HOSTILE, compared, judged, of, reports, written
from tests.report.report_samples import HOSTILE, SHAPES, rich

COMMANDS = ("error", "warning", "notice")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A line as the runner of GitHub reads it: name, properties, message."""
    assert line.startswith("::")
    head, message = line[2:].split("::", 1)
    name, _, rest = head.partition(" ")
    pairs = dict(part.split("=", 1) for part in rest.strip().split(",") if part)
    return name, {key: unescaped(value, True) for key, value in pairs.items()}, unescaped(message, False)


def unescaped(said: str, of_property: bool) -> str:
    marks = [("%0D", "\r"), ("%0A", "\n"), *([("%3A", ":"), ("%2C", ",")] if of_property else []), ("%25", "%")]
    for escaped, mark in marks:
        said = said.replace(escaped, mark)
    return said


hostile = st.one_of(st.sampled_from((*HOSTILE, *MORE_HOSTILE)), st.text())


@settings(max_examples=60)
@example("%0A::set-output name=x::y", "a:b,c=d\r\n::error::")
@given(hostile, hostile)
def test_any_words_stay_one_command_with_all_their_characters(said: str, title: str) -> None:
    line = workflow_command("error", said, title=title)
    assert not set(line) & {"\n", "\r"}
    name, properties, message = read(line)
    assert (name, message) == ("error", said)
    assert properties["title"] == title.strip() or title.strip() != title  # the runner drops blanks at the end


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_every_line_is_a_command_of_ours(reported: Reported) -> None:
    for line in written("github", reported).splitlines():
        name, properties, message = read(line)
        assert name in COMMANDS
        assert properties.keys() <= {"file", "line", "title"}
        assert message


def test_a_finding_points_at_its_line_and_has_its_kind() -> None:
    first, second = SHAPES["rich"].findings[:2]
    lines = written("github", of("rich", locations={first.fingerprint: Location("a,b:c.py", 7)})).splitlines()
    name, properties, message = read(lines[0])
    assert (name, properties["file"], properties["line"]) == ("error", "a,b:c.py", "7")
    assert message.startswith("Communication is exposed for 70 % of each step (rank 0, worst of 8 ranks)\n")
    assert second.rule in read(lines[1])[1]["title"]
    assert "file" not in read(lines[1])[1]


def test_severities_become_the_kinds_github_has() -> None:
    lines = [read(line)[0] for line in written("github", of("rich")).splitlines()]
    assert lines[:3] == ["error", "error", "warning"]
    assert set(lines[3:]) == {"notice"}


def test_what_is_suppressed_or_off_is_left_out() -> None:
    lines = written("github", of("rich", verdict=judged(SHAPES["rich"]))).splitlines()
    assert len(lines) == sum(i % 4 < 2 for i in range(len(SHAPES["rich"].findings)))


@pytest.mark.parametrize(
    ("shape", "kind", "told"),
    [("blind", "warning", "does not mean that all is well"), ("fine", "notice", "Nothing needs fixing")],
)
def test_no_findings_are_told_apart_from_nothing_checked(shape: str, kind: str, told: str) -> None:
    (line,) = written("github", of(shape)).splitlines()
    assert read(line)[0] == kind
    assert told in line


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_became_of_a_finding_is_called_as_in_reports(language: Language) -> None:
    diagnosis = rich(("a",))
    reported = Reported(diagnosis, language, comparison=compared(diagnosis))
    against = {"en": "Against the baseline: ", "zh": "与基线相比："}[language]
    said = [read(line)[2] for line in written("github", reported).splitlines()]
    changes = {change.status for change in compared(diagnosis).changes} - {"gone"}
    assert {text.split(against)[1].splitlines()[0] for text in said if against in text} == {
        STATUSES[status].say(language) for status in changes
    }
