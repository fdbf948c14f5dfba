# SPDX-License-Identifier: Apache-2.0
"""Where chains of small operators lie: runs of kernels on one stream, in start order, whose types follow a pattern.

Conversions and copies may stand between two members; they belong to the chain, unless what they move is larger than all
that its members work on, as a cache of keys and values is. Chains are matched around their rarest
member, all occurrences at once, the longest form of all patterns first; a kernel belongs to one chain only.
An order whose members are operators of the framework is held against those that launched the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.tensors import parse_tensors, plain_dtype
from advisor.analysis.fusion.joined_kernels import JoinedKernels, members_of, read_joined
from advisor.analysis.fusion.lanes import (
    CONVERSION,
    HALF,
    WHOLE,
    Lanes,
    among_long,
    are_long,
    by_operator,
    stream_lanes,
)
from advisor.analysis.operators.launching_operators import HostRecords, called_by_operators, callers_of_kernels
from advisor.analysis.operators.operators import StepKernels, in_steps
from advisor.analysis.rooflines.reachable import START_US, reachable_us
from advisor.analysis.steps.device import DeviceTimeline, build_timeline
from advisor.facts.chain_patterns import ChainOrder, ChainPatterns
from advisor.facts.derived import ChipLimit, Overlap
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts


class FoundChains(Struct, frozen=True):
    """The kernels of all chains, chain by chain."""

    row: Array
    """Rows of the kernels."""
    chain: Array
    begin: Array
    """Per chain: the position of its first kernel, how many it has, and the number of its order among all orders."""
    size: Array
    order: Array
    halved: Array
    """Per chain: whether it widens half precision, and ends in it again, where the fused operator does so inside."""
    called: Texts
    """Per kernel: its type, or the operator that launched it where the chain is one of operators."""
    is_member: Array
    """Per kernel: whether it is a member, and stands not between two."""
    moves: Array
    """Per kernel: whether it does nothing but convert or copy."""
    compiled: Array
    """Per chain: whether a graph compiler made its kernels, and left more of them than the fused operator is."""


def chains_in_steps(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    patterns: ChainPatterns,
    *,
    host: HostRecords | None = None,
) -> FoundChains:
    """The chains among the kernels of the steps, by their rows in `in_steps`: searched once for the same tables.

    Without `host` nothing tells operators of the framework from kernels but the types that bear their names.
    """
    called = called_by_operators(kernels, host, patterns)
    return called.once(_search_steps, collectives, windows, split, patterns, *(host or ()))


def _search_steps(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    patterns: ChainPatterns,
    *host: Any,
) -> FoundChains:
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    joined = read_joined(every.table, patterns)
    of_kernels = _Sought(stream_lanes(every, device, patterns.passed_over, joined), joined.called)
    of_operators = _by_operators(of_kernels, every, device, patterns, (kernels, HostRecords(*host) if host else None))
    return _find_chains(of_kernels, of_operators, every, joined, patterns)


class _Sought(Struct, frozen=True):
    """Kernels as chains are looked for in them, and what each row of them is called there."""

    lanes: Lanes
    called: Texts


def _by_operators(
    of_kernels: _Sought,
    every: StepKernels,
    device: DeviceTimeline,
    patterns: ChainPatterns,
    recorded: tuple[Table[Kernel], HostRecords | None],
) -> _Sought:
    """The same kernels by the operators that launched them, where orders of operators may lie among these: a kernel
    without a known one is called by its type."""
    kernels, host = recorded
    asked = [order for order in patterns.orders if order.of_operators]
    names = frozenset(() if host is None else host.calls.texts("name").names).union(of_kernels.lanes.names)
    if host is None or not any(order.is_possible(names) for order in asked):
        return of_kernels
    callers, row = callers_of_kernels(kernels, host), device.work.row[every.row]
    both = Texts.concat([of_kernels.called, callers.operator.take(row)])
    types, operators = np.split(both.codes, 2)
    called = Texts(np.where(operators < 0, types, operators), both.names)
    return _Sought(by_operator(of_kernels.lanes, called, callers.call[row], patterns.passed_over), called)


def _find_chains(
    of_kernels: _Sought, of_operators: _Sought, every: StepKernels, joined: JoinedKernels, patterns: ChainPatterns
) -> FoundChains:
    """Every chain of these patterns, none sharing a kernel with another."""
    lanes = of_kernels.lanes
    long = are_long(lanes, every.duration_us)
    of_long = among_long(lanes, long)
    sought = [
        of_operators.lanes if order.of_operators else of_long if order.spread else lanes for order in patterns.orders
    ]
    taken = np.zeros(len(lanes.row), bool)
    order, first, last = _match_orders(sought, patterns.orders, taken)
    first, last, halved = _with_conversions(lanes, every.table, patterns, (order, first, last), taken)
    place, chain = _from_first_to_last(first, last)
    moves = of_kernels.called.isin(patterns.passed_over)
    own = ~_move_other_tensors(every.table, lanes.row[place], chain, moves[lanes.row[place]])
    spread = np.array([one.spread for one in patterns.orders], bool)[order][chain]
    own &= long[place] | ~spread
    own &= ~of_kernels.called.take(lanes.row[place]).isin(patterns.aside)
    place, chain = place[own], chain[own]
    size = np.bincount(chain, minlength=len(first))
    of_call = np.array([one.of_operators for one in patterns.orders], bool)[order][chain]
    both = Texts.concat([one.called.take(lanes.row[place]) for one in (of_kernels, of_operators)])
    called = Texts(np.where(of_call, *np.split(both.codes, 2)[::-1]), both.names)
    members = (_are_members(one.lanes)[place] for one in (of_operators, of_kernels))
    row = lanes.row[place]
    made, several = (np.bincount(chain, one[row], len(size)) for one in (joined.compiled, joined.several))
    return FoundChains(
        row,
        chain,
        np.cumsum(size) - size,
        size,
        order,
        halved,
        called,
        np.where(of_call, *members),
        moves[row],
        (made == size) | (several > 0),
    )


def _from_first_to_last(first: Array, last: Array) -> tuple[Array, Array]:
    """The positions of all chains, one chain after another, and the chain of each."""
    spread = last - first + 1
    chain = np.repeat(np.arange(len(spread)), spread)
    return np.arange(len(chain)) - (np.cumsum(spread) - spread)[chain] + first[chain], chain


def _are_members(lanes: Lanes) -> Array:
    """Per position: whether it is a member, not passed over."""
    found = np.zeros(len(lanes.row), bool)
    found[lanes.member] = True
    return found


def _move_other_tensors(table: Table[Kernel], row: Array, chain: Array, passed: Array) -> Array:
    """Per kernel of the chains: whether it is `passed` over and has a tensor larger than any of the members has."""
    elements = np.fmax(*(_most_elements(table.texts(name).take(row)) for name in ("input_shapes", "output_shapes")))
    most = np.full(int(chain.max(initial=-1)) + 1, np.nan)
    np.fmax.at(most, chain[~passed], elements[~passed])
    larger: Array = passed & (elements > most[chain])
    return larger


def _most_elements(shapes: Texts) -> Array:
    """Per text: the elements of the largest of these tensors; NaN where none is known."""
    used = np.unique(shapes.codes[shapes.codes >= 0])
    most = np.full(len(shapes.names) + 1, np.nan)
    for code in used.tolist():
        tensors = parse_tensors(shapes.names[code])
        most[code] = max((float(one.elements) for one in tensors if one is not None), default=np.nan)
    found: Array = most[shapes.codes]
    return found


def _with_conversions(
    lanes: Lanes, table: Table[Kernel], patterns: ChainPatterns, chains: tuple[Array, Array, Array], taken: Array
) -> tuple[Array, Array, Array]:
    """Per chain: the positions of its first and last kernel, with the conversions around it where the fused operator
    makes them inside, and whether it begins and ends in half precision. A kernel that stands for several operators may
    convert itself."""
    order, first, last = chains
    widens = np.array([one.widens for one in patterns.orders], bool)[order]
    if not widens.any():
        return first, last, widens
    before, behind = np.maximum(first - 1, 0), np.minimum(last + 1, len(lanes.row) - 1)
    free = lanes.converts & ~taken
    begins = widens & free[before] & (lanes.lane[before] == lanes.lane[first]) & (before < first)
    begins[begins] = _from_half(table, lanes.row[before[begins]], lanes.row[first[begins]])
    opening, closing = lanes.row[first], lanes.row[last]
    from_half = begins | (widens & lanes.several[opening] & _are_half(table, "input_dtypes", opening))
    ends = from_half & free[behind] & (lanes.lane[behind] == lanes.lane[last]) & (behind > last)
    ends[ends] = _from_half(table, lanes.row[behind[ends]], lanes.row[last[ends]], narrows=True)
    to_half = ends | _are_half(table, "input_dtypes", closing)
    to_half |= lanes.several[closing] & _are_half(table, "output_dtypes", closing)
    halved = from_half & to_half
    return np.where(begins, before, first), np.where(ends, behind, last), halved


def _from_half(table: Table[Kernel], conversion: Array, member: Array, *, narrows: bool = False) -> Array:
    """Per conversion: whether it turns half precision to float32, or back, a tensor of the member beside it."""
    texts = [
        *(table.texts(name).take(conversion) for name in ("input_shapes", "input_dtypes", "output_dtypes")),
        *(table.texts(name).take(member) for name in ("input_shapes", "input_dtypes")),
    ]
    alike = group_by(*texts)
    columns = (column.take(alike.first).values() for column in texts)
    told = [_turns_half(*(one or "" for one in row), narrows=narrows) for row in zip(*columns, strict=True)]
    found: Array = np.array(told, bool)[alike.of]
    return found


def _turns_half(shape: str, given: str, made: str, shapes: str, dtypes: str, *, narrows: bool) -> bool:
    """Whether a conversion, by the shapes and data types of its tensors, widens half precision to one of these tensors,
    or narrows one of them to half precision."""
    before, behind = (plain_dtype(text.partition(";")[0]) for text in (given, made))
    half, whole = (behind, before) if narrows else (before, behind)
    sides = {tensor.sides for tensor in parse_tensors(shapes, dtypes) if tensor is not None and tensor.dtype == WHOLE}
    is_theirs = any(tensor is not None and tensor.sides in sides for tensor in parse_tensors(shape))
    return half in HALF and whole == WHOLE and is_theirs


def _are_half(table: Table[Kernel], column: str, rows: Array) -> Array:
    """Per kernel: whether all these tensors of it with values are in half precision."""
    dtypes = table.texts(column).take(rows)
    told = [HALF.issuperset(map(plain_dtype, filter(None, name.split(";")))) for name in dtypes.names]
    found: Array = np.array([*told, False], bool)[dtypes.codes]
    return found


class _Accepted(Struct, frozen=True):
    """An order of members, held against types by their numbers."""

    order: ChainOrder
    bits: Array
    """Per type: a bit for each member that may have it."""
    at: Array
    """Members of the lanes from which, as its anchor, a chain can be reached on both sides."""


def _match_orders(sought: Sequence[Lanes], orders: tuple[ChainOrder, ...], taken: Array) -> tuple[Array, Array, Array]:
    """Per chain: the number of its order, and the positions of its first and last kernel. `sought` are, per order, the
    lanes that it is looked for in; positions of chains become `taken`."""
    found: list[tuple[Array, Array, Array]] = [(np.empty(0, np.intp),) * 3]
    names = {id(one): frozenset(one.names) for one in sought}
    possible = {number: order for number, order in enumerate(orders) if order.is_possible(names[id(sought[number])])}
    tried = {number: one for number, order in possible.items() if len((one := _accepted(sought[number], order)).at)}
    forms = [(number, form, place) for number in tried for form, place in orders[number].forms]
    for number, form, place in sorted(forms, key=lambda one: -len(one[1])):
        lanes = sought[number]
        begin = _begins_of_form(lanes, tried[number], form, place, taken)
        first, last = lanes.begin[begin], lanes.end[begin + len(form) - 1]
        taken[_from_first_to_last(first, last)[0]] = True
        found.append((np.full(len(begin), number), first, last))
    order, first, last = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return order, first, last


def _accepted(lanes: Lanes, order: ChainOrder) -> _Accepted:
    bits = np.zeros(len(lanes.names) + 1, np.int64)
    for place, member in enumerate(order.members):
        bits[[code for code, name in enumerate(lanes.names) if name in member.types]] |= 1 << place
    at = lanes.of_types(order.members[order.anchor].types)
    if order.beside:
        rank = lanes.rank[lanes.member]
        at = at[np.isin(rank[at], rank[lanes.of_types(order.beside)])]
    for way in (1, -1):
        at = at[_reaches_end(lanes, order, bits, at, way)]
    return _Accepted(order, bits, at)


def _reaches_end(lanes: Lanes, order: ChainOrder, bits: Array, at: Array, way: int) -> Array:
    """Per anchor: whether its neighbours to this side can be the members to this side, some optional ones left out.

    Which members the neighbour so far away may be is one set of bits; it becomes that of the next neighbour.
    """
    following, ends = _neighbours(order, way)
    reached = np.zeros(len(at), bool)
    alive, state, here = np.arange(len(at)), np.full(len(at), 1 << order.anchor, np.int64), at
    while len(alive):
        reached[alive[(state & ends) != 0]] = True
        inside = (here + way >= 0) & (here + way < len(lanes.code))
        inside[inside] = lanes.joined[here[inside] - (way < 0)]
        alive, state, here = alive[inside], state[inside], here[inside] + way
        possible = np.zeros_like(state)
        for place, mask in following.items():
            possible |= np.where(state >> place & 1, mask, 0)
        state = possible & bits[lanes.code[here]]
        going_on = state != 0
        alive, state, here = alive[going_on], state[going_on], here[going_on]
    return reached


def _neighbours(order: ChainOrder, way: int) -> tuple[dict[int, int], int]:
    """Per member: a bit for each that may stand next to it on this side; and those beside which none has to stand."""
    masks, ends, count = {}, 0, len(order.members)
    for place in range(count):
        mask, other = 0, place + way
        while 0 <= other < count:
            mask |= 1 << other
            if not order.members[other].optional:
                break
            other += way
        else:
            ends |= 1 << place
        masks[place] = mask
    return masks, ends


def _begins_of_form(lanes: Lanes, tried: _Accepted, form: tuple[int, ...], place: int, taken: Array) -> Array:
    """Where a form begins; chains that overlap an earlier one are left out. `taken` is by position."""
    length = len(form)
    begin: Array = tried.at - place
    begin = begin[(begin >= 0) & (begin + length <= len(lanes.member))]
    for step, member in enumerate(form):
        at = begin + step
        fits = (tried.bits[lanes.code[at]] >> member & 1).astype(bool) & ~taken[lanes.member[at]]
        if tried.order.members[member].vector:
            fits &= lanes.with_vector[at]
        if tried.order.members[member].accumulates:
            fits[fits] = lanes.add_to_gradients(at[fits])
        begin = begin[fits]
        if not len(begin):
            return begin
    for step in range(length - 1):
        begin = begin[lanes.joined[begin + step]]
    last = begin + length - 1  # of a kernel that stands for several operators all or none; in one alone nothing is left
    begin = begin[lanes.opens[begin] & lanes.closes[last] & (lanes.begin[begin] < lanes.end[last])]
    if tried.order.spread:
        begin = begin[lanes.end[begin + length - 1] - lanes.begin[begin] >= length]
    if tried.order.of_operators:  # what else their calls launched may be a member of another chain
        within = np.append(0, np.cumsum(taken))
        begin = begin[within[lanes.begin[begin]] == within[lanes.end[begin + length - 1] + 1]]
    return begin[_chosen_apart(begin, length)]


def _chosen_apart(begin: Array, length: int) -> Array:
    """Which of these begins are taken where each, in order, is that does not overlap the one taken before it.

    From each the next that can be taken is known; those that the first leads to are found by doubling the way.
    """
    if (np.diff(begin) >= length).all():
        return np.arange(len(begin))
    taken = np.zeros(len(begin) + 1, bool)
    taken[0] = True
    following = np.append(np.searchsorted(begin, begin + length), len(begin))
    for _ in range(len(begin).bit_length()):
        taken[following[taken]] = True
        following = following[following]
    return np.flatnonzero(taken[:-1])


def pattern_of_chains(found: FoundChains, patterns: ChainPatterns) -> Texts:
    """Per chain: the name of its pattern."""
    names = Texts.of(pattern.name for pattern in patterns.of_orders)
    return names.take(found.order)


def kept_kernels(found: FoundChains, patterns: ChainPatterns) -> Array:
    """Per kernel of the chains: whether the fused operator does its work as it stands."""
    kept = np.zeros(len(found.row), bool)
    for number, order in enumerate(patterns.orders):
        if order.kept_types:
            holds = found.called.hits(not order.kept_types.isdisjoint(members_of(name)) for name in found.called.names)
            kept |= holds & (found.order[found.chain] == number)
    return kept


def parts_of_passes(found: FoundChains, patterns: ChainPatterns, every: StepKernels) -> Array:
    """Per kernel of the chains: the part of its bytes that a pass of the fused operator over its tensors has: none of
    what is kept, and half of float32 where that one reads and writes half precision, which needs no conversion."""
    types, dtypes = every.table.texts("op_type").take(found.row), every.table.texts("input_dtypes").take(found.row)
    wide = np.array([*(plain_dtype(name.partition(";")[0]) == WHOLE for name in dtypes.names), False], bool)
    halved = np.where(types.isin([CONVERSION]) & found.moves, 0.0, np.where(wide[dtypes.codes], 0.5, 1.0))
    part = np.where(found.halved[found.chain], halved, 1.0)
    parts: Array = np.where(kept_kernels(found, patterns), 0.0, part)
    return parts


def fused_us_of_chains(
    found: FoundChains, patterns: ChainPatterns, every: StepKernels, limits: Table[ChipLimit] | None
) -> Array:
    """Per chain: what the fused operator needs, at most what the chain takes: the members that are kept, and its passes
    at the pace of the longest of the others. Products that become one call take no longer than is within reach of it,
    where `limits` tell what the chip can."""
    duration, kept = every.duration_us[found.row], kept_kernels(found, patterns)
    passes = np.array([order.passes for order in patterns.orders])[found.order]
    pass_us = duration * parts_of_passes(found, patterns, every)
    longest = np.maximum.reduceat(pass_us, found.begin) if len(found.begin) else duration
    stays = np.bincount(found.chain, duration * kept, len(found.size))
    grouped = np.array([order.grouped for order in patterns.orders], bool)[found.order]
    if limits is not None and grouped.any():
        rows = np.flatnonzero(kept & grouped[found.chain])
        at_once = duration.copy()
        at_once[rows] = np.fmin(duration[rows], reachable_us(every.table.take(found.row[rows]), limits))
        stays = np.where(grouped, np.bincount(found.chain, at_once * kept, len(found.size)) + START_US, stays)
    needed = stays + passes * longest
    fused: Array = np.minimum(needed, np.bincount(found.chain, duration, len(found.size)))
    return fused
