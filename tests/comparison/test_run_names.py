# SPDX-License-Identifier: Apache-2.0
"""What two runs are called beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.comparison.run_names import told_apart


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ("a/prof", "b/other", ("x", "y")),
        ("main/prof", "branch/prof", ("main/prof", "branch/prof")),
        ("m/1/prof", "m/2/prof", ("1/prof", "2/prof")),
    ],
)
def test_two_runs_of_one_name_are_told_apart_by_their_paths(before: str, after: str, names: tuple[str, str]) -> None:
    runs = names if names == ("x", "y") else ("prof", "prof")
    assert told_apart(Path(before), Path(after), *runs) == names


def test_a_path_given_twice_keeps_its_name() -> None:
    assert told_apart(Path("a/prof"), Path("a/prof"), "prof", "prof") == ("prof", "prof")
