# SPDX-License-Identifier: Apache-2.0
"""OperatorCall: operator_details.csv; PYTORCH_API with its call stacks in the database."""

from __future__ import annotations

import numpy as np

from advisor.facts.nesting import parents_in_order
from advisor.facts.observed import OperatorCall
from advisor.facts.table import Array, Table, Texts, row_type
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.host_calls import OPERATOR
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Database, Only, are_spans, distinct_ids
from advisor.sources.reading import Reading

DETAILS = "operator_details.csv"
HEADINGS = {
    "name": ("Name",),
    "input_shapes": ("Input Shapes",),
    "call_stack": ("Call Stack",),
    "host_self_us": ("Host Self Duration(us)",),
    "host_total_us": ("Host Total Duration(us)",),
    "device_self_us": ("Device Self Duration(us)",),
    "device_total_us": ("Device Total Duration(us)",),
}
_STEP = "ProfilerStep#"


def _calls_from_text(folder: Folder) -> Table[OperatorCall]:
    columns = folder.columns(OperatorCall, DETAILS, HEADINGS, ("name",))
    count = len(next(iter(columns.values())))
    table = Table.build(OperatorCall, **columns, rank=np.full(count, folder.rank, np.int64))
    return _tidy_table(table)


def _shapes_or_dtypes(shapes: Texts, dtypes: Texts) -> Texts:
    """The shapes: torch_npu of early 2025 wrote them into the column of the data types, and the other way round."""
    return dtypes if _has_words(shapes) and not _has_words(dtypes) else shapes


def _has_words(lists: Texts) -> bool:
    return any(letter.isalpha() for text in lists.names for letter in text)


def _tidy_table(table: Table[OperatorCall]) -> Table[OperatorCall]:
    return table.having(
        input_shapes=tidy_lists(table.texts("input_shapes")), call_stack=tidy_lists(table.texts("call_stack"))
    )


def tidy_lists(lists: Texts) -> Texts:
    """Lists with a bare `;` between their parts; files break the line there, in one way or another."""
    index: dict[str, int] = {}
    tidy = [";".join(part.strip() for part in text.split(";")) for text in lists.names]
    codes = [index.setdefault(text, len(index)) if text.strip(";") else -1 for text in tidy]
    return Texts(np.array([*codes, -1], np.int32)[lists.codes], tuple(index))


def _calls_from_database(folder: Folder) -> Table[OperatorCall]:
    database = folder.database()
    if not database.fields("PYTORCH_API"):
        raise FactMissing([OperatorCall.table])
    wanted = {
        "start": ["startNs"],
        "end": ["endNs"],
        "thread": ["globalTid"],
        "name": ["name"],
    }
    operators = Only("type", (OPERATOR,))
    found = database.integers("PYTORCH_API", wanted, operators)
    name = database.event_names(found.pop("name"))
    good = (name.codes >= 0) & are_spans(found["start"], found["end"])
    lasted = found["end"] - found["start"]
    np.copyto(found["end"], found["start"], where=~good)
    # each column is let go when it is used up, and what else is told is read later: calls are many
    self_ns = own_time(found.pop("thread"), found.pop("start"), found.pop("end"))
    wanted = {"start": ["startNs"], "shapes": ["inputShapes"], "dtypes": ["inputDtypes"], "stack": ["callchainId"]}
    found = database.integers("PYTORCH_API", wanted, operators)
    keep = good & ~name.hits(n.startswith(_STEP) for n in name.names)
    table = Table.build(
        OperatorCall,
        rank=folder.rank,
        name=name,
        input_shapes=_shapes_or_dtypes(database.texts(found["shapes"]), database.texts(found["dtypes"])),
        call_stack=_call_stacks(database, found["stack"]),
        host_self_us=self_ns / 1000,
        host_total_us=lasted / 1000,
    )
    return _tidy_table(table.take(keep))


def own_time(thread: Array, start: Array, end: Array) -> Array:
    """Per call its time without the calls directly inside it on the same thread, ns; never below zero."""
    order = np.lexsort((-end, start, thread)).astype(row_type(len(start)))
    thread = thread.take(order)
    start = start.take(order)
    end = end.take(order)
    parent = parents_in_order(thread, start, end)
    del thread
    lasted = end - start
    del start, end
    own = lasted.copy()
    inner = np.flatnonzero(parent >= 0).astype(row_type(len(parent)))
    np.subtract.at(own, parent.take(inner), lasted.take(inner))
    lasted[order] = np.maximum(own, 0, out=own)
    return lasted


def _call_stacks(database: Database, ids: Array) -> Texts:
    """The call stack of each id: its frames, innermost first."""
    pairs = database.integers("PYTORCH_CALLCHAINS", {"id": ["id"], "frame": ["stack"], "depth": ["stackDepth"]})
    order = np.lexsort((pairs["depth"], pairs["id"]))
    frames = database.texts(pairs["frame"][order]).values()
    chains: dict[int, list[str]] = {}
    for chain, frame in zip(pairs["id"][order].tolist(), frames, strict=True):
        chains.setdefault(chain, []).append(frame or "")
    distinct, inverse = distinct_ids(ids)
    index: dict[str, int] = {}
    codes = [
        index.setdefault(";".join(chains[chain]), len(index)) if chain in chains else -1 for chain in distinct.tolist()
    ]
    return Texts(np.array(codes, np.int32)[inverse], tuple(index))


OPERATOR_CALLS = Reading(OperatorCall, {"text": _calls_from_text, "database": _calls_from_database})
