# SPDX-License-Identifier: Apache-2.0
"""What unit comes out when two quantities meet; None where they must not."""

from __future__ import annotations

import re
from collections import Counter

from advisor.expr.language import MOMENT

_FACTOR = re.compile(r"([*/]?)(GB/s|\w+)")
_RATIOS = ("", "share", "times")


def common_unit(left: str, right: str) -> str | None:
    """The unit of a sum, a difference or a comparison: equal units, or one bare number; shares meet ratios."""
    if left == right:
        return left
    if MOMENT in (left, right):
        return None
    if not left or not right:
        return left or right
    return "times" if {left, right} == {"share", "times"} else None


def unit_of_product(left: str, right: str) -> str:
    """The unit of a product: ratios, counts and bare numbers keep the unit of the other."""
    if left in _RATIOS and right in _RATIOS:
        return "times" if "times" in (left, right) else left or right
    if left in (*_RATIOS, "count"):
        return left if right in _RATIOS else right
    if right in (*_RATIOS, "count"):
        return left
    above, below = _split_unit(left)
    over, under = _split_unit(right)
    return _compose_unit(above + over, below + under)


def unit_of_quotient(left: str, right: str) -> str:
    """The unit of a quotient: equal units give a share, the rest as in `product`."""
    if left == right:
        return "" if not left else "times" if left == "times" else "share"
    if right in (*_RATIOS, "count"):
        return "times" if left == "share" and right == "times" else left
    above, below = _split_unit(left)
    over, under = _split_unit(right)
    return _compose_unit(above + under, below + over)


def _split_unit(unit: str) -> tuple[Counter[str], Counter[str]]:
    """The base units above and below the line; ratios and counts have none."""
    above: Counter[str] = Counter()
    below: Counter[str] = Counter()
    if unit in (*_RATIOS, "count"):
        return above, below
    for sign, name in _FACTOR.findall(unit):
        if name != "1":
            (below if sign == "/" else above)[name] += 1
    return above, below


def _compose_unit(above: Counter[str], below: Counter[str]) -> str:
    top, bottom = sorted((above - below).elements()), sorted((below - above).elements())
    if not top and not bottom:
        return "share"
    return "/".join(["*".join(top) or "1", *bottom])
