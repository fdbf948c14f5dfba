# SPDX-License-Identifier: Apache-2.0
"""What the time of operators on the AI CPU goes to."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.facts.derived import AicpuStage
from advisor.facts.observed import AicpuTask, Kernel
from advisor.facts.table import Array, Table, Texts


def aicpu_stages(tasks: Table[AicpuTask], kernels: Table[Kernel]) -> Table[AicpuStage]:
    """One row per rank and operator type; tasks that are no kernel by their name stand under that name."""
    types = _types_of_names(tasks.texts("op_name"), kernels)
    groups = group_by(tasks["rank"], types)
    means = {name: groups.means(tasks[name]) for name in ("compute_us", "copy_us", "dispatch_us", "total_us")}
    waited = tasks["total_us"] - tasks["task_us"] - tasks["dispatch_us"]
    return Table.build(
        AicpuStage,
        rank=tasks["rank"][groups.first],
        op_type=types.take(groups.first),
        calls=groups.sizes,
        scheduling_us=groups.means(np.where(waited < 0, np.nan, waited)),
        **means,
    )


def _types_of_names(names: Texts, kernels: Table[Kernel]) -> Texts:
    """The type of the first kernel of each name, else the name."""
    own, types = kernels.texts("op_name"), kernels.texts("op_type")
    code, first = np.unique(own.codes, return_index=True)
    told = types.take(first).values()
    known = {own.names[at]: word for at, word in zip(code.tolist(), told, strict=True) if at >= 0 and word is not None}
    index: dict[str, int] = {}
    codes: Array = np.array(
        [*(index.setdefault(known.get(name, name), len(index)) for name in names.names), -1], np.int32
    )
    return Texts(codes[names.codes], tuple(index))
