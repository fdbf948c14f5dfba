# SPDX-License-Identifier: Apache-2.0
"""What is said where the types of an expression do not fit."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.expr.language import MOMENT
from advisor.messages.message import Message, MessageValue
from advisor.units import Type, ValueKind

_WANTED: Mapping[ValueKind, str] = {"bool": "a_condition", "number": "a_number", "text": "a_text"}
_KINDS: Mapping[ValueKind, str] = {"bool": "kind_bool", "number": "kind_number", "text": "kind_text"}
LITERALS = Message("list_of_literals"), Message("such_as_alone", example='`in ["a", "b"]`')


def say_type(found: Type) -> MessageValue:
    """What a type is called."""
    if found.unit == MOMENT:
        return Message("absolute_time")
    kind = Message(_KINDS[found.kind])
    return Message("kind_in_unit", kind=kind, unit=found.unit) if found.unit else kind


def say_wrong_kind(kind: ValueKind, found: Type) -> Message:
    """Something of one kind was expected, and another was found."""
    return say_wrong_type(_WANTED[kind], found)


def say_wrong_type(wanted: str, found: Type) -> Message:
    """What is called so in the catalogue was expected, and another was found."""
    return Message("expected", wanted=Message(wanted), found=say_type(found))


def say_mismatch(code: str, left: Type, right: Type) -> Message:
    """Two types do not go together: `cannot_combine`, `cannot_compare` or `cannot_choose`."""
    return Message(code, left=say_type(left), right=say_type(right))
