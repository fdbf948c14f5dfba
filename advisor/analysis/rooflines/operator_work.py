# SPDX-License-Identifier: Apache-2.0
"""How much a kernel has to do, by its type and the shapes, data types and formats of its tensors.

Operations of the cube unit are two per multiply-add, padding included where the tensors lie padded. Bytes are those
that must be read and written once at least. What shapes do not tell is missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from math import prod

from msgspec import Struct

from advisor.analysis.arrays.tensors import ROWS_OF_BLOCK, SIZES, Tensor, parse_tensors, size_of_all, unpack_int4
from advisor.analysis.rooflines.attention_work import (
    BACKWARD,
    FORWARD,
    FrameworkAttention,
    flops_of_attention,
    flops_per_key_of_attention,
    framework_attention,
    head_width_of_attention,
)
from advisor.analysis.rooflines.families import family_of
from advisor.analysis.rooflines.fused_products import communicates, flops_of_fused
from advisor.analysis.rooflines.precision import rounds_float32
from advisor.analysis.rooflines.products import (
    Multiplied,
    Tensors,
    aligned_shapes,
    are_equal,
    grouped_product_of,
    listed_weights,
    product_of,
)

TOLD_BY = ("op_type", "function", "input_shapes", "input_dtypes", "input_formats", "output_shapes", "output_dtypes")
"""The columns of a kernel that tell its work, in the order of `work_of_kernel`."""


class Work(Struct, frozen=True):
    """What one call has to do; NaN where it is not known."""

    flops: float = math.nan
    """Operations of the cube unit; NaN of operators that do not use it, too."""
    dtype: str = ""
    """The data type that is multiplied, as `plain_dtype` calls it."""
    size_bytes: float = math.nan
    """Bytes read and written."""
    dense: bool = False
    """One product of two matrices in the precision they are given in."""
    misaligned: bool | None = None
    """Of a product of matrices as they lie: whether a row of an input ends within what the chip reads at once; None of
    others."""
    aligned_shapes: str = ""
    """Of a product with a row that ends so: the shapes of both factors, padded to rows that do not; empty of others."""
    least_bytes: float = math.nan
    """Of a grouped product that may have read the weights of some groups alone: what it moves with those of one. Its
    `size_bytes` is then the most, with as many groups as it has rows."""
    most_bytes: float = math.nan
    """Of what is no product: all inputs and outputs, at most what it has to read and write once."""
    cube_work: str = ""
    """What the cube unit does in it, one of `CUBE_WORKS`; empty of others, and where weights in fewer bits are widened
    first, which the vector unit does."""
    least_side: float = math.nan
    """Of products and convolutions: the smallest of the three sides that are multiplied, of groups on average."""
    head_width: float = math.nan
    """Of attention: how many values each head of a query has."""
    flops_per_key: float = math.nan
    """Of attention: operations that one more key for every query costs."""


CUBE_WORKS = ("product", "batched", "grouped", "quantised", "convolution", "attention", "attention backward")
"""One product of two matrices; those of batches, of groups of rows, of values in fewer bits; and what is no product."""


_PRODUCT = re.compile(r"(Batch)?Mat_?[Mm]ul(V\d)?$|(Weight)?Quant(Batch)?Mat[Mm]ul(V\d)?$")
_OF_MATRICES = re.compile(r"Mat_?[Mm]ul")
_QUANTISED = ("Quant", "Grouped")
"""In the names of products whose factors may be values in fewer bits, packed into larger ones."""
_GROUPED = re.compile(r"GroupedMat_?[Mm]ul(V\d)?$")
_CONVOLUTION = re.compile(r"(Extend|Quant)?Conv[23]D(Backprop(Input|Filter)|Transpose)?D?(V\d)?$")
_DEPTHWISE = re.compile(r"DepthwiseConv2D(Backprop(Input|Filter))?D?(V\d)?$")
"""Convolutions of each channel by itself: they hardly fill the cube unit, whatever one does."""
_OF_FRAMEWORK = {"mm": 0, "bmm": 0, "_scaled_mm": 0, "addmm": 1, "baddbmm": 1}
"""Products of a framework, which a library stands before, and how many inputs stand before the two factors."""
_PLAIN = frozenset({"mm", "addmm"})
"""Those of two matrices in the precision they are given in."""
_SCALED = frozenset({"_scaled_mm"})
"""Those of values in fewer bits, which scales are given beside."""
_MULTIPLIES = re.compile(r"gemm|nvjet|cutlass|Cijk|xmma", re.IGNORECASE)
_ADDS_UP = re.compile(r"split_?k|reduce", re.IGNORECASE)
"""Functions beside a product of a GPU that only add its parts up."""
_ROW_BYTES = 512
"""MatMul of Atlas A2 reads rows best by 512 bytes: 256 elements of half precision, which MindStudio asks for."""
_ROW_BYTES_OF_GPU = 16
"""Tensor cores of GPUs take factors whose rows are multiples of 16 bytes, 8 elements of half precision; from A100 on
128 are better still (NVIDIA, Matrix Multiplication Background User's Guide; multiples of 8 in PyTorch's guide)."""


@lru_cache(maxsize=1 << 15)
def work_of_kernel(  # noqa: PLR0917 - what tells shapes apart
    op_type: str,
    function: str | None,
    input_shapes: str | None,
    input_dtypes: str | None,
    input_formats: str | None,
    output_shapes: str | None,
    output_dtypes: str | None,
) -> Work:
    """What one call of a kernel with these tensors has to do."""
    inputs = parse_tensors(input_shapes, input_dtypes, input_formats)
    library, _, name = op_type.rpartition("::")
    if library:
        return _work_of_framework(name, function, inputs)
    if any(word in op_type for word in _QUANTISED) and _OF_MATRICES.search(op_type):
        inputs = (*unpack_int4(inputs[:2]), *(unpack_int4(inputs[2:]) if "Grouped" in op_type else inputs[2:]))
    outputs = parse_tensors(output_shapes, output_dtypes)
    moved = _moved_bytes(op_type, inputs, outputs)
    if op_type in (FORWARD, BACKWARD):
        return _work_of_attention(op_type, moved, inputs, outputs)
    multiplied = _multiplied(op_type, inputs, outputs)
    if multiplied is None:
        return _work_of_others(op_type, moved, inputs, outputs)
    moved, least = _bytes_of_grouped(inputs, moved) if "Grouped" in op_type else (moved, math.nan)
    is_product = _PRODUCT.match(op_type) is not None
    dense = is_product and "Quant" not in op_type and _are_matrices(inputs[:2])
    return Work(
        multiplied.flops,
        _multiplied_dtype(inputs),
        moved,
        dense,
        _is_misaligned(inputs[:2], _ROW_BYTES) if is_product else None,
        aligned_shapes(inputs[0], inputs[1], outputs[0], _ROW_BYTES) if is_product else "",
        cube_work=_cube_work(op_type, inputs, dense=dense),
        least_side=multiplied.least_side,
        least_bytes=least,
    )


def _work_of_others(op_type: str, moved: float, inputs: Tensors, outputs: Tensors) -> Work:
    """What kernels do that multiply nothing, or more than two plain factors."""
    flops = flops_of_fused(op_type, inputs, outputs)
    if flops is None:
        flops = _flops_of_depthwise(op_type, inputs, outputs)
    if flops is not None:
        return Work(flops, _multiplied_dtype(inputs), _bytes_of_fused(op_type, inputs, moved))
    if "Grouped" in op_type or _reads_some_of_cache(op_type):
        return Work()
    return Work(size_bytes=moved, most_bytes=_all_bytes(inputs, outputs))


_OF_CACHE = re.compile("cache", re.IGNORECASE)
"""In the names of operators that write a cache of keys and values, or normalise, turn or quantise what they write."""


@lru_cache(maxsize=1 << 12)
def _reads_some_of_cache(op_type: str) -> bool:
    """Whether one of its tensors is a cache with a place for every token that all requests may keep. How many of them
    a call reads or writes is in the lengths of the sequences, which are values and stand in no shape."""
    return family_of(op_type) == "attention" or _OF_CACHE.search(op_type) is not None


def _work_of_attention(op_type: str, moved: float, inputs: Tensors, outputs: Tensors) -> Work:
    flops = flops_of_attention(op_type, inputs, outputs)
    return Work(
        math.nan if flops is None else float(flops),
        _multiplied_dtype(inputs),
        moved,
        most_bytes=_all_bytes(inputs, outputs) if flops is None else math.nan,
        cube_work="attention" if op_type == FORWARD else "attention backward",
        head_width=head_width_of_attention(op_type, inputs, outputs),
        flops_per_key=flops_per_key_of_attention(op_type, inputs, outputs),
    )


def _cube_work(op_type: str, inputs: Tensors, *, dense: bool) -> str:
    """What the cube unit does in a kernel whose operations are known."""
    if _CONVOLUTION.match(op_type):
        return "convolution"
    if len({tensor.dtype for tensor in _factors(op_type, inputs)}) > 1:
        return ""
    if _GROUPED.match(op_type):
        return "grouped"
    return "quantised" if "Quant" in op_type else "product" if dense else "batched"


def _factors(op_type: str, inputs: Tensors) -> list[Tensor]:
    """The factors of a product: all matrices of grouped ones, whose scales and lists of groups have no rows."""
    given = inputs if _GROUPED.match(op_type) else inputs[:2]
    return [tensor for tensor in given if tensor is not None and len(tensor.matrix) > 1]


def _multiplied(op_type: str, inputs: Tensors, outputs: Tensors) -> Multiplied | None:
    if _PRODUCT.match(op_type):
        return product_of(*inputs[:2], *outputs[:1]) if len(inputs) > 1 and outputs else None
    if _GROUPED.match(op_type):
        return grouped_product_of(inputs, outputs)
    return _of_convolution(op_type, inputs, outputs) if _CONVOLUTION.match(op_type) else None


def _multiplied_dtype(inputs: Tensors) -> str:
    """The data type of the first input with values: weights in fewer bits are widened to it."""
    return next((tensor.dtype for tensor in inputs if tensor is not None and not tensor.dtype.startswith("INT32")), "")


def _bytes_of_grouped(inputs: Tensors, moved: float) -> tuple[float, float]:
    """What a grouped product moves at most, with the weights of as many groups as it has rows, and with those of one:
    weights of groups without a row are not read, and shapes do not tell how the rows lie. The latter is NaN where that
    is no question."""
    values, weights, listed = inputs[0], inputs[1], len(listed_weights(inputs))
    groups = listed if weights is None or listed > 1 else prod(weights.matrix[:-2])
    if values is None or weights is None or groups < 2 or len(values.matrix) != 2:  # noqa: PLR2004
        return moved, math.nan
    rows, whole = values.matrix[0], weights.size_bytes
    each = math.nan if whole is None else whole if listed > 1 else whole / groups
    return moved - max(groups - rows, 0) * each, math.nan if rows < 2 else moved - (groups - 1) * each  # noqa: PLR2004


def _bytes_of_fused(op_type: str, inputs: Tensors, moved: float) -> float:
    """What a product moves that other work is fused with; NaN where it exchanges with other ranks meanwhile, or may
    have read the weights of some groups alone."""
    weights = inputs[1]
    in_groups = weights is not None and len(weights.matrix) > 2 and weights.matrix[0] > 1  # noqa: PLR2004
    return math.nan if communicates(op_type) or (in_groups and "Transpose" not in op_type) else moved


def _of_convolution(op_type: str, inputs: Tensors, outputs: Tensors) -> Multiplied | None:
    """2 x each value at the output side x the weights that meet it; the gradients do as much."""
    given = [tensor for tensor in inputs if tensor is not None]
    made = [tensor for tensor in outputs if tensor is not None]
    if not made or len(given) < 2:  # noqa: PLR2004 - values and weights
        return None
    if "Filter" in op_type:
        weights, values = Tensor(made[0].sides, form=_form_of_weights(made[0].sides)), given[-1]
    elif "Input" in op_type:
        weights, values = given[-2], given[-1]
    elif "Transpose" in op_type:
        values, weights = ([tensor for tensor in given if len(tensor.sides) > 3] + given)[:2]  # noqa: PLR2004
    else:
        weights, values = given[1], Tensor(made[0].sides, form=given[0].form)
    taps, channels = _taps_and_channels(weights)
    if not taps or not are_equal(_channels_of(values), channels, padded=True):
        return None
    return Multiplied(2.0 * values.elements * taps, float(min(taps, channels, values.elements / channels)))


def _flops_of_depthwise(op_type: str, inputs: Tensors, outputs: Tensors) -> float | None:
    """2 x each value at the output side x the places of the kernel that meet it; None of other operators."""
    wide = [tensor for tensor in inputs if tensor is not None and len(tensor.sides) > 3]  # noqa: PLR2004
    if not _DEPTHWISE.match(op_type) or len(wide) < 2 or not outputs or outputs[0] is None:  # noqa: PLR2004
        return None
    if "Filter" in op_type:
        weights, values = Tensor(outputs[0].sides, form=_form_of_weights(outputs[0].sides)), wide[-1]
    elif "Input" in op_type:
        weights, values = wide[-2], wide[-1]
    else:
        weights, values = wide[1], Tensor(outputs[0].sides, form=wide[0].form)
    taps = _taps_of_depthwise(weights, _channels_of(values))
    return 2.0 * values.elements * taps if taps else None


def _taps_of_depthwise(weights: Tensor, channels: int) -> int:
    """Weights that meet one value of a channel; 0 where the format does not tell, or the channels do not agree."""
    sides = weights.sides
    if weights.form.startswith("FRACTAL_Z") and len(sides) == 4:  # noqa: PLR2004 - (channels / c x height x width, 1, 16, c)
        blocks = -(-channels // sides[3]) if sides[3] else 0
        return sides[0] // blocks if blocks and sides[0] % blocks == 0 else 0
    down, across, own = {"NCHW": (2, 3, sides[0]), "HWCN": (0, 1, prod(sides[2:]))}.get(weights.form, (0, 0, 0))
    return sides[down] * sides[across] if own and own == channels else 0


def _form_of_weights(sides: tuple[int, ...]) -> str:
    return "FRACTAL_Z" if len(sides) == 4 and sides[2] == ROWS_OF_BLOCK and sides[3] in (8, 16, 32) else "NCHW"  # noqa: PLR2004


def _taps_and_channels(weights: Tensor) -> tuple[int, int]:
    """Weights that meet one value of the output, and output channels; 0 where the format does not tell."""
    sides = weights.sides
    if weights.form.startswith("FRACTAL_Z") and len(sides) == 4:  # noqa: PLR2004 - (input, output / 16, 16, c)
        return sides[0] * sides[3], sides[1] * sides[2]
    if weights.form in ("NCHW", "NCDHW", "NHWC", "NDHWC") and len(sides) > 3:  # noqa: PLR2004
        return prod(sides[1:]), sides[0]
    if weights.form in ("HWCN", "DHWCN"):
        return prod(sides[:-1]), sides[-1]
    return 0, 0


def _channels_of(values: Tensor) -> int:
    """Channels of a tensor of values; 0 where the format does not tell."""
    sides = values.sides
    blocks = {"NC1HWC0": 1, "NDC1HWC0": 2}.get(values.form)
    if blocks is not None and len(sides) > blocks + 1:
        return sides[blocks] * sides[-1]
    if values.form in ("NCHW", "NCDHW") and len(sides) > 1:
        return sides[1]
    return sides[-1] if values.form in ("NHWC", "NDHWC") else 0


_WHOLE = re.compile(
    r"Cast|Trans(pose|Data)|TensorMove|Concat|Pack|Split|Tile|Broadcast|(Zeros|Ones)|Fill|Identity|InplaceCopy|MemSet|Pad"
)
"""Movement that reads all of its inputs and writes all of its outputs."""
_PICKS = re.compile(r"(Strided)?Slice(D|V2)?$|Gather(V\d|D|V2D)?$|Index(Select|ByTensor)?$")
"""Movement that reads no more than it writes."""


_ELEMENTWISE = re.compile(
    r"(relu|gelu|silu|sigmoid|tanh|elu|leaky_relu|threshold|hardtanh|exp|log|pow|sqrt|rsqrt|neg|abs|erf|reciprocal|"
    r"native_dropout|dropout|add|sub|mul|div|clamp|lerp|addcmul|addcdiv)(_backward|_)?$"
)
_WRITES_NO_MORE = re.compile(
    r"_?(log_)?softmax|_(log_)?softmax_backward_data|\w*(layer|batch|group|instance|rms)_norm(_backward)?$|"
    r"_?index_(put|put_impl|add|copy|fill)_?$|scatter(_add|_reduce)?_?$|gather$|(sum|mean|var|std|norm|amax|amin|logsumexp)$|"
    r"\w*_(loss|entropy)(_forward|_backward)?$"
)
_WRITES_INDICES = re.compile(
    r"((adaptive_)?(max|avg)_pool[123]d\w*|sort|topk|cum(sum|prod|max|min)|max|min|argmax|argmin)$"
)
"""Operators of a framework, of which no outputs are recorded: what they write follows from what they read."""
_INDEX_BYTES = 8


def _most_of_framework(name: str, inputs: Tensors) -> float:
    """What an operator of a framework reads and writes at most; NaN where nothing tells what it writes."""
    read = size_of_all(inputs)
    known = [tensor for tensor in inputs if tensor is not None and tensor.sides]
    if read is None or not known:
        return math.nan
    if _ELEMENTWISE.match(name):
        elements = _broadcast_elements([tensor.sides for tensor in known])
        return math.nan if elements is None else read + elements * max(SIZES.get(one.dtype, 0) for one in known)
    if _WRITES_INDICES.match(name):
        return 2.0 * read + _INDEX_BYTES * max(tensor.elements for tensor in known)
    return 2.0 * read if _WRITES_NO_MORE.match(name) else math.nan


def _broadcast_elements(shapes: Sequence[tuple[int, ...]]) -> int | None:
    """How many elements tensors have together where each side of 1 stretches; None where they do not fit."""
    rank = max(map(len, shapes))
    sides = list(zip(*((1,) * (rank - len(one)) + one for one in shapes), strict=True))
    fits = all(len({side for side in each if side != 1}) <= 1 for each in sides)
    return prod(max(each) for each in sides) if fits else None


@lru_cache(maxsize=1 << 12)
def _traffic(op_type: str) -> str:
    """What of its tensors an operator moves: `whole`, `picks` (as much as it writes, twice); empty where unknown."""
    family = family_of(op_type)
    if family == "movement":
        return "picks" if _PICKS.match(op_type) else "whole" if _WHOLE.match(op_type) else ""
    whole = family in ("elementwise", "reduction", "optimizer", "matmul", "convolution")
    return "whole" if whole or op_type in (FORWARD, BACKWARD) else ""


def _moved_bytes(op_type: str, inputs: Tensors, outputs: Tensors) -> float:
    traffic, written = _traffic(op_type), size_of_all(outputs)
    if not traffic or written is None:
        return math.nan
    read = written if traffic == "picks" else size_of_all(inputs)
    return math.nan if read is None else read + written


def _all_bytes(inputs: Tensors, outputs: Tensors) -> float:
    read, written = size_of_all(inputs), size_of_all(outputs)
    return math.nan if read is None or written is None else float(read + written)


def _are_matrices(factors: Tensors) -> bool:
    return all(tensor is not None and len(tensor.matrix) == 2 for tensor in factors)  # noqa: PLR2004


def _is_misaligned(factors: Tensors, row_bytes: int) -> bool | None:
    """Whether a row of a factor, as it lies, ends within so many bytes; None where a data type is not known."""
    plain = [tensor for tensor in factors if tensor is not None and not tensor.is_blocked]
    sizes = [SIZES.get(tensor.dtype) for tensor in plain]
    if None in sizes:
        return None
    return any(tensor.sides[-1] * (size or 0) % row_bytes for tensor, size in zip(plain, sizes, strict=True))


def _work_of_called(called: FrameworkAttention) -> Work:
    """Fused attention that a framework asked for. It writes as much as its queries take, backward their gradients."""
    flops, query = called.flops, called.query
    read = size_of_all((query, called.key, called.value))
    written = query.size_bytes if called.times == 1 else read
    return Work(
        math.nan if flops is None else flops,
        query.dtype,
        math.nan if read is None or written is None else read + written,
        cube_work="attention" if called.times == 1 else "attention backward",
        head_width=float(query.sides[-1]),
        flops_per_key=called.flops_per_key,
    )


def _work_of_framework(name: str, function: str | None, inputs: Tensors) -> Work:
    """A product that a framework asked for, whose output follows from its factors; nothing for what only adds it up."""
    before = _OF_FRAMEWORK.get(name)
    if before is None:
        called = framework_attention(name, inputs)
        return Work(most_bytes=_most_of_framework(name, inputs)) if called is None else _work_of_called(called)
    if function and (not _MULTIPLIES.search(function) or _ADDS_UP.search(function)):
        return Work()
    if len(inputs) < before + 2 or (left := inputs[before]) is None or (right := inputs[before + 1]) is None:
        return Work()
    if min(len(left.sides), len(right.sides)) < 2 or left.sides[-1] != right.sides[-2]:  # noqa: PLR2004
        return Work()
    out = Tensor((*left.sides[:-1], right.sides[-1]), left.dtype)
    moved, dense = size_of_all((*inputs, out)), name in _PLAIN and _are_matrices((left, right))
    flops = 2.0 * out.elements * left.sides[-1]
    in_tf32 = left.dtype == "FLOAT" and rounds_float32(function or "")
    return Work(
        flops,
        "TF32" if in_tf32 else left.dtype,
        math.nan if moved is None else moved,
        dense,
        _is_misaligned((left, right), _ROW_BYTES_OF_GPU),
        aligned_shapes(left, right, out, _ROW_BYTES_OF_GPU),
        cube_work="product" if dense else "quantised" if name in _SCALED else "batched",
        least_side=float(min(*out.sides[-2:], left.sides[-1])),
    )
