# SPDX-License-Identifier: Apache-2.0
"""Signs of operators that use a part of the chip: by the blocks of their kernels and by how busy each pipe was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus.events import KernelInfo, Task, Tensors
from corpus.operators import tensors
from corpus.signs import Sign, Write
from corpus.signs.captures import about, with_kernels

_ADAM = "ApplyAdamWV2"
"""A type that takes an eighth of the step of the job: six kernels of 0.59 ms."""
_WIDE = "4096,1280;1280,6400"
"""Six products of 0.35 ms per step, a fourteenth of it; a product of such matrices reaches 0.7 of the peak."""


def _kernels(op_type: str, shapes: str = "", **now: Any) -> Write:
    """Kernels of this type, and of these inputs, are so instead."""

    def change(task: Task) -> KernelInfo | None:
        info = task.kernel
        if info is None or info.op_type != op_type or (shapes and info.inputs.shapes != shapes):
            return None
        return replace(info, **now)

    def written(folder: Path) -> None:
        with_kernels(folder, change)

    return written


def _busy(op_type: str, **shares: float) -> Write:
    return _kernels(op_type, shares=tuple(shares.items()))


def _custom(**shares: float) -> Write:
    """A kernel that somebody wrote in the place of the updates of parameters, of a few values instead of all."""

    def change(task: Task) -> KernelInfo | None:
        info = task.kernel
        if info is None or info.op_type != _ADAM:
            return None
        few = tensors((1024, 1024))
        return replace(info, op_type="my_update_kernel", inputs=few, outputs=few, shares=tuple(shares.items()))

    def written(folder: Path) -> None:
        with_kernels(folder, change)

    return written


def _half_product(blocks: int) -> Write:
    """As long as the whole product: what a chip does of half of it with half of its cores."""
    return _kernels(
        "MatMulV3", _WIDE, blocks=blocks, inputs=tensors((4096, 1280), (1280, 3200)), outputs=tensors((4096, 3200))
    )


def _small_update(blocks: int) -> Write:
    """An update of a quarter of the parameters, as long as one of all: 132 MB in 0.59 ms."""
    few = (4_710_400,)
    inputs = Tensors(";".join(["4710400"] * 4 + ["1"]), ";".join(["FLOAT"] * 5), ";".join(["ND"] * 5))
    return _kernels(_ADAM, blocks=blocks, inputs=inputs, outputs=tensors(few, few, few, dtype="FLOAT"))


def _update_in(dtype: str) -> Write:
    """The updates of parameters have their inputs in this type."""
    return _kernels(
        _ADAM, inputs=Tensors(";".join(["2826240"] * 4 + ["1"]), ";".join([dtype] * 5), ";".join(["ND"] * 5))
    )


def _attention(*more: tuple[int, ...]) -> Write:
    """Attention in the place of the updates of parameters; `more` inputs, such as a mask."""
    query = (1, 4096, 1280)
    inputs = tensors(query, query, query, *more)
    sums = Tensors("1,10,4096,8;1,10,4096,8;1,4096,1280", "FLOAT;FLOAT;DT_BF16", "ND;ND;ND")
    info = KernelInfo("FlashAttentionScore", "MIX_AIC", 20, 40, inputs, sums)

    def written(folder: Path) -> None:
        with_kernels(folder, lambda task: info if task.kernel and task.kernel.op_type == _ADAM else None)

    return written


def _busy_products(**shares: float) -> Write:
    """Products that keep their pipes busy so; what runs on vector cores loads for two thirds of its time."""

    def change(task: Task) -> KernelInfo | None:
        info = task.kernel
        if info is not None and info.core == "AI_VECTOR_CORE":
            return replace(info, shares=(("vec", 0.21), ("scalar", 0.08), ("mte2", 0.66), ("mte3", 0.42)))
        return replace(info, shares=tuple(shares.items())) if info and info.op_type == "MatMulV3" else None

    def written(folder: Path) -> None:
        with_kernels(folder, change)

    return written


SIGNS: Mapping[str, Sign] = {
    "capture/unmarked-attention": Sign(
        spoiled=_attention((4096, 4096)), twin=_attention(), shows={"unknown_share": about(0.14, 0.01)}
    ),
    "compute/float64-operators": Sign(
        spoiled=_update_in("DOUBLE"), twin=_update_in("FLOAT"), shows={"top_type": _ADAM, "doubles_calls": 6}
    ),
    "compute/idle-cores": Sign(spoiled=_half_product(10), twin=_half_product(20), shows={"used": 10, "cores": 20}),
    "compute/idle-vector-cores": Sign(spoiled=_small_update(8), twin=_small_update(40), shows={"used": 8, "cores": 40}),
    "compute/partial-wave": Sign(
        spoiled=_kernels(_ADAM, blocks=60),
        twin=_kernels(_ADAM, blocks=80),
        shows={"worst_blocks": 60, "worst_cores": 40, "worst_waves": 2, "worst_idle": about(0.25)},
    ),
    "compute/scalar-bound-operator": Sign(
        spoiled=_busy(_ADAM, vec=0.06, scalar=0.93, mte2=0.2, mte3=0.1),
        twin=_busy(_ADAM, vec=0.06, scalar=0.78, mte2=0.2, mte3=0.1),
        shows={"scalar": about(0.93), "vector": about(0.06)},
    ),
    "compute/vector-bound-operator": Sign(
        spoiled=_busy(_ADAM, vec=0.93, scalar=0.1, mte2=0.4, mte3=0.2),
        twin=_busy(_ADAM, vec=0.78, scalar=0.1, mte2=0.4, mte3=0.2),
        shows={"vector": about(0.93)},
    ),
    "compute/memory-bound-operator": Sign(
        spoiled=_busy(_ADAM, vec=0.2, scalar=0.1, mte2=0.93, mte3=0.2),
        twin=_busy(_ADAM, vec=0.2, scalar=0.1, mte2=0.78, mte3=0.2),
        shows={"loading": about(0.93), "vector": about(0.2)},
    ),
    "compute/l0-bound-operator": Sign(
        spoiled=_busy("MatMulV3", mac=0.38, scalar=0.3, mte1=0.14, mte2=0.53, fixpipe=0.83),
        twin=_busy("MatMulV3", mac=0.38, scalar=0.3, mte1=0.14, mte2=0.53, fixpipe=0.78),
        shows={"emptying": about(0.83), "multiplying": about(0.38)},
    ),
    "compute/unsaturated-kernel": Sign(
        spoiled=_custom(vec=0.54, scalar=0.1, mte2=0.52, mte3=0.02),
        twin=_custom(vec=0.54, scalar=0.1, mte2=0.82, mte3=0.02),
        shows={"turn_share": about(0.54), "second": about(0.52), "storing": about(0.02)},
    ),
    "compute/unbound-operators": Sign(
        spoiled=_busy_products(mac=0.45, scalar=0.2, mte1=0.4, mte2=0.5, fixpipe=0.1),
        twin=_busy_products(mac=0.45, scalar=0.2, mte1=0.4, mte2=0.66, fixpipe=0.1),
        shows={"top_type": "MatMulV3", "busiest": about(0.5)},
    ),
}
