# SPDX-License-Identifier: Apache-2.0
"""Signs that a fault of the corpus shows beside its cause: where the time of a step goes, told of a whole job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from corpus.signs import Sign
from corpus.signs.captures import write


def _fault(case: str, fault: str = "", **how: Any) -> Sign:
    """A job with a fault, and the same job without it."""
    return Sign(
        spoiled=partial(write, case=case, **how),
        twin=partial(write, case=case, without=(fault or case,), **how),
    )


SIGNS: Mapping[str, Sign] = {
    "capture/cut-timeline": _fault("damaged-trace"),
    "comm/dominant-communication": _fault("low-bandwidth"),
    "comm/exposed-communication": _fault("exposed-communication"),
    "comm/waiting-collectives": _fault("slow-rank-compute", small=False),
    "compute/dynamic-shapes": Sign(partial(write, case="dynamic-shapes"), partial(write, case="healthy-light")),
    "host/free-time": _fault("host-bound"),
    "host/interrupted-launches": _fault("launch-blocking"),
    "host/late-launches": _fault("host-bound"),
    "host/slow-preparation": _fault("data-loader"),
    "capture/lost-rows": _fault("damaged-trace"),
    "comm/slow-transfer": _fault("low-bandwidth"),
    "compute/aicpu-totals": _fault("aicpu-exposed", totals=True),
    "host/device-to-host-reads": _fault("synchronise-per-layer"),
    "host/eager-inference": _fault("host-bound", workload="inference", strength=2.0),
    "io/dataset-pipeline": _fault("data-loader", mindspore="graph"),
    "io/exposed-copies": _fault("blocking-copies", strength=3.0),
    "ranks/expert-imbalance": _fault("expert-imbalance"),
    "ranks/late-rank": _fault("expert-imbalance"),
}
