# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.model.run import Capture, Run


@pytest.mark.parametrize(
    ("told", "alone"),
    [
        ([("CPU",)], "host"),
        ([("NPU",), ("NPU",)], "device"),
        ([("GPU",)], "device"),
        ([("CPU", "NPU")], None),
        ([("CPU",), ("NPU",)], None),
        ([("NPU",), None], "device"),  # of a rank that does not say it nothing is known
        ([()], None),
        ([None], None),
        ([], None),
    ],
    ids=str,
)
def test_a_side_was_recorded_alone_where_every_profiler_that_says_so_was_told_that_one(
    told: list[tuple[str, ...] | None], alone: str | None
) -> None:
    captures = tuple(
        Capture(rank=rank, path="", source="text", activities=activities) for rank, activities in enumerate(told)
    )
    assert Run(name="x", captures=captures).recorded_alone == alone
