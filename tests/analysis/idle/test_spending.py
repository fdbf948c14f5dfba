# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.arrays.intervals import Spans, subtract, union
from advisor.analysis.idle.spending import charged_ns, spending
from advisor.analysis.ranks.rank_splits import rank_splits
from advisor.facts.derived import Exchange, Gap, Overlap
from advisor.facts.observed import Collective, HostCall, Kernel, StepPhase
from advisor.facts.table import Table, read_table
from advisor.model.findings import Account
from advisor.summary.account import account_of_lengths, step_account

SPLIT = """
rank step span_us compute_us exposed_comm_us free_us source
0    1    100     60         10              30      intervals
0    2    110     60         10              40      intervals
1    1    100     70         10              20      intervals
1    2    100     70         10              20      intervals
"""
KERNELS = """
rank step op_type start_ns duration_us
0    1    MatMul  0        50
0    1    Add     40000    20
0    2    MatMul  200000   60
1    1    MatMul  0        70
1    2    MatMul  200000   70
"""


def spent(
    kernels: str = KERNELS, collectives: str = "", idle: str = "", split: str = SPLIT, calls: str = ""
) -> Account:
    overlaps = read_table(Overlap, split)
    entries = spending(
        overlaps,
        kernels=read_table(Kernel, kernels) if kernels else None,
        collectives=read_table(Collective, collectives) if collectives else None,
        windows=None,
        idle=read_table(Gap, idle) if idle else None,
        calls=read_table(HostCall, calls) if calls else None,
    )
    made = step_account(rank_splits(overlaps, None), entries)
    assert made is not None
    return made


def us(made: Account) -> dict[tuple[str, str], float]:
    return {(entry.part, entry.name): entry.us for entry in made.spent}


def test_the_entries_add_up_to_the_mean_step() -> None:
    made = spent()
    assert sum(entry.us for entry in made.spent) == pytest.approx((100 + 110 + 100 + 100) / 4)


def test_a_moment_is_charged_to_the_kernel_that_began_first() -> None:
    assert us(spent())["compute", "Add"] == pytest.approx(10 / 4)
    assert us(spent())["compute", "MatMul"] == pytest.approx((50 + 60 + 70 + 70) / 4)


def test_what_the_list_of_kernels_does_not_explain_has_no_name() -> None:
    assert us(spent(""))["compute", ""] == pytest.approx(65)


def test_collectives_are_charged_only_with_what_no_kernel_hides() -> None:
    made = spent(collectives="rank step op start_ns elapse_us\n0 1 allReduce 30000 50")
    assert us(made)["communication", "allReduce"] == pytest.approx(20 / 4)
    assert us(made)["communication", ""] == pytest.approx(10 - 20 / 4)


def test_idle_time_is_charged_to_its_cause() -> None:
    made = spent(idle="rank step duration_us cause\n0 1 25 python\n0 2 40 python\n0 1 5 -")
    assert us(made)["free", "python"] == pytest.approx(65 / 4)
    assert us(made)["free", ""] == pytest.approx((110 - 65) / 4)


def test_what_follows_a_wait_is_charged_to_the_host() -> None:
    idle = "rank step start_ns duration_us cause\n0 1 95000 30 synchronise\n0 2 300000 25 synchronise"
    calls = (
        "rank thread kind activity start_ns end_ns\n0 1 api synchronise 10000 100000\n0 1 api synchronise 290000 330000"
    )
    made = us(spent(idle=idle, calls=calls))
    assert (made["free", "host_late"], made["free", "synchronise"]) == pytest.approx((30 / 4, 25 / 4))


def test_the_spread_is_that_of_the_steps() -> None:
    made = spent()
    entry = next(entry for entry in made.spent if entry.name == "Add")
    assert entry.spread_us == pytest.approx(np.std([10 / 2, 0], ddof=1))
    assert entry.count == pytest.approx(1 / 4)
    assert [step.step_us for step in made.steps] == [100, 105]


def test_what_a_kernel_waits_inside_is_charged_to_communication() -> None:
    split = read_table(Overlap, SPLIT)
    entries = spending(split, kernels=read_table(Kernel, KERNELS), collectives=None, windows=None, idle=None)
    waits = read_table(Exchange, "rank step op_type bare_wait_us\n1 2 MatMul 30\n1 2 MatMul 10\n0 1 Cast -")
    plain = step_account(rank_splits(split, None), entries)
    made = step_account(rank_splits(split, waits), entries, waits)
    assert plain is not None and made is not None
    before, after = us(plain), us(made)
    assert after["communication", "MatMul"] == pytest.approx(40 / 4)
    assert after["compute", "MatMul"] == pytest.approx(before["compute", "MatMul"] - 40 / 4)
    assert sum(after.values()) == pytest.approx(sum(before.values()))


def test_one_step_has_no_spread() -> None:
    made = spent(split="\n".join(SPLIT.strip().splitlines()[:2]))
    assert {entry.spread_us for entry in made.spent} == {None}


def test_without_any_known_step_there_is_no_account() -> None:
    split = read_table(Overlap, "rank step span_us\n0 1 -")
    entries = spending(split, kernels=None, collectives=None, windows=None, idle=None)
    assert step_account(rank_splits(split, None), entries) is None


def test_many_names_are_bounded_and_nothing_is_lost() -> None:
    rows = "\n".join(f"0 1 Op{number} {number * 100} 0.1" for number in range(300))
    made = spent("rank step op_type start_ns duration_us\n" + rows)
    assert len([entry for entry in made.spent if entry.part == "compute" and entry.name]) == 200
    assert sum(entry.us for entry in made.spent) == pytest.approx(102.5)


spans = st.lists(st.tuples(st.integers(0, 200) | st.sampled_from([0, 50]), st.integers(0, 60)), max_size=12)
"""Some begin at the same moment, some where another ends, some last no time."""


@settings(max_examples=200)
@given(spans, spans)
def test_charges_add_up_to_the_union_of_what_is_not_hidden(
    rows: list[tuple[int, int]], over: list[tuple[int, int]]
) -> None:
    start = np.array([begin for begin, _ in rows], np.int64)
    end = start + np.array([length for _, length in rows], np.int64)
    hidden = union(np.array([b for b, _ in over], np.int64), np.array([b + n for b, n in over], np.int64))
    own = charged_ns(start, end, hidden)
    assert own.sum() == subtract(union(start, end), hidden).total
    assert (own >= 0).all()
    assert (own <= end - start).all()


@settings(max_examples=100)
@given(spans, spans)
def test_charges_agree_with_moments_given_out_one_by_one(
    rows: list[tuple[int, int]], over: list[tuple[int, int]]
) -> None:
    """To what began first, of those to the one that lasts longest, of those to the first row."""
    ways = [range(begin, begin + length) for begin, length in rows]
    owner: dict[int, int] = {}
    for row in sorted(range(len(rows)), key=lambda row: (rows[row][0], -rows[row][1], row)):
        for moment in ways[row]:
            owner.setdefault(moment, row)
    taken = {moment for begin, length in over for moment in range(begin, begin + length)}
    expected = [sum(owner[moment] == row and moment not in taken for moment in way) for row, way in enumerate(ways)]
    start = np.array([begin for begin, _ in rows], np.int64)
    end = start + np.array([length for _, length in rows], np.int64)
    hidden = union(np.array([b for b, _ in over], np.int64), np.array([b + n for b, n in over], np.int64))
    assert charged_ns(start, end, hidden).tolist() == expected


@settings(max_examples=60)
@given(spans.filter(bool), st.randoms())
def test_the_order_of_the_rows_changes_no_charge(rows: list[tuple[int, int]], random: object) -> None:
    rows = sorted(set(rows))
    order = np.array(sorted(range(len(rows)), key=lambda _: random.random()), np.intp)  # type: ignore[attr-defined]
    start = np.array([begin for begin, _ in rows], np.int64)
    end = start + np.array([length for _, length in rows], np.int64)
    none = Spans.none()
    assert charged_ns(start[order], end[order], none).tolist() == charged_ns(start, end, none)[order].tolist()


def test_no_step_is_lost_where_only_sums_were_recorded() -> None:
    split = Table.build(
        Overlap,
        rank=[0],
        step=[1],
        span_us=[10.0],
        compute_us=[4.0],
        exposed_comm_us=[1.0],
        free_us=[5.0],
        source=["recorded"],
    )
    entries = spending(split, kernels=None, collectives=None, windows=None, idle=None)
    made = step_account(rank_splits(split, None), entries)
    assert made is not None
    assert us(made) == {("compute", ""): 4, ("communication", ""): 1, ("free", ""): 5}


def test_steps_whose_phases_alone_were_recorded_have_lengths_and_no_parts() -> None:
    phases = Table.build(
        StepPhase,
        rank=[0, 1, 0, 1, 0, 1],
        step=[1, 1, 2, 2, 3, 3],
        first=[True, True, False, False, False, False],
        whole_us=[400.0, 400.0, 1000.0, 1200.0, 1000.0, np.nan],
    )
    made = account_of_lengths(phases)
    assert made is not None
    assert made.spent == ()
    assert [(one.step, one.step_us, one.compute_us) for one in made.steps] == [(2, 1100.0, None), (3, 1000.0, None)]
    assert account_of_lengths(phases.take(phases["step"] == 1)) is None
