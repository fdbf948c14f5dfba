# SPDX-License-Identifier: Apache-2.0
"""What holds for every derivation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis import DERIVATIONS
from advisor.chips.chip_files import shipped_chips
from advisor.chips.known_chips import ChipTable
from advisor.facts.base import MISSING, Fact
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derivation import call_derivation, fact_of_derivation, needs_of_derivation
from advisor.facts.derived import DERIVED
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.model.run_of_ranks import RunOfRanks, run_of_ranks
from advisor.rules.patterns import shipped_patterns

CHAINS = shipped_patterns().chains
GIVEN = {
    Run: Run(),
    RunOfRanks: run_of_ranks(Run()),
    ChipTable: shipped_chips(),
    ChainPatterns: CHAINS,
}
EVERY = pytest.mark.parametrize("derivation", DERIVATIONS, ids=lambda d: d.__name__)

HOSTILE = {
    "int": st.sampled_from([MISSING, 0, 1, -1, 7, 10**18, 2**62, -(2**62), 2**63 - 1]),
    "float": st.sampled_from([float("nan"), 0.0, -1.0, 3.5, 1e30, float("inf"), -float("inf")]),
    "flag": st.sampled_from([-1, 0, 1]),
    "text": st.sampled_from([None, "", "copy", "wait", "acl", "python", "<b>", "aclrtMemcpy", "hcom_send__1_0_1", "é"]),
}


@st.composite
def hostile(draw: st.DrawFn, fact: type[Fact]) -> Table[Any]:
    """A table whose cells may be anything their type can hold."""
    length = draw(st.integers(0, 5))
    cells = st.lists
    return Table.build(
        fact,
        **{
            name: draw(cells(HOSTILE[column.store], min_size=length, max_size=length))
            for name, column in fact.columns().items()
        },
    )


def arguments_of(derivation: Callable[..., Table[Any]], table_of: Callable[[type[Fact]], Any]) -> dict[str, object]:
    """A table for each need, the same one wherever a fact is needed."""
    needs = needs_of_derivation(derivation)
    tables = {need: GIVEN.get(need) or table_of(need) for need in dict.fromkeys(need for need, _ in needs.values())}
    return {name: tables[need] for name, (need, _) in needs.items()}


def run_with(derivation: Callable[..., Table[Any]], table_of: Callable[[type[Fact]], Any]) -> Table[Any] | None:
    arguments = arguments_of(derivation, table_of)
    try:
        return call_derivation(derivation, arguments)
    except FactMissing:
        return None


def test_every_derived_fact_has_one_derivation():
    assert sorted(fact_of_derivation(d).table for d in DERIVATIONS) == sorted(fact.table for fact in DERIVED)


@EVERY
def test_empty_tables_give_an_empty_table_or_a_missing_fact(derivation):
    found = run_with(derivation, Table.empty)
    assert found is None or len(found) == 0


@EVERY
def test_what_is_optional_may_be_absent(derivation):
    needs = needs_of_derivation(derivation).values()
    optional = {need for need, may_lack in needs if may_lack} - {need for need, may_lack in needs if not may_lack}
    found = run_with(derivation, lambda fact: None if fact in optional else Table.empty(fact))
    assert found is None or len(found) == 0


@EVERY
@settings(max_examples=25)
@given(data=st.data())
def test_whatever_tables_hold_ends_no_run_and_they_are_left_as_they_were(derivation, data):
    drawn: list[Table[Any]] = []

    def draw(fact: type[Fact]) -> Table[Any]:
        drawn.append(data.draw(hostile(fact)))
        return drawn[-1]

    arguments = arguments_of(derivation, draw)
    before = [repr(table.rows()) for table in drawn]
    try:
        with np.errstate(all="ignore"):
            found = call_derivation(derivation, arguments)
    except FactMissing:
        found = None
    assert [repr(table.rows()) for table in drawn] == before
    if found is not None:
        found.rows()
        declared = fact_of_derivation(derivation).columns()
        for name, column in declared.items():
            if column.store != "text":
                assert found[name].dtype == column.dtype
            else:
                assert found.texts(name).codes.max(initial=-1) < max(len(found.texts(name).names), 1)
