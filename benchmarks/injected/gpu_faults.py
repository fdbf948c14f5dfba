# SPDX-License-Identifier: Apache-2.0
"""Faults of runs on GPUs: those of the host and of ranks that need nothing a device of another kind has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from benchmarks.injected import comm_faults, compute_faults, host_faults, mode_faults, rank_faults
from benchmarks.injected.faults import Fault

ONE, FOUR, LOADED = "gpu", "gpu-4", "gpu-loader"
"""Bases: one rank, four ranks, one that loads its data with workers."""


def _on(faults: Mapping[str, Fault], placed: Mapping[tuple[str, ...], tuple[str, ...]]) -> dict[str, Fault]:
    """Faults of other devices, put into these bases."""
    return {f"gpu-{name}": replace(faults[name], bases=bases) for bases, names in placed.items() for name in names}


FAULTS: Mapping[str, Fault] = {
    **_on(
        host_faults.FAULTS,
        {
            (ONE, FOUR): (
                "unnamed-python", "stall-in-one-step", "two-waits", "two-copies-back", "pinned-memory",
                "allocator-churn", "blocking-copies",
            ),
            (ONE, FOUR, LOADED): ("item-reads", "synchronise"),
            (LOADED,): ("data-loader", "loader-every-third-step"),
        },
    ),
    **_on(compute_faults.FAULTS, {(LOADED,): ("creeping-kernels", "creeping-operator")}),
    **_on(mode_faults.FAULTS, {(ONE, FOUR): ("silent-pauses", "many-small-kernels"), (ONE,): ("long-batch",)}),
    **_on(rank_faults.FAULTS, {(FOUR,): ("slow-host-rank", "slow-compute-rank")}),
    "gpu-slow-network": replace(
        comm_faults.FAULTS["slow-transfers"],
        bases=(FOUR,),
        named_by=frozenset({"comm/low-bandwidth", "comm/exposed-communication", "comm/late-gradient-reduction"}),
    ),
}  # fmt: skip
