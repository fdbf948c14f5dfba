# SPDX-License-Identifier: Apache-2.0
"""Kernel: computation on the device, with the framework operator that launched it and that operator's inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.nesting import Nest, nest_intervals
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.sources.files.database import match_keys
from advisor.sources.files.jsonfile import parse_json
from advisor.sources.kineto.attention import ATTENTION, formats_of_attention
from advisor.sources.kineto.kernel_names import function_name
from advisor.sources.kineto.reading import EXPORT, FILLS, OperatorShapes, Trace, pick_texts, place_in, rows_or_missing
from advisor.sources.kineto.reading import KERNELS as FUNCTIONS
from advisor.sources.kineto.roles import CONVERSION, roles_of_operators
from advisor.sources.kineto.steps import steps_of_work
from advisor.sources.reading import Reading
from advisor.sources.shared.pytorch_words import operator_kind

COMPUTE = (*FUNCTIONS, *FILLS)
OPERATORS = ("cpu_op", "Operator")
_TENSILE_BLOCK = re.compile(r"Cijk_\w*_WG(\d{1,4})_(\d{1,4})_(\d{1,4})(?!\d)")
_DTYPES = {
    "float": "FLOAT",
    "double": "DOUBLE",
    "c10::Half": "FLOAT16",
    "c10::BFloat16": "DT_BF16",
    "int": "INT32",
    "long": "INT64",
    "long int": "INT64",
    "bool": "BOOL",
    "unsigned char": "UINT8",
}
"""Types of elements as the framework spells them, in the spelling of the fact; others stay as they are."""


def _kernels_of_trace(trace: Trace) -> Table[Kernel]:
    content = trace.content()
    slices = content.slices
    rows = slices.of(*COMPUTE)
    rows = rows_or_missing(rows[~trace.work_of_collectives()[rows]], Kernel)
    operator = operators_behind(trace, rows)
    shape = place_in(content.shapes.row, operator)
    start, function = slices.start_ns[rows], _renamed(slices.name.take(rows), function_name)
    types = _types_of_kernels(trace, rows, operator, function)
    dtypes = _renamed(pick_texts(content.shapes.types, shape), types_as_text)
    return Table.build(
        Kernel,
        rank=trace.rank,
        step=steps_of_work(trace, rows),
        stream=streams_of_work(trace, rows),
        op_name=function,
        function=function,
        op_type=types,
        effect=roles_of_operators(types, dtypes, lambda of: _callers_of_operators(trace, operator[of])),
        start_ns=start,
        duration_us=(slices.end_ns[rows] - start) / 1000,
        blocks=_blocks_of_products(_of_work(trace, rows, content.work.blocks), function),
        input_shapes=_renamed(pick_texts(content.shapes.dims, shape), shapes_as_text),
        input_dtypes=dtypes,
        input_formats=_formats_of_attention(types, content.shapes, shape),
    ).sorted_by("start_ns", "stream")


def operators_behind(trace: Trace, rows: Array) -> Array:
    """For each of these slices on the device the slice of the framework operator that asked for it, -1 without one.

    Work that names no operator itself has the one of the call that launched it. Some versions write the correlation in
    place of what the operator is called by: an operator counts only where it runs as the call is made, else the
    innermost one that does, and none that begins after its work.
    """
    slices = trace.content().slices
    operators, call = slices.of(*OPERATORS), trace.launching_calls(rows)
    own = slices.external[rows]
    external = np.where(own == MISSING, values_at(slices.external, call), own)
    named = values_at(operators, match_keys(slices.external[operators], external), -1)
    launched, track = values_at(slices.start_ns, call), values_at(slices.track, call)
    begun, ended = values_at(slices.start_ns, named), values_at(slices.end_ns, named)
    runs = (values_at(slices.track, named) == track) & (begun <= launched) & (launched <= ended)
    doubted = (call >= 0) & ~((named >= 0) & runs)
    found = np.where((named >= 0) & (begun <= slices.start_ns[rows]), named, -1)
    if not doubted.any():
        return found
    inner = values_at(
        operators,
        trace.once("operators", lambda: _nest_operators(trace, operators)).around(track, launched, launched),
        -1,
    )
    told = np.where(external == slices.correlation[rows], -1, found)
    return np.where(doubted, np.where(inner >= 0, inner, told), found)


def _nest_operators(trace: Trace, operators: Array) -> Nest:
    slices = trace.content().slices
    return nest_intervals(slices.track[operators], slices.start_ns[operators], slices.end_ns[operators])


def _callers_of_operators(trace: Trace, operator: Array) -> Texts:
    """The operator directly around each of these slices; missing where a step, a range or nothing is."""
    slices = trace.content().slices
    every = slices.of(*OPERATORS)
    name = slices.name.take(every).in_use()
    every = every[name.hits(operator_kind(one) == "operator" for one in name.names)]
    around = nest_intervals(slices.track[every], slices.start_ns[every], slices.end_ns[every]).parent_rows
    parent = np.full(len(slices.track), -1)
    parent[every] = values_at(every, around, -1)
    return pick_texts(slices.name, values_at(parent, operator, -1)).in_use()


def streams_of_work(trace: Trace, rows: Array) -> Array:
    """The stream of each of these slices on the device."""
    work = trace.content().work
    return values_at(work.stream, place_in(work.row, rows))


def sizes_of_work(trace: Trace, rows: Array) -> Array:
    """The bytes that each of these slices moves; NaN where that is not recorded."""
    return _of_work(trace, rows, trace.content().work.size_bytes)


def _of_work(trace: Trace, rows: Array, values: Array) -> Array:
    return values_at(values, place_in(trace.content().work.row, rows), np.nan)


def _blocks_of_products(grid: Array, functions: Texts) -> Array:
    """The blocks of each kernel, by what its grid counts.

    Products of Tensile are launched by `hipExtModuleLaunchKernel`, which is told all threads; their names say how many
    make a block. Where that leaves no whole number, the grid counts blocks.
    """
    found = [_TENSILE_BLOCK.match(name) for name in functions.names]
    threads = [max(math.prod(map(int, one.groups())), 1) if one else 1 for one in found]
    blocks = grid / np.array([*threads, 1], float)[functions.codes]
    return np.where(blocks == np.floor(blocks), blocks, grid)


def _types_of_kernels(trace: Trace, rows: Array, operator: Array, function: Texts) -> Texts:
    """The operator that asked for each kernel; without one, the function that ran, or that memory was set.

    What only converts layouts for an operator that computes is told by its function too.
    """
    slices = trace.content().slices
    index: dict[str, int] = {}
    codes = _numbered(function, index)
    codes = np.where(slices.category.isin(FILLS)[rows], index.setdefault("Memset", len(index)), codes)
    named = (operator >= 0) & ~function.hits(re.fullmatch(CONVERSION, name) is not None for name in function.names)
    codes = np.where(named, _numbered(pick_texts(slices.name, operator).in_use(), index), codes)
    return Texts(codes.astype(np.int32), tuple(index)).in_use()


def _numbered(texts: Texts, index: dict[str, int]) -> Array:
    """The texts by their number in an index that they are added to."""
    return np.array([*(index.setdefault(name, len(index)) for name in texts.names), -1], np.int32)[texts.codes]


def _renamed(texts: Texts, rename: Callable[[str], str | None]) -> Texts:
    """Texts under other names; what has none is missing."""
    used = texts.in_use()
    index: dict[str, int] = {}
    codes = [-1 if (new := rename(old)) is None else index.setdefault(new, len(index)) for old in used.names]
    return Texts(np.array([*codes, -1], np.int32)[used.codes], tuple(index))


def _formats_of_attention(types: Texts, shapes: OperatorShapes, shape: Array) -> Texts:
    """How the inputs of fused attention lie, and what it leaves out; missing of all others."""
    mine = np.flatnonzero(types.isin(ATTENTION) & (shape >= 0))
    texts = (types.take(mine), *(pick_texts(one, shape[mine]) for one in (shapes.arguments, shapes.dims)))
    codes = np.stack([one.codes for one in texts], axis=1)
    _, first, of = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    calls = zip(*(one.take(first).values() for one in texts), strict=True)
    told = Texts.of([formats_of_attention(*(one or "" for one in call)) for call in calls])
    found = np.full(len(types), -1, np.int32)
    found[mine] = told.codes[of.reshape(-1)]
    return Texts(found, told.names)


def shapes_as_text(dims: str) -> str | None:
    """Shapes out of JSON as the fact writes them: `,` between dimensions, `;` between tensors."""
    found = _list_of_json(dims)
    tensors = [shape for shape in found if isinstance(shape, list) and all(type(size) is int for size in shape)]
    texts = [",".join(map(str, shape)) for shape in tensors]
    while texts and not texts[-1]:  # numbers and flags behind the tensors
        texts.pop()
    return ";".join(texts) if any(texts) else None


def types_as_text(types: str) -> str | None:
    """Data types out of JSON as the fact writes them, `;` between inputs."""
    found = [_DTYPES.get(word, word) for word in _list_of_json(types) if isinstance(word, str)]
    while found and found[-1] in ("", "Scalar", "ScalarList", "GenericList"):
        found.pop()
    return ";".join(found) if any(found) else None


def _list_of_json(text: str) -> list[object]:
    try:
        found = parse_json(text)
    except ValueError:
        return []
    return found if isinstance(found, list) else []


KERNELS = Reading(Kernel, {EXPORT: _kernels_of_trace})
