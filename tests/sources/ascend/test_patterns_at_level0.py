# SPDX-License-Identifier: Apache-2.0
"""At Level0 the type of no kernel is recorded: chains are found by what their names tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.analysis.fusion.fusion import fusible_chains
from advisor.analysis.fusion.pattern_cases import kernels_of_case
from advisor.facts.chain_patterns import ChainOrder
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, Texts
from advisor.rules.patterns import Pattern, shipped_patterns
from advisor.sources.ascend.kernels import KERNELS
from tests.sources.traces import captured

CATALOG = shipped_patterns()
BY_NAME = {pattern.name: pattern for pattern in CATALOG.patterns}
LAST_US, APART_US = 10, 11


def written_at_level0(types: list[str]) -> str:
    """kernel_details.csv of these kernels, one after another, as CANN names those of aclnn."""
    rows = [
        f"1,aclnn{kind}_{kind}AiCore_{kind},N/A,N/A,{1000 + place * APART_US}.000\t,{LAST_US},0,0"
        for place, kind in enumerate(types)
    ]
    heading = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim"
    return "\n".join([heading, *rows, ""])


def chains_of(kernels: Table[Kernel]) -> list[tuple[object, ...]]:
    found = fusible_chains(kernels, None, None, patterns=CATALOG.chains)
    return [(row["pattern"], row["chains"], row["kernels"]) for row in found.rows()]


def orders_of(name: str) -> tuple[ChainOrder, ...]:
    return next(one.orders for one in CATALOG.chains.patterns if one.name == name)


def is_told_by_types(order: ChainOrder) -> bool:
    """Whether no member that has to be there is known by its shapes, or by what called it."""
    return not order.of_operators and not any(
        (one.vector or one.accumulates) and not one.optional for one in order.members
    )


@pytest.mark.parametrize("pattern", BY_NAME.values(), ids=BY_NAME)
def test_chains_are_found_by_the_names_of_kernels_as_by_their_types(pattern: Pattern, tmp_path: Path) -> None:
    read_text = KERNELS.ways["text"]
    assert read_text is not None
    seen: set[object] = set()
    for number, case in enumerate(pattern.tests):
        known = kernels_of_case(case)
        if "aten::" in case.kernels:
            continue  # kernels of a GPU
        unknown = Texts.constant(None, len(known))  # as are shapes and data types at this level
        typed = known.having(input_shapes=unknown, input_dtypes=unknown)
        folder = tmp_path / str(number)
        folder.mkdir()
        types = [str(kind) for kind in known.texts("op_type").values()]
        named = read_text(captured(folder, kernel_details=written_at_level0(types)))
        assert named.texts("op_type").values() == types
        expected, found = (chains_of(table) for table in (typed, named))
        assert found == expected
        seen |= {name for name, _, _ in found}
    assert (pattern.name in seen) == any(is_told_by_types(order) for order in orders_of(pattern.name))
