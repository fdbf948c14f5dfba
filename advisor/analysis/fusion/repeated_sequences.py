# SPDX-License-Identifier: Apache-2.0
"""Short sequences of small operators that repeat and that no pattern of a chain knows: what one kernel would spare.

Each operator works on what the one before it made, as far as shapes tell: one kernel passes over a tensor, and spares
nothing of what is done to another. So what repeats at once, as one `Mul` after the other, is no sequence. Every window
of three to ten operators is known by a hash of their types. Sequences are taken one after another, the one that would
spare most first; no operator is counted twice, neither in two sequences nor in two of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import ratio
from advisor.analysis.arrays.tensors import parse_tensors
from advisor.analysis.fusion.chain_search import FoundChains, chains_in_steps
from advisor.analysis.fusion.lanes import Lanes, stream_lanes
from advisor.analysis.operators.kernel_costs import all_work_beside, undisturbed_ns
from advisor.analysis.operators.launching_operators import HostRecords, called_by_operators
from advisor.analysis.operators.operators import StepKernels, in_steps
from advisor.analysis.rooflines.families import families_of
from advisor.analysis.rooflines.reachable import pass_within_reach_us
from advisor.analysis.steps.device import DeviceTimeline, build_timeline
from advisor.facts.base import MISSING
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derived import ChipLimit, Overlap, RepeatedSequence
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts

SHORTEST, LONGEST = 3, 10
"""Operators in a sequence: what the advisor of MindStudio looks for too."""
MOST = 3
"""So many sequences are told of; each further one spares less."""
_TRIED = 3
"""So many of each length are counted without overlaps, those that would spare most with them."""
_SMALL = ("elementwise",)
"""Families of operators that a kernel of one's own, or a compiler, puts together. Of reductions plain ones alone:
norms, softmax and losses are fused operators already, and the norm of a batch has to wait for all of it. What only
moves, fills or converts is no computation to put together, and has rules of its own."""
_SLOW = 2
"""What takes so many times as long as is within reach for its data is not bound by memory, so that no kernel which
passes over these once would spare it: the threshold of `compute/slow-vector-operator`, which tells of it."""
_MOST_BITS = 18
"""Sequences are counted by so many bits of their hash, and by fewer where there are few of them: `_hash_bits`."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class _Run(Struct, frozen=True):
    """Small operators in start order, those of one stretch without others between them beside each other."""

    row: Array
    """Rows of the kernels."""
    code: Array
    left: Array
    """How many follow in the same stretch, itself counted."""
    us: Array


class _SequencePlaces(Struct, frozen=True):
    """One sequence: how many operators it has, and at which places of the run it begins."""

    length: int
    begin: Array


def repeated_sequences(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    *,
    limits: Table[ChipLimit] | None = None,
    host: HostRecords | None = None,
    patterns: ChainPatterns,
) -> Table[RepeatedSequence]:
    """One row per rank and sequence that runs twice in a step or more, the few that would spare most."""
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    chains = chains_in_steps(
        called_by_operators(kernels, host, patterns), collectives, windows, split, patterns, host=host
    )
    run = _small_operators(every, device, chains, limits)
    rows = [
        own.row[one.begin[:, None] + np.arange(one.length)]
        for own in _run_of_each_rank(run, every)
        for one in _take_best(own, 2 * max(int(every.steps[own.row[0]]), 1))
    ]
    return _sum_sequences(rows, every, device) if rows else Table.empty(RepeatedSequence)


def _run_of_each_rank(run: _Run, every: StepKernels) -> Iterator[_Run]:
    """The small operators of each rank that has any: steps are in order of their ranks, and so are operators."""
    edges = np.flatnonzero(np.diff(every.table["rank"][run.row], prepend=MISSING, append=MISSING)).tolist()
    for first, last in pairwise(edges):
        yield _Run(run.row[first:last], run.code[first:last], run.left[first:last], run.us[first:last])


def _small_operators(
    every: StepKernels, device: DeviceTimeline, chains: FoundChains, limits: Table[ChipLimit] | None
) -> _Run:
    table = every.table
    types = table.texts("op_type")
    free = families_of(types, table.texts("core")).isin(_SMALL) | types.hits(
        n.startswith("Reduce") for n in types.names
    )
    free[chains.row] = False
    if limits is not None:
        at = np.flatnonzero(free)
        free[at] = ~(every.duration_us[at] > _SLOW * pass_within_reach_us(table.take(at), limits))
    lanes = stream_lanes(every, device, frozenset())
    at = np.flatnonzero(free[lanes.row])
    row = lanes.row[at]
    return _Run(row, lanes.code[at].astype(np.uint64), _left_in_stretch(table, lanes, at), every.duration_us[row])


def _left_in_stretch(table: Table[Kernel], lanes: Lanes, at: Array) -> Array:
    """Per place: how many of these follow with no other between them on the stream, each on what one before made."""
    if not len(at):
        return np.empty(0, np.intp)
    apart = (np.diff(at) != 1) | (lanes.lane[at[1:]] != lanes.lane[at[:-1]])
    near = np.flatnonzero(~apart)
    apart[near] = _work_on_another(table, lanes.row[at[near]], lanes.row[at[near + 1]])
    repeating = _repeat_at_once(lanes.code[at], apart)
    apart |= repeating[:-1] | repeating[1:]
    ends = np.append(apart, True)
    last = np.flatnonzero(ends)
    left: Array = last[np.searchsorted(last, np.arange(len(at)))] - np.arange(len(at)) + 1
    return left


def _repeat_at_once(code: Array, apart: Array) -> Array:
    """Per operator: whether it is one of three and more of a type in a row, or of as many pairs of two types.

    What is done again and again is done to one tensor after another, as to the gradients of all parameters: no kernel
    passes over one tensor for all of it. `apart` says which have something between them and the next.
    """
    found = np.zeros(len(code), bool)
    for distance in range(1, SHORTEST):
        between = np.append(0, np.cumsum(apart))
        joined = between[distance:] == between[: len(between) - distance]
        alike = joined[: max(len(code) - distance, 0)] & (code[distance:] == code[:-distance])
        starts = max(len(alike) - 2 * distance + 1, 0)
        thrice = np.flatnonzero(np.logical_and.reduce([alike[step : step + starts] for step in range(2 * distance)]))
        for step in range(3 * distance):
            found[thrice + step] = True
    return found


def _work_on_another(table: Table[Kernel], before: Array, after: Array) -> Array:
    """Per pair of kernels: whether the second reads nothing with as many elements as the first wrote; a view has the
    same number. Not where it is unknown what one of them reads or writes."""
    made, read = table.texts("output_shapes").take(before), table.texts("input_shapes").take(after)
    ways = len(read.names) + 1
    pairs, which = np.unique((made.codes + 1).astype(np.int64) * ways + read.codes + 1, return_inverse=True)
    another = np.zeros(len(pairs), bool)
    for number, pair in enumerate(pairs.tolist()):
        wrote, took = (_elements(texts, code - 1) for texts, code in zip((made, read), divmod(pair, ways), strict=True))
        another[number] = bool(wrote) and bool(took) and wrote.isdisjoint(took)
    found: Array = another[which]
    return found


def _elements(shapes: Texts, code: int) -> set[int]:
    """How many elements each of the tensors has that a text names; nothing of no text."""
    said = shapes.names[code] if code >= 0 else ""
    return {tensor.elements for tensor in parse_tensors(said) if tensor is not None}


def _take_best(run: _Run, often: int) -> list[_SequencePlaces]:
    """The sequences that would spare most, none sharing an operator with another, each at least so often."""
    taken = np.zeros(len(run.row), bool)
    tried = sorted(_candidates(run, often), key=lambda one: -_spared_us(run, one))
    found: list[_SequencePlaces] = []
    for one in tried:
        hit = np.zeros(len(one.begin), bool)
        for step in range(one.length):
            hit |= taken[one.begin + step]
        left = _SequencePlaces(one.length, one.begin[~hit])
        if len(left.begin) >= max(often, len(one.begin) / 2) and len(found) < MOST:
            found.append(left)
            taken[(left.begin[:, None] + np.arange(one.length)).ravel()] = True
    return found


def _candidates(run: _Run, often: int) -> Iterator[_SequencePlaces]:
    """Of each length the sequences that would spare most, without overlaps."""
    key, longest, total = run.code.copy(), run.us.copy(), run.us.copy()
    bits = _hash_bits(len(key))
    in_a_row = {distance: _alike_in_a_row(run.code, distance) for distance in range(SHORTEST, LONGEST // 2 + 1)}
    for length in range(2, LONGEST + 1):
        begin = np.flatnonzero(run.left >= length)
        key[begin] = key[begin] * _FACTOR + run.code[begin + length - 1] + np.uint64(1)
        longest[begin] = np.maximum(longest[begin], run.us[begin + length - 1])
        total[begin] += run.us[begin + length - 1]
        if length < SHORTEST:
            continue
        for distance in range(SHORTEST, length // 2 + 1):  # what is a shorter sequence twice is counted as that
            begin = begin[in_a_row[distance][begin] < length - distance]
        if not len(begin):
            continue
        bins = (key[begin] * _FACTOR >> np.uint64(64 - bits)).astype(np.intp)
        spared = np.bincount(bins, total[begin] - longest[begin], 1 << bits)
        spared[np.bincount(bins, minlength=1 << bits) < often] = 0
        first = np.zeros(1 << bits, np.intp)
        first[bins[::-1]] = begin[::-1]
        # of equal ones that which comes first: hashes differ with what else is in the table
        for one in np.lexsort((first, -spared))[:_TRIED].tolist():
            alike = begin[bins == one]
            if len(alike) >= often:
                yield _SequencePlaces(length, _without_overlap(_equal_ones(run, alike, length), length))


def _alike_in_a_row(code: Array, distance: int) -> Array:
    """Per operator: for how many from it on the one so far behind is of the same type."""
    places = np.arange(len(code))
    other = np.append(np.flatnonzero(code[distance:] != code[:-distance]), max(len(code) - distance, 0))
    return np.maximum(other[np.minimum(np.searchsorted(other, places), len(other) - 1)] - places, 0)


def _hash_bits(operators: int) -> int:
    """Bits of a hash that give each of so many sequences sixteen places, so that hardly two share one."""
    return min((16 * operators).bit_length(), _MOST_BITS)


def _equal_ones(run: _Run, begin: Array, length: int) -> Array:
    """Those that are the sequence of the first in deed."""
    for step in range(length):
        begin = begin[run.code[begin + step] == run.code[begin[0] + step]]
    return begin


def _without_overlap(begin: Array, length: int) -> Array:
    """From the first on, each that begins where the one taken before has ended: by jumps of doubling reach."""
    taken = np.zeros(len(begin) + 1, bool)
    taken[0] = True
    jump = np.append(np.searchsorted(begin, begin + length), len(begin))
    for _ in range(len(begin).bit_length()):
        taken[jump[taken]] = True
        jump = jump[jump]
    found: Array = begin[taken[:-1]]
    return found


def _spared_us(run: _Run, found: _SequencePlaces) -> float:
    """The time of all but the longest operator of each: a kernel bound by memory passes over its tensor once."""
    us = run.us[found.begin[:, None] + np.arange(found.length)]
    return float((us.sum(axis=1) - us.max(axis=1)).sum())


def _sum_sequences(rows: Sequence[Array], every: StepKernels, device: DeviceTimeline) -> Table[RepeatedSequence]:
    """One row per sequence; `rows` are, of each, the kernels of each time that it runs on its rank, in their order."""
    times, lengths = np.array([len(row) for row in rows]), np.array([row.shape[1] for row in rows])
    of, first = np.repeat(np.arange(len(rows)), times), np.array([row[0, 0] for row in rows])
    each = [every.duration_us[row] for row in rows]
    total, longest = (
        np.concatenate(parts) for parts in ([us.sum(axis=1) for us in each], [us.max(axis=1) for us in each])
    )
    start = np.concatenate([device.work.start[every.row[row]].min(axis=1) for row in rows])
    lasted = (np.concatenate([device.work.end[every.row[row]].max(axis=1) for row in rows]) - start) / 1e3
    sums, steps = partial(np.bincount, of, minlength=len(rows)), every.steps[first]
    kernels, owner = np.concatenate([row.ravel() for row in rows]), np.repeat(np.arange(len(rows)), times * lengths)
    alone = undisturbed_ns(device, every.row[kernels], owner, len(rows), all_work_beside(device)) / 1e3
    worst = np.lexsort((-lasted, of))[np.cumsum(times) - times]
    in_graph = np.where(every.table["graph"][kernels] != MISSING, every.duration_us[kernels], 0.0)
    types = every.table.texts("op_type")
    return Table.build(
        RepeatedSequence,
        rank=every.table["rank"][first],
        sequence=Texts.of(" → ".join(types.names[code] for code in types.codes[row[0]].tolist()) for row in rows),
        times=times / steps,
        kernels=lengths.astype(np.float64),
        total_us=sums(total) / steps,
        compiled_us=np.bincount(owner, weights=in_graph, minlength=len(rows)) / steps,
        alone_us=np.where(every.whole[first], alone, np.nan) / steps,
        longest_us=sums(longest) / steps,
        gap_us=sums(np.clip(lasted - total, 0, total)) / steps,
        step_share=ratio(sums(total) / steps, every.step_us[first]),
        worst_start_ns=start[worst],
        worst_us=lasted[worst],
    )
