# SPDX-License-Identifier: Apache-2.0
"""Convolutions that are one matrix multiplication: kernel as large as its stride, nothing padded, one group.

Each input value meets one weight per output channel exactly once, as in `Linear` over the patches of the input. Told
by shapes alone: the output times the kernel is the input, along every axis. A layer that pads so oddly that its
shapes come out the same cannot be told from one that does not.
"""

from __future__ import annotations

from math import prod

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_of_key
from advisor.analysis.arrays.tensors import parse_tensors
from advisor.analysis.operators.kernel_costs import decisive_work_beside, undisturbed_ns
from advisor.analysis.operators.operators import StepKernels, in_steps
from advisor.analysis.rooflines.rooflines import peaks_of_rows
from advisor.analysis.steps.device import build_timeline
from advisor.facts.derived import ChipLimit, Overlap, PatchConvolution
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts, values_at

FORWARD = frozenset({"Conv1D", "Conv2D", "Conv2DV2", "Conv2DV3", "Conv3D", "Conv3DV2", "Conv3DV3"})
MATMULS = frozenset({"MatMul", "MatMulV2", "MatMulV3"})
"""Without batch: the product of M by K and K by N, whatever the layout."""
TO_BLOCKS = frozenset({"TransData"})
"""What brings channels into blocks, padded to whole ones, from NCHW or NCDHW."""
_LONG_US = 20.0
"""The start-up of a kernel over all cores of Atlas A2: the rate of a shorter one says nothing of the cube unit."""
_OF_PEAK = 0.1
"""What a product reaches of the peak at least: one of 3 840 patches by 588 values with 1 152 channels took 86 µs on a
910B2 (published beside the 8.2 ms of the convolution that it replaced), 17 % of its peak."""

_SPATIAL = {
    "NCHW": (2, 3),
    "NHWC": (1, 2),
    "NC1HWC0": (2, 3),
    "NCDHW": (2, 3, 4),
    "NDHWC": (1, 2, 3),
    "NDC1HWC0": (1, 3, 4),
}
"""Where height and width, and depth before them, stand in each format."""
_CHANNELS = {"NCHW": 1, "NCDHW": 1, "NHWC": -1, "NDHWC": -1}
_BLOCKS = {"NC1HWC0": 1, "NDC1HWC0": 2}
"""Where the channels stand, or the blocks of them."""
_AXES = 4
"""Axes of blocked weights, and the fewest of plain ones."""
_BY_AXES = {(4, 4): "NCHW", (5, 5): "NCDHW", (4, 5): "NC1HWC0", (5, 4): "NCHW", (5, 6): "NDC1HWC0", (6, 5): "NCDHW"}
"""The format by the number of axes of another tensor of the convolution and of this one."""


def patch_convolutions(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    limits: Table[ChipLimit] | None = None,
) -> Table[PatchConvolution]:
    """Forward convolutions by rank and shapes; those whose shapes tell that they are none are left out."""
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    chosen = every.take(np.flatnonzero(every.table.texts("op_type").isin(FORWARD)))
    groups = _by_inputs(chosen)
    first, table = groups.first, chosen.table
    shapes = [_shapes_of_row(table, row) for row in first.tolist()]
    flops = [_as_product(*one) for one in shapes]
    kept = _unpadded_parts(every.table, table.take(first))
    beside = undisturbed_ns(
        device, chosen.row, groups.of, len(groups), decisive_work_beside(device, kernels, collectives)
    )
    shown = _matmul_rates(every, table.take(first))
    rate = np.where(np.isnan(shown), _OF_PEAK * _peaks_per_us(table.take(first), limits), shown)
    total = groups.sums(chosen.duration_us) / chosen.steps[first]
    found = Table.build(
        PatchConvolution,
        rank=table["rank"][first],
        **{key: table.texts(key).take(first) for key in _KEYS},
        patches=np.array([-1 if n is None else int(n > 0) for n in flops], np.int8),
        places=np.array([_count_places(*one) for one in shapes], float),
        calls=groups.sizes / chosen.steps[first],
        total_us=total,
        unshared_us=np.where(chosen.whole[first], beside, np.nan) / chosen.steps[first] / 1e3,
        product_us=groups.sizes / chosen.steps[first] * np.array([n or np.nan for n in flops]) * kept / rate,
        rated_by=Texts(np.where(np.isnan(rate), -1, np.isnan(shown)).astype(np.int32), ("capture", "chip")),
        step_share=ratio(total, chosen.step_us[first]),
    )
    return found.take(found["patches"] != 0)


_KEYS = ("op_type", "input_shapes", "input_dtypes", "input_formats", "output_shapes")


def _by_inputs(kernels: StepKernels) -> Groups:
    return group_by(kernels.table["rank"], *(kernels.table.texts(key) for key in _KEYS))


def _shapes_of_row(table: Table[Kernel], row: int) -> tuple[str | None, str | None, str | None]:
    at = np.array([row])
    inputs, formats, outputs = (table.texts(k).take(at).values()[0] for k in _KEYS[1::2] + _KEYS[4:])
    return inputs, formats, outputs


def _as_product(inputs: str | None, formats: str | None, outputs: str | None) -> float | None:
    """Floating-point operations of the same as a matrix product: two per input value and output channel.

    0 where it is none, None where the shapes do not tell. Padded channels count, as the kernel computes them.
    """
    if not inputs or not outputs:
        return None
    x, weight, *_ = [*_parse_dims(inputs), ()]
    named = [*(formats or "").split(";"), ""]
    before, after = _spatial_sides(x, named[0]), _spatial_sides(_parse_dims(outputs)[0], "", named[0], len(x))
    sizes = _kernel_sizes(weight, x, named)
    if before is None or after is None or sizes is None or len(before) != len(after) or not all(after):
        return None
    kernel, channels = sizes
    strides = [side / out for side, out in zip(before, after, strict=True)]
    fits = strides == kernel if len(kernel) > 1 else [prod(strides)] == kernel
    whole = all(stride == int(stride) for stride in strides)
    return 2.0 * prod(x) * channels if fits and whole and prod(strides) > 1 else 0.0


def _count_places(inputs: str | None, formats: str | None, outputs: str | None) -> float:
    """How many patches each row of the input holds; NaN where the shapes do not tell."""
    if not inputs or not outputs:
        return float("nan")
    layout, axes = (formats or "").split(";")[0], len(_parse_dims(inputs)[0])
    sides = _spatial_sides(_parse_dims(outputs)[0], "", layout, axes)
    return float("nan") if sides is None else float(prod(sides))


def _unpadded_parts(kernels: Table[Kernel], convolutions: Table[Kernel]) -> Array:
    """Per convolution: which part of the channels of its input is no padding, by what brought it into blocks of
    channels; 1 where none is padded or nothing tells. A product of plain matrices multiplies that alone.
    """
    turned = kernels.take(np.flatnonzero(kernels.texts("op_type").isin(TO_BLOCKS)))
    groups = group_by(turned["rank"], turned.texts("input_shapes"), turned.texts("output_shapes"))
    channels: dict[tuple[int, tuple[int, ...]], int] = {}
    for row in groups.first.tolist():
        inputs, _, outputs = _shapes_of_row(turned, row)
        plain, blocked = _parse_dims(inputs or "")[0], _parse_dims(outputs or "")[0]
        if len(plain) >= _AXES and len(blocked) == len(plain) + 1:
            key = int(turned["rank"][row]), blocked
            channels[key] = max(channels.get(key, 0), plain[1])
    found = np.ones(len(convolutions))
    for row, rank in enumerate(convolutions["rank"].tolist()):
        inputs, formats, _ = _shapes_of_row(convolutions, row)
        at, sides = _BLOCKS.get((formats or "").split(";")[0]), _parse_dims(inputs or "")[0]
        real = channels.get((rank, sides), 0)
        if at is not None and 0 < real < sides[at] * sides[-1]:
            found[row] = real / (sides[at] * sides[-1])
    return found


def _parse_dims(shapes: str) -> list[tuple[int, ...]]:
    """The sides of each tensor; of a single one without sides where the shapes are damaged."""
    return [() if tensor is None else tensor.sides for tensor in parse_tensors(shapes)] or [()]


def _spatial_sides(shape: tuple[int, ...], layout: str, other: str = "", axes: int = 0) -> list[int] | None:
    """Height and width, and depth before them; `other` and `axes` are the format of the input and its axes."""
    if layout not in _SPATIAL:
        layout = (
            other if axes == len(shape) and other in _SPATIAL else _BY_AXES.get((axes or len(shape), len(shape)), "")
        )
    places = _SPATIAL.get(layout, ())
    return [shape[at] for at in places] if places and len(shape) > max(places) else None


def _kernel_sizes(weight: tuple[int, ...], x: tuple[int, ...], formats: list[str]) -> tuple[list[float], int] | None:
    """The kernel along each axis (its size alone where weights are blocked) and the output channels, if told.

    Blocked weights are (blocks of channels x kernel, blocks of output channels, 16, channels of a block). A plain
    weight with fewer input channels than the input has belongs to a convolution in groups, which is no one product.
    """
    layout = formats[0]
    if layout in _BLOCKS or formats[1].startswith("FRACTAL_Z"):
        if len(weight) != _AXES or not all(weight):
            return None
        blocks = x[_BLOCKS[layout]] if layout in _BLOCKS else -(-x[_CHANNELS.get(layout, 1)] // weight[3])
        return [weight[0] / max(blocks, 1)], weight[1] * weight[2]
    if len(weight) != len(x) or len(x) < _AXES:
        return None
    last = _CHANNELS.get(layout, 1) == -1
    mine, channels = (x[-1], weight[-1]) if last else (x[1], weight[1])
    sizes = weight[1:-1] if last else weight[2:]
    return ([float(n) for n in sizes] if mine == channels else [0.0] * len(sizes)), weight[0]


def _matmul_rates(every: StepKernels, wanted: Table[Kernel]) -> Array:
    """Per convolution: the operations per µs at which its rank multiplies matrices of its data type; NaN where none
    takes long enough to tell.

    2·M·N·K is twice the root of the product of the sizes of both inputs and the output. Time-weighted mean.
    """
    long = every.duration_us >= _LONG_US
    products = every.take(np.flatnonzero(every.table.texts("op_type").isin(MATMULS) & long))
    table = products.table
    groups = group_by(table["rank"], table.texts("input_shapes"), table.texts("output_shapes"))
    each = [_product_flops(*_shapes_of_row(table, row)[::2]) for row in groups.first.tolist()]
    done = np.array(each, float)[groups.of] if each else np.empty(0)
    spent = np.where(np.isnan(done), 0.0, products.duration_us)
    both = Texts.concat([_first_dtypes(one.texts("input_dtypes")) for one in (table, wanted)])
    alike = group_by(np.concatenate([table["rank"], wanted["rank"]]), both)
    ours, theirs = alike.of[: len(table)], alike.of[len(table) :]
    total, work = (np.bincount(ours, np.nan_to_num(each), len(alike)) for each in (spent, done))
    return ratio(work, total)[theirs]


def _peaks_per_us(kernels: Table[Kernel], limits: Table[ChipLimit] | None) -> Array:
    """Per kernel: the operations per µs of products of its data type at the peak of its chip; NaN where not known."""
    if limits is None:
        return np.full(len(kernels), np.nan)
    dtypes = [dtype or "" for dtype in _first_dtypes(kernels.texts("input_dtypes")).values()]
    return peaks_of_rows(limits, row_of_key(limits["rank"], kernels["rank"]), dtypes) * 1e6


def _first_dtypes(names: Texts) -> Texts:
    """Per row the data type of the first input, without its prefix: FLOAT, FLOAT16, BF16."""
    first = Texts.of(name.split(";")[0].removeprefix("DT_") or None for name in names.names)
    return Texts(values_at(first.codes, names.codes, -1).astype(np.int32), first.names)


def _product_flops(inputs: str | None, outputs: str | None) -> float:
    if not inputs or not outputs:
        return float("nan")
    left, right, *_ = [*_parse_dims(inputs), ()]
    sizes = prod(left) * prod(right) * prod(_parse_dims(outputs)[0])
    return 2.0 * float(sizes) ** 0.5 if left and right and sizes else float("nan")
