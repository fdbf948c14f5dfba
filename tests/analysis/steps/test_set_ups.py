# SPDX-License-Identifier: Apache-2.0
"""What makes the inputs of a benchmark is no part of it; random numbers that are part of the work stay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.operators import operators
from advisor.analysis.steps.overlap import overlaps
from advisor.analysis.steps.set_up_kernels import FEW, LOST_NS, PAUSE_NS
from advisor.analysis.steps.set_ups import set_ups
from advisor.analysis.steps.start_ups import start_ups
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

NOTHING = dict.fromkeys(("collectives", "tasks", "windows"))
LONG = PAUSE_NS // 1000


class Ran(NamedTuple):
    """A kernel, and the pause before it, µs."""

    op_type: str
    reads: str | None = None
    writes: str | None = None
    pause: int = 0
    name: str = ""
    step: int | None = None


DRAW = Ran("DSARandomNormal", None, "64,32", name="aclnnInplaceNormal_DSARandomNormal_DSARandomNormal")
CAST = Ran("Cast", "64,32", "64,32", name="aclnnCast_CastAiCore_Cast")
TIMED = Ran("my_kernel", "64,32", "64")
FIRST = TIMED._replace(pause=LONG)
BENCHMARK = [DRAW, CAST, DRAW, FIRST, TIMED, TIMED]


def kernels(every: list[Ran], rank: int = 0) -> Table[Kernel]:
    """These kernels, 10 µs each."""
    start = np.cumsum([10 + one.pause for one in every]) * 1000
    numbered = {"step": [one.step for one in every]} if every[0].step is not None else {}
    return Table.build(
        Kernel,
        rank=rank,
        start_ns=start,
        duration_us=10.0,
        op_type=[one.op_type for one in every],
        op_name=[one.name or one.op_type for one in every],
        input_shapes=[one.reads for one in every],
        output_shapes=[one.writes for one in every],
        **numbered,
    )


def count_set_up(table: Table[Kernel], collectives: Table[Collective] | None = None) -> list[float]:
    return set_ups(table, collectives=collectives)["kernels"].tolist()


def test_what_draws_and_converts_the_inputs_of_a_benchmark_is_no_part_of_its_work() -> None:
    table = kernels(BENCHMARK)
    (told,) = set_ups(table, collectives=None).rows()
    assert (told["kernels"], told["busy_us"], told["span_us"], told["op_type"]) == (3, 30, 30, "DSARandomNormal")
    assert operators(table, None, None).texts("op_type").values() == ["my_kernel"]
    (split,) = overlaps(run_of_ranks(Run()), kernels=table, recorded=None, **NOTHING).rows()
    assert (split["compute_us"], split["free_us"]) == (30, 0)
    assert not len(start_ups(table, **NOTHING))


@pytest.mark.parametrize(
    "draw",
    [
        Ran("DSARandomUniform", None, "64,32"),
        Ran("StatelessRandomNormalV2", "2", "64,32"),
        Ran("Cast", "64,32", "64,32", name="aclnnInplaceNormal_CastAiCore_Cast"),
        Ran("aten::normal_", None, "64,32"),
    ],
)
def test_random_numbers_are_known_by_types_and_by_the_operator_that_draws_them(draw: Ran) -> None:
    assert count_set_up(kernels([draw, CAST, FIRST, TIMED])) == [2]


@pytest.mark.parametrize(
    "every",
    [
        pytest.param([*BENCHMARK, DRAW, TIMED], id="drawn again amid the work, as a sampled token is"),
        pytest.param([*BENCHMARK, Ran("DSARandomUniform", None, "8"), TIMED], id="drawn otherwise amid the work"),
        pytest.param([TIMED, *BENCHMARK], id="other work came before"),
        pytest.param([DRAW, Ran("MatMulV3", "64,32;64,32", "64,64"), FIRST, TIMED], id="other work came between"),
        pytest.param([DRAW, CAST, TIMED, TIMED], id="what follows does so at once"),
        pytest.param([DRAW, CAST, TIMED._replace(pause=LONG - 1), TIMED], id="what follows does so nearly at once"),
        pytest.param([DRAW, CAST, FIRST, CAST, TIMED], id="what converted is timed itself"),
        pytest.param([one._replace(step=3) for one in BENCHMARK], id="steps are marked"),
        pytest.param([DRAW, CAST], id="nothing follows"),
        pytest.param([Ran("DSAGenBitMask", None, "64,32"), FIRST, TIMED], id="the mask of a dropout"),
        pytest.param([DRAW, FIRST, *(Ran(f"Type{number}", "64", "64") for number in range(FEW))], id="a model follows"),
    ],
)
def test_random_numbers_that_may_be_the_work_stay(every: list[Ran]) -> None:
    assert count_set_up(kernels(every)) == []


def test_a_benchmark_may_time_a_few_operators() -> None:
    some = [Ran(f"Type{number}", "64", "64") for number in range(FEW - 1)]
    assert count_set_up(kernels([DRAW, FIRST, *some])) == [1]


def test_ranks_that_communicate_set_up_nothing_and_others_do_so_each_for_itself() -> None:
    both = Table.concat(Kernel, [kernels(BENCHMARK), kernels([DRAW, FIRST], rank=1)])
    assert count_set_up(both) == [3, 1]
    sends = Table.build(Collective, rank=[0], start_ns=[0], elapse_us=[10.0])
    assert count_set_up(both, sends) == [1]


@pytest.mark.parametrize(("lost_us", "count"), [(0, [3]), (LOST_NS // 1000, [3]), (LOST_NS // 1000 + 1, [])])
def test_where_rows_were_lost_before_what_is_timed_other_work_may_have_been_there(
    lost_us: int, count: list[float]
) -> None:
    waits = [float(one.pause) for one in BENCHMARK]
    waits[3] -= lost_us
    assert count_set_up(kernels(BENCHMARK).having(wait_us=np.array(waits))) == count


SOME = [DRAW, CAST, TIMED, Ran("Add", "64,32;64,32", "64,32"), Ran("Relu", "8", "8")]


@given(
    st.lists(
        st.tuples(st.sampled_from(SOME), st.sampled_from([0, 5, LONG - 1, LONG, 9 * LONG])), min_size=1, max_size=9
    )
)
def test_what_is_set_apart_is_what_a_plain_reading_says(drawn: list[tuple[Ran, int]]) -> None:
    every = [one._replace(pause=pause) for one, pause in drawn]
    assert count_set_up(kernels(every)) == ([float(found)] if (found := _plain_count(every)) else [])


def _plain_count(every: list[Ran]) -> int:
    """The same, one kernel after another: all that was drawn lies before the long pause, with what converts it."""
    for count in range(len(every) - 1, 0, -1):
        inputs, rest = every[:count], every[count:]
        makers = [one for one in inputs if one.op_type == "DSARandomNormal"]
        others = [one for one in inputs if one not in makers]
        drawn_first = inputs[0] in makers and all(one.op_type in ("Cast", "Add") for one in others)
        last = max((at for at, one in enumerate(inputs) if one in makers), default=0)
        at_once = all(one.pause < LONG for one in inputs[last + 1 :])
        again = {one.op_type for one in rest} & {"DSARandomNormal", *(one.op_type for one in others)}
        if drawn_first and at_once and not again and rest[0].pause >= LONG:
            return count
    return 0


def test_what_was_timed_once_behind_a_pause_is_not_taken_for_a_conversion() -> None:
    add = Ran("Add", "64,32;64,32", "64,32", pause=LONG)
    assert count_set_up(kernels([DRAW, DRAW, add])) == [2]
