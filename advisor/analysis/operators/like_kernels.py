# SPDX-License-Identifier: Apache-2.0
"""Kernels that should take the same time: those with equal inputs, and of them those that take turns for good."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by, ratio
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table

ALIKE = (
    "op_type",
    "function",
    "core",
    "input_shapes",
    "input_dtypes",
    "input_formats",
    "output_shapes",
    "output_dtypes",
)
"""What tells kernels of a rank apart that should not take the same time."""
_TURNS = range(2, 9)
"""Periods in which like kernels may take turns: layers of two kinds, or several kernels of equal inputs in a layer."""
_ROUNDS = 4
"""A period shows in no fewer."""
_VARYING = 0.1
"""Kernels whose standard deviation is a smaller part of their mean are steady whatever they take turns with."""
_TOLD = 0.1
"""Turns tell of kernels only where what is left is no more than this part of how they vary."""


def group_like_kernels(kernels: Table[Kernel]) -> Groups:
    """Kernels of a rank, type and core with equal inputs and outputs. What was not recorded makes no difference.

    Where an operator runs several functions, each is a kernel of its own.
    """
    return kernels.once_for_now(_find_like_kernels)


def _find_like_kernels(kernels: Table[Kernel]) -> Groups:
    return group_by(kernels["rank"], *(kernels.texts(key) for key in ALIKE))


class TurnTakers(Struct, frozen=True):
    """Like kernels, and those of them that should take the same time."""

    variance: Array
    """Per group of like kernels: by how much those vary that should not, µs squared."""
    usual: Groups
    """The groups, and where the members of one take turns for good each turn by itself."""

    def slower_us(self, duration: Array) -> Array:
        """Per kernel: how much longer it took than the fastest quarter of those that should take the same time."""
        beyond: Array = duration - self.usual.quantiles(duration, 0.25)[self.usual.of]
        return np.maximum(beyond, 0)


def find_turn_takers(kernels: Table[Kernel], duration: Array, step: Array) -> TurnTakers:
    """Which like kernels of these should take the same time; `step` numbers the step of each, `duration` is in µs.

    Layers of one shape may well differ for good, as sliding windows do from full attention, and that is no instability.
    Where every step has as many calls, those at the same place of each step are held against each other; where steps
    differ, or none was marked, those that take turns, as every second layer.
    """
    groups = group_like_kernels(kernels)
    mean = groups.means(duration)
    alone = groups.means((duration - mean[groups.of]) ** 2)
    in_step = group_by(groups.of, step)
    of_like = Groups(groups.of[in_step.first], groups.first)
    calls = in_step.sizes.astype(float)
    evenly = (of_like.smallest(calls) == of_like.largest(calls)) & (of_like.sizes > 1)
    uneven = ~evenly & (alone > (_VARYING * mean) ** 2) & (groups.sizes >= _ROUNDS * _TURNS[0])
    compared = np.flatnonzero((evenly | uneven)[groups.of])
    place = np.zeros(len(duration), np.int64)
    place[compared] = Groups(in_step.of[compared], in_step.first).turns(kernels["start_ns"][compared])
    freedom = np.where(evenly, 1 - 1 / np.maximum(of_like.sizes, 1), 1)
    by_place = _variance_by_place(groups, np.flatnonzero(evenly[groups.of]), place, duration) / freedom
    variance = np.where(evenly, np.minimum(by_place, alone), alone)
    variance, period = _shortest_periods(groups, uneven, place, duration, variance)
    period = np.where(evenly & (variance < _TOLD * alone), len(duration), period)  # each place by itself
    return TurnTakers(variance, group_by(groups.of, place % period[groups.of]))


def _shortest_periods(groups: Groups, asked: Array, place: Array, duration: Array, alone: Array) -> tuple[Array, Array]:
    """Per group: the variance that is left, and after how many calls the same turn comes again; 1 where none does.

    Only of the groups that are `asked`. Corrected for the means that are taken away, so that a long period explains
    nothing by chance.
    """
    variance, period = alone, np.ones(len(groups), np.int64)
    members = np.flatnonzero(asked[groups.of])
    for turns in _TURNS if len(members) else ():
        freedom = np.maximum(groups.sizes - turns, 1) / groups.sizes
        left = _variance_by_place(groups, members, place % turns, duration) / freedom
        better = asked & (groups.sizes >= _ROUNDS * turns) & (left < np.minimum(_TOLD * alone, variance))
        variance, period = np.where(better, left, variance), np.where(better, turns, period)
    return variance, period


def _variance_by_place(groups: Groups, members: Array, place: Array, duration: Array) -> Array:
    """Per group: the mean square by which its members differ from the mean of those at their place."""
    of, took = groups.of[members], duration[members]
    places = group_by(of, place[members])
    apart = (took - places.means(took)[places.of]) ** 2
    return ratio(np.bincount(of, weights=apart, minlength=len(groups)), groups.sizes)
