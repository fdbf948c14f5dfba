# SPDX-License-Identifier: Apache-2.0
"""What broke a promise once keeps it: every input the fuzzer kept is tried again."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz.cases import Case
from benchmarks.fuzz.promises import raise_warning

CASES = sorted((Path(__file__).parent / "fuzz_cases").glob("*.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_an_input_that_broke_a_promise_keeps_it(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case.from_json(path.read_text("utf-8"))
    if not case.at_hand:
        pytest.skip("its capture was recorded and is not at hand")
    monkeypatch.setattr("warnings.showwarning", raise_warning)
    case.try_again(tmp_path / "prof")
