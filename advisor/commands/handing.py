# SPDX-License-Identifier: Apache-2.0
"""How a diagnosis leaves a command: files, the terminal, an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.commands.exits import FINE, FOUND
from advisor.commands.settings import language_of

if TYPE_CHECKING:
    import argparse

    from advisor.findings import Diagnosis
    from advisor.report.charts import Renderer


def hand_out(diagnosis: Diagnosis, arguments: argparse.Namespace, outputs: Sequence[Path], charts: Renderer) -> int:
    from advisor import report
    from advisor.findings import Severity
    from advisor.report.terminal import print_diagnosis

    language = language_of(arguments.lang)
    for path in outputs:
        report.write(diagnosis, path, language, charts)
    if not arguments.quiet:
        print_diagnosis(diagnosis, language, top=arguments.top or 5, written=outputs)
    level = arguments.fail_on
    worst = max((finding.severity for finding in diagnosis.findings), default=None)
    return FOUND if level and worst is not None and worst >= Severity[level] else FINE


def chart_renderer(outputs: Sequence[Path]) -> Renderer:
    """The chart renderer, warming up beside the reading when an HTML report is wanted."""
    from advisor.report.charts import Renderer

    return Renderer(start=any(path.suffix == ".html" for path in outputs))
