# SPDX-License-Identifier: Apache-2.0
"""Moments of the device that stand in two files, exact in one of them where the other one was written with floats.

Whoever edits trace_view.json or kernel_details.csv with a program of their own often turns times into floating-point
numbers. Launches, tasks and kernels are then found again by nothing, for they are joined by when they begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from advisor.facts.observed import Kernel
from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.files import csvfile
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.float_times import ROUNDED, are_quarters, restore_moments
from advisor.sources.files.timeline import TraceTimeline

DETAILS = "kernel_details.csv"
STARTS = ("Start Time(us)", "Task Start Time(us)", "Task Start Time")
"""How the start of a kernel is called in kernel_details.csv and in op_summary."""


def note_rounded(notes: Notes, file: str) -> None:
    """Tells that the times of a file were written as floats of µs. Nothing of it is left out."""
    notes.add(file, "", Message("times_rounded", step="0.25 µs"), kind=ROUNDED, rows=0)


def with_exact_moments(timeline: TraceTimeline, file: str, notes: Notes, details: Sequence[Path]) -> TraceTimeline:
    """The timeline, its moments exact again where its own numbers of tasks or the list of kernels tell them.

    Equal moments stay equal, so that arrows still begin where their slice does.
    """
    slices = timeline.slices
    if not are_quarters(slices.start_ns):
        return timeline
    note_rounded(notes, file)
    listed = _listed_starts(details)
    exact = [timeline.operator_links.device_ns, *([] if are_quarters(listed) else [listed])]
    known = np.concatenate(exact)
    start = restore_moments(slices.start_ns, known)
    arrows = {
        name: replace(part, time_ns=restore_moments(part.time_ns, known))
        for name, part in (
            ("links", timeline.links),
            ("passed_tasks", timeline.passed_tasks),
            ("gradient_links", timeline.gradient_links),
        )
    }
    operators = restore_moments(timeline.operator_links.operator_ns, known)
    return replace(
        timeline,
        slices=replace(slices, start_ns=start, end_ns=slices.end_ns + (start - slices.start_ns)),
        operator_links=replace(timeline.operator_links, operator_ns=operators),
        **arrows,
    )


def moments_of_device(timeline: TraceTimeline, lanes: Sequence[str]) -> Array:
    """When work began, by the slices of these lanes and by what led to it."""
    of_device = timeline.tracks.of(*lanes)[timeline.slices.track]
    return np.concatenate([timeline.slices.start_ns[of_device], timeline.operator_links.device_ns])


def _listed_starts(details: Sequence[Path]) -> Array:
    """The starts in the list of kernels; none where it cannot be read, which is noted where it is read as a whole."""
    try:
        found = csvfile.read_parts(details, Kernel.columns(), {"start_ns": STARTS}, Notes(), ("start_ns",))
    except Unreadable:
        found = {}
    start = found.get("start_ns")
    return start if isinstance(start, np.ndarray) else np.empty(0, np.int64)
