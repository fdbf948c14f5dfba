# SPDX-License-Identifier: Apache-2.0
"""Whatever stands in the place of a part of a rule, its author is told in their language what belongs there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from advisor.messages.errors import RuleError
from advisor.rules import guides
from advisor.rules.schema import cases_of_document, check_shape
from advisor.yaml_files.source import parse_document

WORDS = {"en": "words", "zh": "文字"}
WHOLE: dict[str, Any] = {
    "id": "host/x",
    "since": "0.1.0",
    "status": "stable",
    "implements": ["a/1"],
    "formerly": ["host/y"],
    "title": WORDS,
    "title_with": {"x": WORDS},
    "why": WORDS,
    "applies_when": "true",
    "requires": ["overlaps"],
    "coverage": {"overlaps": 0.5},
    "params": {"most": {"value": 1, "unit": "us", "basis": WORDS}},
    "for_each": ["rank"],
    "in": "overlaps",
    "let": {"x": "1"},
    "when": "true",
    "severity": {"high": "true"},
    "explains": ["host/z"],
    "scarce": "processors",
    "doubts": ["x"],
    "inflates": "host_time",
    "evidence": [{"show": "x", "en": "a", "zh": "文字", "threshold": "most", "as": "us"}],
    "rows": {"in": "overlaps", "columns": ["rank"], "top": 3},
    "occurrences": {"in": "overlaps", "by": {"rank": "rank"}},
    "saving": {"us": "1", "across": "mean", "assumes": WORDS, "at_most": True, "host_time": True, "frees": ""},
    "confidence": "low",
    "fix": [{"do": WORDS, "run": "x", "care": WORDS, "takes": ["processors"]}],
    "pattern_fixes": True,
    "references": [{"title": WORDS, "url": "https://a.example"}],
    "tests": [{"name": "x", "given": {"overlaps": "rank"}, "expect": [{"rank": 0}]}],
}
ODD = ("maybe", "", 5, 2.5, True, None, [], {}, [[]], [{}], ["maybe"], {"maybe": "maybe"}, {"maybe": []})


def paths(data: Any, begin: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    steps = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, inner in steps:
        yield (*begin, step)
        yield from paths(inner, (*begin, step))


@pytest.mark.parametrize("path", list(paths(WHOLE)), ids=lambda path: ".".join(map(str, path)))
def test_no_part_of_a_rule_is_answered_in_words_of_the_library_that_checks_it(path: tuple[str | int, ...]) -> None:
    for odd in ODD:
        data = deepcopy(WHOLE)
        parent: Any = data
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = odd
        document = parse_document(json.dumps(data), "a.yaml")
        for mistake in (*check_shape(document)[1], *cases_of_document(document)[1]):
            assert mistake.what.code != "does_not_fit", (odd, mistake.what.en)
            assert mistake.what.code != "is_one_of" or dict(mistake.what.values)["allowed"], path


def test_what_may_stand_there_is_told_of_every_choice() -> None:
    text = json.dumps({**WHOLE, "status": "old", "severity": {"hihg": "true"}, "confidence": "some"})
    said = [mistake.what.en for mistake in check_shape(parse_document(text, "a.yaml"))[1]]
    assert said == [
        "`status` is one of stable, preview, deprecated, not `old`",
        "`severity.hihg` is one of info, low, medium, high, critical, not `hihg`",
        "`confidence` is one of low, medium, high, not `some`",
    ]


def test_a_guide_is_refused_in_the_language_of_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_guide = tmp_path / "acme.yaml"
    write_guide.write_text(
        "title: {en: a, zh: 文}\nabout: {en: a, zh: 文}\nstatements:\n  1: {says: 5, facts: [kernel]}\n"
    )
    monkeypatch.setattr(guides, "shipped_folder", lambda _: tmp_path)
    with pytest.raises(RuleError) as error:
        guides.read_guides.__wrapped__()
    assert "未知的表 `kernel`" in error.value.say("zh")
    assert "应为映射" in error.value.say("zh")
