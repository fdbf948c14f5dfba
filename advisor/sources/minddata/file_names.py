# SPDX-License-Identifier: Apache-2.0
"""Files on the preparation of data, told by their names, which end in the number of a rank."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_R = r"(?P<rank>\d{1,7})"
DATA_FILES: Mapping[str, str] = {
    "dataset": rf"minddata_pipeline_raw_{_R}\.csv",
    "dataset_samples": rf"pipeline_profiling_{_R}\.json",
    "sunk_batches": rf"device_queue_profiling_{_R}\.txt",
    "iterated_batches": rf"dataset_iterator_profiling_{_R}\.txt",
    "device_batches": rf"minddata_aicpu_{_R}\.txt",
    "cpu": rf"minddata_cpu_utilization_{_R}\.json",
}
"""The pattern of the names of each kind of file; its group `rank` is the number of the rank."""


class DataFile(NamedTuple):
    """What the name of a file on data says."""

    kind: str
    rank: int
    name: str


def parse_data_name(name: str) -> DataFile | None:
    """What a file name says; None where it is none of a file on data."""
    for kind, pattern in DATA_FILES.items():
        if found := re.fullmatch(pattern, name):
            return DataFile(kind, int(found["rank"]), name)
    return None
