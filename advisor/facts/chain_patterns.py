# SPDX-License-Identifier: Apache-2.0
"""Patterns of chains: in which order small operators run that one fused operator would replace.

They are read from `rules/patterns/` (see `rules.patterns`), and given to the derivations that look for them.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product

from msgspec import Struct


class ChainMember(Struct, frozen=True):
    """One kernel of a chain: the word it is called by, and the types it may have, as CANN spells them."""

    word: str
    types: frozenset[str]
    optional: bool = False
    kept: bool = False
    """Whether the fused operator does its work as it stands, such as the products of attention."""
    vector: bool = False
    """Whether one of its inputs has a single axis, as a bias has; where shapes were not recorded, none has."""
    accumulates: bool = False
    """Whether it adds a float32 matrix to the weight gradient that the member before it multiplies in half precision;
    where shapes or data types were not recorded, none does."""


Form = tuple[int, ...]
"""Places of the members of a chain that are there."""


class ChainOrder(Struct, frozen=True, dict=True):
    """The members of a chain in order, and which of them it is looked for by."""

    members: tuple[ChainMember, ...]
    anchor: int
    passes: float = 1.0
    """Passes over the tensor the fused operator needs, over those of the longest member that is not kept: a kernel
    bound by memory takes time in proportion to the tensors it reads and writes."""
    grouped: bool = False
    """Whether the members that are kept become one product of all their groups, which fills the chip as each alone
    does not."""
    widens: bool = False
    """Whether the fused operator takes half precision and computes in float32 inside: conversions before the first
    member and behind the last one then go too, and its passes are over tensors of half the width."""
    wanted: tuple[int, ...] = ()
    """Where these members run in another order than the fused operator takes, though both compute the same: their
    places in the order that it takes. Empty where it takes them as they run."""
    beside: frozenset[str] = frozenset()
    """Types of which one runs in the steps of the rank, else these operators mean something else; empty where it does
    not matter."""

    spread: bool = False
    """Whether kernels that are brief beside its members stand between these, and stay where they are fused; without any
    of them it is another chain."""

    @cached_property
    def of_operators(self) -> bool:
        """Whether all its members are operators of the framework, such as `aten::mul`: each of them is then one call
        with all the kernels that it launched, whatever these are called."""
        return all("::" in name for one in self.members for name in one.types)

    @cached_property
    def kept_types(self) -> frozenset[str]:
        """The types of the members that are kept."""
        return frozenset[str]().union(*(one.types for one in self.members if one.kept))

    def is_possible(self, types: frozenset[str]) -> bool:
        """Whether each member that has to be there has one of these types, and one of those beside it is there."""
        told = not self.beside or not self.beside.isdisjoint(types)
        return told and all(one.optional or not one.types.isdisjoint(types) for one in self.members)

    @cached_property
    def forms(self) -> tuple[tuple[Form, int], ...]:
        """Every choice of its optional members, longest first, each with the place of its anchor."""
        choices = [((at,), ()) if one.optional else ((at,),) for at, one in enumerate(self.members)]
        chosen = [tuple(at for part in parts for at in part) for parts in product(*choices)]
        words = {tuple(self.members[at].word for at in places): places for places in reversed(chosen)}
        ordered = sorted(words, key=lambda form: (-len(form), form))
        return tuple((words[form], words[form].index(self.anchor)) for form in ordered)

    def __str__(self) -> str:
        """Its members in order, `?` behind those that may be missing."""
        return " ".join(one.word + "?" * one.optional for one in self.members)


class ChainPattern(Struct, frozen=True):
    """Chains that one fused operator replaces."""

    name: str
    operator: str
    """The fused operator, as CANN names it."""
    orders: tuple[ChainOrder, ...]
    workload: str = ""
    """`training` or `inference` where the fused operator serves that alone."""
    has_remedy: bool = False
    """Whether the pattern itself says what to do; else a rule of its own does."""

    @property
    def spellings(self) -> dict[str, tuple[str, ...]]:
        """The words of its members that stand for other types than their own name, each with these."""
        members = {one.word: one.types for order in self.orders for one in order.members}
        return {word: tuple(sorted(types)) for word, types in sorted(members.items()) if types != {word}}


class ChainPatterns(Struct, frozen=True, dict=True):
    """Everything that is looked for."""

    patterns: tuple[ChainPattern, ...] = ()
    passed_over: frozenset[str] = frozenset()
    """Types that change or copy data only: autocast, expansion and views put them between the members of any chain."""
    aside: frozenset[str] = frozenset()
    """Those of them that have nothing to do with a chain: they stay where it is fused."""
    joined: frozenset[str] = frozenset()
    """What else a graph compiler joins with its neighbours, by the names that it gives operators."""

    @cached_property
    def types(self) -> frozenset[str]:
        """Every type that a member may have or that is passed over."""
        members = (one for order in self.orders for one in order.members)
        return self.passed_over.union(*(one.types for one in members))

    @cached_property
    def known(self) -> frozenset[str]:
        """Every operator that the name of a kernel may be made of where a graph compiler joined several into it."""
        return self.joined.union(name for name in self.types if "::" not in name)

    @cached_property
    def of_orders(self) -> tuple[ChainPattern, ...]:
        """Per order: its pattern."""
        return tuple(pattern for pattern in self.patterns for _ in pattern.orders)

    @cached_property
    def orders(self) -> tuple[ChainOrder, ...]:
        """The orders of all patterns, one pattern after another."""
        return tuple(order for pattern in self.patterns for order in pattern.orders)
