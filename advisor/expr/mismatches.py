# SPDX-License-Identifier: Apache-2.0
"""What is said where the types of an expression do not fit."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.expr.language import MOMENT
from advisor.messages.message import Message, Value
from advisor.units import Kind, Type

_WANTED: Mapping[Kind, str] = {"bool": "a_condition", "number": "a_number", "text": "a_text"}
LITERALS = Message("list_of_literals"), Message("such_as_alone", example='`in ["a", "b"]`')


def called(found: Type) -> Value:
    """What a type is called."""
    return Message("absolute_time") if found.unit == MOMENT else str(found)


def expected(kind: Kind, found: Type) -> Message:
    """Something of one kind was expected, and another was found."""
    return mistyped(_WANTED[kind], found)


def mistyped(wanted: str, found: Type) -> Message:
    """What is called so in the catalogue was expected, and another was found."""
    return Message("expected", wanted=Message(wanted), found=called(found))


def mismatch(code: str, left: Type, right: Type) -> Message:
    """Two types do not go together: `cannot_combine`, `cannot_compare` or `cannot_choose`."""
    return Message(code, left=called(left), right=called(right))
