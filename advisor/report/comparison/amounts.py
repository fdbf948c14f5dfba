# SPDX-License-Identifier: Apache-2.0
"""How a difference is written: with its sign, and as a part of what was before."""

from __future__ import annotations

from advisor.units import NO_US, show_value

MINUS = "−"
_NEGLIGIBLE = 0.0005
_MANYFOLD = 10.0


def signed_amount(value: float | None, unit: str = "us") -> str:
    """`+14.2 ms`, `−3.1 ms`, `0 µs`; an en dash where it is not known."""
    if value is None or value == 0 or (unit == "us" and abs(value) < NO_US):
        return show_value(value, unit)
    return f"{'+' if value > 0 else MINUS}{show_value(abs(value), unit)}"


def percent_change(before: float | None, after: float | None) -> str:
    """`+12 %` of what was before; `×25` where it is many times as much; nothing where there was nothing before."""
    if before is None or after is None or before <= 0:
        return ""
    part = (after - before) / before
    if abs(part) < _NEGLIGIBLE:
        return "±0 %"
    return f"×{after / before:,.0f}" if part >= _MANYFOLD else signed_amount(part, "share")
