# SPDX-License-Identifier: Apache-2.0
"""Arrows of a timeline: which ends belong together, and which slices they begin or end at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from advisor.facts.table import Array
from advisor.sources.files.database import match_keys

if TYPE_CHECKING:
    from advisor.sources.files.timeline import ArrowEnds, TraceTimeline


def pair_ends(links: ArrowEnds, starts: Array, ends: Array) -> Array:
    """For each end the place of its start among the starts, -1 without one. One start may have several ends."""
    order = np.lexsort((links.low, links.high))
    changed = (links.high[order][1:] != links.high[order][:-1]) | (links.low[order][1:] != links.low[order][:-1])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(np.append(0, changed))
    return match_keys(number[starts], number[ends])


def slices_around(timeline: TraceTimeline, wanted: Array, track: Array, moment: Array) -> Array:
    """The last of the wanted slices of a track to begin before a moment that lies inside it, -1 without one.

    Calls of one name do not nest, so the last to begin is the only one that can be around the moment.
    """
    slices = timeline.slices
    rows = np.flatnonzero(wanted)
    if not len(rows):
        return np.full(len(moment), -1, np.int64)
    rows = rows[np.lexsort((slices.start_ns[rows], slices.track[rows]))]
    place = last_before(slices.track[rows], slices.start_ns[rows], track, moment)
    found = rows[np.maximum(place, 0)]
    inside = (place >= 0) & (slices.track[found] == track) & (slices.end_ns[found] >= moment)
    return np.where(inside, found, -1)


def last_before(track: Array, start: Array, asked_track: Array, asked: Array) -> Array:
    """In rows sorted by track and start: the last one of the asked track or a lower one that starts by the moment."""
    joined_track = np.concatenate([track, asked_track])
    joined = np.concatenate([start, asked])
    later = np.concatenate([np.zeros(len(track), np.int8), np.ones(len(asked), np.int8)])
    order = np.lexsort((later, joined, joined_track))
    seen = np.cumsum(later[order] == 0) - 1
    place = np.empty(len(order), np.int64)
    place[order] = seen
    return place[len(track) :]


def slices_begun_at(timeline: TraceTimeline, track: Array, moment: Array) -> Array:
    """The longest slice of a track that begins at each moment, -1 without one."""
    slices = timeline.slices
    rows = np.flatnonzero(np.isin(slices.track, track))
    rows = rows[np.lexsort((slices.end_ns[rows], slices.start_ns[rows], slices.track[rows]))]
    if not len(rows):
        return np.full(len(moment), -1, np.int64)
    place = last_before(slices.track[rows], slices.start_ns[rows], track, moment)
    found = rows[np.maximum(place, 0)]
    same = (place >= 0) & (slices.track[found] == track) & (slices.start_ns[found] == moment)
    return np.where(same, found, -1)
