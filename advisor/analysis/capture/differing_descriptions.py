# SPDX-License-Identifier: Apache-2.0
"""What ranks that were taken for those of one job say of it, and not all alike."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.facts.derived import DifferingDescription
from advisor.facts.observed import RankCapture
from advisor.facts.table import Table
from advisor.model.differing_words import ranks_by_word
from advisor.units import spell_numbers


def differing_descriptions(captures: Table[RankCapture]) -> Table[DifferingDescription]:
    """A row for each size of the job, version of CANN and of torch_npu, where ranks say more than one."""
    rows = [
        (min(ranks), about, value, len(ranks), spell_numbers(ranks))
        for about, said in _said_by_rank(captures)
        for value, ranks in _ranks_by_value(captures["rank"].tolist(), said)
    ]
    names = ("rank", "about", "value", "ranks_saying", "which")
    columns = zip(names, map(list, zip(*rows, strict=True)), strict=True) if rows else ()
    return Table.build(DifferingDescription, **dict(columns)) if rows else Table.empty(DifferingDescription)


def _said_by_rank(captures: Table[RankCapture]) -> Iterator[tuple[str, list[str | None]]]:
    """What is told of, and what each rank says of it."""
    sizes = captures.floats("told_ranks").tolist()
    yield "ranks", [f"{size:.0f}" if size > 0 else None for size in sizes]
    yield "CANN", list(captures.texts("cann_version").values())
    yield "torch_npu", list(captures.texts("torch_npu_version").values())


def _ranks_by_value(ranks: list[int], said: list[str | None]) -> list[tuple[str, list[int]]]:
    """Who says what, those that most say first; nothing where all who say anything say the same."""
    return sorted(ranks_by_word(ranks, said).items(), key=lambda item: (-len(item[1]), min(item[1])))
