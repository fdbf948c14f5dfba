# SPDX-License-Identifier: Apache-2.0
"""Profile: all facts of one run, read or derived when first asked for, one rank at a time.

A profile is *given* its sources and derivations, so this module knows neither files nor formulas.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar, cast, get_args, get_type_hints, overload

from advisor.facts.base import Fact
from advisor.facts.names import FACTS
from advisor.facts.observed import Damage
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, UsageError
from advisor.messages.text import Text
from advisor.model.run import Run

F = TypeVar("F", bound=Fact)
BESIDE_WORTH_BYTES = 64 << 20
"""From this much input on, what is derived from one rank is derived in threads."""
AnyTable = Table[Any]
Derivation = Callable[..., AnyTable]
"""Tables in, one table out. Its needs are its annotated parameters: `Table[X]` (required), `Table[X] | None`
(optional: None when not recorded) and `Run`. The return annotation `Table[Y]` names what it makes."""


class Source(Protocol):
    """One capture (or one cluster summary): reads the facts it holds."""

    size_bytes: int

    def read(self, fact: type[F]) -> Table[F]:
        """The rows of a fact.

        Raises:
            FactMissing: The capture does not hold it.
        """
        ...

    def release(self) -> None:
        """Lets go of what was kept for further reads. Reading again is allowed, and slower."""
        ...


Found = AnyTable | FactMissing
Wanted = tuple[type[Fact], ...]
Gather = Callable[
    [Callable[["Source"], dict[type[Fact], Found]], Sequence["Source"]], Iterable[dict[type[Fact], Found]]
]
"""How the work over sources is spread: like `map`, and `map` by default; a process pool for many or large ranks."""


class Profile:
    """All facts of one run."""

    def __init__(
        self, run: Run, sources: Sequence[Source], derivations: Iterable[Derivation], gather: Gather = map
    ) -> None:
        self.run = run
        self._sources = tuple(sources)
        self._makers = {makes(derivation): derivation for derivation in derivations}
        self._gather = gather
        self._found: dict[type[Fact], Found] = {}

    @property
    def size_bytes(self) -> int:
        """How much input there is, over all ranks."""
        return sum(source.size_bytes for source in self._sources)

    @property
    def single(self) -> bool:
        """Whether there is one source only: what is asked for later then builds on what is there."""
        return len(self._sources) == 1

    @overload
    def table(self, fact: type[F]) -> Table[F]: ...
    @overload
    def table(self, fact: str) -> AnyTable: ...
    def table(self, fact: type[Fact] | str) -> AnyTable:
        """The rows of a fact over all ranks. A fact is its class, or the name that rules use after `in:`.

        Raises:
            FactMissing: It was not recorded on any rank, or something it is derived from was not.
            UsageError: No fact has this name.
        """
        asked = named(fact) if isinstance(fact, str) else fact
        if asked not in self._found:
            self.prepare([asked])
        found = self._found[asked]
        if isinstance(found, FactMissing):
            raise found
        return found

    def observed_behind(self, fact: type[Fact]) -> frozenset[type[Fact]]:
        """The observed facts that a fact rests on; itself when it is observed."""
        return _roots(fact, self._makers)

    def __repr__(self) -> str:
        ranks, steps = len(self.run.ranks), len(self.run.steps)
        return f"<profile {self.run.name!r}: {ranks} ranks, {steps} steps>"

    def prepare(self, facts: Iterable[type[Fact]]) -> None:
        """Reads and derives these facts in one pass over the ranks, so that each file is read once.

        Asking for everything that will be wanted at once is what keeps memory at the size of the largest rank.
        """
        wanted = [fact for fact in dict.fromkeys(facts) if fact not in self._found]
        per_rank = [f for f in self._closure(wanted) if not f.across_ranks and f not in self._found]
        if per_rank:
            # damage comes to light while other facts are read, so it is asked for last
            ordered = tuple(sorted(per_rank, key=lambda fact: fact is Damage))
            threads = 2 if self.single and self.size_bytes > BESIDE_WORTH_BYTES else 1
            known = dict(self._found) if self.single else {}
            work = _RankWork(self.run, self._makers, ordered, known, threads)
            parts = list(self._gather(work, self._sources))
            for fact in ordered:
                self._found[fact] = _joined(fact, [part[fact] for part in parts])
        for fact in wanted:
            if fact.across_ranks:
                _resolve(fact, self.run, self._makers, self._found, _cannot_read)

    def prepare_events(self) -> None:
        """Reads and derives everything that rests on events, before it is known what is wanted of them.

        They lie in one file, which is read once; for a single source with room for all its tables. What is made on
        request only is left for later.
        """
        behind = {fact: _roots(fact, self._makers) for fact in self._makers if not fact.on_request}
        resting = [fact for fact, roots in behind.items() if any(_of_events(root) for root in roots)]
        self.prepare([*resting, *(root for fact in resting for root in behind[fact] if _of_events(root))])

    def _closure(self, wanted: Iterable[type[Fact]]) -> Iterator[type[Fact]]:
        """The rank-wise facts that must be collected for these: themselves, or what an across-ranks fact needs."""
        for fact in wanted:
            if not fact.across_ranks:
                yield fact
            else:
                yield from self._closure(need for need, _ in needs(self._makers[fact]).values() if need is not None)


def _joined(fact: type[Fact], parts: Sequence[Found]) -> Found:
    tables = [part for part in parts if isinstance(part, Table)]
    if tables or not parts:
        return Table.concat(fact, tables)
    missing = [part for part in parts if isinstance(part, FactMissing)]
    return FactMissing.joined(missing)


class _RankWork:
    """The facts wanted of one source. A class, not a closure, so that a process pool can take it along.

    Events are read first, together, so that the files that hold them can be let go; then their tables are let go as
    soon as nothing that is still wanted needs them.
    """

    def __init__(
        self,
        run: Run,
        makers: Mapping[type[Fact], Derivation],
        wanted: Wanted,
        known: Mapping[type[Fact], Found],
        threads: int,
    ) -> None:
        self.run, self.makers, self.wanted, self.known, self.threads = run, makers, wanted, known, threads

    def __call__(self, source: Source) -> dict[type[Fact], Found]:
        found: dict[type[Fact], Found] = dict(self.known)
        needed = {fact: _roots(fact, self.makers) for fact in self.wanted}
        events = {root for roots in needed.values() for root in roots if _of_events(root)}
        for fact in sorted(events, key=lambda root: root.table):
            _resolve(fact, self.run, self.makers, found, source.read)
        source.release()
        if self.threads > 1:
            self._side_by_side(source, found)
        todo = sorted(self.wanted, key=lambda fact: (fact is Damage, not any(root.heavy for root in needed[fact])))
        for done, fact in enumerate(todo, 1):
            _resolve(fact, self.run, self.makers, found, source.read)
            kept = {*self.wanted, *(root for later in todo[done:] for root in needed[later])}
            for root in [root for root in found if root.observed and root not in kept]:
                del found[root]
        return {fact: found[fact] for fact in self.wanted}

    def _side_by_side(self, source: Source, found: dict[type[Fact], Found]) -> None:
        """Derives beside each other what rests on events, in threads: numpy sorts and searches without the lock.

        Files are read here; each thread then makes one table from tables that are there.
        """
        from concurrent.futures import ThreadPoolExecutor

        heavy = [f for f in self.wanted if not f.observed and any(root.heavy for root in _roots(f, self.makers))]
        left = {fact for asked in heavy for fact in _behind(asked, self.makers)}
        for fact in sorted((fact for fact in left if fact.observed), key=lambda fact: fact.table):
            _resolve(fact, self.run, self.makers, found, source.read)
        with ThreadPoolExecutor(self.threads) as pool:
            while left := left - found.keys():
                ready = [fact for fact in left if not left & _direct(fact, self.makers)]
                made = pool.map(lambda fact: _resolve(fact, self.run, self.makers, dict(found), source.read), ready)
                found.update(zip(ready, made, strict=True))


def _of_events(fact: type[Fact]) -> bool:
    return fact.heavy or fact.among_events


def _direct(fact: type[Fact], makers: Mapping[type[Fact], Derivation]) -> frozenset[type[Fact]]:
    """What an observed fact (nothing) or a derived one is made from."""
    if fact.observed:
        return frozenset()
    return frozenset(need for need, _ in needs(makers[fact]).values() if need is not None)


def _behind(fact: type[Fact], makers: Mapping[type[Fact], Derivation]) -> frozenset[type[Fact]]:
    """A fact and everything it rests on."""
    return frozenset([fact]).union(*(_behind(need, makers) for need in _direct(fact, makers)))


def _roots(fact: type[Fact], makers: Mapping[type[Fact], Derivation]) -> frozenset[type[Fact]]:
    """The observed facts behind a fact; itself when it is observed."""
    return frozenset(root for root in _behind(fact, makers) if root.observed)


def _cannot_read(fact: type[Fact]) -> AnyTable:
    raise FactMissing([fact.table])


def _resolve(
    fact: type[Fact],
    run: Run,
    makers: Mapping[type[Fact], Derivation],
    found: dict[type[Fact], Found],
    read: Callable[[type[Fact]], AnyTable],
) -> Found:
    """The table of a fact, read or derived, remembered in `found`; a FactMissing where it cannot be had."""
    if fact in found:
        return found[fact]
    try:
        found[fact] = read(fact) if fact.observed else _derive(fact, run, makers, found, read)
    except FactMissing as missing:
        # what is kept would else keep every table of the frames it passed through
        found[fact] = missing.with_traceback(None)
        missing.__context__ = None
    return found[fact]


def _derive(
    fact: type[Fact],
    run: Run,
    makers: Mapping[type[Fact], Derivation],
    found: dict[type[Fact], Found],
    read: Callable[[type[Fact]], AnyTable],
) -> AnyTable:
    arguments: dict[str, object] = {}
    missing: list[FactMissing] = []
    for name, (need, optional) in needs(makers[fact]).items():
        if need is None:
            arguments[name] = run
            continue
        table = _resolve(need, run, makers, found, read)
        if isinstance(table, FactMissing) and not optional:
            missing.append(table)
        arguments[name] = None if isinstance(table, FactMissing) else table
    if missing:
        raise FactMissing.joined(missing)
    return makers[fact](**arguments)


def named(name: str) -> type[Fact]:
    """The fact of this name, as rules write it after `in:`.

    Raises:
        UsageError: There is none; the message names the nearest.
    """
    from difflib import get_close_matches

    if name in FACTS:
        return FACTS[name]
    near = get_close_matches(name, FACTS, 1)
    listed = ", ".join(FACTS)
    meant = (
        Text(f"did you mean `{near[0]}`?", f"是不是 `{near[0]}`？")
        if near
        else Text(f"known: {listed}", f"可用：{listed}")
    )
    raise UsageError(Text(f"no table `{name}`", f"没有表 `{name}`"), meant)


@cache
def needs(derivation: Derivation) -> Mapping[str, tuple[type[Fact] | None, bool]]:
    """Per parameter: the fact it takes (None for the run) and whether it is optional."""
    found: dict[str, tuple[type[Fact] | None, bool]] = {}
    for name, hint in get_type_hints(derivation).items():
        if name == "return":
            continue
        optional = isinstance(hint, types.UnionType) or hint.__class__.__name__ == "_UnionGenericAlias"
        inner = next(arg for arg in get_args(hint) if arg is not types.NoneType) if optional else hint
        found[name] = (None, False) if inner is Run else (get_args(inner)[0], optional)
    return found


@cache
def makes(derivation: Derivation) -> type[Fact]:
    """The fact a derivation makes."""
    return cast("type[Fact]", get_args(get_type_hints(derivation)["return"])[0])
