# SPDX-License-Identifier: Apache-2.0
"""Each file in `bad/` is named after a mistake; beside it stands, to the letter, what its author is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.messages.errors import RuleError
from advisor.rules.bind import Rule
from advisor.rules.catalog import Catalog, read_rule

BAD = sorted((Path(__file__).parent / "bad").glob("*.yaml"))


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_the_author_is_told_what_is_wrong_where_and_what_would_be_right(path: Path) -> None:
    found = read_rule(path, tests=True)
    assert not isinstance(found, Rule)
    told = "\n".join(str(mistake) for mistake in found).replace(path.as_posix(), path.name)
    assert told + "\n" == path.with_suffix(".txt").read_text(encoding="utf-8")


def test_all_mistakes_of_all_files_come_at_once() -> None:
    with pytest.raises(RuleError) as caught:
        Catalog.load([BAD[0].parent])
    assert {mistake.place.file for mistake in caught.value.mistakes} == {path.as_posix() for path in BAD}
