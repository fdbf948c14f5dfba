# SPDX-License-Identifier: Apache-2.0
"""Calls of modules and links to gradients in traces of GPUs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.facts.observed import AutogradCall, GradientLink, ModuleRange
from advisor.messages.errors import FactMissing
from advisor.pipeline import modules, open_profile
from corpus.gpu_traces import Event, host, launched, trace


def module(name: str, ts: float, dur: float) -> Event:
    return host(f"nn.Module: {name}", ts, dur, "python_function", **{"Python id": 1})


def link(phase: str, number: int, ts: float) -> Event:
    return {"ph": phase, "cat": "fwdbwd", "name": "fwdbwd", "id": number, "pid": 7, "tid": 7, "ts": ts, "bp": "e"}


def written(folder: Path, events: list[Event]) -> Path:
    path = folder / "rank.pt.trace.json"
    path.write_text(json.dumps(trace(events)), encoding="utf-8")
    return path


def test_a_kernel_belongs_to_the_module_around_the_call_that_launched_it(tmp_path: Path) -> None:
    events = [module("Net_0", 0, 400), module("Linear_0", 5, 50), *launched(1, 10, 60, 20), *launched(2, 100, 60, 7)]
    (rank,) = modules(open_profile(written(tmp_path, events))).ranks
    assert [(row.parent, row.module, row.operator, row.total_us) for row in rank.operators] == [
        ("Net_0", "Linear_0", "aten::mm", 20),
        ("", "Net_0", "aten::mm", 7),
    ]
    assert rank.linked_share == 1


def test_the_backward_pass_is_told_by_arrows(tmp_path: Path) -> None:
    events = [
        module("Net_0", 0, 90),
        *launched(1, 10, 60, 20),
        link("s", 3, 10),
        *launched(2, 200, 60, 7, operator="MmBackward0"),
        link("f", 3, 200),
    ]
    profile = open_profile(written(tmp_path, events))
    assert len(profile.table(GradientLink)) == 1
    (rank,) = modules(profile).ranks
    assert [(row.module, row.phase, row.total_us) for row in rank.operators] == [
        ("Net_0", "forward", 20),
        ("Net_0", "backward", 7),
    ]


def test_numbers_of_arrows_that_are_none_are_passed_over(tmp_path: Path) -> None:
    events = [module("Net_0", 0, 90), *launched(1, 10, 60, 20), {**link("s", 3, 10), "id": "x"}, link("f", 3, 200)]
    profile = open_profile(written(tmp_path, events))
    assert len(profile.table(ModuleRange)) == 1
    assert modules(profile).ranks[0].backward == 0


@pytest.mark.parametrize(
    ("name", "inside", "leading"),
    [
        ("h100_qwen1.5-0.5b", 0.69, "Qwen2Attention_*"),
        ("sglang_qwen3-8b_prefilldecode", 0.99, "Qwen2MLP_*"),
        ("b200_eager", 0.99, "MLPBlock_*"),
    ],
)
def test_real_models_come_apart_into_their_layers(real_data: Path, name: str, inside: float, leading: str) -> None:
    (rank,) = modules(open_profile(real_data / f"gpu_kineto_models/{name}.json.gz")).ranks
    assert rank.inside_share > inside
    assert rank.crossing == 0
    layers = [node for node in rank.tree if node.depth == 2]
    assert max(layers, key=lambda node: node.total_us).name == leading
    assert sum(node.own_us for node in rank.tree) == pytest.approx(
        sum(node.total_us for node in rank.tree if not node.depth)
    )


def test_operators_that_autograd_numbered_are_told_with_the_pass_they_are_of(tmp_path: Path) -> None:
    events = [
        *launched(1, 100, 60, 7),
        host("MulBackward0", 50, 5, **{"Sequence number": 18, "Fwd thread id": 1}),
        host("aten::mul", 10, 5, **{"Sequence number": 18, "Fwd thread id": 0}),
        host("aten::empty", 20, 5, **{"Sequence number": -1}),
        host("aten::t", 30, 5, **{"Sequence number": "no number"}),
    ]
    rows = open_profile(written(tmp_path, events)).table(AutogradCall).rows()
    said = [tuple(row[name] for name in ("thread", "number", "backward", "start_ns", "end_ns")) for row in rows]
    assert said == [(7, 18, False, 10_000, 15_000), (7, 18, True, 50_000, 55_000)]


def test_a_trace_in_which_autograd_numbered_nothing_holds_no_numbers(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        open_profile(written(tmp_path, launched(1, 10, 60, 20))).table(AutogradCall)
