# SPDX-License-Identifier: Apache-2.0
"""An empty list of findings must not look healthy where nothing could be checked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from advisor.report.words import say

if TYPE_CHECKING:
    from advisor.report.writers import Reported

RULE = "advisor/nothing-checked"
"""Stands for a rule in formats that hold nothing but findings."""


def nothing_checked(reported: Reported) -> str:
    """What to say where no rule could look; empty where one did."""
    diagnosis = reported.diagnosis
    looked = bool(diagnosis.findings) or any(outcome.outcome == "quiet" for outcome in diagnosis.outcomes)
    return "" if looked else say("nothing_checked", reported.language)


def nothing_found(reported: Reported) -> str:
    """What to say where rules looked and found nothing."""
    counted = Counter(outcome.outcome for outcome in reported.diagnosis.outcomes)
    blind = counted["skipped"] + counted["failed"]
    name = "nothing_found_but" if blind else "nothing_found"
    return say(name, reported.language, quiet=counted["quiet"], blind=blind)
