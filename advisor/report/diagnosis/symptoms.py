# SPDX-License-Identifier: Apache-2.0
"""Which findings only say where time goes, and under which of their causes each of them is shown."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.model.findings import Diagnosis


def symptom_fingerprints(diagnosis: Diagnosis) -> frozenset[str]:
    """Fingerprints of the findings that say where time goes and not why."""
    return frozenset(finding.fingerprint for finding in diagnosis.findings if finding.is_symptom)


def folded_under(diagnosis: Diagnosis) -> Mapping[str, str]:
    """By fingerprint of an explained symptom: the cause of it that stands highest.

    Its time is the same time, so it is shown there and not as a finding of its own.
    """
    place = {finding.fingerprint: number for number, finding in enumerate(diagnosis.findings)}
    restating = symptom_fingerprints(diagnosis)
    folded: dict[str, str] = {}
    for finding in diagnosis.findings:
        causes = sorted((place[name], name) for name in finding.causes if name in place)
        if finding.fingerprint in restating and causes:
            highest = causes[0][1]
            folded[finding.fingerprint] = folded.get(highest, highest)
    return folded
