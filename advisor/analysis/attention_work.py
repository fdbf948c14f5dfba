# SPDX-License-Identifier: Apache-2.0
"""Floating-point operations of fused attention: two products over all pairs of a query and a key that are not masked.

Which pairs count is known where the mode of masking is: by what the program said of its call, or where no mask was
given. How the sequences lie in the tensors (the layout) is known by that word, or by the shape of the softmax sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from math import prod

from msgspec import Struct

from advisor.analysis.tensors import Tensor

FORWARD, BACKWARD = "FlashAttentionScore", "FlashAttentionScoreGrad"
BACKWARD_TIMES = 2.5
"""Five products where the forward pass has two: Dao, FlashAttention-2 (arXiv 2307.08691), section 4.1."""
FULL, LEFT_UP, RIGHT_DOWN, BAND = 0, 2, 3, 4
"""`sparse_mode` of npu_fusion_attention: no pair left out unless a mask says so, causal from the first query, causal to
the last, and a band around the diagonal to the last."""
_SUMS = 8
"""The softmax sums of each query and head are written eight times over."""
_AXES = {"BSH": (0, 1, None), "SBH": (1, 0, None), "BNSD": (0, 2, 1), "BSND": (0, 1, 2)}
"""Where batch, sequence and heads stand in each layout."""
LAYOUTS = (*_AXES, "TND")
_OF_MASKS = ("BOOL", "UINT8")


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


def counted_pairs(
    queries: float, keys: float, sparse_mode: int, previous: float = math.inf, following: float = math.inf
) -> float | None:
    """Pairs of a query and a key that a mode of masking keeps, as areas; None for modes that shapes do not tell.

    A query meets the keys from `previous` before its own place to `following` behind it; its own place counts from the
    first query and key (FULL), else, in a BAND, to the last of both. Causal modes go by the diagonal alone.
    """
    shift = keys - queries if sparse_mode in (RIGHT_DOWN, BAND) else 0.0
    if sparse_mode in (LEFT_UP, RIGHT_DOWN):
        previous, following = math.inf, 0.0
    if sparse_mode not in (FULL, LEFT_UP, RIGHT_DOWN, BAND) or not previous + following >= 0:
        return None
    beyond = _area_above(queries, keys, shift + following)
    return queries * keys - beyond - _area_above(keys, queries, previous - shift)


def _area_above(width: float, height: float, offset: float) -> float:
    """Of a rectangle the area above the line that rises by one for one and meets the left side at `offset`."""
    offset = min(max(offset, -width), height)
    whole, ends = min(max(-offset, 0.0), width), min(height - offset, width)
    return whole * height + (height - offset) * (ends - whole) - (ends**2 - whole**2) / 2


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
) -> float | None:
    """Operations of one forward call; None where something that counts is not known.

    `query_ends` and `key_ends` are where the sequences of TND end, one after another; `previous` and `following` the
    keys that a query meets before and behind its own place.
    """
    value = key if value is None else value
    lengths = _lengths_of_sequences(query, key, layout, query_ends, key_ends)
    if lengths is None or not key[-1]:
        return None
    pairs = [counted_pairs(own, other, sparse_mode, previous, following) for own, other in lengths]
    if None in pairs:
        return None
    head = 1 if layout == "TND" else _AXES[layout][2]
    width = query[-1] if head is None else query[-1] * query[head]
    wide = width * value[-1] / key[-1] if head is None else value[-1] * query[head]
    return 2.0 * sum(one for one in pairs if one is not None) * (width + wide)


def _lengths_of_sequences(
    query: Sequence[int], key: Sequence[int], layout: str, query_ends: Sequence[int], key_ends: Sequence[int]
) -> list[tuple[int, int]] | None:
    """Queries and keys of each sequence; None where the shapes are not of that layout, or do not tell."""
    if layout == "TND":
        if len(query) != 3 or len(query_ends) != len(key_ends) or not query_ends:  # noqa: PLR2004 - T, N and D
            return None
        own, other = ([end - begin for begin, end in pairwise([0, *ends])] for ends in (query_ends, key_ends))
        return list(zip(own, other, strict=True))
    if layout not in _AXES or len(query) != len(key):
        return None
    batch, sequence, head = _AXES[layout]
    if len(query) != (3 if head is None else 4):
        return None
    return [(query[sequence], key[sequence])] * query[batch]


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


def flops_of_attention(op_type: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None]) -> float | None:
    """Operations of one kernel by its shapes alone; None unless they say that nothing was masked, and the layout."""
    shapes = _shapes_of_kernel(op_type, inputs, outputs)
    if shapes is None or shapes.sums is None or shapes.is_masked:
        return None
    layout = layout_by_sums(shapes.query, shapes.sums)
    found = attention_flops(shapes.query, shapes.key, layout, FULL, value=shapes.value) if layout else None
    return None if found is None else found * shapes.times


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
    )
    return None if found is None else found * shapes.times


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
