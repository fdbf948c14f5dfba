# SPDX-License-Identifier: Apache-2.0
"""What the profilers of PyTorch and MindSpore for Ascend write: one module per fact, its exports side by side."""

from __future__ import annotations

from advisor.sources.ascend.detect import NAME, detect, inner_folders, is_part
from advisor.sources.ascend.msprof_hints import MSPROF_HINTS
from advisor.sources.ascend.opening import open_captures
from advisor.sources.ascend.refusals import WANTED, refusal_of_path
from advisor.sources.ascend.unused_files import why_unused
from advisor.sources.family import Family

ASCEND = Family(
    NAME,
    detect,
    open_captures,
    exports=frozenset({"text", "database", "text+database"}),
    hints=lambda run: MSPROF_HINTS if run.recorder == "msprof" else None,
    wanted=WANTED,
    inner=inner_folders,
    reads=is_part,
    unused=why_unused,
    refuse=refusal_of_path,
)
