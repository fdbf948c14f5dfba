# SPDX-License-Identifier: Apache-2.0
"""An empty list of findings must not look healthy where nothing could be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.diagnosis.headline import nothing_to_fix
from advisor.report.words import say

if TYPE_CHECKING:
    from advisor.report.output_formats import Reported

RULE = "advisor/nothing-checked"
"""Stands for a rule in formats that hold nothing but findings."""


def nothing_checked(reported: Reported) -> str:
    """What to say where no rule could look; empty where one did."""
    diagnosis = reported.diagnosis
    looked = bool(diagnosis.findings) or any(outcome.outcome == "quiet" for outcome in diagnosis.outcomes)
    return "" if looked else say("nothing_checked", reported.language)


def nothing_found(reported: Reported) -> str:
    """What to say where rules looked and found nothing."""
    return nothing_to_fix(reported.diagnosis, reported.language)
