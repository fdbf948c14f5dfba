# SPDX-License-Identifier: Apache-2.0
"""What the old profiler of MindSpore wrote for MindSpore Insight: one flat folder, files numbered by rank."""

from __future__ import annotations

from advisor.sources.family import Family
from advisor.sources.mindinsight.detect import NAME, WANTED, detect, inner_folders, is_legacy_name
from advisor.sources.mindinsight.opening import open_folders

MINDINSIGHT = Family(NAME, detect, open_folders, wanted=WANTED, rare=True, inner=inner_folders, reads=is_legacy_name)
