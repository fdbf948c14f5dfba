# SPDX-License-Identifier: Apache-2.0
"""Workflow commands of GitHub Actions: findings as annotations of the run, and of the lines they belong to.

GitHub shows ten errors, ten warnings and ten notices per step, and fifty annotations per job, in the order of the log:
the findings come in the order of the diagnosis, so that what is left out is what matters least. All stay in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from advisor.report.diagnosis.headline import nothing_to_fix
from advisor.report.formats.results import ResultLevel, nothing_checked, open_results

if TYPE_CHECKING:
    from advisor.report.output_formats import Reported

_COMMANDS: Mapping[ResultLevel, str] = {"error": "error", "warning": "warning", "note": "notice"}


def text(reported: Reported) -> str:
    """One command per line; write it to the standard output of a step."""
    return "".join(f"{line}\n" for line in _command_lines(reported))


def _command_lines(reported: Reported) -> Iterable[str]:
    for result in open_results(reported):
        at = result.location
        place = {"file": at.file, "line": str(at.line)} if at else {}
        title = f"{result.card.rule} ({result.card.severity_word})"
        said = "\n".join(result.lines(reported.language))
        yield workflow_command(_COMMANDS[result.level], said, **place, title=title)
    if blind := nothing_checked(reported):
        yield workflow_command("warning", blind, title="advisor")
    elif not reported.diagnosis.findings:
        yield workflow_command("notice", nothing_to_fix(reported.diagnosis, reported.language), title="advisor")


def workflow_command(name: str, said: str, **properties: str) -> str:
    """One workflow command: whatever is in the words, it stays one line and one command."""
    given = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items())
    return f"::{name} {given}::{_escape_data(said)}"


def _escape_data(said: str) -> str:
    return said.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(said: str) -> str:
    return _escape_data(said).replace(":", "%3A").replace(",", "%2C")
