# SPDX-License-Identifier: Apache-2.0
"""Types and units of values, and how a quantity is written for people.

Units are few and fixed: `us` (durations), `ns` (absolute time), `B` (bytes), `GB/s`, `MHz`, `count`,
`share` (0 to 1, shown as per cent) and `times` (a ratio that may pass 1). No unit means a bare number or an id.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

ValueKind = Literal["number", "text", "bool"]

LONGEST_US = 1e15
"""Nothing lasts 31 years: longer durations are damage, and would overflow int64 ns."""

UNITS = ("", "us", "ns", "B", "GB/s", "MHz", "count", "share", "times")

FACTORS: dict[str, tuple[float, str]] = {
    "us": (1.0, "us"),
    "ms": (1e3, "us"),
    "s": (1e6, "us"),
    "KiB": (1024.0, "B"),
    "MiB": (1024.0**2, "B"),
    "GiB": (1024.0**3, "B"),
    "KB": (1e3, "B"),
    "MB": (1e6, "B"),
    "GB": (1e9, "B"),
}
"""Unit names an expression may multiply by: the factor, and the base unit it gives."""


class Type(Struct, frozen=True):
    """What an expression or a column holds: a kind, a unit for numbers, and one value per row or per group."""

    kind: ValueKind
    unit: str = ""
    per_row: bool = False

    def __str__(self) -> str:
        return f"{self.kind}[{self.unit}]" if self.unit else self.kind


def _write_scaled(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    """The value in the largest step that leaves at least one before the point, with three significant digits."""
    size = abs(value)
    factor, name = next(((f, n) for f, n in steps if size >= f * 0.9995), steps[-1])
    return f"{_write_digits(value / factor)} {name}"


def _write_digits(value: float) -> str:
    """Three significant digits, never in exponents for everyday sizes, thousands grouped."""
    size = abs(float(f"{value:.3g}"))
    if size >= 100 or size == 0:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.3g}"


NO_US = 1e-5
"""Clocks tick in ns: less than a hundredth of one is what sums of floats leave of nothing."""
_TIME = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_BYTES = ((1024.0**4, "TiB"), (1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "B"))


_AS_GOOD_AS_WHOLE = 1e-6
"""What sums of floats leave out of a whole."""


def _write_share(value: float) -> str:
    """Whole per cent from ten on, and nothing is said to be all that is not."""
    percent = value * 100
    if percent == 0:
        return "0 %"
    if 99.5 <= percent < 100 * (1 - _AS_GOOD_AS_WHOLE):
        return f"{percent:.1f} %" if percent < 99.95 else "> 99.9 %"
    return f"{percent:.0f} %" if abs(percent) >= 9.95 else f"{percent:.1f} %" if abs(percent) >= 0.05 else "< 0.1 %"


def _write_count(value: float) -> str:
    """Whole from ten on, with one decimal below that where it is a mean."""
    if 0 < abs(value) < 0.05:
        return "< 0.1" if value > 0 else "> -0.1"
    return f"{value:,.0f}" if abs(value) >= 9.95 else f"{value:.1f}".removesuffix(".0")


_LARGEST = sys.float_info.max


def show_value(value: object, unit: str = "") -> str:
    """A value as people read it: `show(81515.6, "us")` is `81.5 ms`. Missing is an en dash."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if abs(value) > _LARGEST:  # a file may hold whole numbers that no float can
        return "∞" if value > 0 else "-∞"
    return _WRITTEN.get(unit, _write_plain)(value)


def spell_run(first: int, last: int) -> str:
    """Whole numbers that follow each other, such as `8-15`; one of them as it is."""
    return str(first) if first == last else f"{first}-{last}"


def spell_numbers(numbers: Iterable[int], most: int = 8) -> str:
    """Whole numbers in order, such as `0-7, 9`; of more runs than `most` the first ones, and that there are more."""
    ordered = sorted({*numbers})
    runs: list[list[int]] = []
    for number in ordered:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(spell_run(first, last) for first, last in runs[:most]) + (" …" if len(runs) > most else "")


def _write_plain(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.0f}" if value == int(value) else _write_digits(value)


_WRITTEN: dict[str, Callable[[float], str]] = {
    "": _write_plain,
    "us": lambda us: "0 µs" if abs(us) < NO_US else _write_scaled(us, _TIME),
    "ns": lambda ns: f"{ns:,.0f} ns" if isinstance(ns, float) else f"{ns:,} ns",
    "B": lambda size: _write_scaled(size, _BYTES),
    "GB/s": lambda rate: f"{_write_digits(rate)} GB/s",
    "MHz": lambda mhz: f"{_write_digits(mhz)} MHz",
    "count": _write_count,
    "share": _write_share,
    "times": lambda ratio: f"{_write_digits(ratio)}×",
}
"""How a number of each of UNITS is written."""
