# SPDX-License-Identifier: Apache-2.0
"""Where each fault makes sense, and how much of it is what an expert would call a problem there."""

from __future__ import annotations

_HOST_NEAR = ("light",)
_DATA_PARALLEL = ("dense", "plain", "short", "cluster", "large")
_TRAINING = ("dense", "light", "tensor", "pipeline", "interleaved", "experts", "short", "convolution", "plain",
             "single", "cluster", "large")  # fmt: skip
_SEVERAL_RANKS = tuple(name for name in _TRAINING if name != "single")
_MEETING = (_SEVERAL_RANKS[0], "fused", *_SEVERAL_RANKS[1:])
"""Those in which ranks wait for a late one, in collectives or inside of kernels."""
_DEVICE_BOUND = tuple(name for name in _TRAINING if name not in ("light", "convolution"))
_ONE_PASS = ("dense", "plain", "single", "short", "light", "convolution")
_PIPELINED = ("pipeline", "interleaved")
APPLIES: dict[str, tuple[str, ...]] = {
    "host-bound": (*_HOST_NEAR, "inference"),
    "python-busy": (*_HOST_NEAR, "dense", "single", "experts", "convolution", "inference"),
    "growing-python": (*_HOST_NEAR, "single"),
    "data-loader": _TRAINING,
    "data-loader-one-rank": _MEETING,
    "synchronise-per-layer": (*_HOST_NEAR, "inference"),
    "two-waits": _ONE_PASS,
    "blocking-copies": (*_HOST_NEAR, "dense", "single", "inference"),
    "garbage-collection": (*_HOST_NEAR, "dense", "single", "convolution", "inference"),
    "garbage-collection-apart": ("dense", "light", "convolution"),
    "online-compilation": (*_HOST_NEAR, "dense", "inference"),
    "exposed-communication": _DATA_PARALLEL,
    "awaited-reductions": ("dense", "plain", "short", "cluster"),
    "late-gathers": ("sharded",),
    "slow-rank-compute": (*_MEETING, "inference"),
    "slow-rank-host": (*_HOST_NEAR, "inference"),
    "slow-link": ("dense", "plain", "cluster", "large"),
    "slow-network-link": ("cluster", "large"),
    "retransmission-stall": ("cluster", "large"),
    "low-bandwidth": ("dense", "plain", "cluster", "large"),
    "disturbed-links": ("plain", "dense"),
    "contended-compute": ("light",),
    "creeping-kernels": ("single", "dense", "convolution"),
    "uneven-stages": ("pipeline",),
    "few-micro-batches": _PIPELINED,
    "cast-excess": (*_DEVICE_BOUND, "inference", "convolution"),
    "transdata-excess": (*_DEVICE_BOUND, "inference", "convolution"),
    "aicpu-exposed": (*_DEVICE_BOUND, "inference", "convolution"),
    "small-packets": ("light",),
    "dynamic-shapes": ("dense", "light", "inference", "convolution"),
    "memory-churn": (*_HOST_NEAR, "dense", "single", "inference"),
    "low-frequency": (*_SEVERAL_RANKS, "inference"),
    "constant-low-clock": _DEVICE_BOUND,
    "launch-blocking": (*_HOST_NEAR, "inference", "convolution"),
    "expert-imbalance": ("experts",),
    "slow-rank-data": ("dense", "light", "short", "convolution", "cluster"),
    "uneven-data": ("dense", "short", "cluster"),
    "ragged-products": ("dense", "short", "single", "plain"),
    "unfused-attention": ("short",),
    "unfused-norm": ("dense", "light", "short", "single"),
    "unfused-rotary": ("dense", "light", "short", "single"),
    "unfused-optimizer": ("light", "dense", "short", "single"),
    "aicpu-hidden": _DEVICE_BOUND,
    "damaged-trace": ("dense", "single", "pipeline", "inference", "convolution"),
    "killed-capture": ("dense", "single", "pipeline"),
}
"""The workloads in which a fault makes sense and is the problem at strength 1; the first is where it shows best."""

_SCALES: dict[str, dict[str, float]] = {
    "host-bound": {"": 0.63, "inference": 1.1},
    "python-busy": {"": 0.44, "dense": 3.1, "single": 2.9, "experts": 4.2, "convolution": 2.1, "inference": 0.37},
    "growing-python": {"": 0.45, "single": 2.5},
    "data-loader": {
        "": 0.44, "light": 0.13, "tensor": 4.7, "pipeline": 3.7, "interleaved": 6, "experts": 0.56, "large": 0.22,
    },
    "data-loader-one-rank": {
        "": 0.44, "light": 0.13, "tensor": 6, "fused": 6, "pipeline": 4.7, "interleaved": 7.6, "experts": 0.56,
        "large": 0.22,
    },
    "synchronise-per-layer": {"": 0.9, "inference": 0.45},
    "blocking-copies": {"": 0.89, "light": 0.14, "inference": 0.066},
    "garbage-collection": {"": 0.71, "light": 0.22, "inference": 0.13},
    "garbage-collection-apart": {"": 0.35, "light": 0.13, "convolution": 0.49},
    "online-compilation": {"": 0.55, "dense": 3.3, "inference": 0.35},
    "exposed-communication": {"": 1.1, "cluster": 1.4, "large": 1.6},
    "late-gathers": {"": 0.7},
    "slow-rank-compute": {"": 0.56, "interleaved": 0.71, "experts": 0.71},
    "slow-rank-host": {"": 0.63, "inference": 1.1},
    "slow-link": {"": 1.4, "cluster": 3.0, "large": 1.8},
    "slow-network-link": {"": 1.6, "cluster": 5.5, "large": 1.8},
    "low-bandwidth": {"": 1.4, "cluster": 2.25, "large": 1.08},
    "disturbed-links": {"": 1.5},
    "cast-excess": {
        "": 0.89, "dense": 1.1, "tensor": 2.9, "interleaved": 1.6, "experts": 2.3, "large": 1.1, "convolution": 0.63,
    },
    "transdata-excess": {
        "": 0.35, "tensor": 1.1, "pipeline": 0.27, "interleaved": 0.56, "experts": 0.79, "inference": 0.27,
        "convolution": 0.22,
    },
    "aicpu-exposed": {
        "": 0.71, "tensor": 2.3, "pipeline": 0.27, "interleaved": 0.44, "experts": 1.4, "short": 0.56,
        "inference": 0.083, "convolution": 0.44,
    },
    "dynamic-shapes": {"": 1.3, "inference": 0.13, "convolution": 0.89, "light": 0.2},
    "memory-churn": {"": 4.2, "light": 0.63, "inference": 0.49},
    "low-frequency": {"": 0.56, "interleaved": 0.71, "experts": 0.71},
    "constant-low-clock": {"": 0.56},
    "two-waits": {"": 0.31, "light": 0.08},
    "small-packets": {"": 0.71},
    "expert-imbalance": {"": 0.89},
    "slow-rank-data": {"": 0.89, "light": 1.1},
    "unfused-optimizer": {"": 0.75},
}  # fmt: skip
"""What strength 1 is, as a multiple of the measure each fault has of itself, by workload; `` for all others.
`benchmarks/strengths.py` shows what comes of it."""
_EXPONENT = 1.5


def measure(fault: str, workload: str, strength: float) -> float:
    """How much of a fault a strength is in one of WORKLOADS, so that the same strength is as bad in each of them.

    Strength 1 costs 6 to 20 % of the step; 0.25 is far below it and costs less than 2 %. A setup of one's own (with
    no name) takes strengths as they are.
    """
    if not workload:
        return strength
    scales = _SCALES.get(fault, {})
    scale = scales.get(workload, scales.get("", 1.0))
    return float(scale * strength**_EXPONENT)
