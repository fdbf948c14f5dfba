# SPDX-License-Identifier: Apache-2.0
"""Findings of a diagnosis by their fingerprints."""

from __future__ import annotations

from advisor.model.findings import Confidence, Diagnosis, Finding, Severity
from advisor.model.run import Run


def _finding(name: str) -> Finding:
    return Finding(rule="host/a", fingerprint=name, severity=Severity.low, confidence=Confidence.low)


def test_a_copy_with_other_findings_looks_up_its_own() -> None:
    whole = Diagnosis(run=Run(), findings=(_finding("a"), _finding("b")))
    assert list(whole.by_fingerprint) == ["a", "b"]
    assert list(whole.model_copy(update={"findings": whole.findings[:1]}).by_fingerprint) == ["a"]
