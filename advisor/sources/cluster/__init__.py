# SPDX-License-Identifier: Apache-2.0
"""What a cluster analysis summed up over all ranks."""

from __future__ import annotations

from advisor.sources.cluster.opening import NAME, detect, is_part, open_summary, tell_job
from advisor.sources.family import Family

CLUSTER = Family(
    NAME,
    detect,
    open_summary,
    exports=frozenset({"cluster"}),
    hints=lambda _: None,
    reads=is_part,
    job=tell_job,
)
