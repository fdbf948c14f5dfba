# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from advisor.sources.ascend.operator_links import OPERATOR_LINKS
from tests.sources.traces import captured, of

ARROW = {"ph": "s", "cat": "async_npu", "bp": "e", "pid": 1, "tid": 1, "ts": "1736405443881400.120"}


@pytest.mark.parametrize(
    ("name", "identity", "begin"),
    [
        ("torch_to_npu", 1736405443881410320, 1736405443881410320),
        ("torch_to_npu", "1736405443881410320", 1736405443881410320),
        ("mindspore_to_npu", "1736405443881410.320", 1736405443881410320),  # us, as it writes any moment
        ("mindspore_to_npu", "1736405443881410.3.2", None),
        ("mindspore_to_npu", "first", None),
    ],
)
def test_an_arrow_from_an_operator_tells_by_its_number_when_the_work_begins(
    tmp_path: Path, name: str, identity: int | str, begin: int | None
) -> None:
    (row,) = of(OPERATOR_LINKS.ways["text"], captured(tmp_path, [{**ARROW, "name": name, "id": identity}]))
    assert (row["operator_start_ns"], row["device_start_ns"]) == (1736405443881400120, begin)
