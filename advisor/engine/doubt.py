# SPDX-License-Identifier: Apache-2.0
"""What a finding about the capture takes from the certainty of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Protocol

from advisor.model.findings import Confidence, Finding


class Doubting(Protocol):
    """A rule, as far as doubt is concerned."""

    @property
    def id(self) -> str: ...
    @property
    def doubts(self) -> tuple[str, ...]: ...


def with_doubts(findings: Iterable[Finding], rules: Iterable[Doubting]) -> tuple[Finding, ...]:
    """The findings; those seen where the times they rest on are in doubt are one level less certain, and name why.

    What is said of the capture itself stays as certain as it is.
    """
    found = tuple(findings)
    patterns = {rule.id: rule.doubts for rule in rules if rule.doubts}
    return tuple(_less_certain(finding, _doubts_about(finding, found, patterns)) for finding in found)


def _doubts_about(
    finding: Finding, found: Iterable[Finding], patterns: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Fingerprints of the findings that put this one in doubt."""
    if finding.rule.startswith("capture/"):
        return ()
    return tuple(
        one.fingerprint
        for one in found
        if any(fnmatchcase(finding.rule, pattern) for pattern in patterns.get(one.rule, ()))
        and _share_rank(finding, one)
    )


def _share_rank(finding: Finding, other: Finding) -> bool:
    """Whether both were seen on one rank; what has no rank was seen on any."""
    here, there = ({place.rank for place in one.seen} for one in (finding, other))
    return None in here or None in there or not here or bool(here & there)


def _less_certain(finding: Finding, doubts: tuple[str, ...]) -> Finding:
    if not doubts:
        return finding
    confidence = Confidence(max(finding.confidence - 1, Confidence.low))
    return finding.model_copy(update={"confidence": confidence, "doubted_by": doubts})
