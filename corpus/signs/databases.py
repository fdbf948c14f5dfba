# SPDX-License-Identifier: Apache-2.0
"""Signs of kernels in the database export: the data type, the shape and the time of each stand in tables there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import corpus
from corpus.events import KernelInfo, Task, Tensors
from corpus.operators import tensors
from corpus.signs import Sign, Write
from corpus.signs.captures import about, job, with_kernels

_ADAM = "ApplyAdamWV2"
"""Six kernels of 0.59 ms per step, an eighth of it."""
_CUBE = (("mac", 0.5), ("scalar", 0.2), ("mte1", 0.4), ("mte2", 0.6), ("fixpipe", 0.1))
_ROWS = Tensors("4096,1280", "DT_BF16", "ND")


def _changed(change: Callable[[KernelInfo], KernelInfo | None]) -> Write:
    def written(folder: Path) -> None:
        with_kernels(folder, lambda task: change(task.kernel) if task.kernel else None, export="database")

    return written


def _wide_products(*shapes: str) -> Write:
    """Products of these shapes are of FP32."""

    def change(info: KernelInfo) -> KernelInfo | None:
        if info.op_type != "MatMulV3" or info.inputs.shapes not in shapes:
            return None
        return replace(
            info, inputs=replace(info.inputs, dtypes="FLOAT;FLOAT"), outputs=replace(info.outputs, dtypes="FLOAT")
        )

    return _changed(change)


def _instead(types: tuple[str, ...], now: KernelInfo) -> Write:
    return _changed(lambda info: now if info.op_type in types else None)


def _convolutions(dtype: str, channels: int) -> Write:
    """3 x 3 over 256 channels, to 384: as blocks of 8 channels in FP32 and of 16 in FP16."""
    blocks = 256 // channels
    inputs = Tensors(
        f"32,{blocks},13,13,{channels};{9 * blocks},24,16,{channels}", f"{dtype};{dtype}", "NC1HWC0;FRACTAL_Z"
    )
    outputs = Tensors(f"32,{384 // channels},13,13,{channels}", dtype, "NC1HWC0")
    return _instead((_ADAM,), KernelInfo("Conv2D", "AI_CORE", 20, 0, inputs, outputs, shares=_CUBE))


def _softmax(vector: float) -> Write:
    """0.59 ms for a million values, which pass through memory in 5 µs; the vector units compute for so much of it."""
    square = tensors((1024, 1024), dtype="FLOAT")
    shares = (("vec", vector), ("scalar", 0.3), ("mte2", 0.2), ("mte3", 0.1))
    return _instead((_ADAM,), KernelInfo("SoftmaxV2", "AI_VECTOR_CORE", 40, 0, square, square, shares=shares))


def _transposed(*types: str) -> Write:
    inputs = Tensors("1280,4096;2", "DT_BF16;INT64", "ND;ND")
    shares = (("vec", 0.02), ("scalar", 0.3), ("mte2", 0.6), ("mte3", 0.5))
    return _instead(types, KernelInfo("Transpose", "AI_VECTOR_CORE", 40, 0, inputs, _ROWS, shares=shares))


def _uneven(short: Tensors | None) -> Write:
    """Every other update ends after 15 % of its time, and is one of these tensors; turn about from step to step."""

    def ended(task: Task, place: int) -> Task:
        if task.kernel is None or (place + task.step) % 2:
            return task
        info = replace(task.kernel, inputs=short) if short else task.kernel
        return replace(task, end=task.start + (task.end - task.start) * 15 // 100, kernel=info)

    def written(folder: Path) -> None:
        base = job("healthy-light")
        first = base.ranks[0]
        place = {
            id(task): number
            for step in {task.step for task in first.tasks}
            for number, task in enumerate(
                task for task in first.kernels() if task.step == step and task.kernel and task.kernel.op_type == _ADAM
            )
        }
        tasks = [ended(task, place[id(task)]) if id(task) in place else task for task in first.tasks]
        corpus.write(replace(base, ranks=[replace(first, tasks=tasks)]), folder, export="database")

    return written


_SHORT = Tensors("2826240;2826240;2826240;2826240;1", "FLOAT;FLOAT;FLOAT;FLOAT;FLOAT", "ND;ND;ND;ND;ND")

SIGNS: Mapping[str, Sign] = {
    "compute/fp32-convolution": Sign(
        spoiled=_convolutions("FLOAT", 8), twin=_convolutions("FLOAT16", 16), shows={"fp32_us": about(3520, 0.01)}
    ),
    "compute/fp32-matmul": Sign(
        spoiled=_wide_products("4096,1280;1280,6400", "1280,4096;4096,6400", "4096,6400;6400,1280"),
        twin=_wide_products("4096,1280;1280,6400"),
        shows={"fp32_part": about(0.366, 0.02), "fp32_us": about(6240, 0.01)},
    ),
    "compute/layout-operators": Sign(
        spoiled=_transposed("Add", "SwiGlu", "SwiGluGrad"),
        twin=_transposed("Add", "SwiGlu"),
        shows={"top_type": "Transpose", "kernels_seen": 30},
    ),
    "compute/slow-vector-operator": Sign(
        spoiled=_softmax(0.21),
        twin=_softmax(0.9),
        shows={"worst_call_us": about(587, 0.01), "target_us": about(123, 0.02), "worst_blocks": 40},
    ),
    "compute/unstable-operator": Sign(
        spoiled=_uneven(None), twin=_uneven(_SHORT), shows={"variation": about(0.739, 0.01), "seen_calls": 18}
    ),
}
