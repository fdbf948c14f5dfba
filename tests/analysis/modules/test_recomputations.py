# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from advisor.analysis.modules.recomputations import recomputations
from advisor.facts.derived import MemoryPeak
from advisor.facts.observed import HostCall, Kernel, Launch, ModuleRange
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from tests.analysis.derive import derive

FORWARD, BACKWARD = 1, 2
"""Threads."""


def launched(*moments_us: int) -> dict[str, Table[Any]]:
    """Kernels of 10 µs on the device, launched at these moments by the thread of the backward pass, and 1 ms later."""
    kernels = [f"aten::mul k{at} {at * 1000 + 1_000_000} 10" for at in moments_us]
    launches = [f"{BACKWARD} {at * 1000} {at * 1000 + 500} {at * 1000 + 1_000_000}" for at in moments_us]
    return {
        "kernels": read_table(Kernel, "\n".join(["op_type op_name start_ns duration_us", *kernels])),
        "launches": read_table(Launch, "\n".join(["thread host_start_ns host_end_ns device_start_ns", *launches])),
    }


def called(*calls: tuple[int, str, str, int, int]) -> Table[HostCall]:
    """Calls by thread, kind, name, start and end in µs."""
    thread, kind, name, start, end = zip(*calls, strict=True)
    return Table.build(
        HostCall,
        rank=0,
        thread=thread,
        kind=kind,
        name=name,
        start_ns=[us * 1000 for us in start],
        end_ns=[us * 1000 for us in end],
    )


def found(calls: Table[HostCall] | None, tables: dict[str, Table[Any]], **more: Any) -> list[dict[str, object]]:
    return derive(recomputations, calls=calls, **tables, **more).rows()


ENGINE = "autograd::engine::evaluate_function: "


def test_forward_operators_inside_of_a_checkpoint_run_again_and_its_own_backward_pass_does_not():
    calls = called(
        (BACKWARD, "operator", f"{ENGINE}CheckpointFunctionBackward", 0, 1000),
        (BACKWARD, "operator", "CheckpointFunctionBackward", 1, 999),
        (BACKWARD, "operator", "aten::mul", 10, 20),
        (BACKWARD, "operator", "aten::linear", 100, 200),
        (BACKWARD, "operator", f"{ENGINE}MmBackward0", 500, 600),
        (BACKWARD, "operator", "aten::mm", 510, 590),
        (BACKWARD, "operator", f"{ENGINE}AddBackward0", 1100, 1200),
    )
    (row,) = found(calls, launched(12, 150, 520, 1110))
    assert (row["seen_as"], row["kernels"], row["total_us"], row["kernel_share"]) == ("checkpoint", 2, 20, 0.5)
    assert (row["unshared_us"], row["worst"], row["worst_start_ns"]) == (20, "k12", 1_012_000)


@pytest.mark.parametrize(
    "frame",
    [
        "torch/utils/checkpoint.py(1129): unpack_hook",
        "/opt/site-packages/torch/utils/checkpoint.py(1129): recompute_fn",
        "megatron/core/tensor_parallel/random.py(277): backward",
    ],
)
def test_lines_of_python_tell_it_too(frame):
    calls = called(
        (BACKWARD, "operator", f"{ENGINE}MulBackward0", 0, 1000),
        (BACKWARD, "python", frame, 1, 300),
        (BACKWARD, "operator", "aten::mul", 10, 20),
        (BACKWARD, "operator", "aten::mul", 400, 420),
    )
    (row,) = found(calls, launched(12, 410))
    assert (row["seen_as"], row["kernels"]) == ("checkpoint", 1)


def test_the_forward_call_of_a_checkpoint_computes_nothing_again():
    calls = called(
        (BACKWARD, "operator", "CheckpointFunction", 0, 1000),
        (BACKWARD, "operator", "aten::mul", 10, 20),
    )
    assert not found(calls, launched(12))


LAYERS = (
    (FORWARD, "step", "ProfilerStep#1", 0, 9000),
    (FORWARD, "operator", "aten::linear", 10, 20),
    (BACKWARD, "operator", f"{ENGINE}MulBackward0", 100, 1000),
    (BACKWARD, "operator", "aten::linear", 110, 150),
    (BACKWARD, "operator", "aten::mul", 200, 210),
    (BACKWARD, "operator", "aten::native_layer_norm", 300, 350),
    (BACKWARD, "operator", "aten::mul", 400, 410),
)


def test_layers_of_several_kinds_in_the_backward_pass_run_again_with_all_before_the_last_of_them():
    (row,) = found(called(*LAYERS), launched(120, 205, 310, 405))
    assert (row["seen_as"], row["kernels"]) == ("layers", 3)


def test_layers_of_one_kind_may_be_how_a_backward_operator_is_written():
    calls = called(*(call for call in LAYERS if call[2] != "aten::native_layer_norm"))
    assert not found(calls, launched(120, 205, 405))


def test_layers_run_again_on_a_thread_that_has_only_backward_passes_and_not_beside_steps():
    layers = (
        (BACKWARD, "operator", f"{ENGINE}MulBackward0", 0, 10),
        (BACKWARD, "operator", "aten::linear", 110, 150),
        (BACKWARD, "operator", "aten::native_layer_norm", 300, 350),
    )
    (row,) = found(called(*layers), launched(120, 310))
    assert (row["seen_as"], row["kernels"]) == ("layers", 2)
    assert not found(called((BACKWARD, "step", "ProfilerStep#1", 0, 9000), *layers), launched(120, 310))
    forward_first = (BACKWARD, "operator", "aten::embedding", -20, -10)
    assert not found(called(forward_first, *layers), launched(120, 310))


def test_mindspore_names_what_runs_again_and_needs_no_calls():
    kernels = read_table(
        Kernel,
        """
op_type op_name                           start_ns duration_us
MatMul  Default/net/MatMul-op1            0        30
MatMul  recompute_Default/net/MatMul-op1  50000    20
Mul     Gradients/Default/net/Mul-op2     90000    50
""",
    )
    (row,) = found(None, {"kernels": kernels, "launches": None})
    assert (row["seen_as"], row["kernels"], row["total_us"], row["kernel_share"]) == ("name", 1, 20, 0.2)


def test_a_capture_of_the_device_alone_tells_nothing():
    with pytest.raises(FactMissing):
        found(None, launched(12))


def test_memory_is_that_of_the_same_rank_and_missing_where_not_recorded():
    calls = called(
        (BACKWARD, "operator", "CheckpointFunctionBackward", 0, 1000), (BACKWARD, "operator", "aten::mul", 10, 20)
    )
    peaks = read_table(MemoryPeak, "rank reserved_bytes capacity_bytes\n0 10 40\n0 30 40\n1 40 40")
    (row,) = found(calls, launched(12), peaks=peaks)
    assert row["taken_share"] == 0.75
    (row,) = found(calls, launched(12), peaks=read_table(MemoryPeak, "rank reserved_bytes capacity_bytes\n0 10 -"))
    assert row["taken_share"] is None
    (row,) = found(calls, launched(12))
    assert row["taken_share"] is None


def test_work_outside_of_checkpoints_and_modules_is_no_recomputation():
    ranges = read_table(ModuleRange, f"thread source name start_ns end_ns\n{BACKWARD} python Net_0 0 5000000")
    calls = called((BACKWARD, "operator", "aten::mul", 10, 20))
    assert not found(calls, launched(12), ranges=ranges)
