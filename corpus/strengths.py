# SPDX-License-Identifier: Apache-2.0
"""Where each fault makes sense, and how much of it is what an expert would call a problem there."""

from __future__ import annotations

_HOST_NEAR = ("light",)
_DATA_PARALLEL = ("dense", "short", "cluster", "large")
_TRAINING = ("dense", "light", "tensor", "pipeline", "interleaved", "experts", "short", "convolution", "single",
             "cluster", "large")  # fmt: skip
_SEVERAL_RANKS = tuple(name for name in _TRAINING if name != "single")
_DEVICE_BOUND = tuple(name for name in _TRAINING if name not in ("light", "convolution"))
_PIPELINED = ("pipeline", "interleaved")
APPLIES: dict[str, tuple[str, ...]] = {
    "host-bound": _HOST_NEAR,
    "python-busy": (*_HOST_NEAR, "dense", "single", "experts", "convolution"),
    "data-loader": _TRAINING,
    "data-loader-one-rank": _SEVERAL_RANKS,
    "synchronise-per-layer": _HOST_NEAR,
    "blocking-copies": (*_HOST_NEAR, "dense", "single"),
    "garbage-collection": (*_HOST_NEAR, "dense", "single", "convolution"),
    "garbage-collection-apart": ("dense", "light"),
    "online-compilation": (*_HOST_NEAR, "dense"),
    "exposed-communication": _DATA_PARALLEL,
    "slow-rank-compute": _SEVERAL_RANKS,
    "slow-rank-host": _HOST_NEAR,
    "slow-link": ("dense", "cluster", "large"),
    "slow-network-link": ("cluster", "large"),
    "retransmission-stall": ("cluster", "large"),
    "low-bandwidth": ("dense", "cluster", "large"),
    "uneven-stages": ("pipeline",),
    "few-micro-batches": _PIPELINED,
    "cast-excess": _DEVICE_BOUND,
    "transdata-excess": _DEVICE_BOUND,
    "aicpu-exposed": _DEVICE_BOUND,
    "small-packets": ("light",),
    "dynamic-shapes": ("dense", "light"),
    "memory-churn": (*_HOST_NEAR, "dense", "single"),
    "low-frequency": _SEVERAL_RANKS,
    "launch-blocking": _HOST_NEAR,
    "expert-imbalance": ("experts",),
    "slow-rank-data": ("dense", "light", "short", "convolution", "cluster"),
    "unfused-attention": ("short",),
    "unfused-norm": ("dense", "light", "short", "single"),
    "unfused-rotary": ("dense", "light", "short", "single"),
    "unfused-optimizer": ("dense", "light", "short", "single"),
    "aicpu-hidden": _DEVICE_BOUND,
    "damaged-trace": ("dense", "single", "pipeline"),
    "killed-capture": ("dense", "single", "pipeline"),
}
"""The workloads in which a fault makes sense and is the problem at strength 1; the first is where it shows best."""

_SCALES: dict[str, dict[str, float]] = {}
_EXPONENT = 1.5


def measure(fault: str, workload: str, strength: float) -> float:
    """How much of a fault a strength is in one of WORKLOADS, so that the same strength is as bad in each of them.

    Strength 1 costs 6 to 20 % of the step; 0.25 is far below it and costs less than 2 %. A setup of one's own (with
    no name) takes strengths as they are.
    """
    if not workload:
        return strength
    scale = _SCALES.get(fault, {}).get(workload, 1.0)
    return float(scale * strength**_EXPONENT)
