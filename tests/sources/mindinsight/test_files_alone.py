# SPDX-License-Identifier: Apache-2.0
"""Files of the old MindSpore profiler that are not read still tell that it was here."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.messages.errors import InputError
from advisor.sources.opening import open_input


@pytest.mark.parametrize("name", ["aicore_intermediate_0_detail.csv", "framework_raw_3.csv"])
def test_a_file_that_is_not_read_is_answered_with_what_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("full_op_name,execution_time\nDefault/Add-op1,0.5\n")
    with pytest.raises(InputError) as told:
        open_input(tmp_path)
    assert "step_trace_raw_*_detail_time.csv" in told.value.hint.en
    assert "_ascend_pt" not in told.value.hint.en
