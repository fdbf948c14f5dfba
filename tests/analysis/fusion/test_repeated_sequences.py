# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.fusion.repeated_sequences import LONGEST, MOST, SHORTEST, _without_overlap, repeated_sequences
from advisor.facts.base import MISSING
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derived import ChipLimit
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, Texts, read_table
from advisor.rules.patterns import shipped_patterns


def ran(types: str, us: float = 10.0) -> Table[Kernel]:
    """Kernels of these types one after another, a pause of 1 µs after each."""
    words = types.split()
    starts = [round(place * (us + 1) * 1000) for place in range(len(words))]
    return Table.build(Kernel, rank=0, step=1, op_type=words, start_ns=starts, duration_us=[us] * len(words))


def sequences(types: str, patterns: ChainPatterns = ChainPatterns()) -> dict[str, float]:  # noqa: B008 - immutable
    return {
        row["sequence"]: row["times"] for row in repeated_sequences(ran(types), None, None, patterns=patterns).rows()
    }


def test_what_repeats_between_products_is_found_and_counted_once():
    assert sequences("MatMulV3 Abs Exp Sub " * 7) == {"Abs → Exp → Sub": 7.0}


def test_it_is_told_how_much_of_a_sequence_runs_in_compiled_graphs():
    table = ran("MatMulV3 Abs Exp Sub " * 7)
    graph = np.where(np.arange(len(table)) < 4 * 3, 5, MISSING)
    (row,) = repeated_sequences(table.having(graph=graph), None, None, patterns=ChainPatterns()).rows()
    assert (row["compiled_us"], row["total_us"]) == (90.0, 210.0)


def test_a_sequence_that_follows_itself_is_not_counted_twice():
    found = repeated_sequences(ran("Abs Exp Sub " * 12), None, None, patterns=ChainPatterns()).rows()
    assert sum(row["times"] * row["kernels"] for row in found) <= 36
    assert sum(row["total_us"] for row in found) <= 360.0


@pytest.mark.parametrize(
    "again",
    [
        "Mul " * 10,
        "Mul Add " * 8,
        "Sqrt " + "Mul " * 6,
        "Mul " * 4 + "Add " * 4,
    ],
    ids=["one", "two in turn", "one behind another", "two one after the other"],
)
def test_what_is_done_to_one_tensor_after_another_is_no_sequence(again):
    """As the gradients that are clipped: a kernel for all of them passes over each, and spares launches alone."""
    assert sequences(f"MatMulV3 {again}" * 7) == {}


def test_an_operator_that_comes_twice_in_a_sequence_leaves_it_one():
    assert sequences("MatMulV3 Mul Add Mul " * 7) == {"Mul → Add → Mul": 7.0}
    assert sequences("MatMulV3 Mul Mul Add " * 7) == {"Mul → Mul → Add": 7.0}
    assert sequences("MatMulV3 Abs Exp Sub Abs Exp Sub " * 7) == {"Abs → Exp → Sub": 14.0}


def test_chains_with_a_known_remedy_are_none_of_these():
    assert sequences("MatMulV3 Pow ReduceMean Add Rsqrt Mul Mul " * 7, shipped_patterns().chains) == {}


def test_products_and_attention_are_no_small_operators():
    assert sequences("MatMulV3 FlashAttentionScore MatMulV3 " * 9) == {}


@pytest.mark.parametrize("mover", ["ZerosLike", "Fill", "MemSet", "ConcatD", "Slice", "Cast", "Transpose", "GatherV2"])
def test_what_only_moves_fills_or_converts_is_no_small_operator_and_ends_a_sequence(mover):
    assert sequences(f"MatMulV3 {mover} {mover} {mover} " * 7) == {}
    assert sequences(f"MatMulV3 Abs Exp {mover} Sub " * 7) == {}
    assert sequences(f"MatMulV3 {mover} Abs Exp Sub {mover} " * 7) == {"Abs → Exp → Sub": 7.0}


@pytest.mark.parametrize(("us", "found"), [(398.0, 1), (402.0, 0)])
def test_what_is_slow_for_its_data_is_not_made_quicker_by_one_kernel(us, found):
    """Three tensors of 33.5 MB take 62.9 us at 1600 GB/s, within reach 179.7 + 20: twice that is 399.5 and more."""
    said = {
        "input_shapes": "4096,4096;4096,4096",
        "input_dtypes": "DT_BF16;DT_BF16",
        "output_shapes": "4096,4096",
        "output_dtypes": "DT_BF16",
    }
    kernels = ran("MatMulV3 Abs Exp Sub " * 7, us).having(
        **{name: Texts.constant(text, 28) for name, text in said.items()}
    )
    limits = read_table(ChipLimit, "rank memory_gbps\n0 1600")
    rows = repeated_sequences(kernels, None, None, limits=limits, patterns=ChainPatterns()).rows()
    assert len(rows) == found
    assert len(repeated_sequences(kernels, None, None, patterns=ChainPatterns()).rows()) == 1


@pytest.mark.parametrize(
    ("shapes", "found"),
    [
        (("64,128;64,128", "64,128;1", "64,128;128"), ["Abs → Exp → Sub"]),
        (("64,128;64,128", "8192;", "2,4096"), ["Abs → Exp → Sub"]),
        (("64,128", "64,128", "16,16;16,16"), []),
        (("16,16", "64,128", "64,128"), []),
        (("64,128", "", "16,16"), ["Abs → Exp → Sub"]),
    ],
    ids=["one tensor", "views of it", "then another", "another before", "not recorded"],
)
def test_operators_on_other_tensors_than_the_one_before_made_end_a_sequence(shapes, found):
    inputs = ["64,128;128,128", *shapes] * 7
    outputs = [one.split(";", maxsplit=1)[0] for one in inputs]
    kernels = ran("MatMulV3 Abs Exp Sub " * 7).having(input_shapes=Texts.of(inputs), output_shapes=Texts.of(outputs))
    rows = repeated_sequences(kernels, None, None, patterns=ChainPatterns()).rows()
    assert [row["sequence"] for row in rows] == found


def test_what_a_reduction_leaves_is_what_the_next_operator_works_on():
    shapes = [("64,128;128,128", "64,128"), ("64,128", "64,128"), ("64,128", "64,1"), ("64,1", "64,1"),
              ("64,128;64,1", "64,128")]  # fmt: skip
    kernels = ran("MatMulV3 Square ReduceSum Sqrt Mul " * 7).having(
        input_shapes=Texts.of([given for given, _ in shapes] * 7),
        output_shapes=Texts.of([made for _, made in shapes] * 7),
    )
    (row,) = repeated_sequences(kernels, None, None, patterns=ChainPatterns()).rows()
    assert row["sequence"] == "Square → ReduceSum → Sqrt → Mul"


def test_one_kernel_would_need_about_the_longest_of_each():
    (row,) = repeated_sequences(ran("MatMulV3 Abs Exp Sub " * 7), None, None, patterns=ChainPatterns()).rows()
    assert (row["total_us"], row["longest_us"], row["gap_us"], row["alone_us"]) == (210.0, 70.0, 14.0, 210.0)


@given(st.lists(st.integers(0, 200), min_size=1, unique=True).map(sorted), st.integers(1, 9))
def test_of_overlapping_ones_the_first_is_taken_each_time(begin, length):
    taken, end = [], -1
    for one in begin:
        if one >= end:
            taken.append(one)
            end = one + length

    assert _without_overlap(np.array(begin), length).tolist() == taken


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["Abs", "Exp", "Sub", "MatMulV3"]), max_size=60))
def test_no_operator_is_counted_more_often_than_it_ran(types):
    found = sequences(" ".join(types)) if types else {}
    assert len(found) <= MOST
    counted: Counter[str] = Counter()
    for name, times in found.items():
        words = name.split(" → ")
        assert SHORTEST <= len(words) <= LONGEST
        assert "MatMulV3" not in words
        counted.update({word: words.count(word) * round(times) for word in set(words)})
    ran_words = Counter(types)
    assert all(counted[word] <= ran_words[word] for word in counted)
    assert all(one != other for one, other in pairwise(found))
