# SPDX-License-Identifier: Apache-2.0
"""Jobs with two or three faults at once, chosen so that no fault is the effect of another."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.events import Layout
from corpus.transformer import Transformer
from corpus.workloads import WORKLOADS, Setup


@dataclass(frozen=True, slots=True)
class Mixture:
    """Faults that strike one job together, each with its strength."""

    workload: Setup
    faults: dict[str, float]


_TOGETHER: tuple[tuple[str, dict[str, float]], ...] = (
    ("dense", {"cast-excess": 1.0, "slow-link": 1.4}),
    ("dense", {"aicpu-exposed": 1.0, "exposed-communication": 1.4}),
    ("plain", {"exposed-communication": 1.4, "cast-excess": 1.0}),
    ("dense", {"data-loader": 1.4, "unfused-norm": 1.0}),
    ("dense", {"data-loader": 1.0, "cast-excess": 0.8, "slow-rank-compute": 1.3}),
    ("light", {"data-loader": 1.4, "synchronise-per-layer": 1.0}),
    ("light", {"blocking-copies": 1.0, "garbage-collection": 1.4}),
    ("tensor", {"transdata-excess": 1.0, "low-frequency": 1.4}),
    ("pipeline", {"data-loader": 1.0, "uneven-stages": 1.0}),
    ("pipeline", {"few-micro-batches": 1.0, "data-loader-one-rank": 1.4}),
    ("interleaved", {"few-micro-batches": 1.0, "cast-excess": 1.3}),
    ("experts", {"expert-imbalance": 1.3, "data-loader": 1.0}),
    ("experts", {"cast-excess": 1.4, "data-loader-one-rank": 1.0}),
    ("short", {"unfused-attention": 1.3, "data-loader-one-rank": 1.0}),
    ("short", {"slow-rank-data": 1.4, "transdata-excess": 1.0, "unfused-rotary": 1.0}),
    ("convolution", {"data-loader": 1.4, "slow-rank-compute": 1.0}),
    ("single", {"unfused-optimizer": 1.4, "garbage-collection": 1.0}),
    ("single", {"data-loader": 1.0, "aicpu-exposed": 0.8, "transdata-excess": 1.4}),
    ("cluster", {"slow-network-link": 1.4, "cast-excess": 1.0}),
    ("large", {"low-bandwidth": 1.0, "data-loader": 1.4}),
)
MIXTURES: dict[str, Mixture] = {
    "host-bound-2-ranks": Mixture(
        Setup(Transformer(layers=1, batch=2), Layout(dp=2)),
        {"python-busy": 3.0, "synchronise-per-layer": 0.25, "slow-rank-compute": 1.0},
    ),
    "slowest-of-slow-hosts": Mixture(WORKLOADS["light"], {"host-bound": 1.0, "slow-rank-host": 0.5}),
    "evenly-slow-hosts": Mixture(WORKLOADS["light"], {"host-bound": 1.0, "slow-rank-host": 0.1}),
} | {"-and-".join(faults): Mixture(WORKLOADS[workload], faults) for workload, faults in _TOGETHER}
"""By name; that of a mixture is made of its faults."""

WITH_TRIFLES = frozenset({"host-bound-2-ranks", "evenly-slow-hosts"})
"""Mixtures in which one of the faults is too small to act on, and must not be named beside the other."""
