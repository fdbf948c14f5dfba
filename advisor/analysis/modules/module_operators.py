# SPDX-License-Identifier: Apache-2.0
"""The operators of each module in the order in which they are called, and the kernels each of them led to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.analysis.modules.module_calls import PHASES, ChargedWork, LaunchTables, charge_work
from advisor.analysis.modules.module_tree import merge_numbered
from advisor.analysis.rooflines.kernel_peaks import KernelPeaks, peaks_of_kernels, share_of_peak
from advisor.facts.derived import AttentionCall, ChipLimit, ModuleOperator
from advisor.facts.observed import ModuleRange
from advisor.facts.table import Array, Table, Texts, values_at

MOST_LISTED = 256
"""So many kernels of one operator are named; a replayed graph launches thousands at once."""


class _Sequences(Struct, frozen=True):
    """Items of groups, group by group in their order, and which groups have the same items in the same order."""

    item: Array
    begin: Array
    size: Array
    code: Array
    """Per group; equal for equal sequences."""

    def items(self, group: int) -> list[int]:
        """The items of a group, as far as they are listed."""
        begin = int(self.begin[group])
        found: list[int] = self.item[begin : begin + min(int(self.size[group]), MOST_LISTED)].tolist()
        return found


def module_operators(
    ranges: Table[ModuleRange],
    recorded: LaunchTables,
    limits: Table[ChipLimit] | None = None,
    attention: Table[AttentionCall] | None = None,
) -> Table[ModuleOperator]:
    """Operators that led to work on the device; those outside of all modules are left out."""
    kernels = recorded.kernels
    work = charge_work(ranges, recorded)
    rows = np.flatnonzero((work.path > 0) & (work.instance >= 0))
    rows = rows[np.argsort(work.start[rows], kind="stable")]
    runs = group_by(work.instance[rows], work.phase[rows], _operator_or_work(work, rows))
    row = rows[runs.first]
    lists = _sequences_of(runs.of, work.name.codes[rows], len(runs))
    order = np.lexsort((row, work.host_ns[row]))
    names = work.operators.texts("name").at(work.operator[row])
    calls_of = group_by(work.instance[row], work.phase[row])
    inside = _sequences_of(calls_of.of[order], names.codes[order], len(calls_of))
    place = np.empty(len(row), np.int64)
    place[order[np.argsort(calls_of.of[order], kind="stable")]] = _counted_up(inside.size)
    path, phase = work.path[row], work.phase[row]
    variant = _numbered_within(group_by(work.rank[row], path, phase).of, inside.code[calls_of.of], work.host_ns[row])
    alike = group_by(work.rank[row], path, phase, variant, place, names, lists.code)
    table = _build_table(work, rows, runs, lists, names, variant, alike)
    mfu = _mfu_of_groups(alike.of[runs.of], rows, len(alike), peaks_of_kernels(kernels, limits, attention))
    return table.having(mfu=mfu).sorted_by("rank", "first_start_ns")


def _mfu_of_groups(of: Array, rows: Array, groups: int, peaks: KernelPeaks) -> Array:
    """Per group: the part of the peak that its kernels which multiply use while they run."""
    mine = rows < len(peaks.known_us)
    of, rows = of[mine], rows[mine]
    return share_of_peak(peaks.sums(lambda us: np.bincount(of, weights=us[rows], minlength=groups)))


def _build_table(  # noqa: PLR0917 - the groups it is made of
    work: ChargedWork, rows: Array, runs: Groups, lists: _Sequences, names: Texts, variant: Array, alike: Groups
) -> Table[ModuleOperator]:
    row = rows[runs.first]
    took = runs.sums(work.duration_us[rows])
    begun = np.full(len(alike), np.iinfo(np.int64).max)
    np.minimum.at(begun, alike.of, work.host_ns[row])
    head = alike.first
    path = work.path[row[head]]
    texts, tree = Texts.of(text or None for text in work.paths.texts()), merge_numbered(work)
    return Table.build(
        ModuleOperator,
        rank=work.rank[row[head]],
        parent=texts.at(values_at(work.paths.parent, path, 0)),
        module=work.paths.name.at(path),
        group=Texts.of(tree.path).at(tree.of[path]),
        phase=Texts(work.phase[row[head]].astype(np.int32), PHASES),
        variant=variant[head],
        operator=names.take(head),
        kernels=Texts.of(_kernel_lists(work, lists, head)),
        calls=alike.sizes,
        total_us=alike.sums(took),
        mean_us=alike.means(took),
        first_start_ns=begun,
    )


def _operator_or_work(work: ChargedWork, rows: Array) -> Array:
    """Per row: a number of its operator, or of its own where it has none."""
    found: Array = np.where(work.operator[rows] >= 0, work.operator[rows], len(work.operators) + rows)
    return found


def _sequences_of(of: Array, item: Array, groups: int) -> _Sequences:
    """The items of each group in the order of their rows. Sequences are told apart by their length and first items."""
    order = np.argsort(of, kind="stable")
    held = item[order].astype(np.int64)
    size = np.bincount(of, minlength=groups)
    begin = np.cumsum(size) - size
    code, count, kinds = np.zeros(groups, np.int64), 1, int(held.max(initial=-1)) + 2
    for place in range(min(int(size.max(initial=0)), MOST_LISTED)):
        longer = np.flatnonzero(size > place)
        keys, which = np.unique(code[longer] * kinds + held[begin[longer] + place] + 1, return_inverse=True)
        code[longer] = count + which
        count += len(keys)
    return _Sequences(held, begin, size, group_by(code, size).of)


def _counted_up(sizes: Array) -> Array:
    """0, 1, 2 … for each group."""
    found: Array = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return found


def _numbered_within(of: Array, kind: Array, moment: Array) -> Array:
    """Per row: the number of its kind among those of its group, in the order in which each is met first."""
    kinds = group_by(of, kind)
    first = np.full(len(kinds), np.iinfo(np.int64).max)
    np.minimum.at(first, kinds.of, moment)
    group = of[kinds.first]
    order = np.lexsort((first, group))
    number = np.empty(len(kinds), np.int64)
    number[order] = _counted_up(np.bincount(group))
    return number[kinds.of]


def _kernel_lists(work: ChargedWork, lists: _Sequences, heads: Array) -> Iterator[str]:
    """The kernels that each of these operators led to, `, ` between them."""
    known: dict[int, str] = {}
    for head in heads.tolist():
        code = int(lists.code[head])
        if code not in known:
            named = [work.name.names[item] if item >= 0 else "?" for item in lists.items(head)]
            left = int(lists.size[head]) - len(named)
            known[code] = ", ".join([*named, f"… +{left}"] if left else named)
        yield known[code]
