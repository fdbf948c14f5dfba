# SPDX-License-Identifier: Apache-2.0
"""What a finding about the capture takes from the certainty of the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from advisor.findings import Confidence, Finding


class Doubting(Protocol):
    """A rule, as far as doubt is concerned."""

    @property
    def id(self) -> str: ...
    @property
    def doubts(self) -> bool: ...


def doubted(findings: Iterable[Finding], rules: Iterable[Doubting]) -> tuple[Finding, ...]:
    """The findings; those seen where times are in doubt are one level less certain.

    What is said of the capture itself stays as certain as it is.
    """
    found = tuple(findings)
    doubting = {rule.id for rule in rules if rule.doubts}
    ranks = {place.rank for finding in found if finding.rule in doubting for place in finding.seen}
    return tuple(_less_certain(finding) if _concerned(finding, ranks) else finding for finding in found)


def _concerned(finding: Finding, ranks: set[int | None]) -> bool:
    if not ranks or finding.rule.startswith("capture/"):
        return False
    here = {place.rank for place in finding.seen}
    return None in ranks or None in here or not here or bool(here & ranks)


def _less_certain(finding: Finding) -> Finding:
    return finding.model_copy(update={"confidence": Confidence(max(finding.confidence - 1, Confidence.low))})
