# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.operators import operators
from advisor.analysis.operators.token_choices import work_of_choices
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, read_table

TYPES = ("aten::mm", "aten::sort", "aten::cumsum", "aten::argmax", "_C::fused_add_rms_norm", "aten::exponential_")
MODEL = ("aten::mm", "_C::fused_add_rms_norm")


def told(rows: list[tuple[int, int, str]]) -> Table[Kernel]:
    """Kernels of 10 µs: rank, start, type."""
    lines = [f"{rank} 1 {start * 20_000} 10 {op_type} AI_CORE" for rank, start, op_type in rows]
    return read_table(Kernel, "\n".join(["rank step start_ns duration_us op_type core", *lines]))


def chosen(*types: str) -> list[bool]:
    return work_of_choices(told([(0, at, name) for at, name in enumerate(types)])).tolist()


def test_what_filters_scores_stands_between_the_model_and_the_choice() -> None:
    assert chosen("aten::mm", "aten::sort", "aten::cumsum", "aten::argmax", "aten::sort") == [
        *(False, True, True, True),
        False,
    ]


def test_sorts_inside_of_the_model_choose_no_token() -> None:
    assert not any(chosen("aten::sort", "aten::mm", "aten::sort", "aten::mm", "aten::cumsum"))


def test_a_kernel_somebody_wrote_ends_the_model_as_a_product_does() -> None:
    assert chosen("aten::sort", "_lm_head_kernel", "aten::sort", "aten::argmax") == [False, False, True, True]


def test_operators_tell_the_part_that_chooses_tokens() -> None:
    """The sort inside of the model counts in the whole, not in that part."""
    types = ("aten::sort", "aten::mm", "aten::sort", "aten::argmax")
    kernels = told([(0, at, name) for at, name in enumerate(types)])
    found = {row["op_type"]: row for row in operators(kernels, None, None).rows()}
    assert found["aten::sort"]["total_us"] == 20 and found["aten::sort"]["choosing_us"] == 10
    assert found["aten::mm"]["choosing_us"] == 0 and found["aten::argmax"]["choosing_us"] == 10


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60), st.sampled_from(TYPES)), unique_by=lambda r: r[:2]))
def test_choices_agree_with_a_plain_walk_back_from_each(rows: list[tuple[int, int, str]]) -> None:
    expected = set()
    for rank in (0, 1):
        mine = sorted(row for row in rows if row[0] == rank)
        for at, row in enumerate(mine):
            if row[2] != "aten::argmax":
                continue
            begin = at
            while begin >= 0 and mine[begin][2] not in MODEL:
                begin -= 1
            if begin >= 0:
                expected.update(mine[begin + 1 : at + 1])
    found = work_of_choices(told(rows)).tolist() if rows else []
    assert {row for row, is_chosen in zip(rows, found, strict=True) if is_chosen} == expected
