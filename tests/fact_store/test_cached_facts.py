# SPDX-License-Identifier: Apache-2.0
"""Facts that are kept come back as they were, and what is no facts is refused by one kind of error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fact_store.cached_facts import MOST_BYTES, decode_facts, encode_facts
from advisor.facts import FACTS, Table
from advisor.facts.base import MISSING, Column, Fact
from advisor.facts.observed import Kernel, StepTime
from advisor.facts.rank_facts import RankFacts
from advisor.facts.selection import FirstRow, Selected
from advisor.facts.table import Texts
from advisor.messages.errors import FactMissing

_TEXTS = st.none() | st.text(max_size=5) | st.just("a\udcff.csv")
_WHOLE = st.none() | st.integers(MISSING + 1, -MISSING - 1)
_CELLS = {"text": _TEXTS, "int": _WHOLE, "float": st.none() | st.floats(), "flag": st.none() | st.integers(0, 1)}


def cells_of(column: Column, rows: int) -> st.SearchStrategy[list[object]]:
    return st.lists(_CELLS[column.store], min_size=rows, max_size=rows)


def check_same_table(one: Table[Fact], other: Table[Fact]) -> None:
    assert one.fact is other.fact and [name for name, _ in one.columns()] == [name for name, _ in other.columns()]
    for (_, values), (_, others) in zip(one.columns(), other.columns(), strict=True):
        if isinstance(values, Texts):
            assert isinstance(others, Texts) and values.names == others.names
            values, others = values.codes, others.codes  # noqa: PLW2901 - compared as numbers
        assert isinstance(others, np.ndarray)
        assert values.dtype == others.dtype and values.tobytes() == others.tobytes() and others.flags.writeable


@given(st.data())
def test_tables_come_back_to_the_bit(data: st.DataObject) -> None:
    fact: type[Fact] = data.draw(st.sampled_from(list(FACTS.values())))
    rows = data.draw(st.integers(0, 4))
    table = Table.build(fact, **{name: data.draw(cells_of(one, rows)) for name, one in fact.columns().items()})
    kept = data.draw(st.sets(st.sampled_from(list(fact.columns()))))
    few = Selected(table.only(kept), np.arange(len(table.only(kept))))
    facts: RankFacts = {fact: table, FirstRow(fact): few}
    content = encode_facts(facts)
    assert content is not None
    again = decode_facts(content, tuple(facts))
    check_same_table(again[fact], table)  # type: ignore[arg-type]
    chosen = again[FirstRow(fact)]
    assert isinstance(chosen, Selected) and chosen.stands_for.tolist() == few.stands_for.tolist()
    check_same_table(chosen.rows, few.rows)


def test_a_column_of_one_value_comes_back() -> None:
    table = Table.build(StepTime, rank=3, step=[1, 2])
    again = decode_facts(encode_facts({StepTime: table}) or b"", [StepTime])[StepTime]
    assert isinstance(again, Table) and again.rows() == table.rows()


def test_why_a_table_lacks_comes_back() -> None:
    lacks = FactMissing(["kernels", "host_calls"], ["a.csv"], ["launches"], ["kernels"])
    again = decode_facts(encode_facts({Kernel: lacks}) or b"", [Kernel])[Kernel]
    assert isinstance(again, FactMissing) and again.__dict__ == lacks.__dict__


def test_what_is_much_is_not_kept() -> None:
    rows = MOST_BYTES // 8
    assert encode_facts({Kernel: Table.build(Kernel, rank=np.zeros(rows, np.int64), step=1)}) is None


_WHOLE_ENTRY = encode_facts({Kernel: Table.build(Kernel, rank=[0, 1], op_type=["a", "b"])}) or b""


@given(st.binary(max_size=40) | st.integers(0, len(_WHOLE_ENTRY) - 1).map(lambda end: _WHOLE_ENTRY[:end]))
def test_what_is_none_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        decode_facts(content, [Kernel])


@given(st.integers(0, len(_WHOLE_ENTRY) - 1), st.integers(0, 255))
def test_a_changed_byte_is_refused_or_gives_a_table_that_can_be_read(at: int, byte: int) -> None:
    """Whoever knows how entries are made may write any: what follows from one is a table, or nothing."""
    content = _WHOLE_ENTRY[:at] + bytes([byte]) + _WHOLE_ENTRY[at + 1 :]
    try:
        found = decode_facts(content, [Kernel])[Kernel]
    except ValueError:
        return
    assert isinstance(found, FactMissing) or len(found.rows()) == len(found)  # type: ignore[arg-type, operator]


def test_facts_that_were_not_wanted_are_refused() -> None:
    with pytest.raises(ValueError, match="no rows"):
        decode_facts(_WHOLE_ENTRY, [StepTime])
    with pytest.raises(ValueError, match="other facts"):
        decode_facts(_WHOLE_ENTRY, [Kernel, StepTime])
    with pytest.raises(ValueError, match="chosen"):
        decode_facts(_WHOLE_ENTRY, [FirstRow(Kernel)])
