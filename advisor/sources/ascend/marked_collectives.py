# SPDX-License-Identifier: Apache-2.0
"""Collectives of which marks alone tell: torch_npu sets an mstx mark around each of its own, at `Level_none` too.

The message of such a mark is JSON with the stream, the count, the data type, the communicator and the operator, in some
versions with escaped quotation marks; the operator ran as long as the task that the mark leaves on the device. Mode
`mstx2commop` of msprof-analyze adds them to a database as if they had been recorded.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.record_cells import number_rows
from advisor.sources.files.database import are_spans

_CALLED = {
    **{kind.lower(): kind for kind in ("allReduce", "allGather", "reduceScatter", "batchSendRecv")},
    "recv": "receive",
}
"""How operators are called elsewhere that marks call otherwise, by their names in small letters."""


class MarkedCollectives(Struct, frozen=True):
    """Collectives in order of start, column by column; the end is on the device, as the start."""

    name: Texts
    group: Texts
    """The hash of the communicator."""
    dtype: Texts
    count: Array
    """Elements; NaN where the mark does not tell."""
    start_ns: Array
    end_ns: Array
    host_ns: Array
    """When the program set the mark; missing where that is not recorded."""


class _Message(Struct, frozen=True):
    """What the message of a mark says; a message that is not of this kind has other fields."""

    op: str = msgspec.field(name="opName")
    group: str = msgspec.field(name="groupName")
    dtype: str = msgspec.field(name="dataType")
    count: str | int = ""


_DECODER = msgspec.json.Decoder(_Message, strict=False)


def marked_collectives(
    message: Texts, start_ns: Array, end_ns: Array, host_ns: Array | None = None
) -> MarkedCollectives | None:
    """Those among tasks of the device that were left by marks of these messages; None where there are none."""
    told = [_decode(text) for text in message.names]
    rows = np.flatnonzero(message.hits(one is not None for one in told) & are_spans(start_ns, end_ns))
    if not len(rows):
        return None
    rows = rows[np.argsort(start_ns[rows], kind="stable")]
    codes = message.codes[rows]
    said = [one or _Message("", "", "") for one in told]
    group = Texts.of(communicator_hash(one.group) or None for one in said).at(codes)
    kind = Texts.of(_kind_of(one.op) for one in said).at(codes)
    return MarkedCollectives(
        name=_numbered_names(kind, group),
        group=group,
        dtype=Texts.of(one.dtype.upper() or None for one in said).at(codes),
        count=np.array([_count_of(one.count) for one in said])[codes],
        start_ns=start_ns[rows],
        end_ns=end_ns[rows],
        host_ns=np.full(len(rows), MISSING) if host_ns is None else host_ns[rows],
    )


def tell_of_collectives(message: Texts) -> Array:
    """Per row: whether it is the message of such a mark."""
    return message.hits(_decode(text) is not None for text in message.names)


def _decode(text: str) -> _Message | None:
    """What the message of a collective says; None of every other text."""
    plain = text.replace('\\"', '"')
    if not plain.startswith("{") or '"opName"' not in plain:
        return None
    try:
        return _DECODER.decode(plain)
    except msgspec.MsgspecError:  # a mark of somebody else's
        return None


def _kind_of(op: str) -> str:
    """`allReduce` of `HcclAllreduce`."""
    plain = op.lower().removeprefix("hccl").removeprefix("hcom_").strip("_")
    return _CALLED.get(plain, plain)


def _count_of(said: str | int) -> float:
    try:
        count = float(said)
    except ValueError:
        return math.nan
    return count if count >= 0 else math.nan


def _numbered_names(kind: Texts, group: Texts) -> Texts:
    """A name for each as HCCL gives it, `hcom_allReduce__271_3`: kind, last digits of the communicator's hash, and how
    many of them came before."""
    number = number_rows([kind.codes, group.codes])
    order = np.argsort(number, kind="stable")
    first = np.searchsorted(number[order], np.arange(int(number.max(initial=-1)) + 1))
    turn = np.empty(len(number), np.int64)
    turn[order] = np.arange(len(number)) - first[number[order]]
    rows = zip(kind.values(), group.values(), turn.tolist(), strict=True)
    return Texts.of(f"hcom_{one}__{(of or '')[-3:]}_{number}" for one, of, number in rows)
