# SPDX-License-Identifier: Apache-2.0
"""Amounts as people write them in settings: `250ms`, `60GiB`, `25%`. Never a number whose unit is to be guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from advisor.rules.source import nearest


class Measure(Struct, frozen=True):
    """One kind of amount: its base unit, the units people may write, and an example."""

    unit: str
    units: Mapping[str, float]
    called: str
    example: str


SHARE = Measure("share", {"%": 0.01, "": 1.0}, "a share", "`0.25` or `25%`")
TIME = Measure("us", {"us": 1.0, "µs": 1.0, "μs": 1.0, "ms": 1e3, "s": 1e6}, "a time", "`250ms`")
MEMORY = Measure(
    "B",
    {name: 1024.0**power for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}
    | {name: 1000.0**power for power, name in enumerate(("KB", "MB", "GB", "TB"), 1)},
    "an amount of memory",
    "`60GiB`",
)

_AMOUNT = re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)\s*([^\W\d_]*|%)")


class Unclear(ValueError):
    """An amount that cannot be understood: what is wrong with it, and what would be right."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.hint = hint


def amount(words: str, *measures: Measure) -> tuple[float, str]:
    """The amount in the base unit of the measure it is of, and that unit.

    Raises:
        Unclear: It is none, has no unit or an unknown one, is negative or not finite, or is a share above the whole.
    """
    called = " or ".join(measure.called for measure in measures)
    example = " or ".join(measure.example for measure in measures)
    found = _AMOUNT.fullmatch(words.strip())
    if found is None:
        plain = _AMOUNT.fullmatch(re.sub(r"[_,]", "", words.strip()))
        hint = f"write `{plain[0]}`, without `_` or `,`" if plain else f"for example {example}"
        raise Unclear(f"`{words}` is not {called}", hint)
    number, unit = float(found[1]), found[2]
    measure = _of(unit, measures, words, called)
    value = number * measure.units[unit]
    if value < 0 or not math.isfinite(value):
        raise Unclear(f"`{words}` is not {called}", f"for example {example}")
    if measure is SHARE and value > 1:
        raise Unclear(f"`{words}` is more than the whole", _smaller(found[1], unit, measures))
    return value, measure.unit


def _of(unit: str, measures: Sequence[Measure], words: str, called: str) -> Measure:
    """The measure that has this unit."""
    known = [name for measure in measures for name in measure.units if name]
    for measure in measures:
        if unit in measure.units:
            return measure
    if not unit:
        raise Unclear(f"`{words}` has no unit", f"{called} is written like {measures[0].example}")
    alike = [name for name in known if name.lower() == unit.lower() or name.lower() == f"{unit}ib".lower()]
    raise Unclear(f"unknown unit `{unit}`", f"did you mean `{alike[0]}`?" if alike else nearest(unit, known))


def _smaller(number: str, unit: str, measures: Sequence[Measure]) -> str:
    """What somebody who wrote a share above 1 may have meant."""
    meant = [f"`{number}%`"] if not unit and float(number) * SHARE.units["%"] <= 1 else []
    meant += [f"`{number}ms`"] if not unit and TIME in measures else []
    return f"did you mean {' or '.join(meant)}?" if meant else "a share lies between 0 and 1, or 0% and 100%"
