# SPDX-License-Identifier: Apache-2.0
"""Operations of kernels that do more than multiply: products with the collective beside them, with activation,
routing or quantisation behind them, and layers in one kernel.

Operators and the sides of their tensors as the documentation of CANN names them (ops-transformer: mc2, gmm, ffn,
attention/mla_prolog; ops-nn: matmul). What the sides do not confirm is missing.
"""

from __future__ import annotations

import re
from math import prod

from advisor.analysis.arrays.tensors import Tensor
from advisor.analysis.rooflines.products import Tensors, are_equal, product_of

_RECEIVES = re.compile(r"(AllGather|All[Tt]o[Aa]llv?)\w*Mat_?[Mm]ul(V\d)?$")
"""Rows come from other ranks before they are multiplied: as many as the output has."""
_SENDS = re.compile(r"(Inplace)?(Grouped|Batch|Quant)*Mat_?[Mm]ul(V\d)?(AllReduce|ReduceScatter|All[Tt]o[Aa]ll)\w*$")
"""Rows are multiplied before they or their sums go to other ranks: as many as the input has."""
_ALL_REDUCE = "AllReduce"
_ACTIVATED = re.compile(r"GroupedMat_?[Mm]ulSwi[Gg]luQuant(V\d)?$")
"""Half of what is multiplied scales the other half."""
_ROUTED = re.compile(r"GroupedMat_?[Mm]ulFinalizeRouting(V\d)?$")
"""Rows of the same token are summed up behind the product."""
_TRANSPOSED = re.compile(r"TransposeBatchMat_?[Mm]ul(V\d)?$")
_LAYER = re.compile(r"FFN(V\d)?$")
_PROLOG = re.compile(r"MlaProlog(V\d)?$")


def communicates(op_type: str) -> bool:
    """Whether a kernel multiplies and exchanges with other ranks at once: its bytes tell nothing of its time."""
    return _RECEIVES.match(op_type) is not None or _SENDS.match(op_type) is not None


def flops_of_fused(op_type: str, inputs: Tensors, outputs: Tensors) -> float | None:
    """Operations of one call on one rank; None of other operators, and where the sides do not fit."""
    if len(inputs) < 2 or not outputs or inputs[0] is None or inputs[1] is None or outputs[0] is None:  # noqa: PLR2004
        return None
    values, weights, out = inputs[0], inputs[1], outputs[0]
    if communicates(op_type):
        return _with_shared_expert(_exchanged(op_type, values, weights, out), inputs[2:], outputs[1:])
    if _ACTIVATED.match(op_type):
        return _of_rows(values, weights, 2 * out.matrix[-1])
    if _ROUTED.match(op_type):
        return _of_rows(values, weights, out.matrix[-1])
    if _TRANSPOSED.match(op_type):
        return _of_transposed(values, weights, out)
    if _LAYER.match(op_type):
        return _of_layer(values, weights, inputs[2] if len(inputs) > 2 else None, out)  # noqa: PLR2004
    return _of_prolog(values, inputs[1:5]) if _PROLOG.match(op_type) else None


def _of_rows(values: Tensor, weights: Tensor, columns: int) -> float | None:
    """Each row of the values times the weights that meet it, of which each makes so many columns."""
    width = values.matrix[-1]
    if not width or not _are_sides(weights, width, columns):
        return None
    return 2.0 * prod(values.matrix[:-1]) * prod(weights.matrix[-2:])


def _are_sides(weights: Tensor, rows: int, columns: int) -> bool:
    """Whether weights have these two sides, one or the other way around."""
    if len(weights.matrix) < 2:  # noqa: PLR2004 - rows and columns
        return False
    own = weights.matrix[-2:]
    return any(
        are_equal(one, rows, weights.is_blocked) and are_equal(other, columns, weights.is_blocked)
        for one, other in (own, own[::-1])
    )


def _exchanged(op_type: str, values: Tensor, weights: Tensor, out: Tensor) -> float | None:
    """Each rank multiplies the rows it holds at that moment: those received before, or those it sends behind."""
    if len(weights.matrix) < 2 or not values.matrix[-1] or not out.matrix[-1]:  # noqa: PLR2004
        return None
    width, columns, own = values.matrix[-1], out.matrix[-1], weights.matrix[-2:]
    padded = weights.is_blocked
    if _RECEIVES.match(op_type):
        fits = any(are_equal(one, columns, padded) and other % width == 0 for one, other in (own, own[::-1]))
        rows = prod(out.matrix[:-1])
    else:
        parted = _ALL_REDUCE not in op_type
        fits = any(
            are_equal(one, width, padded) and (are_equal(other, columns, padded) or (parted and other % columns == 0))
            for one, other in (own, own[::-1])
        )
        rows = prod(values.matrix[:-1])
    return 2.0 * rows * prod(own) if fits else None


def _with_shared_expert(flops: float | None, inputs: Tensors, outputs: Tensors) -> float | None:
    """The operations with those of a second product that runs beside the exchange, where it has one."""
    given = [tensor for tensor in inputs if tensor is not None and len(tensor.matrix) == 2]  # noqa: PLR2004
    if flops is None or len(given) < 2:  # noqa: PLR2004
        return flops
    found = (product_of(given[0], given[1], out) for out in outputs)
    beside = next((one for one in found if one is not None), None)
    return flops if beside is None else flops + beside.flops


def _of_transposed(values: Tensor, weights: Tensor, out: Tensor) -> float | None:
    """Batches of products whose batches and rows lie either way: the values are met by as many columns each."""
    if len(values.sides) != 3 or len(weights.sides) != 3 or weights.sides[0] not in values.sides[:2]:  # noqa: PLR2004
        return None
    _, width, columns = weights.sides
    fits = values.sides[-1] == width and out.elements * width == values.elements * columns
    return 2.0 * values.elements * columns if fits else None


def _of_layer(values: Tensor, first: Tensor, second: Tensor | None, out: Tensor) -> float | None:
    """Both products of a feed-forward layer; a gated activation halves what lies between them."""
    if second is None or len(first.matrix) < 2 or len(second.matrix) < 2:  # noqa: PLR2004
        return None
    inner = first.matrix[-1] if are_equal(first.matrix[-2], values.matrix[-1], first.is_blocked) else first.matrix[-2]
    up = _of_rows(values, first, inner)
    fits = any(_are_sides(second, one, out.matrix[-1]) for one in (inner, inner // 2))
    return None if up is None or not fits else up + 2.0 * prod(values.matrix[:-1]) * prod(second.matrix[-2:])


def _of_prolog(tokens: Tensor, weights: Tensors) -> float | None:
    """The four products before multi-head latent attention: each token meets every weight of them once."""
    known = [one for one in weights if one is not None and one.dtype == tokens.dtype]
    if len(known) != 4 or min(len(one.matrix) for one in known) < 2:  # noqa: PLR2004
        return None
    down, up, absorbed, latent = known
    width = tokens.matrix[-1]
    chained = (
        are_equal(down.matrix[-2], width, down.is_blocked)
        and are_equal(latent.matrix[-2], width, latent.is_blocked)
        and are_equal(up.matrix[-2], down.matrix[-1], up.is_blocked)
        and len(absorbed.matrix) == 3  # noqa: PLR2004 - heads, their width, and the latent one
    )
    return 2.0 * prod(tokens.matrix[:-1]) * sum(prod(one.matrix) for one in known) if chained else None
