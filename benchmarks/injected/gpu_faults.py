# SPDX-License-Identifier: Apache-2.0
"""Faults of runs on GPUs: those of the host and of ranks that need nothing a device of another kind has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from benchmarks.injected import host_faults, mode_faults, rank_faults
from benchmarks.injected.faults import Fault, Run, kernels_of

ONE, FOUR, LOADED = "gpu", "gpu-4", "gpu-loader"
"""Bases: one rank, four ranks, one that loads its data with workers."""


def longer_step(run: Run, amount: float) -> None:
    """The kernels of one step take longer."""
    for changes in run.ranks:
        steps = kernels_of(changes)
        kernels = [kernel for operator in steps[len(steps) // 2] for kernel in operator.kernels]
        times = 1 + amount * len(steps) / max(sum(kernel.duration for kernel in kernels), 1)
        for kernel in kernels:
            kernel.end.work = round(kernel.duration * times)


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
    **_on(mode_faults.FAULTS, {(ONE, FOUR): ("silent-pauses", "many-small-kernels")}),
    **_on(rank_faults.FAULTS, {(FOUR,): ("slow-host-rank", "slow-compute-rank")}),
    "gpu-long-batch": Fault(
        longer_step, frozenset({"host/step-jitter"}), frozenset({"capture/boundary-step"}), bases=(ONE,)
    ),
}  # fmt: skip
