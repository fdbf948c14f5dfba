# SPDX-License-Identifier: Apache-2.0
"""How to have what a cluster summary lacks: what it was made of was recorded, so that nobody has to record again."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.facts.derived import StageTime
from advisor.messages.text import Text

OF_TABLE: Mapping[str, Text] = {
    StageTime.table: Text(
        en="a cluster summary tells stages by the rows of type `stage` in `cluster_step_trace_time.csv`: give the "
        "whole file, or run the cluster analysis again",
        zh="集群分析结果用 `cluster_step_trace_time.csv` 中 Type 为 `stage` 的行划分 stage："
        "请提供完整文件，或重新执行集群分析",
    ),
}
"""By a table of which it has nothing."""
OF_VALUES: Mapping[str, Text] = {
    StageTime.table: Text(
        en="a cluster summary tells the waiting of stages in the column `Bubble` of `cluster_step_trace_time.csv`, "
        "for the ranks of each stage: give the whole file, or run the cluster analysis again",
        zh="集群分析结果把各 stage 的等待时间记在 `cluster_step_trace_time.csv` 的 `Bubble` 列，"
        "每个 stage 的卡都要有值：请提供完整文件，或重新执行集群分析",
    ),
}
"""By a table of which it lacks values."""
