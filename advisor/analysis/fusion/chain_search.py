# SPDX-License-Identifier: Apache-2.0
"""Where chains of small operators lie: runs of kernels on one stream, in start order, whose types follow a pattern.

Conversions and copies may stand between two members; they belong to the chain, unless what they move is larger than all
that its members work on, as a cache of keys and values is. Chains are matched around their rarest
member, all occurrences at once, the longest form of all patterns first; a kernel belongs to one chain only.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.operators.operators import StepKernels, in_steps
from advisor.analysis.rooflines.reachable import START_US, reachable_us
from advisor.analysis.rooflines.tensors import parse_tensors, plain_dtype
from advisor.analysis.steps.device import DeviceTimeline, build_timeline
from advisor.facts.chain_patterns import ChainOrder, ChainPatterns
from advisor.facts.derived import ChipLimit, Overlap
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts

BETWEEN = 2
"""At most so many conversions and copies stand between two members."""


class Lanes(Struct, frozen=True, dict=True):
    """Kernels in start order, one stream of one step after another."""

    row: Array
    """Row of the kernels."""
    lane: Array
    rank: Array
    member: Array
    """Positions of those that are not passed over."""
    code: Array
    """Their types, by number; the last number for a type that is missing."""
    names: tuple[str, ...]
    converts: Array
    """Per position: whether it converts a data type."""
    shapes: Texts
    """Shapes and data types of the inputs, by row of the kernels."""
    dtypes: Texts

    @cached_property
    def with_vector(self) -> Array:
        """Per member: whether one of its inputs has a single axis."""
        told = np.array([*map(_takes_vector, self.shapes.names), False])
        found: Array = told[self.shapes.codes[self.row[self.member]]]
        return found

    def add_to_gradients(self, at: Array) -> Array:
        """Per chosen member: whether it adds a float32 matrix to the weight gradient that the one before it makes."""
        rows = [self.row[self.member[place]] for place in (np.maximum(at - 1, 0), at)]
        texts = [column.take(row) for row in rows for column in (self.shapes, self.dtypes)]
        alike = group_by(*texts)
        columns = (column.take(alike.first).values() for column in texts)
        told = np.array([_adds_to_gradient(*map(str, one)) for one in zip(*columns, strict=True)], bool)
        found: Array = told[alike.of] & (at > 0)
        return found

    @cached_property
    def joined(self) -> Array:
        """Per member: whether it and the next one may follow each other in a chain; never the last."""
        here, following = self.member[:-1], self.member[1:]
        near = (following - here <= BETWEEN + 1) & (self.lane[here] == self.lane[following])
        joined: Array = np.append(near, False)
        return joined

    @cached_property
    def by_code(self) -> tuple[Array, Array]:
        """The members ordered by type, and where each type begins."""
        small = self.code.astype(np.int16) if len(self.names) < np.iinfo(np.int16).max else self.code
        counts = np.bincount(self.code, minlength=len(self.names) + 1)
        return np.argsort(small, kind="stable"), np.append(0, np.cumsum(counts))

    def of_types(self, types: frozenset[str]) -> Array:
        """The members of these types, in order."""
        order, begin = self.by_code
        chosen = [order[begin[code] : begin[code + 1]] for code, name in enumerate(self.names) if name in types]
        return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.intp)


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


def chains_in_steps(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    patterns: ChainPatterns,
) -> FoundChains:
    """The chains among the kernels of the steps, by their rows in `in_steps`: searched once for the same tables."""
    return kernels.once(_search_steps, collectives, windows, split, patterns)


def _search_steps(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    patterns: ChainPatterns,
) -> FoundChains:
    device = build_timeline(kernels, collectives, None, windows)
    return find_chains(in_steps(device, kernels, split), device, patterns)


def find_chains(every: StepKernels, device: DeviceTimeline, patterns: ChainPatterns) -> FoundChains:
    """Every chain of these patterns, none sharing a kernel with another."""
    lanes = stream_lanes(every, device, patterns.passed_over)
    order, first, last = _match_orders(lanes, patterns.orders)
    first, last, halved = _with_conversions(lanes, every, patterns, (order, first, last))
    spread = last - first + 1
    chain = np.repeat(np.arange(len(spread)), spread)
    row = lanes.row[np.arange(len(chain)) - (np.cumsum(spread) - spread)[chain] + first[chain]]
    own = ~_move_other_tensors(every.table, row, chain, patterns.passed_over)
    row, chain = row[own], chain[own]
    size = np.bincount(chain, minlength=len(spread))
    return FoundChains(row, chain, np.cumsum(size) - size, size, order, halved)


def _move_other_tensors(table: Table[Kernel], row: Array, chain: Array, passed_over: frozenset[str]) -> Array:
    """Per kernel of the chains: whether it is passed over and has a tensor larger than any of the members has."""
    passed = table.texts("op_type").take(row).isin(passed_over)
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


_CONVERSION = "Cast"


def _with_conversions(
    lanes: Lanes, every: StepKernels, patterns: ChainPatterns, chains: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array]:
    """Per chain: the positions of its first and last kernel, with the conversions around it where the fused operator
    makes them inside, and whether it begins and ends in half precision."""
    order, first, last = chains
    widens = np.array([one.widens for one in patterns.orders], bool)[order]
    if not widens.any():
        return first, last, widens
    before, behind = np.maximum(first - 1, 0), np.minimum(last + 1, len(lanes.row) - 1)
    begins = widens & lanes.converts[before] & (lanes.lane[before] == lanes.lane[first]) & (before < first)
    begins[begins] = _from_half(every.table, lanes.row[before[begins]], lanes.row[first[begins]])
    ends = begins & lanes.converts[behind] & (lanes.lane[behind] == lanes.lane[last]) & (behind > last)
    ends[ends] = _from_half(every.table, lanes.row[behind[ends]], lanes.row[last[ends]], narrows=True)
    halved = begins & (ends | _takes_half(every.table, lanes.row[last]))
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
    sides = {tensor.sides for tensor in parse_tensors(shapes, dtypes) if tensor is not None and tensor.dtype == _WHOLE}
    is_theirs = any(tensor is not None and tensor.sides in sides for tensor in parse_tensors(shape))
    return half in _HALF and whole == _WHOLE and is_theirs


def _takes_half(table: Table[Kernel], rows: Array) -> Array:
    """Per kernel: whether all its inputs with values are in half precision."""
    dtypes = table.texts("input_dtypes").take(rows)
    told = [_HALF.issuperset(map(plain_dtype, filter(None, name.split(";")))) for name in dtypes.names]
    found: Array = np.array([*told, False], bool)[dtypes.codes]
    return found


def stream_lanes(every: StepKernels, device: DeviceTimeline, passed_over: frozenset[str]) -> Lanes:
    """The kernels as they followed each other on each stream of each step."""
    types, work = every.table.texts("op_type"), device.work
    stream = group_by(work.cell[every.row], every.table["stream"]).of
    order = np.lexsort((work.start[every.row], stream))
    member = np.flatnonzero(~types.isin(passed_over)[order])
    code = types.codes[order][member]
    return Lanes(
        order,
        stream[order],
        every.table["rank"][order],
        member,
        np.where(code < 0, len(types.names), code),
        types.names,
        types.isin([_CONVERSION])[order],
        every.table.texts("input_shapes"),
        every.table.texts("input_dtypes"),
    )


def _takes_vector(shapes: str) -> bool:
    return any(one.isdecimal() and one != "1" for one in shapes.strip('"').split(";"))


_HALF, _WHOLE = {"BF16", "FLOAT16"}, "FLOAT"


def _adds_to_gradient(factors: str, factor_types: str, summands: str, summand_types: str) -> bool:
    """Whether what is added has the shape of the gradient of a weight, which sums the products of all tokens.

    Both factors, (tokens, out) and (tokens, in), are summed over their first axis. Where tokens are as many as one of
    the other axes it could be another product, and nothing is said.
    """
    multiplied, added = parse_tensors(factors, factor_types), parse_tensors(summands, summand_types)
    if not len(multiplied) == len(added) == 2:  # noqa: PLR2004 - two factors, two summands
        return False
    sides = [() if tensor is None else tensor.sides for tensor in (*multiplied, *added)]
    if any(len(one) != 2 for one in sides):  # noqa: PLR2004 - matrices
        return False
    (tokens, rows), (others, columns) = sides[:2]
    if tokens != others or tokens in (rows, columns) or sides[2:] != [(rows, columns)] * 2:
        return False
    halves, sums = ({tensor.dtype for tensor in pair if tensor is not None} for pair in (multiplied, added))
    return halves <= _HALF and "FLOAT" in sums and sums <= {"FLOAT", *_HALF}


class _Accepted(Struct, frozen=True):
    """An order of members, held against types by their numbers."""

    order: ChainOrder
    bits: Array
    """Per type: a bit for each member that may have it."""
    at: Array
    """Members of the lanes from which, as its anchor, a chain can be reached on both sides."""


def _match_orders(lanes: Lanes, orders: tuple[ChainOrder, ...]) -> tuple[Array, Array, Array]:
    """Per chain: the number of its order, and the positions of its first and last kernel."""
    found: list[tuple[Array, Array, Array]] = [(np.empty(0, np.intp),) * 3]
    taken = np.zeros(len(lanes.member), bool)
    possible = {number: order for number, order in enumerate(orders) if order.is_possible(frozenset(lanes.names))}
    tried = {number: one for number, order in possible.items() if len((one := _accepted(lanes, order)).at)}
    forms = [(number, form, place) for number in tried for form, place in orders[number].forms]
    for number, form, place in sorted(forms, key=lambda one: -len(one[1])):
        begin = _begins_of_form(lanes, tried[number], form, place, taken)
        for step in range(len(form)):
            taken[begin + step] = True
        first, last = lanes.member[begin], lanes.member[begin + len(form) - 1]
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
    """Where a form begins; chains that overlap an earlier one are left out."""
    length = len(form)
    begin: Array = tried.at - place
    begin = begin[(begin >= 0) & (begin + length <= len(taken))]
    for step, member in enumerate(form):
        at = begin + step
        fits = (tried.bits[lanes.code[at]] >> member & 1).astype(bool) & ~taken[at]
        if tried.order.members[member].vector:
            fits &= lanes.with_vector[at]
        if tried.order.members[member].accumulates:
            fits[fits] = lanes.add_to_gradients(at[fits])
        begin = begin[fits]
        if not len(begin):
            return begin
    for step in range(length - 1):
        begin = begin[lanes.joined[begin + step]]
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


def kept_kernels(found: FoundChains, patterns: ChainPatterns, every: StepKernels) -> Array:
    """Per kernel of the chains: whether the fused operator does its work as it stands."""
    types, kept = every.table.texts("op_type").take(found.row), np.zeros(len(found.row), bool)
    for number, order in enumerate(patterns.orders):
        if order.kept_types:
            kept |= types.isin(order.kept_types) & (found.order[found.chain] == number)
    return kept


def parts_of_passes(found: FoundChains, patterns: ChainPatterns, every: StepKernels) -> Array:
    """Per kernel of the chains: the part of its bytes that a pass of the fused operator over its tensors has: none of
    what is kept, and half of float32 where that one reads and writes half precision, which needs no conversion."""
    types, dtypes = every.table.texts("op_type").take(found.row), every.table.texts("input_dtypes").take(found.row)
    wide = np.array([*(plain_dtype(name.partition(";")[0]) == _WHOLE for name in dtypes.names), False], bool)
    halved = np.where(types.isin([_CONVERSION]), 0.0, np.where(wide[dtypes.codes], 0.5, 1.0))
    part = np.where(found.halved[found.chain], halved, 1.0)
    parts: Array = np.where(kept_kernels(found, patterns, every), 0.0, part)
    return parts


def fused_us_of_chains(
    found: FoundChains, patterns: ChainPatterns, every: StepKernels, limits: Table[ChipLimit] | None
) -> Array:
    """Per chain: what the fused operator needs, at most what the chain takes: the members that are kept, and its passes
    at the pace of the longest of the others. Products that become one call take no longer than is within reach of it,
    where `limits` tell what the chip can."""
    duration, kept = every.duration_us[found.row], kept_kernels(found, patterns, every)
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
