# SPDX-License-Identifier: Apache-2.0
"""A test that skips for want of a tool has proved nothing: where checks decide what lands, that is a failure.

`ADVISOR_CI` names the extra that is installed, `test` or `dev`; without it tests skip as they say.
"""

from __future__ import annotations

import os
import re

import pytest

_MISSING = re.compile(r"not installed|could not import|\bneeds\b")
_FETCHED = re.compile(r"node is not installed")
"""What comes by npm, which not every machine has."""
_OF_DEV = "[dev]"


def fail_for_a_missing_tool(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Makes a skip a failure where the tool should have been there."""
    extra = os.environ.get("ADVISOR_CI", "")
    if not extra or report.outcome != "skipped":
        return
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    excused = _FETCHED.search(why) or (_OF_DEV in why and extra != "dev")
    if _MISSING.search(why) and not excused:
        report.outcome = "failed"
        report.longrepr = f"{why} (ADVISOR_CI={extra}: what is missing here fails)"
