# SPDX-License-Identifier: Apache-2.0
"""The PipeUtilization columns of kernel_details on a chip with split cube and vector cores (910B)."""

from __future__ import annotations

from corpus.events import KernelInfo, Task

CORES = 20
COLUMNS = (
    "aicore_time(us)", "aic_total_cycles", "aic_mac_time(us)", "aic_mac_ratio", "aic_scalar_time(us)",
    "aic_scalar_ratio", "aic_mte1_time(us)", "aic_mte1_ratio", "aic_mte2_time(us)", "aic_mte2_ratio",
    "aic_fixpipe_time(us)", "aic_fixpipe_ratio", "aic_icache_miss_rate", "aiv_time(us)", "aiv_total_cycles",
    "aiv_vec_time(us)", "aiv_vec_ratio", "aiv_scalar_time(us)", "aiv_scalar_ratio", "aiv_mte2_time(us)",
    "aiv_mte2_ratio", "aiv_mte3_time(us)", "aiv_mte3_ratio", "aiv_icache_miss_rate", "cube_utilization(%)",
)  # fmt: skip
_PIPES = {"aic": ("mac", "scalar", "mte1", "mte2", "fixpipe"), "aiv": ("vec", "scalar", "mte2", "mte3")}
_BUSY = 0.955
"""Core time over task time; 0.94 to 0.97 for the longer kernels of the msinsight AlexNet capture."""


def metrics(task: Task, mhz: int) -> list[object] | None:
    """The 25 values of one kernel, or None where the hardware counts nothing."""
    info = task.kernel
    if info is None or not info.shares:
        return None
    took = (task.end - task.start) / 1000
    cube = info.core in ("AI_CORE", "MIX_AIC")
    cycles = round(took * _BUSY * mhz * info.blocks)
    values = [*_side("aic", info, took, cycles, cube), *_side("aiv", info, took, cycles, not cube)]
    return [*values, round(100 * cycles / (mhz * CORES * took), 3) if cube else 0]


def _side(side: str, info: KernelInfo, took: float, cycles: int, used: bool) -> list[object]:
    pipes = _PIPES[side]
    if not used:
        return [0.0, 0, *[0.0] * (2 * len(pipes) + 1)]
    core_time = round(took * _BUSY, 3)
    shares = dict(info.shares)
    values: list[object] = [core_time, cycles]
    for pipe in pipes:
        share = shares.get(pipe, 0.0)
        values += [round(core_time * share, 3), share]
    return [*values, 0.012]
