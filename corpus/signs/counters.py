# SPDX-License-Identifier: Apache-2.0
"""Signs in what the hardware counts within kernels where another set of counters than the usual one was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from corpus.events import KernelInfo, Task
from corpus.metrics import COLUMNS
from corpus.signs import Sign, Write
from corpus.signs.captures import Row, about, edit_json, edit_rows, with_kernels

Counts = Mapping[str, object]


def _as_it_is(_task: Task) -> KernelInfo | None:
    return None


def _counted(metrics: str, names: tuple[str, ...], by_type: Mapping[str, Counts]) -> Write:
    """A capture with this set of counters in the place of busy pipes: of these types so much, of others nothing."""

    def settings(info: dict[str, dict[str, dict[str, object]]]) -> None:
        info["config"]["experimental_config"] |= {"_aic_metrics": metrics, "_l2_cache": False}

    def rows_of(rows: list[Row]) -> None:
        for row in rows:
            absent = row["aic_mac_ratio"] == "N/A"
            for column in COLUMNS:
                del row[column]
            counts = by_type.get(row["Type"], {})
            row.update({name: "N/A" if absent else str(counts.get(name, 0)) for name in names})

    def written(folder: Path) -> None:
        with_kernels(folder, _as_it_is)
        edit_json(folder, "profiler_info_*.json", settings)
        edit_rows(folder, "kernel_details.csv", rows_of)

    return written


_CONFLICTS = ("aiv_vec_bankgroup_cflt_ratio", "aiv_vec_bank_cflt_ratio", "aiv_vec_resc_cflt_ratio")


def _conflicts(group: float, bank: float, resource: float) -> Write:
    counts = dict(zip(_CONFLICTS, (group, bank, resource), strict=True))
    return _counted("ACL_AICORE_RESOURCE_CONFLICT_RATIO", _CONFLICTS, {"ApplyAdamWV2": counts})


_CACHE = tuple(
    f"{core}_{counter}"
    for core in ("aic", "aiv")
    for counter in (
        "write_cache_hit", "write_cache_miss_allocate", "r0_read_cache_hit", "r0_read_cache_miss_allocate",
        "r1_read_cache_hit", "r1_read_cache_miss_allocate",
    )
)  # fmt: skip


def _cached(*products: int) -> Write:
    """Products that hit and miss so often when they write and read by both ports; what adds two tensors has to miss."""
    return _counted(
        "ACL_AICORE_L2_CACHE",
        _CACHE,
        {
            "MatMulV3": dict(zip(_CACHE, products, strict=False)),
            "ApplyAdamWV2": dict(zip(_CACHE[6:], (100, 900, 100, 900, 100, 900), strict=True)),
        },
    )


SIGNS: Mapping[str, Sign] = {
    "compute/bank-conflicts": Sign(
        spoiled=_conflicts(0.05, 0.04, 0.01), twin=_conflicts(0.03, 0.01, 0.3), shows={"waiting": about(0.09)}
    ),
    "compute/l2-misses": Sign(
        spoiled=_cached(1000, 500, 200, 700, 300, 800),
        twin=_cached(1000, 500, 1200, 700, 1300, 800),
        shows={"hits": about(1500 / 3500)},
    ),
}
