# SPDX-License-Identifier: Apache-2.0
"""Amounts as people write them in settings: `250ms`, `60GiB`, `25%`. Never a number whose unit is to be guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from advisor.messages.errors import Unclear
from advisor.messages.message import Message, MessageValue, did_you_mean, either_of
from advisor.messages.wide_signs import hint_on_wide_sign
from advisor.yaml_files.suggestions import suggest_known


class AmountKind(Struct, frozen=True):
    """One kind of amount: its base unit, the units people may write, the code of its name, and examples."""

    unit: str
    units: Mapping[str, float]
    called: str
    examples: tuple[str, ...]

    @property
    def example(self) -> MessageValue:
        """How it is written: one way or another."""
        return either_of(*self.examples)


SHARE = AmountKind("share", {"%": 0.01, "": 1.0}, "a_share", ("`0.25`", "`25%`"))
TIME = AmountKind("us", {"us": 1.0, "µs": 1.0, "μs": 1.0, "ms": 1e3, "s": 1e6}, "a_time", ("`250ms`",))
MEMORY = AmountKind(
    "B",
    {name: 1024.0**power for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}
    | {name: 1000.0**power for power, name in enumerate(("KB", "MB", "GB", "TB"), 1)},
    "an_amount_of_memory",
    ("`60GiB`",),
)

_AMOUNT = re.compile(r"([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)\s*([^\W\d_]*|%)")


def parse_amount(words: str, *measures: AmountKind) -> tuple[float, str]:
    """The amount in the base unit of the measure it is of, and that unit.

    Raises:
        Unclear: It is none, has no unit or an unknown one, is negative or not finite, or is a share above the whole.
    """
    called = either_of(*(Message(measure.called) for measure in measures))
    example = Message("for_example", example=either_of(*(measure.example for measure in measures)))
    found = _AMOUNT.fullmatch(words.strip())
    if found is None:
        plain = _AMOUNT.fullmatch(re.sub(r"[_,]", "", words.strip()))
        hint = Message("write_plainly", words=plain[0]) if plain else hint_on_wide_sign(words) or example
        raise Unclear(Message("is_not", words=words, wanted=called), hint)
    number, unit = float(found[1]), found[2]
    measure = _measure_of_unit(unit, measures, words, called)
    value = number * measure.units[unit]
    if value < 0 or not math.isfinite(value):
        raise Unclear(Message("is_not", words=words, wanted=called), example)
    if measure is SHARE and value > 1:
        raise Unclear(Message("more_than_whole", words=words), _large_share_hint(found[1], unit, measures))
    return value, measure.unit


def _measure_of_unit(unit: str, measures: Sequence[AmountKind], words: str, called: MessageValue) -> AmountKind:
    """The measure that has this unit."""
    known = [name for measure in measures for name in measure.units if name]
    for measure in measures:
        if unit in measure.units:
            return measure
    if not unit:
        hint = Message("written_like", what=called, example=measures[0].example)
        raise Unclear(Message("has_no_unit", words=words), hint)
    alike = [name for name in known if name.lower() == unit.lower() or name.lower() == f"{unit}ib".lower()]
    raise Unclear(Message("unknown_unit", name=unit), did_you_mean(alike[:1]) or suggest_known(unit, known))


def _large_share_hint(number: str, unit: str, measures: Sequence[AmountKind]) -> Message:
    """What somebody who wrote a share above 1 may have meant."""
    meant = [f"{number}%"] if not unit and float(number) * SHARE.units["%"] <= 1 else []
    meant += [f"{number}ms"] if not unit and TIME in measures else []
    return did_you_mean(meant) or Message("share_between")
