# SPDX-License-Identifier: Apache-2.0
"""Floating-point operations of fused attention: two products over all pairs of a query and a key that are not masked.

Which pairs count is known where the mode of masking is: by what the program said of its call, or where no mask was
given. How the sequences lie in the tensors (the layout) is known by that word, or by the shape of the softmax sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from advisor.analysis.tensors import Tensor

FORWARD, BACKWARD = "FlashAttentionScore", "FlashAttentionScoreGrad"
BACKWARD_TIMES = 2.5
"""Five products where the forward pass has two: Dao, FlashAttention-2 (arXiv 2307.08691), section 4.1."""
FULL, LEFT_UP, RIGHT_DOWN = 0, 2, 3
"""`sparse_mode` of npu_fusion_attention: no pair left out, causal from the first query, causal to the last."""
_SUMS = 8
"""The softmax sums of each query and head are written eight times over."""
_AXES = {"BSH": (0, 1, None), "SBH": (1, 0, None), "BNSD": (0, 2, 1), "BSND": (0, 1, 2)}
"""Where batch, sequence and heads stand in each layout."""


def counted_pairs(queries: float, keys: float, sparse_mode: int) -> float | None:
    """Pairs of a query and a key that a mode of masking keeps, as areas; None for modes that shapes do not tell."""
    more = max(queries - keys, 0.0)
    if sparse_mode == FULL:
        return queries * keys
    if sparse_mode == LEFT_UP:  # of queries beyond the last key none is masked
        return min(queries, keys) ** 2 / 2 + more * keys
    if sparse_mode == RIGHT_DOWN:  # queries before the first key see nothing
        return queries * keys - queries**2 / 2 if queries <= keys else keys**2 / 2
    return None


def attention_flops(
    query: Sequence[int],
    key: Sequence[int],
    layout: str,
    sparse_mode: int,
    *,
    value: Sequence[int] | None = None,
    heads: int = 0,
    query_ends: Sequence[int] = (),
    key_ends: Sequence[int] = (),
) -> float | None:
    """Operations of one forward call; None where something that counts is not known.

    `heads` is that of the queries, needed where BSH or SBH has heads of the values unlike those of the queries;
    `query_ends` and `key_ends` are where the sequences of TND end, one after another.
    """
    if layout == "TND":
        return _of_packed(query, value or key, sparse_mode, query_ends, key_ends)
    if layout not in _AXES or len(query) != len(key):
        return None
    batch, sequence, head = _AXES[layout]
    if len(query) <= max(batch, sequence, head or 0, 2 if head is None else 3):
        return None
    pairs = counted_pairs(query[sequence], key[sequence], sparse_mode)
    width = query[-1] if head is None else query[-1] * query[head]
    wide = width if value is None or head is None else value[-1] * query[head]
    return None if pairs is None else 2.0 * query[batch] * pairs * (width + wide)


def _of_packed(
    query: Sequence[int], value: Sequence[int], sparse_mode: int, query_ends: Sequence[int], key_ends: Sequence[int]
) -> float | None:
    """Sequences of different lengths one after another, (all tokens, heads, width of a head)."""
    if len(query) != 3 or len(query_ends) != len(key_ends) or not query_ends:  # noqa: PLR2004 - T, N and D
        return None
    lengths = [[end - begin for begin, end in pairwise([0, *ends])] for ends in (query_ends, key_ends)]
    pairs = [counted_pairs(own, other, sparse_mode) for own, other in zip(*lengths, strict=True)]
    if None in pairs:
        return None
    return 2.0 * sum(one for one in pairs if one is not None) * query[1] * (query[2] + value[-1])


def flops_of_attention(op_type: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None]) -> float | None:
    """Operations of one kernel by its shapes alone; None unless they say that nothing was masked, and the layout."""
    given = [tensor.sides for tensor in inputs if tensor is not None]
    beside = [tensor.sides for tensor in outputs if tensor is not None]
    sums = next((sides for sides in (*beside, *given) if len(sides) == 4 and sides[-1] == _SUMS), None)  # noqa: PLR2004
    count = 4 if op_type == BACKWARD else 3
    if sums is None or len(given) < count or not _is_unmasked(given, sums):
        return None
    query, key = given[0], given[1]
    layout = layout_by_sums(query, sums)
    found = attention_flops(query, key, layout, FULL, value=given[2]) if layout else None
    return None if found is None else found * (BACKWARD_TIMES if op_type == BACKWARD else 1.0)


def _is_unmasked(given: Sequence[tuple[int, ...]], sums: tuple[int, ...]) -> bool:
    """Whether every tensor is one of queries, keys or values, or of softmax sums: a mask or a bias is neither."""
    axes = len(given[0])
    return all(sides == sums or (len(sides) == axes and sides[-1] in {one[-1] for one in given[:3]}) for sides in given)


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
