# SPDX-License-Identifier: Apache-2.0
"""PeerWait: whom collectives waited for; tasks between ranks of trace_view.json, and COMMUNICATION_TASK_INFO.

HCCL lets two ranks meet by signals: one records a notify of the other, which waits for it
(https://gitcode.com/cann/hccl/blob/master/docs/zh/user_guide/perf_analysis/profiling_op_behavior.md). Both exports name
the rank that waits and the one it waits for by their places in the communicator.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.observed import Collective, PeerWait
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.collectives import LANES, collectives_of_export, operator_rows
from advisor.sources.ascend.device_tasks import task_columns
from advisor.sources.ascend.groups import MOST_RANKS
from advisor.sources.ascend.plane_tasks import MOVES, WAITS
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import STAND_IN, match_keys
from advisor.sources.files.timeline import TraceTimeline
from advisor.sources.reading import Reading

SIGNAL_BYTES = 4
"""An RDMASend of so many bytes is a signal and moves no data (HCCL guide, see above)."""
_NONE = (-1, (1 << 32) - 1)
"""What is written for no rank, as one more than 32 bits hold or less than nothing."""


class _Exchanges(Struct, frozen=True):
    """Tasks of this rank with one other rank, and in which call each was."""

    call: Array
    """Row of the table of collectives."""
    source: Array
    peer: Array
    start_ns: Array
    end_ns: Array
    waits: Array
    """Whether the task waits for a signal of the peer."""
    moves: Array
    """Whether it moves data from or to it."""


def _waits_from_text(folder: Folder) -> Table[PeerWait]:
    timeline = folder.timeline()
    exchanges, slices = timeline.exchanges, timeline.slices
    here = timeline.tracks.of(*LANES)[slices.track[exchanges.row]]
    rows, source, peer, size = (
        values[here] for values in (exchanges.row, exchanges.source, exchanges.peer, exchanges.size_bytes)
    )
    if not len(rows):
        raise FactMissing([PeerWait.table])
    calls = collectives_of_export(folder, "text")
    name = slices.name.take(rows)
    _note_unusable_peers(folder, folder.timeline_name, peer[name.isin((*WAITS, *MOVES))])
    found = _Exchanges(
        call=_rows_of_calls(timeline, _calls_around(timeline, rows), calls),
        source=source,
        peer=peer,
        start_ns=slices.start_ns[rows],
        end_ns=slices.end_ns[rows],
        waits=name.isin(WAITS),
        moves=name.isin(MOVES) & (size > SIGNAL_BYTES),
    )
    return _longest_waits(folder, calls, found)


def _calls_around(timeline: TraceTimeline, rows: Array) -> Array:
    """The slice of the collective that each task belongs to, -1 where that is not plain.

    The threads of a communicator follow each other: the one of its operators, then its planes. Operators of one
    communicator run one after another; where they do not, it is not known whose a task is.
    """
    slices, number = timeline.slices, timeline.tracks.number
    calls = operator_rows(timeline)
    heads = np.unique(slices.track[calls])
    heads = heads[np.argsort(number[heads], kind="stable")]
    owner = np.zeros(len(number), np.int64)
    if len(heads) != 1:
        owner = np.searchsorted(number[heads], number, "right") - 1
    if len(heads) > 1 and (number[heads] == MISSING).any():
        owner[:] = -1
    owners, start = owner[slices.track[rows]], slices.start_ns[rows]
    found = np.full(len(rows), -1, np.int64)
    for place, head in enumerate(heads.tolist()):
        own = calls[slices.track[calls] == head]
        own = own[np.argsort(slices.start_ns[own], kind="stable")]
        mine = np.flatnonzero(owners == place)
        at = np.searchsorted(slices.start_ns[own], start[mine], "right") - 1
        reach = np.append(0, np.maximum.accumulate(slices.end_ns[own]))
        inside = (at >= 0) & (start[mine] < slices.end_ns[own][at]) & (reach[np.maximum(at, 0)] <= start[mine])
        found[mine[inside]] = own[at[inside]]
    return found


def _rows_of_calls(timeline: TraceTimeline, call: Array, calls: Table[Collective]) -> Array:
    """The row of each of these slices in the table of collectives; -1 of none."""
    distinct, back = np.unique(call, return_inverse=True)
    name, start = timeline.slices.name.at(distinct), values_at(timeline.slices.start_ns, distinct)
    return np.where(distinct >= 0, _rows_of_starts(calls, name, start), -1)[back]


def _rows_of_starts(calls: Table[Collective], name: Texts, start: Array) -> Array:
    """The call of each name and start, -1 of none."""
    names = Texts.concat([calls.texts("name"), name])
    moments = np.unique(np.concatenate([calls["start_ns"], start]), return_inverse=True)[1].reshape(-1)
    of = moments * (len(names.names) + 1) + names.codes  # a name that is missing is one of its own
    return match_keys(of[: len(calls)], of[len(calls) :])


def _waits_from_database(folder: Folder) -> Table[PeerWait]:
    database = folder.database()
    wanted = {
        "task": ["globalTaskId"],
        "call": ["opId"],
        "kind": ["taskType"],
        "source": ["srcRank"],
        "peer": ["dstRank"],
        "size": ["size"],
    }
    if not {"globalTaskId", "opId", "taskType", "dstRank"} <= set(database.fields("COMMUNICATION_TASK_INFO")):
        raise FactMissing([PeerWait.table])
    info = database.integers("COMMUNICATION_TASK_INFO", wanted)
    kind = database.texts(info["kind"])
    _note_unusable_peers(folder, database.file, info["peer"][kind.isin((*WAITS, *MOVES))])
    chosen = np.flatnonzero(kind.isin((*WAITS, *MOVES)) & _are_ranks(info["peer"]))
    if not len(chosen):
        raise FactMissing([PeerWait.table])
    info, kind = {name: values[chosen] for name, values in info.items()}, kind.take(chosen)
    start, end = _times_of_tasks(task_columns(database, folder.rank), info["task"])
    calls = collectives_of_export(folder, "database")
    found = _Exchanges(
        call=_rows_of_operators(folder, info["call"], calls),
        source=info["source"],
        peer=info["peer"],
        start_ns=start,
        end_ns=end,
        waits=kind.isin(WAITS),
        moves=kind.isin(MOVES) & (info["size"] > SIGNAL_BYTES),
    )
    return _longest_waits(folder, calls, found)


def _times_of_tasks(tasks: dict[str, Array], wanted: Array) -> tuple[Array, Array]:
    """Start and end of these tasks, missing where there is none of that number."""
    place = match_keys(wanted, tasks["task"])
    rows = np.flatnonzero(place >= 0)
    start, end = (np.full(len(wanted), MISSING) for _ in range(2))
    start[place[rows]], end[place[rows]] = tasks["start"][rows], tasks["end"][rows]
    return start, end


def _rows_of_operators(folder: Folder, operator: Array, calls: Table[Collective]) -> Array:
    """The row of each operator, by its number in the database, in the table of collectives; -1 of none."""
    database = folder.database()
    wanted = {"operator": ["opId"], "name": ["opName"], "start": ["startNs"]}
    found = database.integers("COMMUNICATION_OP", wanted, database.on_device("COMMUNICATION_OP", folder.rank))
    name = database.event_names(found["name"])
    row = _rows_of_starts(calls, name, found["start"])
    gone = name.hits(one.startswith(STAND_IN) for one in name.names)
    if gone.any():  # the name of such a call may have been found elsewhere
        row = np.where(gone, match_keys(calls["start_ns"], found["start"]), row)
    return values_at(row, match_keys(found["operator"], operator), -1)


def _note_unusable_peers(folder: Folder, file: str, peer: Array) -> None:
    """Tells of tasks that name as their peer what no rank can be, unless it says that there is none."""
    if lost := int((~_are_ranks(peer) & ~np.isin(peer, _NONE)).sum()):
        folder.notes.add(file, "", Message("peers_unusable"), rows=lost)


def _are_ranks(number: Array) -> Array:
    """Whether numbers may be ranks."""
    return (number >= 0) & (number < MOST_RANKS)


def _longest_waits(folder: Folder, calls: Table[Collective], found: _Exchanges) -> Table[PeerWait]:
    between = (found.call >= 0) & _are_ranks(found.peer) & (found.peer != found.source)
    between &= (found.start_ns != MISSING) & (found.end_ns >= found.start_ns)
    moved = np.full(len(calls), np.iinfo(np.int64).max)
    moving = between & found.moves
    np.minimum.at(moved, found.call[moving], found.start_ns[moving])
    rows = np.flatnonzero(between & found.waits)
    rows = rows[np.lexsort((found.start_ns[rows], found.peer[rows], found.call[rows]))]
    call, place = found.call[rows], found.peer[rows]
    new = np.append(True, (np.diff(call) != 0) | (np.diff(place) != 0))[: len(rows)]
    first, pair = rows[new], np.cumsum(new) - 1
    lasts = found.end_ns[rows] - found.start_ns[rows]
    rows = rows[np.lexsort((found.start_ns[rows], -lasts, pair))][new]  # pairs stay where they are: their longest now
    call, place, start = found.call[rows], found.peer[rows], found.start_ns[rows]
    return Table.build(
        PeerWait,
        rank=folder.rank,
        name=calls.texts("name").take(call),
        group=calls.texts("group").take(call),
        call_ns=calls["start_ns"][call],
        peer=_global_ranks(folder, calls, found, call, place),
        place=place,
        start_ns=start,
        wait_us=(found.end_ns[rows] - start) / 1000,
        opening=((start == found.start_ns[first]) & (start < moved[call])).astype(np.int8),
    )


def _global_ranks(folder: Folder, calls: Table[Collective], found: _Exchanges, call: Array, place: Array) -> Array:
    """The ranks of the job behind places in the communicators of these calls; missing where nothing tells them."""
    group = calls.texts("group")
    told = (found.call >= 0) & _are_ranks(found.source)
    own, of = found.source[told], group.codes[found.call[told]]
    sole = len(np.unique(group.codes)) == 1 and not (calls["p2p"] == 1).any()
    ranks = np.full(len(place), MISSING)
    codes = group.codes[call]
    for code in np.unique(codes).tolist():
        members = folder.groups[name].ranks if code >= 0 and (name := group.names[code]) in folder.groups else ()
        places = np.unique(own[of == code]).tolist()
        here = np.flatnonzero(codes == code)
        if len(places) == 1:
            ranks[here] = ranks_of_places(place[here], places[0], folder.rank, members, sole=sole)
    return ranks


def ranks_of_places(place: Array, own: int, rank: int, members: Sequence[int], *, sole: bool) -> Array:
    """The ranks that numbers of a communicator stand for; missing where they are not known.

    A rank that calls itself by its place among the members calls the others by theirs, and one that calls itself by
    its rank by their ranks. Where nobody tells the members, ranks are known only in a job with a sole communicator:
    there places are ranks, and that of this rank has to be.
    """
    if rank in members:
        if members.index(rank) == own:
            return values_at(np.array(members, np.int64), place)
        if rank == own:
            return np.where(np.isin(place, members), place, MISSING)
    elif not members and sole and rank == own:
        return place
    return np.full(len(place), MISSING)


PEER_WAITS = Reading(PeerWait, {"text": _waits_from_text, "database": _waits_from_database})
