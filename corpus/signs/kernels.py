# SPDX-License-Identifier: Apache-2.0
"""Signs of kernels that need not be: what they do and to which data is told by their types and shapes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from corpus.events import KernelInfo, Task, Tensors
from corpus.signs import Sign, Write
from corpus.signs.captures import about, with_kernels

_ADAM = "ApplyAdamWV2"
"""Six kernels of 0.59 ms per step, an eighth of it."""
_EMBEDDING = Tensors("16384,1280;4096;1", "DT_BF16;INT64;INT64", "ND;ND;ND")
_VECTOR = (("vec", 0.04), ("scalar", 0.3), ("mte2", 0.5), ("mte3", 0.4))
_CUBE = (("mac", 0.11), ("scalar", 0.4), ("mte1", 0.3), ("mte2", 0.7), ("fixpipe", 0.08))


def _instead(of: Collection[str], now: KernelInfo) -> Write:
    """Another kernel, as long, in the place of each of these types. Embeddings tell their tokens."""

    def change(task: Task) -> KernelInfo | None:
        info = task.kernel
        if info is not None and info.op_type == "GatherV2":
            return replace(info, inputs=_EMBEDDING)
        return now if info is not None and info.op_type in of else None

    def written(folder: Path) -> None:
        with_kernels(folder, change)

    return written


def _gather(data: str, picked: str) -> Write:
    """256 places are picked along the axis with 2048 of them."""
    return _instead(
        {_ADAM},
        KernelInfo(
            "GatherV2",
            "AI_VECTOR_CORE",
            40,
            0,
            Tensors(f"{data};256;1", "FLOAT;INT64;INT64", "ND;ND;ND"),
            Tensors(picked, "FLOAT", "ND"),
            shares=_VECTOR,
        ),
    )


def _convolution(weights: str, output: str) -> Write:
    """16 pictures of three channels, as blocks of 16 channels, and 1280 channels of windows 16 wide and high."""
    inputs = Tensors(f"16,1,224,224,16;{weights};1280", "DT_BF16;DT_BF16;FLOAT", "NC1HWC0;FRACTAL_Z;ND")
    return _instead(
        {_ADAM},
        KernelInfo("Conv2D", "AI_CORE", 20, 0, inputs, Tensors(output, "DT_BF16", "NC1HWC0"), shares=_CUBE),
    )


def _assignment(op_type: str) -> Write:
    inputs = Tensors("18432,1024;4096,1024;1;1;4096", "FLOAT;FLOAT;INT64;INT64;INT64", "ND;ND;ND;ND;ND")
    return _instead(
        {_ADAM},
        KernelInfo(op_type, "AI_VECTOR_CORE", 40, 0, inputs, Tensors("18432,1024", "FLOAT", "ND"), shares=_VECTOR),
    )


def _fill(op_type: str, inputs: Tensors, outputs: Tensors) -> Write:
    """All additions and casts, 25 per step and 5 % of the time of kernels, fill memory instead. OnesLike is another."""
    return _instead({"Add", "Cast"}, KernelInfo(op_type, "AI_VECTOR_CORE", 40, 0, inputs, outputs, shares=_VECTOR))


_ROWS = Tensors("4096,1280", "DT_BF16", "ND")
_NOTHING = Tensors(" ", "UNDEFINED", "NULL")

SIGNS: Mapping[str, Sign] = {
    "compute/last-axis-gather": Sign(
        spoiled=_gather("8,1024,2048", "8,1024,256"), twin=_gather("2048,8,1024", "256,8,1024"), shows={"gathers": 6}
    ),
    "compute/patch-convolution": Sign(
        spoiled=_convolution("256,80,16,16", "16,80,14,14,16"),
        twin=_convolution("256,80,16,16", "16,80,15,15,16"),
        shows={"layers": 6},
    ),
    "compute/replaceable-operator": Sign(
        spoiled=_assignment("IndexPutV2"), twin=_assignment("IndexPutWithSortV2"), shows={"operator_calls": 6}
    ),
    "compute/fill-excess": Sign(
        spoiled=_fill("ZerosLike", _ROWS, _ROWS),
        twin=_fill("MemSet", _NOTHING, _NOTHING),
        shows={"fills": 26, "kernel_part": about(0.0505, 0.01)},
    ),
}
