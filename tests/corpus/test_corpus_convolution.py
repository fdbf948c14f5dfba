# SPDX-License-Identifier: Apache-2.0
"""The image network is one: its shapes fit each other, its mix is that of a ResNet, and its gradients are hidden."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import prod

import pytest

from corpus.cases import job
from corpus.events import Job, Layout
from corpus.image_operators import Convolution, blocked, convolve, convolve_backward, fractal
from corpus.workloads import WORKLOADS


@pytest.fixture(scope="module")
def healthy() -> Job:
    return job("healthy", 1, workload="convolution")


def _shares(made: Job) -> dict[str, float]:
    spent: dict[str, int] = defaultdict(int)
    for task in made.ranks[0].kernels():
        assert task.kernel is not None
        spent[task.kernel.op_type] += task.end - task.start
    return {kind: time / sum(spent.values()) for kind, time in spent.items()}


def _elements(shape: str) -> int:
    return prod(map(int, shape.split(",")))


def test_shapes_in_blocks_are_those_of_a_recording() -> None:
    """With the 8 channels per block of FP32 the msinsight AlexNet capture has 216,24,16,8 for the same weight."""
    assert fractal((384, 192, 3, 3)) == (108, 24, 16, 16)
    assert blocked((32, 192, 13, 13)) == (32, 12, 13, 13, 16)
    assert blocked((32, 3, 224, 224)) == (32, 1, 224, 224, 16)


def test_a_convolution_reads_what_the_one_before_it_wrote(healthy: Job) -> None:
    """Everything flows in one layout: the image a convolution reads has been written by a kernel before it."""
    written: set[str] = set()
    for task in healthy.ranks[0].kernels():
        info = task.kernel
        assert info is not None
        if info.op_type == "Conv2D":
            assert info.inputs.shapes.split(";")[0] in written, task.name
        written.update(info.outputs.shapes.split(";"))


def test_backward_gives_a_gradient_to_every_weight_and_to_every_image_but_the_first(healthy: Job) -> None:
    counts = Counter(task.kernel.op_type for task in healthy.ranks[0].kernels() if task.kernel)
    assert counts["Conv2D"] == counts["Conv2DBackpropFilter"] > 0
    steps = len(healthy.ranks[0].steps())
    assert counts["Conv2DBackpropInput"] == counts["Conv2D"] - steps
    assert counts["BNTrainingUpdate"] == counts["BNTrainingReduceGrad"] == counts["Conv2D"]


def test_the_gradients_that_go_out_are_those_the_weights_have(healthy: Job) -> None:
    """In FP32, except for the few bytes that do not divide by the ranks."""
    trace = healthy.ranks[0]
    step = trace.steps()[0].name.split("#")[1]
    sent = sum(4 * c.count for c in trace.collectives if c.step == int(step))
    weights = {
        task.kernel.inputs.shapes
        for task in trace.kernels()
        if task.kernel and task.step == int(step) and task.kernel.op_type == "ForeachMulScalar"
    }
    assert len(weights) == 1
    assert 0 <= 4 * _elements(weights.pop()) - sent < 64


def test_gradients_leave_in_buckets_while_the_backward_pass_goes_on(healthy: Job) -> None:
    for trace in healthy.ranks:
        last = {
            step: max(t.end for t in trace.kernels() if t.step == step) for step in {c.step for c in trace.collectives}
        }
        early = [c for c in trace.collectives if c.end < last[c.step]]
        assert len(trace.collectives) > len(trace.steps())
        assert early


def test_the_mix_is_that_of_a_network_with_few_conversions(healthy: Job) -> None:
    shares = _shares(healthy)
    assert 0.25 < sum(shares[kind] for kind in ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")) < 0.6
    assert 0.2 < sum(share for kind, share in shares.items() if kind.startswith("BNTraining")) < 0.45
    assert 0.005 < shares["TransData"] < 0.025
    assert 0.0005 < shares["Cast"] < 0.02


def test_the_batch_is_copied_beside_the_computation(healthy: Job) -> None:
    for trace in healthy.ranks:
        copies = [task for task in trace.tasks if task.kind == "copy" and task.direction == "host to device"]
        kernels = trace.kernels()
        assert [copy.size for copy in copies] == [256 * 3 * 224 * 224] * len(trace.steps())
        for copy in copies:
            assert any(kernel.start < copy.end and copy.start < kernel.end for kernel in kernels)


def test_times_grow_with_the_work() -> None:
    small, large = Convolution(32, 192, 384, 3, 1, 13), Convolution(64, 192, 384, 3, 1, 13)
    for make in (convolve, convolve_backward):
        ours = [kernel for kernel in make(small, 45).kernels if kernel.info.core == "AI_CORE"]
        theirs = [kernel for kernel in make(large, 45).kernels if kernel.info.core == "AI_CORE"]
        assert all(1.5 < b.us / a.us < 2.1 for a, b in zip(ours, theirs, strict=True))


def test_a_convolution_in_half_precision_takes_half_the_time_of_the_recording() -> None:
    """The msinsight AlexNet capture has 78 µs for this one in FP32, whose peak is half as high."""
    product = convolve(Convolution(32, 192, 384, 3, 1, 13), 45).kernels[-1]
    assert 30 < product.us < 50


def test_other_resolutions_have_other_shapes() -> None:
    made = job("dynamic-shapes", 1, workload="convolution")
    seen = {
        task.kernel.inputs.shapes.split(";")[0]
        for task in made.ranks[0].kernels()
        if task.kernel and task.kernel.op_type == "MaxPoolWithArgmaxV1"
    }
    assert len(seen) == len(made.ranks[0].steps())


def test_one_rank_alone_reduces_nothing() -> None:
    made = job("healthy", 1, setup=WORKLOADS["convolution"].__class__(WORKLOADS["convolution"].workload, Layout()))
    assert not made.ranks[0].collectives
