# SPDX-License-Identifier: Apache-2.0
"""Thresholds of rules as settings write them: a number in the unit of the threshold, and a share also as `25%`."""

from __future__ import annotations

import math
from typing import Any

from advisor.messages.errors import Unclear
from advisor.messages.message import Message
from advisor.model.findings import Param
from advisor.yaml_files.amounts import SHARE, parse_amount
from advisor.yaml_files.document import Path_
from advisor.yaml_files.mistakes import Faults


def read_threshold(path: Path_, given: Any, faults: Faults) -> float | None:
    """The number, whatever threshold it is for; None where it is none, which is noted."""
    name = path[-1]
    if isinstance(given, str) and given.rstrip().endswith("%"):
        try:
            return parse_amount(given, SHARE)[0]
        except Unclear as unclear:
            faults.wrong(path, Message("part", part=name, what=unclear.what), unclear.hint)
            return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        faults.wrong(path, Message("is_number_not", name=name, given=str(given)))
        return None
    return float(given)


def check_threshold(param: Param, value: float, words: str) -> None:
    """Holds what was set, and how it was written, against what the threshold is measured in.

    A rule whose own value lies above the whole says what may exceed it.

    Raises:
        Unclear: It is a share below nothing or above the whole, or per cent of what is no share.
    """
    if param.unit != SHARE.unit:
        if words.rstrip().endswith("%"):
            raise Unclear(Message("no_share", name=param.name), Message("for_example", example=f"`{param.value:g}`"))
    elif value < 0 or (value > 1 and param.value <= 1):
        parse_amount(words, SHARE)
