# SPDX-License-Identifier: Apache-2.0
"""Which findings of a diagnosis are claims: what both benchmarks of accuracy mark is what a reader sees."""

from __future__ import annotations

from advisor.model.findings import Diagnosis, Finding, Severity
from advisor.model.symptoms import folded_under


def standing_findings(diagnosis: Diagnosis) -> list[Finding]:
    """Findings that the report shows as its own, at least of medium severity, in its order.

    What is shown under its cause claims nothing more; what a smaller cause explains in part stands by itself.
    Findings on the capture count elsewhere.
    """
    folded = folded_under(diagnosis)
    return [
        finding
        for finding in diagnosis.findings
        if finding.severity >= Severity.medium
        and finding.fingerprint not in folded
        and not finding.rule.startswith("capture/")
    ]
