# SPDX-License-Identifier: Apache-2.0
"""Faults of the computation: kernels that should not be there, or take longer than they should."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from benchmarks.injected.changes import Operator
from benchmarks.injected.faults import HOST, JITTER, Fault, Run, forward, kernels_of, pieces, spread
from benchmarks.injected.program import Call, Row, Task

_MATMULS = ("MatMul", "BatchMatMul", "Conv2D")


def products(operators: Sequence[Operator]) -> list[Operator]:
    """The operators that multiply matrices."""
    return [op for op in operators if any(kernel.op_type.startswith(_MATMULS) for kernel in op.kernels)]


def smallest(operators: Sequence[Operator]) -> Operator:
    """An operator with one kernel and little around it: what others are made of."""
    single = [op for op in operators if len(op.kernels) == 1]
    single = [op for op in single if op.sending] or single
    return min(single, key=lambda op: len(op.calls))


def set_task(task: Task, time: int, core: str = "", **cells: str) -> None:
    """Makes a kernel another one."""
    row: Row = {**(task.row or {}), **{key.replace("_", " "): value for key, value in cells.items()}}
    if core:
        row["Accelerator Core"] = core
        args = dict(task.event["args"])
        args["Task Type"] = core if core == "AI_CPU" else args.get("Task Type", core)
        task.event = task.event | {"args": args}
    task.event = task.event | {"name": row["Name"]}
    task.row = row
    task.end.work = time


def _insert_around(run: Run, amount: float, op_type: str, name: str) -> None:
    """Two more kernels around each operator that multiplies matrices."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like = smallest(operators)
            places = products(operators)
            places = spread(places, pieces(run, amount, len(places)))
            for place in places:
                shapes = (place.kernels[-1].row or {}).get("Output Shapes", "")
                for behind in (False, True):
                    made = changes.repeat(like, place, behind)
                    for kernel in made.kernels:
                        set_task(kernel, round(amount / len(places) / 2), Type=op_type, Name=name, Input_Shapes=shapes)
                        set_task(kernel, kernel.end.work, "AI_VECTOR_CORE", Output_Shapes=shapes)


def casts(run: Run, amount: float) -> None:
    """Every matrix multiplication is cast to and fro."""
    _insert_around(run, amount, "Cast", "aclnnCast_CastAiCore_Cast")


def conversions(run: Run, amount: float) -> None:
    """Every matrix multiplication is converted to and fro."""
    _insert_around(run, amount, "TransData", "trans_TransData_7")


def aicpu(run: Run, amount: float) -> None:
    """Some operators of each step run on the AI CPU."""
    _insert_before(run, amount, 6, "AI_CPU", op_type="NonZero", name="aclnnNonzero_NonZeroAiCpu_NonZero")


def float64(run: Run, amount: float) -> None:
    """Some operators of each step compute in float64, which the AI CPU does."""
    name = "aclnnMul_MulAiCpu_Mul"
    _insert_before(run, amount, 6, "AI_CPU", op_type="Mul", name=name, **{"Input Data Types": "DOUBLE;DOUBLE"})


def _insert_before(run: Run, amount: float, most: int, core: str, *, op_type: str, name: str, **cells: str) -> None:
    """One more kernel before up to so many operators of each step."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like = smallest(operators)
            places = spread(operators, pieces(run, amount, most))
            for place in places:
                for kernel in changes.repeat(like, place).kernels:
                    set_task(kernel, round(amount / len(places)), core, Type=op_type, Name=name, **cells)


def short_aicpu(run: Run, amount: float) -> None:
    """Many short operators of each step run on the AI CPU, of 15 µs each."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like = smallest(operators)
            places = spread(operators, max(min(round(amount / 15_000), 60), 1))
            for place in places:
                for _ in range(max(round(amount / 15_000 / len(places)), 1)):
                    for kernel in changes.repeat(like, place).kernels:
                        set_task(kernel, 15_000, "AI_CPU", Type="Index", Name="aclnnIndex_IndexAiCpu_Index")


def _attend_in_half(run: Run) -> None:
    """Puts attention in half precision into each step, and lets convolutions be in it."""
    for changes in run.ranks:
        for kernel in changes.rank.kernels:
            if kernel.row is not None and kernel.op_type.startswith("Conv2D"):
                kernel.row["Input Data Types"] = kernel.row["Input Data Types"].replace("FLOAT", "FLOAT16")
        for operators in kernels_of(changes):
            like, places = smallest(operators), spread(operators, _ATTENDING)
            for place in places:
                for kernel in changes.repeat(like, place).kernels:
                    name = "aclnnFlashAttentionScore_FlashAttentionScore_FlashAttentionScore"
                    time = round(_ATTENTION * run.step_ns / len(places))
                    set_task(kernel, time, "MIX_AIC", Type=_ATTENTION_TYPE, Name=name, Input_Shapes=_ATTENTION_SHAPES)
                    set_task(kernel, time, Input_Data_Types="DT_BF16;DT_BF16;DT_BF16")


def attend_in_float(run: Run, _: float) -> None:
    """The same attention in float32, which takes twice as long."""
    for changes in run.ranks:
        for kernel in changes.rank.kernels:
            if kernel.op_type == _ATTENTION_TYPE:
                set_task(kernel, 2 * kernel.end.work, Input_Data_Types="FLOAT;FLOAT;FLOAT")


_ATTENTION_TYPE, _ATTENTION_SHAPES = "FlashAttentionScore", '"4096,1,4096;4096,1,4096;4096,1,4096"'
_ATTENDING, _ATTENTION = 6, 0.15
"""Attention in so many places of a step, and what part of the step it takes in half precision."""


def slow_operator(run: Run, amount: float) -> None:
    """Kernels of one type take other times from call to call."""
    chance = random.Random(5)  # noqa: S311 - no secret
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like = smallest(operators)
            shape = (like.kernels[0].row or {}).get("Input Shapes", "")
            shares = [chance.random() ** 6 for _ in range(16)]
            for place, share in zip(spread(operators, 16), shares, strict=False):
                for kernel in changes.repeat(like, place).kernels:
                    time = round(amount * (0.01 + share) / (sum(shares) + 0.16))
                    set_task(
                        kernel,
                        time,
                        "AI_VECTOR_CORE",
                        Type="ScatterElements",
                        Name="aclnnScatter_ScatterElements",
                        Input_Shapes=shape,
                    )


def transposes(run: Run, amount: float) -> None:
    """Large transposes before operators of each step."""
    name = "aclnnPermute_TransposeAiCore_Transpose"
    _insert_before(run, amount, 10, "AI_VECTOR_CORE", op_type="Transpose", name=name)


def low_clock(run: Run, amount: float) -> None:
    """The clock of all ranks is low all the time, and kernels take longer accordingly."""
    for place in range(len(run.ranks)):
        lower_clock(run, place, amount)


def lower_clock(run: Run, place: int, amount: float) -> None:
    """Lowers the clock of one rank so that its kernels take this much longer per step."""
    rank, capture = run.job.ranks[place], run.captures[place]
    computing = sum(task.duration for task in rank.kernels) / run.steps
    factor = 1 + amount / computing
    for task in rank.kernels:
        task.end.work = round(task.duration * factor)
    for event in capture.events:
        if event["ph"] == "C" and event["name"] == "AI Core Freq":
            event["args"] = {"MHz": round(event["args"]["MHz"] / factor)}


def clock_drop(run: Run, amount: float) -> None:
    """The clock drops while kernels run, and is back in between."""
    low_clock(run, amount)
    for capture in run.captures:
        samples = [e for e in capture.events if e["ph"] == "C" and e["name"] == "AI Core Freq"]
        if samples:
            capture.events.append(samples[0] | {"ts": _earlier(str(samples[0]["ts"])), "args": {"MHz": 1800}})


def creeping_kernels(run: Run, amount: float) -> None:
    """Equal kernels take longer by as much in every step, and the clock stays as it is."""
    _creep(run, amount, lambda _: True)


def creeping_operator(run: Run, amount: float) -> None:
    """The kernels of one type take longer by as much in every step."""
    times = Counter[str]()
    for kernel in run.job.ranks[0].kernels:
        times[kernel.op_type] += kernel.duration
    ((slowed, _),) = times.most_common(1)
    _creep(run, amount, lambda kernel: kernel.op_type == slowed)


def _creep(run: Run, amount: float, slowed: Callable[[Task], bool]) -> None:
    for changes in run.ranks:
        steps = [
            [k for operator in operators for k in operator.kernels if slowed(k)] for operators in kernels_of(changes)
        ]
        grown = sum(kernel.duration * number for number, kernels in enumerate(steps) for kernel in kernels)
        for number, kernels in enumerate(steps):
            for kernel in kernels:
                kernel.end.work = round(kernel.duration * (1 + amount * len(steps) * number / max(grown, 1)))


def _earlier(time: str) -> str:
    whole, _, rest = time.partition(".")
    return f"{int(whole) - 10}.{rest}"


def slow_softmax(run: Run, amount: float) -> None:
    """A softmax of few values takes as long as one of many."""
    _insert_slow(run, amount, "SoftmaxV2", "aclnnSoftmax_SoftmaxV2_SoftmaxV2", '"32,1000"', '"32,1000"')


def slow_embedding_gradient(run: Run, amount: float) -> None:
    """The gradient of an embedding adds rows up one after the other."""
    kind, name = "EmbeddingDenseGradV2", "aclnnEmbeddingDenseBackward_EmbeddingDenseGradV2_EmbeddingDenseGradV2"
    _insert_slow(run, amount, kind, name, '"2048,256;2048"', '"8000,256"', "FLOAT;INT32")


def _insert_slow(  # noqa: PLR0917 - what tells the operator
    run: Run, amount: float, op_type: str, name: str, inputs: str, outputs: str, dtypes: str = "FLOAT"
) -> None:
    """Up to two more kernels per step, which have little to do and take long."""
    for changes in run.ranks:
        for operators in kernels_of(changes):
            like, places = smallest(operators), spread(operators, pieces(run, amount, 2))
            for place in places:
                for kernel in changes.repeat(like, place).kernels:
                    set_task(kernel, round(amount / len(places)), "AI_VECTOR_CORE", Type=op_type, Name=name)
                    set_task(kernel, kernel.end.work, Input_Shapes=inputs, Output_Shapes=outputs)
                    set_task(kernel, kernel.end.work, Input_Data_Types=dtypes, Output_Data_Types="FLOAT")


def forward_twice(run: Run, _: float) -> None:
    """The forward pass of each step runs twice, and only the gradients of the second run are taken."""
    for changes in run.ranks:
        calls = changes.rank.calls.copy()
        for operators, step in zip(forward(changes), changes.rank.steps, strict=True):
            passed = [operator for operator in operators if operator.kernels]
            numbers = [number for operator in passed for call in operator.calls if (number := _autograd(call)) >= 0]
            for operator in passed:
                changes.repeat(operator, passed[0])
            for call in calls:
                inside = passed[0].top.begin.at <= call.begin.at < step.end.at
                if inside and (number := _autograd(call)) >= min(numbers):
                    number += max(numbers) + 1 - min(numbers)
                    call.event = call.event | {"args": call.event["args"] | {_AUTOGRAD: number}}


def _autograd(call: Call) -> int:
    """The number that autograd gave an operator, -1 where it gave none."""
    return int(call.event.get("args", {}).get(_AUTOGRAD, -1))


_AUTOGRAD = "Sequence number"


FAULTS: Mapping[str, Fault] = {
    "casts": Fault(casts, frozenset({"compute/cast-excess"})),
    "conversions": Fault(conversions, frozenset({"compute/transdata-excess", "compute/layout-operators"})),
    "aicpu": Fault(aicpu, frozenset({"compute/exposed-aicpu"})),
    "float64": Fault(float64, frozenset({"compute/exposed-aicpu"})),
    # not where call stacks were recorded: there each takes the host longer than the AI CPU, and the host is at fault
    "short-aicpu": Fault(short_aicpu, frozenset({"compute/exposed-aicpu"}), HOST, bases=("balanced",)),
    "float-attention": Fault(
        attend_in_float,
        frozenset({"compute/fp32-convolution"}),
        growth=None,
        common=_attend_in_half,
        bases=("balanced",),
    ),
    "unstable-operator": Fault(slow_operator, frozenset({"compute/unstable-operator"})),
    "slow-softmax": Fault(slow_softmax, frozenset({"compute/slow-vector-operator"})),
    "slow-embedding-gradient": Fault(slow_embedding_gradient, frozenset({"compute/slow-vector-operator"})),
    "transposes": Fault(transposes, frozenset({"compute/layout-operators"})),
    "constant-low-clock": Fault(low_clock, frozenset({"compute/frequency-drop"}), bases=("balanced",)),
    # not as recorded, where the host takes the step: there the device has little of it
    "forward-twice": Fault(forward_twice, frozenset({"compute/unused-forward"}), growth=None, bases=("balanced",)),
    "creeping-kernels": Fault(creeping_kernels, frozenset({"compute/creeping-slowdown"}), JITTER, bases=("balanced",)),
    "creeping-operator": Fault(
        creeping_operator, frozenset({"compute/creeping-slowdown"}), JITTER, bases=("balanced",)
    ),
    "clock-drop": Fault(clock_drop, frozenset({"compute/frequency-drop"}), bases=("balanced",)),
}
