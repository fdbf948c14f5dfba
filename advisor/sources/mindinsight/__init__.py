# SPDX-License-Identifier: Apache-2.0
"""What the old profiler of MindSpore wrote for MindSpore Insight: one flat folder, files numbered by rank."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.facts.rank_facts import Source
from advisor.model.run import Run
from advisor.sources.family import Candidate, Family, Input
from advisor.sources.mindinsight.detect import NAME, WANTED, detect, inner_folders, is_legacy_name


def _open(found: Sequence[Candidate], given: Input) -> tuple[Run, list[Source]]:
    """As `open_folders`, which nobody needs who has no such folders."""
    from advisor.sources.mindinsight.opening import open_folders

    return open_folders(found, given)


MINDINSIGHT = Family(
    NAME,
    detect,
    _open,
    exports=frozenset({"insight"}),
    hints=lambda _: None,
    wanted=WANTED,
    rare=True,
    inner=inner_folders,
    reads=is_legacy_name,
)
