# SPDX-License-Identifier: Apache-2.0
"""Derivations: functions from tables to a table, and what each of them takes and makes, by its annotations."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeGuard, TypeVar, cast, get_args, get_type_hints

from advisor.chips.known_chips import ChipTable
from advisor.facts.base import Fact
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.table import Table
from advisor.model.run import Run
from advisor.model.run_of_ranks import RunOfRanks

AnyTable = Table[Any]
Derivation = Callable[..., AnyTable]
"""Tables in, one table out. Its needs are its annotated parameters: `Table[X]` (required), `Table[X] | None`
(optional: None when not recorded), a named tuple of such that are taken together, `RunOfRanks`, `ChainPatterns` and
`ChipTable`, and `Run` where it is made of the tables of all ranks. The return annotation `Table[Y]` names what it
makes."""
Completion = Callable[[Run, Any], AnyTable]
"""The run, and a table of one of its sources; the same table with what other ranks tell."""
_COMPLETIONS: dict[Derivation, Completion] = {}
D = TypeVar("D", bound=Derivation)


def completed_by(completion: Completion) -> Callable[[D], D]:
    """For a derivation of some ranks: fills in what depends on the others, in the process that gathers the tables.

    So the work on a rank does not depend on which others there are. Derivations that rest on the table may get it
    without that.
    """

    def register(derivation: D) -> D:
        _COMPLETIONS[derivation] = completion
        return derivation

    return register


def completion_of(derivation: Derivation) -> Completion | None:
    """What fills in what the other ranks tell; None where nothing does."""
    return _COMPLETIONS.get(derivation)


class Makers(dict[type[Fact], Derivation]):
    """The function that makes each derived fact, and what facts rest on: worked out once, for hundreds ask."""

    def __init__(self, derivations: Iterable[Derivation]) -> None:
        super().__init__((fact_of_derivation(one), one) for one in derivations)
        self._behind: dict[type[Fact], frozenset[type[Fact]]] = {}
        self._observed: dict[type[Fact], frozenset[type[Fact]]] = {}

    def needs(self, fact: type[Fact]) -> frozenset[type[Fact]]:
        """What an observed fact (nothing) or a derived one is made from."""
        return frozenset() if fact.observed else _facts_needed(self[fact])

    def behind(self, fact: type[Fact]) -> frozenset[type[Fact]]:
        """A fact and everything it rests on."""
        if fact not in self._behind:
            self._behind[fact] = frozenset([fact]).union(*map(self.behind, self.needs(fact)))
        return self._behind[fact]

    def observed_behind(self, fact: type[Fact]) -> frozenset[type[Fact]]:
        """The observed facts that a fact rests on; itself when it is observed."""
        if fact not in self._observed:
            self._observed[fact] = frozenset(root for root in self.behind(fact) if root.observed)
        return self._observed[fact]

    def observed_required(self, fact: type[Fact]) -> frozenset[type[Fact]]:
        """The observed facts without which there is no such fact."""
        if fact.observed:
            return frozenset([fact])
        required = (need for need, optional in needs_of_derivation(self[fact]).values() if not optional)
        return frozenset[type[Fact]]().union(*(self.observed_required(need) for need in required if is_fact(need)))


def rests_on_patterns(fact: type[Fact], makers: Makers) -> bool:
    """Whether chains of kernels are looked for on the way to a fact."""
    derived = (one for one in makers.behind(fact) if not one.observed)
    return any(need is ChainPatterns for one in derived for need, _ in needs_of_derivation(makers[one]).values())


@cache
def _facts_needed(derivation: Derivation) -> frozenset[type[Fact]]:
    return frozenset(need for need, _ in needs_of_derivation(derivation).values() if is_fact(need))


def is_fact(need: type) -> TypeGuard[type[Fact]]:
    """Whether a derivation takes a table for it."""
    return issubclass(need, Fact)


@cache
def needs_of_derivation(derivation: Derivation) -> Mapping[str, tuple[type, bool]]:
    """Per need: the fact it takes, or what it takes beside facts, and whether it is optional.

    Its name is that of the parameter; of tables that are taken together `parameter.field`.
    """
    found: dict[str, tuple[type, bool]] = {}
    for name, hint in _parameters_of(derivation).items():
        taken, optional = _without_none(hint)
        if _is_set_of_tables(taken):
            needs = {f"{name}.{field}": _need_of_hint(inner) for field, inner in _hints_of(taken).items()}
            found |= {field: (fact, optional or may_lack) for field, (fact, may_lack) in needs.items()}
        else:
            found[name] = _need_of_hint(hint)
    return found


def call_derivation(derivation: Derivation, given: Mapping[str, object]) -> AnyTable:
    """What a derivation makes of values by the names of its needs; None for a set of tables that lacks one it has to
    hold."""
    arguments: dict[str, object] = {}
    for name, taken in _sets_of_tables(derivation).items():
        if taken is None:
            arguments[name] = given[name]
            continue
        fields = {field: given[f"{name}.{field}"] for field in _hints_of(taken)}
        lacks = any(value is None and not _need_of_hint(_hints_of(taken)[field])[1] for field, value in fields.items())
        arguments[name] = None if lacks else taken(**fields)
    return derivation(**arguments)


@cache
def _sets_of_tables(derivation: Derivation) -> Mapping[str, type | None]:
    """Per parameter: the set of tables it takes, None where it takes something else."""
    taken = {name: _without_none(hint)[0] for name, hint in _parameters_of(derivation).items()}
    return {name: one if _is_set_of_tables(one) else None for name, one in taken.items()}


def _parameters_of(derivation: Derivation) -> Mapping[str, Any]:
    return {name: hint for name, hint in _hints_of(derivation).items() if name != "return"}


def _is_set_of_tables(taken: Any) -> bool:
    return isinstance(taken, type) and issubclass(taken, tuple)


def _need_of_hint(hint: Any) -> tuple[type, bool]:
    """What is taken by an annotation, and whether it may be None."""
    taken, optional = _without_none(hint)
    return (taken, False) if taken in (Run, RunOfRanks, ChainPatterns, ChipTable) else (get_args(taken)[0], optional)


def _without_none(hint: Any) -> tuple[Any, bool]:
    """An annotation without its None, and whether it had one."""
    optional = isinstance(hint, types.UnionType) or hint.__class__.__name__ == "_UnionGenericAlias"
    return next(arg for arg in get_args(hint) if arg is not types.NoneType) if optional else hint, optional


@cache
def fact_of_derivation(derivation: Derivation) -> type[Fact]:
    """The fact a derivation makes."""
    return cast("type[Fact]", get_args(_hints_of(derivation)["return"])[0])


@cache
def _hints_of(derivation: Derivation | type) -> Mapping[str, Any]:
    return get_type_hints(derivation)
