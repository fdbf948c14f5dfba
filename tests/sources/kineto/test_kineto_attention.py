# SPDX-License-Identifier: Apache-2.0
"""Fused attention on GPUs: how its tensors lie and what it leaves out, by the arguments of its call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import advisor
from advisor.analysis.rooflines.operator_work import work_of_kernel
from advisor.facts.observed import Kernel
from advisor.sources.kineto.attention import formats_of_attention
from corpus.gpu_traces import host, launched, trace, write

BSND, BNSD = [2, 512, 16, 64], [2, 16, 512, 64]


def formats(operator: str, given: list[str], dims: list[list[int]]) -> str | None:
    return formats_of_attention(operator, json.dumps(given), json.dumps(dims))


def call(values: int, **said: str) -> list[str]:
    """The arguments of a call: `a8="True"` is the one behind eight others."""
    return [said.get(f"a{place}", "") for place in range(values)]


@pytest.mark.parametrize(
    ("operator", "place", "dims", "expected"),
    [
        ("_flash_attention_forward", 8, [BSND] * 3, "{}BSND;BSND;BSND"),
        ("_flash_attention_backward", 11, [BSND] * 5, ";{}BSND;BSND;BSND"),
        ("_cudnn_attention_forward", 10, [BNSD] * 3, "{}BNSD;BNSD;BNSD"),
        ("_scaled_dot_product_cudnn_attention", 6, [BNSD] * 3, "{}BNSD;BNSD;BNSD"),
        ("_cudnn_attention_backward", 14, [BNSD] * 5, ";{}BNSD;BNSD;BNSD"),
    ],
)
def test_each_operator_says_how_its_tensors_lie_and_whether_it_is_causal(operator, place, dims, expected):
    for word, prefix in (("True", "causal "), ("False", "")):
        given = call(16, **{f"a{place}": word})
        assert formats(f"aten::{operator}", given, dims) == expected.format(prefix)


@pytest.mark.parametrize(("mask", "prefix"), [("0", ""), ("1", "causal "), ("2", "causal ")])
def test_memory_efficient_attention_numbers_its_masks(mask, prefix):
    assert formats("aten::_efficient_attention_forward", call(15, a9=mask), [BSND] * 3) == f"{prefix}BSND;BSND;BSND"
    backward = formats("aten::_efficient_attention_backward", call(20, a14=mask), [BSND] * 4)
    assert backward == f";{prefix}BSND;BSND;BSND"


@pytest.mark.parametrize(
    ("operator", "given", "dims"),
    [
        ("aten::_flash_attention_forward", call(15, a8="True"), [[1024, 16, 64]] * 3 + [[3], [3]]),  # packed
        ("aten::_efficient_attention_forward", call(15, a9="0"), [BSND] * 3 + [[2, 16, 512, 512]]),  # a bias
        ("aten::_flash_attention_forward", call(15, a8="True"), [[2, 1, 16, 64], BSND, BSND]),  # other lengths
        ("aten::_flash_attention_forward", call(5), [BSND] * 3),  # an older version
        ("aten::_flash_attention_forward", call(15, a8="True"), [BSND]),
        ("aten::mm", call(15, a8="True"), [BSND] * 3),
    ],
)
def test_what_is_masked_is_never_guessed(operator, given, dims):
    assert formats(operator, given, dims) is None


@pytest.mark.parametrize("text", ["", "{", "3", '["True"]', '[["a"], [], [], [], [], [], [], [], "True"]'])
def test_arguments_that_are_none_tell_nothing(text):
    dims = json.dumps([BSND] * 3)
    assert formats_of_attention("aten::_flash_attention_forward", text, dims) in (None, "causal BSND;BSND;BSND")
    assert formats_of_attention("aten::_flash_attention_forward", json.dumps(call(15, a8="True")), text) is None


def work(op_type: str, shapes: str, formats: str, dtypes: str = "DT_BF16;DT_BF16;DT_BF16"):
    return work_of_kernel(f"aten::{op_type}", None, shapes, dtypes, formats, None, None)


def test_operations_are_those_by_which_flash_attention_is_measured():
    """4 · batch · length² · heads · width, half of it where causal (benchmark_flash_attention.py of Dao-AILab)."""
    shapes, plain = "2,512,16,64;2,512,16,64;2,512,16,64", 4 * 2 * 512**2 * 16 * 64
    assert work("_flash_attention_forward", shapes, "BSND;BSND;BSND").flops == plain
    causal = work("_flash_attention_forward", shapes, "causal BSND;BSND;BSND")
    assert causal.flops == plain / 2
    assert (causal.cube_work, causal.head_width, causal.dtype) == ("attention", 64, "BF16")
    assert causal.size_bytes == 4 * 2 * 512 * 16 * 64 * 2
    assert causal.flops / causal.flops_per_key == 256  # keys that a query meets
    turned = "2,16,512,64;2,16,512,64;2,16,512,64"
    assert work("_cudnn_attention_forward", turned, "causal BNSD;BNSD;BNSD").flops == causal.flops


def test_the_backward_pass_has_five_products_for_two():
    shapes = "2,512,16,64;2,512,16,64;2,512,16,64;2,512,16,64;2,512,16,64"
    backward = work("_flash_attention_backward", shapes, ";BSND;BSND;BSND", ";".join(["DT_BF16"] * 5))
    assert backward.flops == 2.5 * 4 * 2 * 512**2 * 16 * 64
    assert backward.cube_work == "attention backward"


def test_heads_that_share_keys_count_once_each():
    shapes = "2,512,16,64;2,512,4,64;2,512,4,64"
    assert work("_flash_attention_forward", shapes, "BSND;BSND;BSND").flops == 4 * 2 * 512**2 * 16 * 64
    assert work("_flash_attention_forward", "2,512,16,64;2,512,3,64;2,512,3,64", "BSND;BSND;BSND").flops != (
        4 * 2 * 512**2 * 16 * 64
    )


@pytest.mark.parametrize("lasts", [float, str])
def test_a_kernel_of_attention_carries_what_its_call_was_given(lasts: type[float] | type[str], tmp_path: Path) -> None:
    """Whether its call is read as most events are, or one by one, for a value of it is not of the usual type."""
    events = [
        *launched(1, 100, 5, 50, operator="aten::_flash_attention_forward", name="flash_fwd_kernel"),
        *launched(2, 300, 5, 50),
    ]
    for event in events:
        if event["name"] == "aten::_flash_attention_forward":
            event["args"] |= {
                "Input Dims": [BSND] * 3 + [[]] * 12,
                "Input type": ["c10::BFloat16"] * 3 + ["Scalar"] * 12,
                "Concrete Inputs": call(15, a7="0.", a8="True"),
            }
            event["dur"] = lasts(event["dur"])
        elif event.get("cat") == "cpu_op":
            event["args"]["Concrete Inputs"] = ["True"] * 15
    write(tmp_path / "w.1.pt.trace.json", trace([host("ProfilerStep#1", 50, 1000, "user_annotation"), *events]))
    found = advisor.load_profile(tmp_path).table(Kernel)
    assert found.texts("input_formats").values() == ["causal BSND;BSND;BSND", None]
