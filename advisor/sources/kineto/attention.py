# SPDX-License-Identifier: Apache-2.0
"""What calls of fused attention are given beside their tensors, out of `Concrete Inputs`: how these lie, and whether a
query meets later keys."""

from __future__ import annotations

from msgspec import Struct

from advisor.facts.observed.device import CAUSAL
from advisor.sources.files.jsonfile import parse_json

_TENSORS = 3
"""Query, key and value."""


class _Operator(Struct, frozen=True):
    """One operator of PyTorch that computes attention."""

    layout: str
    causal: int
    """Which of its arguments says so: true, or 1 and 2 for masks along the first and the last query."""
    lengths: tuple[int, int]
    """The arguments that say where packed sequences begin."""
    bias: int | None = None
    before: int = 0
    """Tensors before the query: the gradient of the output."""


_OPERATORS = {
    "aten::_flash_attention_forward": _Operator("BSND", 8, (3, 4)),
    "aten::_flash_attention_backward": _Operator("BSND", 11, (6, 7), before=1),
    "aten::_efficient_attention_forward": _Operator("BSND", 9, (4, 5), bias=3),
    "aten::_efficient_attention_backward": _Operator("BSND", 14, (6, 7), bias=4, before=1),
    "aten::_cudnn_attention_forward": _Operator("BNSD", 10, (4, 5), bias=3),
    "aten::_cudnn_attention_backward": _Operator("BNSD", 14, (9, 10), bias=8, before=1),
    "aten::_scaled_dot_product_cudnn_attention": _Operator("BNSD", 6, (-1, -1), bias=3),
    "aten::_scaled_dot_product_cudnn_attention_backward": _Operator("BNSD", 14, (9, 10), bias=8, before=1),
}
"""Their arguments are numbered as in native_functions.yaml of PyTorch 2.5 and later; those of a layer above, such as
`_scaled_dot_product_flash_attention`, call one of them."""

ATTENTION = frozenset(_OPERATORS)
"""Operators of which the arguments are kept."""


def formats_of_attention(operator: str, given: str, dims: str) -> str | None:
    """The formats of the inputs of such a call, `;` between tensors, the query's with `causal` before it where it is;
    None where that is not told, or something else decides what is masked."""
    told = _OPERATORS.get(operator)
    values, shapes = _list_of(given), _list_of(dims)
    if told is None or len(values) <= told.causal or len(shapes) < told.before + _TENSORS:
        return None
    aside = [*(place for place in told.lengths if place >= 0), *([] if told.bias is None else [told.bias])]
    if any(place < len(shapes) and shapes[place] for place in aside):
        return None
    query, key = shapes[told.before : told.before + 2]
    causal = values[told.causal] in ("True", "1", "2")
    if not (isinstance(query, list) and isinstance(key, list) and len(query) == len(key) == len(told.layout)):
        return None
    if causal and query[told.layout.index("S")] != key[told.layout.index("S")]:
        return None  # along which edge the keys are left out differs between versions
    word = f"{CAUSAL} {told.layout}" if causal else told.layout
    return ";".join([*[""] * told.before, word, *[told.layout] * (_TENSORS - 1)])


def _list_of(text: str) -> list[object]:
    try:
        found = parse_json(text)
    except ValueError:
        return []
    return found if isinstance(found, list) else []
