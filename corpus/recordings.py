# SPDX-License-Identifier: Apache-2.0
"""Ways a job is recorded that leave less than usual, or say it otherwise: the same cause has to be found in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Recording:
    """One way, and jobs it is tried on: faults that can be seen in it, and healthy ones."""

    exports: tuple[str, ...]
    """Where captures of this kind exist."""
    variants: Mapping[str, Any]
    """Fields of `Export`."""
    faults: Mapping[str, tuple[str, ...]]
    """With the workloads each is tried on."""
    healthy: tuple[str, ...]
    timed: bool = True
    """Whether it says how long a step took, without which no saving can be estimated."""
    levels: tuple[int, ...] = field(default=(1, 2))


_BOTH = ("text", "database")
RECORDINGS: Mapping[str, Recording] = {
    "totals only": Recording(
        ("text",),
        {"totals": True},
        {
            "cast-excess": ("dense", "short"),
            "transdata-excess": ("convolution", "single"),
            "aicpu-exposed": ("dense", "short"),
        },
        ("dense", "tensor", "convolution", "inference"),
        timed=False,
    ),
    "CANN 8.3": Recording(
        _BOTH,
        {
            "all_idle": True, "communication_word": "COMMUNICATION", "block_word": "Num", "versions": True,
            "device_column": True,
        },
        {
            "slow-link": ("dense", "plain"),
            "low-bandwidth": ("dense", "plain"),
            "exposed-communication": ("dense", "plain"),
            "slow-rank-compute": ("dense", "convolution"),
            "slow-rank-host": ("light",),
            "small-packets": ("light",),
        },
        ("dense", "tensor", "pipeline", "experts"),
    ),
    "untyped timeline": Recording(
        ("text",),
        {"typed": False, "tables": False},
        {
            "cast-excess": ("single", "dense"),
            "aicpu-exposed": ("dense", "single"),
            "data-loader": ("single", "light"),
            "synchronise-per-layer": ("light",),
            "two-waits": ("dense", "single"),
        },
        ("single", "light", "convolution"),
    ),
    "untyped tasks": Recording(
        _BOTH,
        {"typed": False},
        {
            "transdata-excess": ("dense", "convolution"),
            "python-busy": ("light", "single"),
            "exposed-communication": ("plain", "dense"),
        },
        ("dense", "convolution"),
    ),
    "no groups": Recording(
        _BOTH,
        {"grouped": False},
        {
            "exposed-communication": ("plain",),
            "slow-link": ("plain",),
            "slow-rank-compute": ("plain",),
        },
        ("plain", "convolution", "inference"),
    ),
    "MindSpore, PyNative": Recording(
        ("text",),
        {"mindspore": "pynative"},
        {
            "data-loader": ("dense", "light"),
            "python-busy": ("light", "dense"),
            "slow-rank-host": ("light",),
            "aicpu-exposed": ("dense", "convolution"),
            "exposed-communication": ("plain", "dense"),
        },
        ("light", "dense", "experts"),
    ),
    "MindSpore, graph": Recording(
        ("text",),
        {"mindspore": "graph"},
        {
            "data-loader-one-rank": ("light", "dense"),
            "uneven-stages": ("pipeline",),
            "few-micro-batches": ("pipeline", "interleaved"),
            "slow-rank-compute": ("dense", "tensor"),
            "slow-link": ("dense", "plain"),
            "cast-excess": ("dense", "short"),
        },
        ("dense", "pipeline", "interleaved", "tensor"),
    ),
    "MindSpore, Level0": Recording(
        ("text",),
        {"mindspore": "graph"},
        {"uneven-stages": ("pipeline",), "few-micro-batches": ("pipeline", "interleaved")},
        ("pipeline", "interleaved"),
        levels=(0,),
    ),
}  # fmt: skip
"""`totals only`: op_statistic.csv and api_statistic.csv, as people hand them on. `CANN 8.3`: transit and wait of every
collective are 0 and all its time is idle; its spellings. `untyped …`: CANN of early 2024, whose tasks are of type
`Other`; of such captures often the timeline alone is left. `no groups`: torch_npu of January 2025. `MindSpore, …`: its
profiler from 2.5 on; without a communication file at Level0."""

USUAL = ""
