# SPDX-License-Identifier: Apache-2.0
"""Floating-point operations of fused attention: two products over all pairs of a query and a key that are not masked.

Which pairs count is known where the mode of masking is: by what the program said of its call, or where no mask was
given. How the sequences lie in the tensors (the layout) is known by that word, or by the shape of the softmax sums.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.tensors import Tensor
from advisor.facts.observed.device import CAUSAL
from advisor.facts.table import Array

FORWARD, BACKWARD = "FlashAttentionScore", "FlashAttentionScoreGrad"
BACKWARD_TIMES = 2.5
"""Five products where the forward pass has two: Dao, FlashAttention-2 (arXiv 2307.08691), section 4.1."""
FULL, LEFT_UP, RIGHT_DOWN, BAND = 0, 2, 3, 4
"""`sparse_mode` of npu_fusion_attention: no pair left out unless a mask says so, causal from the first query, causal to
the last, and a band around the diagonal to the last. Mode 1 is a mask of one's own, of which nothing is known."""
PREFIX, COMPRESSED_PREFIX = 5, 6
"""Causal to the last, and the first keys of each sequence for all its queries."""
THEN_BAND, BAND_FIRST = 7, 8
"""Packed sequences, of which one was cut between devices: RIGHT_DOWN, the last one a BAND; LEFT_UP, the first one a
BAND. Sequences without queries do not count as first or last. All modes: ops-transformer, docs/en/context/
sparse_mode_introduction.md, and the tiling of FlashAttentionScore there."""
_TO_THE_LAST = (RIGHT_DOWN, BAND, PREFIX, COMPRESSED_PREFIX, THEN_BAND)
_PREFIXED = (PREFIX, COMPRESSED_PREFIX)
_PACKED = (THEN_BAND, BAND_FIRST)
_SUMS = 8
"""The softmax sums of each query and head are written eight times over."""
_AXES = {"BSH": (0, 1, None), "SBH": (1, 0, None), "BNSD": (0, 2, 1), "BSND": (0, 1, 2)}
"""Where batch, sequence and heads stand in each layout."""
LAYOUTS = (*_AXES, "TND")
_OF_MASKS = ("BOOL", "UINT8")
_TAKES_MASK = re.compile(r"(FlashAttentionScore(Grad)?|PromptFlashAttention|FusedInferAttentionScore)(V\d)?$")
_COMPRESSED = (2048, 2048)
"""The mask that modes 2 to 4 and 6 take, however long the sequences are."""


class AttentionArguments(Struct, frozen=True):
    """What a call of attention was given beside its tensors."""

    layout: str = ""
    """One of `LAYOUTS`; empty where it is not known."""
    sparse_mode: int = FULL
    previous_tokens: float = math.nan
    """So many keys before its own place a query meets; NaN where it is not known."""
    next_tokens: float = math.nan
    query_ends: tuple[int, ...] = ()
    """Where the sequences of TND end, one after another."""
    key_ends: tuple[int, ...] = ()
    prefixes: tuple[int, ...] = ()
    """So many first keys all queries meet, per sequence (PREFIX, COMPRESSED_PREFIX); empty where it is not known."""


def counted_pairs(  # noqa: PLR0917 - what a call is given
    queries: Sequence[float],
    keys: Sequence[float],
    sparse_mode: int,
    previous: float = math.inf,
    following: float = math.inf,
    prefixes: Sequence[int] = (),
) -> float | None:
    """Pairs of a query and a key that a mode of masking keeps in all these sequences; None where it is not known.

    Pairs are counted as areas, as in Dao, FlashAttention-2: one on a border that cuts it counts half. In FULL and BAND
    a query meets the keys from `previous` before its own place to `following` behind it; its own place counts from the
    first query and key (FULL), else to the last of both. Causal modes go by the diagonal alone.
    """
    own, other = np.asarray(queries, np.float64), np.asarray(keys, np.float64)
    banded = _banded(own, sparse_mode)
    if banded is None or (banded.any() and not previous + following >= 0):
        return None
    to_the_last = sparse_mode in _TO_THE_LAST or (banded if sparse_mode == BAND_FIRST else False)
    shift = np.where(to_the_last, other - own, 0.0)
    first = np.zeros(len(own))
    if sparse_mode in _PREFIXED:
        first = np.asarray(prefixes, np.float64)
        if first.shape != own.shape or (first > other).any() or (first < np.maximum(other - own, 0.0)).any():
            return None
    beyond = _area_above(own, other - first, shift - first + np.where(banded, following, 0.0))
    before = _area_above(other, own, np.where(banded, previous, math.inf) - shift)
    return float((own * other - beyond - before).sum())


def _banded(queries: Array, sparse_mode: int) -> Array | None:
    """Per sequence: whether the two numbers of tokens bound it; None of modes that shapes do not tell."""
    if sparse_mode in (FULL, BAND):
        return np.full(len(queries), True)
    banded = np.zeros(len(queries), bool)
    if sparse_mode in _PACKED:
        rows = np.flatnonzero(queries > 0)
        banded[rows[-1:] if sparse_mode == THEN_BAND else rows[:1]] = True
    return banded if sparse_mode in (LEFT_UP, RIGHT_DOWN, *_PREFIXED, *_PACKED) else None


def _area_above(width: Array, height: Array, offset: Array) -> Array:
    """Of rectangles the area above the line that rises by one for one and meets the left side at `offset`."""
    offset = np.clip(offset, -width, height)
    whole, ends = np.clip(-offset, 0.0, width), np.minimum(height - offset, width)
    area: Array = whole * height + (height - offset) * (ends - whole) - (ends**2 - whole**2) / 2
    return area


def attention_flops(
    query: Sequence[int],
    key: Sequence[int],
    layout: str,
    sparse_mode: int,
    *,
    value: Sequence[int] | None = None,
    query_ends: Sequence[int] = (),
    key_ends: Sequence[int] = (),
    previous: float = math.inf,
    following: float = math.inf,
    prefixes: Sequence[int] = (),
) -> float | None:
    """Operations of one forward call; None where something that counts is not known.

    `query_ends` and `key_ends` are where the sequences of TND end, one after another; `previous` and `following` the
    keys that a query meets before and behind its own place; `prefixes` the first keys that all queries meet.
    """
    value = key if value is None else value
    lengths = _lengths_of_sequences(query, key, layout, query_ends, key_ends)
    if lengths is None or not key[-1] or (sparse_mode in _PACKED and layout != "TND"):
        return None
    own, other, times = lengths
    if sparse_mode in _PREFIXED:  # each sequence of the batch has its own
        if times > len(prefixes):
            return None
        own, other, times = own * times, other * times, 1
    pairs = counted_pairs(own, other, sparse_mode, previous, following, prefixes)
    if pairs is None:
        return None
    head = 1 if layout == "TND" else _AXES[layout][2]
    width = query[-1] if head is None else query[-1] * query[head]
    wide = width * value[-1] / key[-1] if head is None else value[-1] * query[head]
    return 2.0 * times * pairs * (width + wide)


def _lengths_of_sequences(
    query: Sequence[int], key: Sequence[int], layout: str, query_ends: Sequence[int], key_ends: Sequence[int]
) -> tuple[list[int], list[int], int] | None:
    """Queries and keys of sequences, and how many there are of these; None where shapes are not so, or do not tell."""
    if layout == "TND":
        if len(query) != 3 or len(query_ends) != len(key_ends) or not query_ends:  # noqa: PLR2004 - T, N and D
            return None
        own, other = ([end - begin for begin, end in pairwise([0, *ends])] for ends in (query_ends, key_ends))
        return own, other, 1
    if layout not in _AXES or len(query) != len(key):
        return None
    batch, sequence, head = _AXES[layout]
    if len(query) != (3 if head is None else 4):
        return None
    return [query[sequence]], [key[sequence]], query[batch]


class _Shapes(Struct, frozen=True):
    """The tensors of one kernel of attention by what they are."""

    query: tuple[int, ...]
    key: tuple[int, ...]
    value: tuple[int, ...]
    sums: tuple[int, ...] | None
    """Softmax sums (batch, heads, sequence, 8); packed sequences have none of four axes."""
    is_masked: bool
    """Whether a mask or a bias was given."""
    is_whole: bool
    """Whether queries and keys have no second part, as rotary embeddings that were not added have."""
    times: float

    @property
    def flops_per_key(self) -> float:
        """Operations that one more key for every query costs, whatever the layout; NaN where keys have no width."""
        if not self.key or not self.key[-1]:
            return math.nan
        return 2.0 * self.times * prod(self.query) * (1 + self.value[-1] / self.key[-1])


def flops_of_attention(op_type: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None]) -> float | None:
    """Operations of one kernel by its shapes alone; None unless they say that nothing was masked, and the layout."""
    shapes = _shapes_of_kernel(op_type, inputs, outputs)
    if shapes is None or shapes.sums is None or shapes.is_masked:
        return None
    layout = layout_by_sums(shapes.query, shapes.sums)
    found = attention_flops(shapes.query, shapes.key, layout, FULL, value=shapes.value) if layout else None
    return None if found is None else found * shapes.times


def flops_per_key_of_attention(
    op_type: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None]
) -> float:
    """Operations that one more key for every query costs in one kernel, whatever the layout; NaN where shapes do not
    tell."""
    shapes = _shapes_of_kernel(op_type, inputs, outputs)
    return math.nan if shapes is None else shapes.flops_per_key


def head_width_of_attention(op_type: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None]) -> float:
    """Values of each head of a query; NaN where heads and width are one axis, and no softmax sums tell them apart."""
    shapes = _shapes_of_kernel(op_type, inputs, outputs)
    if shapes is None:
        return math.nan
    if shapes.sums is not None:
        return prod(shapes.query) / max(prod(shapes.sums[:3]), 1)
    sums = _packed_sums(shapes.query)
    is_packed = any(one is not None and one.sides == sums for one in (*inputs, *outputs))
    return float(shapes.query[-1]) if is_packed or len(shapes.query) == 4 else math.nan  # noqa: PLR2004


def flops_of_marked_attention(
    op_type: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None], given: AttentionArguments
) -> float | None:
    """Operations of one kernel by its shapes and what its call was given; None where they do not tell or not agree."""
    shapes = _shapes_of_kernel(op_type, inputs, outputs)
    if shapes is None or not shapes.is_whole or (given.sparse_mode != FULL and not shapes.is_masked):
        return None
    layout = given.layout or ("" if shapes.sums is None else layout_by_sums(shapes.query, shapes.sums))
    if not _are_of_layout(shapes, layout) or not _lie_inside(shapes, layout, given):
        return None
    found = attention_flops(
        shapes.query,
        shapes.key,
        layout,
        given.sparse_mode,
        value=shapes.value,
        query_ends=given.query_ends,
        key_ends=given.key_ends,
        previous=given.previous_tokens if shapes.is_masked else math.inf,
        following=given.next_tokens if shapes.is_masked else math.inf,
        prefixes=given.prefixes,
    )
    return None if found is None else found * shapes.times


class FrameworkAttention(Struct, frozen=True):
    """What PyTorch gave to a kernel of fused attention."""

    query: Tensor
    key: Tensor
    value: Tensor
    layout: str
    is_causal: bool
    times: float
    """How many times the products of a forward pass it computes."""

    @property
    def flops(self) -> float | None:
        """Operations; None where the tensors do not agree with the layout."""
        shapes = self._shapes
        if not _are_of_layout(shapes, self.layout):
            return None
        mode = LEFT_UP if self.is_causal else FULL
        found = attention_flops(shapes.query, shapes.key, self.layout, mode, value=shapes.value)
        return None if found is None else found * self.times

    @property
    def flops_per_key(self) -> float:
        """Operations that one more key for every query costs."""
        return self._shapes.flops_per_key

    @property
    def _shapes(self) -> _Shapes:
        query, key, value = (tensor.sides for tensor in (self.query, self.key, self.value))
        return _Shapes(query, key, value, sums=None, is_masked=self.is_causal, is_whole=True, times=self.times)


def framework_attention(op_type: str, inputs: Sequence[Tensor | None]) -> FrameworkAttention | None:
    """The attention that a kernel of PyTorch computes, by the formats of its inputs; None of all others."""
    given = [tensor for tensor in inputs if tensor is not None and tensor.form.removeprefix(CAUSAL).strip() in _AXES]
    if len(given) != 3:  # noqa: PLR2004 - query, key and value
        return None
    query, key, value = given
    times = BACKWARD_TIMES if op_type.endswith("_backward") else 1.0
    return FrameworkAttention(query, key, value, key.form, query.form.startswith(CAUSAL), times)


def full_mask_of_attention(op_type: str, inputs: Sequence[Tensor | None]) -> tuple[int, int] | None:
    """How many queries and keys the mask of one kernel has, where that has an element for each pair of them; None where
    no such mask was given, for a single query, and where it may as well be a compressed one."""
    given = [tensor for tensor in inputs if tensor is not None]
    if not _TAKES_MASK.match(op_type) or len(given) < 4:  # noqa: PLR2004 - query, key, value and mask
        return None
    query, key = given[0].sides, given[1].sides
    if len(query) != len(key) or len(query) not in (3, 4):
        return None
    lengths = {(query[axis], key[axis]) for axis in ((0, 1) if len(query) == 3 else (1, 2))}  # noqa: PLR2004
    masks = (one.sides[-2:] for one in given[3:] if one.dtype in (*_OF_MASKS, "INT8") and len(one.sides) > 1)
    return next((mask for mask in masks if mask in lengths and mask[0] > 1 and mask != _COMPRESSED), None)


def _shapes_of_kernel(
    op_type: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None]
) -> _Shapes | None:
    """What is what among the tensors of a kernel; None where it has too few."""
    given, made = ([tensor for tensor in tensors if tensor is not None] for tensors in (inputs, outputs))
    if len(given) < (4 if op_type == BACKWARD else 3):
        return None
    query, key, value = (tensor.sides for tensor in given[:3])
    sums = next((one.sides for one in (*made, *given) if len(one.sides) == 4 and one.sides[-1] == _SUMS), None)  # noqa: PLR2004
    widths = (query[-1], key[-1], value[-1])
    others = [
        tensor for tensor in given[3:] if len(tensor.sides) > 1 and tensor.sides not in (sums, _packed_sums(query))
    ]
    apart = [tensor for tensor in others if len(tensor.sides) != len(query) or tensor.sides[-1] not in widths]
    second = [tensor for tensor in apart if tensor.sides[:-1] == query[:-1] and tensor.sides[-1] < query[-1]]
    return _Shapes(
        query,
        key,
        value,
        sums,
        is_masked=bool(apart) or any(tensor.dtype in _OF_MASKS for tensor in others),
        is_whole=not second,
        times=BACKWARD_TIMES if op_type == BACKWARD else 1.0,
    )


def _packed_sums(query: tuple[int, ...]) -> tuple[int, ...]:
    """Softmax sums of packed sequences: (all tokens, heads, 8)."""
    return (*query[:-1], _SUMS)


def _are_of_layout(shapes: _Shapes, layout: str) -> bool:
    """Whether queries, keys and, where they are known, softmax sums can lie so."""
    query, key = shapes.query, shapes.key
    if layout == "TND":
        return len(query) == len(key) == 3 and shapes.sums is None and _share_heads(query[1], key[1])  # noqa: PLR2004
    if layout not in _AXES or len(query) != len(key):
        return False
    batch, sequence, head = _AXES[layout]
    if len(query) != (3 if head is None else 4) or query[batch] != key[batch]:
        return False
    if head is not None and (query[-1] != key[-1] or not _share_heads(query[head], key[head])):
        return False
    if shapes.sums is None:
        return True
    heads = shapes.sums[1] if head is None else query[head]
    told = (query[batch], heads, query[sequence], _SUMS)
    return told == shapes.sums and bool(heads) and (head is not None or query[-1] % heads == 0)


def _share_heads(queries: int, keys: int) -> bool:
    """Whether each head of the keys serves as many heads of the queries."""
    return keys > 0 and queries % keys == 0


def _lie_inside(shapes: _Shapes, layout: str, given: AttentionArguments) -> bool:
    """Whether packed sequences end within their tensors, one after another; true of all that is not packed."""
    if layout != "TND":
        return True
    return all(
        ends and ends[-1] <= tokens and all(begin <= end for begin, end in pairwise([0, *ends]))
        for ends, tokens in ((given.query_ends, shapes.query[0]), (given.key_ends, shapes.key[0]))
    )


def layout_by_sums(query: tuple[int, ...], sums: tuple[int, ...]) -> str:
    """The layout of the queries by the softmax sums, which are (batch, heads, sequence, 8); empty where none fits.

    Where batch and sequence, or heads and sequence, are equally many, both layouts count the same.
    """
    batch, heads, length, _ = sums
    fits = {
        (batch, heads, length): "BNSD",
        (batch, length, heads): "BSND",
        (batch, length): "BSH",
        (length, batch): "SBH",
    }
    lead = 3 if len(query) == 4 else 2  # noqa: PLR2004 - all but the width
    found = fits.get(query[:lead], "")
    return found if prod(query) % max(prod(sums[:3]), 1) == 0 else ""
