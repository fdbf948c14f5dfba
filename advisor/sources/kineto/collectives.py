# SPDX-License-Identifier: Apache-2.0
"""Collective and Group: the kernels of collectives, and the process groups that the header lists."""

from __future__ import annotations

import re

import numpy as np

from advisor.facts.nesting import nest_intervals
from advisor.facts.observed import Collective, Group
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.kineto.kernel_names import direct_collective, function_name
from advisor.sources.kineto.kernels import OPERATORS, operators_behind
from advisor.sources.kineto.reading import EXPORT, Trace, pick_texts, place_in, rows_or_missing
from advisor.sources.kineto.steps import steps_of_work
from advisor.sources.reading import Reading

OPS = (
    ("allReduce", re.compile(r"_?all_?reduce")),
    ("reduceScatter", re.compile(r"_?reduce_?scatter")),
    ("allGather", re.compile(r"_?all_?gather")),
    ("allToAllV", re.compile(r"_?all_?to_?all")),
    ("broadcast", re.compile(r"_?broadcast")),
    ("send", re.compile(r"i?send($|_|\s)")),
    ("receive", re.compile(r"i?recv")),
    ("batchSendRecv", re.compile(r"send_?recv|coalesced")),
    ("reduce", re.compile(r"reduce")),
    ("scatter", re.compile(r"scatter")),
    ("gather", re.compile(r"gather")),
)
"""Kinds of collectives, by how PyTorch, NCCL and operators spell them in small letters; the first that fits."""
_HOST = (*OPERATORS, "user_annotation", "cpu_user_annotation")
_P2P = ("send", "receive", "batchSendRecv")
_KERNEL = re.compile(r"(?:nccl|rccl)(?:Dev)?Kernel_?([A-Za-z]+)")
_OPERATOR = re.compile(r"(?:c10d|nccl|record_param_comms)[:_]*(\w*)")

DTYPE_BYTES = {
    "Float": 4,
    "Double": 8,
    "Half": 2,
    "BFloat16": 2,
    "Int": 4,
    "Long": 8,
    "Short": 2,
    "Byte": 1,
    "Char": 1,
    "Bool": 1,
}
"""Bytes of one element, by the name that PyTorch gives its type."""
_DTYPE_NAMES = {"Float": "FP32", "Double": "FP64", "Half": "FP16", "BFloat16": "BFP16", "Int": "INT32", "Long": "INT64"}


def bus_factor(op: str, members: int) -> float:
    """Bus bytes over the payload that each rank puts in, by PERFORMANCE.md of nccl-tests; NaN where that says nothing.

    What ranks put into an allToAllV may be as uneven as what they get.
    """
    if members < 2:  # noqa: PLR2004 - nothing is sent
        return np.nan
    others = members - 1
    factors = {
        "allReduce": 2 * others / members,
        "reduceScatter": others / members,
        "allGather": float(others),
        "broadcast": 1.0,
        "reduce": 1.0,
    }
    return factors.get(op, np.nan)


def op_of(name: str) -> str:
    """The kind of a collective by one of its names; empty where none of them is known."""
    plain = name.strip().lower()
    return next((op for op, words in OPS if words.match(plain)), "")


def _op_of_kernel(name: str) -> str:
    found = _KERNEL.match(function_name(name))
    return op_of(found[1]) if found else direct_collective(name)


def _op_of_operator(name: str) -> str:
    found = _OPERATOR.match(name)
    return op_of(found[1]) if found else ""


def _collectives_of_trace(trace: Trace) -> Table[Collective]:
    content = trace.content()
    slices = content.slices
    rows = rows_or_missing(np.flatnonzero(trace.work_of_collectives()), Collective)
    payload = content.collectives
    place = place_in(payload.row, rows)
    group, dtype = (pick_texts(texts, place) for texts in (payload.group, payload.dtype))
    op, named = _ops_of_calls(trace, rows, pick_texts(payload.op, place))
    bytes_each = np.array([*(DTYPE_BYTES.get(name, np.nan) for name in dtype.names), np.nan])[dtype.codes]
    size_bytes = values_at(payload.elements, place, np.nan) * bytes_each
    return Table.build(
        Collective,
        rank=trace.rank,
        step=steps_of_work(trace, rows),
        name=slices.name.take(rows),
        op=op,
        group=group,
        group_kind=_kinds_of_groups(trace, group),
        p2p=(op.isin(_P2P) & named).astype(np.int8),
        start_ns=slices.start_ns[rows],
        elapse_us=(slices.end_ns[rows] - slices.start_ns[rows]) / 1000,
        size_bytes=size_bytes,
        bus_bytes=size_bytes * _bus_factors(trace, op, group),
        dtype=Texts(dtype.codes, tuple(_DTYPE_NAMES.get(name, name) for name in dtype.names)),
    ).sorted_by("start_ns")


def _ops_of_calls(trace: Trace, rows: Array, told: Texts) -> tuple[Texts, Array]:
    """What each call is: as its arguments say, else the operator that asked for it, else what ran around its launch,
    else the kernel's name.

    And whether anything but the kernel says so: NCCL sends and receives in one kernel for an all-to-all too.
    """
    name = trace.content().slices.name
    asked = pick_texts(name, operators_behind(trace, rows))
    number = {op: code for code, (op, _) in enumerate(OPS)}
    told_codes, asked_codes, kernel_codes = (
        np.array([*(number.get(op_by(one), -1) for one in texts.names), -1], np.int32)[texts.codes]
        for texts, op_by in (
            (told, op_of),
            (asked.in_use(), _op_of_operator),
            (name.take(rows).in_use(), _op_of_kernel),
        )
    )
    named = np.where(told_codes >= 0, told_codes, asked_codes)
    unnamed = np.flatnonzero(named < 0)
    around = pick_texts(name, _named_around_launch(trace, rows[unnamed])).in_use()
    named[unnamed] = np.array([*(number.get(_op_of_operator(one), -1) for one in around.names), -1])[around.codes]
    return Texts(np.where(named >= 0, named, kernel_codes), tuple(number)), named >= 0


def _named_around_launch(trace: Trace, rows: Array) -> Array:
    """For each of these kernels the innermost slice around its launch whose name tells a collective, -1 without one.

    Old traces link a kernel to no operator; PyTorch marks a range such as `nccl:all_reduce` around each launch.
    """
    slices = trace.content().slices
    call = trace.launching_calls(rows)
    telling = slices.name.hits(bool(_op_of_operator(one)) for one in slices.name.names)
    own = np.flatnonzero(telling & slices.category.isin(_HOST))
    if not len(own) or not len(rows):
        return np.full(len(rows), -1)
    nest = nest_intervals(slices.track[own], slices.start_ns[own], slices.end_ns[own])
    track, start, end = (values_at(of, call, -1) for of in (slices.track, slices.start_ns, slices.end_ns))
    return values_at(own, np.where(call >= 0, nest.around(track, start, end), -1), -1)


def _bus_factors(trace: Trace, op: Texts, group: Texts) -> Array:
    """Per call: its bus bytes over its payload."""
    members = [len(trace.groups[name].ranks) if name in trace.groups else 0 for name in group.names]
    factor = np.array([[bus_factor(one, count) for count in (*members, 0)] for one in (*op.names, "")])
    found: Array = factor[op.codes, group.codes]
    return found


def _kinds_of_groups(trace: Trace, group: Texts) -> Texts:
    kinds = [trace.groups[name].kind if name in trace.groups else "" for name in group.names]
    index: dict[str, int] = {}
    codes = [index.setdefault(kind, len(index)) if kind else -1 for kind in kinds]
    return Texts(np.array([*codes, -1], np.int32)[group.codes], tuple(index))


def _groups_of_trace(trace: Trace) -> Table[Group]:
    members = [
        (name, group.kind or None, rank, position)
        for name, group in trace.groups.items()
        for position, rank in enumerate(group.ranks)
    ]
    if not members or not trace.carries_groups:
        raise FactMissing([Group.table])
    names, kinds, ranks, positions = zip(*members, strict=True)
    return Table.build(Group, group=names, group_kind=kinds, rank=ranks, position=positions)


COLLECTIVES = Reading(Collective, {EXPORT: _collectives_of_trace})
GROUPS = Reading(Group, {EXPORT: _groups_of_trace})
