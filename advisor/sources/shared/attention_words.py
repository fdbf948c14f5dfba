# SPDX-License-Identifier: Apache-2.0
"""What programs say of their calls of attention in marks: the arguments as JSON, in the words of msprof-analyze."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.observed import AttentionMark
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes
from advisor.sources.files.jsonfile import parse_json

ATTENTION_DOMAIN = "flash_attn_args"
"""Domain of the mstx marks that hold them (msprof-analyze, module_statistic)."""
_LAYOUTS = ("BSH", "SBH", "BSND", "BNSD", "TND")
_MODES = range(9)
_FULL, _CAUSAL = 0, 2
_TEXTS = ("layout", "query_ends", "key_ends", "prefixes")
_MOST = 1 << 40
"""No sequence is as long."""


class _MarkedArguments(Struct, frozen=True):
    """What one mark says."""

    layout: str | None = None
    sparse_mode: int = _FULL
    previous_tokens: float = np.nan
    next_tokens: float = np.nan
    query_ends: str | None = None
    key_ends: str | None = None
    prefixes: str | None = None


def table_of_marks(  # noqa: PLR0917 - the columns of the table
    rank: int, thread: Array, start_ns: Array, message: Texts, file: str, notes: Notes
) -> Table[AttentionMark]:
    """The marks that can be understood; others are noted as damage of the file.

    Raises:
        FactMissing: There is none.
    """
    message = message.in_use()  # it may share the names of a whole timeline
    said = [None if text is None else _read_mark(text) for text in message.names]
    known = np.array([one is not None for one in said] + [False])[message.codes]
    if lost := int((~known).sum()):
        notes.add(file, "", Message("attention_marks_unusable"), rows=lost)
    rows = np.flatnonzero(known & (start_ns != MISSING))
    if not len(rows):
        raise FactMissing([AttentionMark.table])
    each = [one or _MarkedArguments() for one in said]
    codes = message.codes[rows]
    columns = {name: [getattr(one, name) for one in each] for name in _MarkedArguments.__struct_fields__}
    return Table.build(
        AttentionMark,
        rank=rank,
        thread=thread[rows],
        start_ns=start_ns[rows],
        **{name: Texts.of(columns[name]).at(codes) for name in _TEXTS},
        **{name: np.array(columns[name])[codes] for name in ("sparse_mode", "previous_tokens", "next_tokens")},
    )


def _read_mark(text: str) -> _MarkedArguments | None:
    """What a message says; None where it is no such message, was cut off, or says what no call is given."""
    try:
        found = parse_json(text)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    if "input_layout" not in found:
        causal = found.get("is_causal")
        return _MarkedArguments(sparse_mode=_CAUSAL if causal else _FULL) if isinstance(causal, bool) else None
    return _read_arguments(found)


def _read_arguments(found: Mapping[str, object]) -> _MarkedArguments | None:
    layout, mode = found["input_layout"], found.get("sparse_mode", _FULL)
    if not isinstance(layout, str | None) or not isinstance(mode, int) or isinstance(mode, bool):
        return None
    tokens = [found.get(name) for name in ("pre_tockens", "next_tockens")]
    ends = [_read_ends(found.get(name)) for name in ("actual_seq_qlen", "actual_seq_kvlen")]
    prefixes = _read_lengths(found.get("prefix"))
    if layout not in (*_LAYOUTS, None) or mode not in _MODES or None in ends or prefixes is None:
        return None
    if any(one is not None and not _is_whole(one) for one in tokens):
        return None
    previous, following = (float(one) if isinstance(one, int) else np.nan for one in tokens)
    return _MarkedArguments(layout, mode, previous, following, *(one or None for one in (*ends, prefixes)))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST


def _read_ends(value: object) -> str | None:
    """The ends of sequences as text, empty without any; None where they are no ends. Zeros at the end fill a list."""
    if not (text := _read_lengths(value)):
        return text
    ends = text.split(",")
    while ends and ends[-1] == "0":
        ends.pop()
    return ",".join(ends) if all(one <= other for one, other in pairwise(map(int, ends))) else None


def _read_lengths(value: object) -> str | None:
    """Lengths as text, empty without any; None where they are no lengths."""
    if value is None:
        return ""
    if not isinstance(value, list) or not all(_is_whole(one) and one >= 0 for one in value):
        return None
    return ",".join(map(str, value))
