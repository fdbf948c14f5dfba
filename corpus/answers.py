# SPDX-License-Identifier: Apache-2.0
"""Which rules name which fault: the key by which a diagnosis of a generated capture is marked."""

from __future__ import annotations

from collections.abc import Mapping

ANSWERS: Mapping[str, frozenset[str]] = {
    fault: frozenset(rules.split())
    for fault, rules in {
        "host-bound": "host/python-bound host/eager-inference",  # a graph is launched without the slow host
        "python-busy": "host/python-bound",
        "growing-python": "host/python-bound",
        "data-loader": "io/data-loader io/dataset-pipeline",  # MindSpore tells the queues of its dataset
        "data-loader-one-rank": "io/data-loader io/dataset-pipeline",
        "synchronise-per-layer": "host/device-to-host-reads host/synchronising-calls",
        "two-waits": "host/blocking-copies host/device-to-host-reads host/synchronising-calls host/python-bound",
        "blocking-copies": "host/blocking-copies",
        "garbage-collection": "host/garbage-collection",
        "garbage-collection-apart": "host/garbage-collection",
        "online-compilation": "host/online-compilation",
        "exposed-communication": "comm/late-gradient-reduction comm/exposed-communication",
        "awaited-reductions": "comm/serial-gradient-reduction",
        "late-gathers": "comm/late-parameter-gather",
        "slow-rank-compute": "ranks/slow-compute-rank",
        "slow-rank-data": "ranks/slow-compute-rank",
        "uneven-data": "ranks/uneven-data",
        "slow-rank-host": "ranks/slow-host-rank",
        "slow-link": "ranks/slow-link",
        "slow-network-link": "ranks/slow-link",
        "low-bandwidth": "comm/slow-transfer comm/exposed-communication",
        "disturbed-links": "comm/slowed-transfers",
        "retransmission-stall": "comm/retransmission-stall",
        "uneven-stages": "pipeline/stage-imbalance",
        "few-micro-batches": "pipeline/bubble",
        "expert-imbalance": "ranks/expert-imbalance ranks/slow-compute-rank",
        "cast-excess": "compute/cast-excess",
        "transdata-excess": "compute/transdata-excess",
        "aicpu-exposed": "compute/exposed-aicpu compute/aicpu-totals",
        "small-packets": "comm/small-packets comm/many-collectives",
        "dynamic-shapes": "host/online-compilation compute/dynamic-shapes",
        "memory-churn": "memory/allocator-churn",
        "low-frequency": "ranks/low-frequency-rank",
        "constant-low-clock": "compute/frequency-drop",
        "launch-blocking": "env/launch-blocking",
        "ragged-products": "compute/below-roofline",
        "creeping-kernels": "compute/creeping-slowdown",
        "contended-compute": "compute/slowed-by-communication",
        "unfused-attention": "compute/unfused-attention",
        "unfused-norm": "compute/unfused-norm",
        "unfused-rotary": "compute/unfused-rotary",
        "unfused-optimizer": "compute/unfused-optimizer",
        "damaged-trace": "capture/cut-timeline capture/damaged-input capture/lost-rows",
        "killed-capture": "capture/profiler-not-stopped",
    }.items()
}
"""Any of these rules names the fault. What a rule of another name says of it is wrong, unless the diagnosis itself
calls it a symptom."""

ANSWERS_ON_THE_RANK: Mapping[str, frozenset[str]] = {"slow-rank-host": frozenset({"host/python-bound"})}
"""Rules that name the fault of one rank as well, where they are seen on that rank and no other: that its host is late
is the whole of it, and of two ranks there is no majority to compare with."""

TIMELESS = frozenset({"damaged-trace", "killed-capture"})
"""Faults that cost no step time: what is to be found is that the capture cannot be trusted."""

PARTED = frozenset({"two-waits", "low-bandwidth"})
"""Faults that are several things at once, of which each finding names one, such as links of one kind: their savings
add up."""

HARMLESS = frozenset({"aicpu-hidden"})
"""Troubles that an expert would leave alone, at any strength."""
