# SPDX-License-Identifier: Apache-2.0
"""What is wanted of the facts of one source, or of several ranks together: read, derived, let go when it was used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from advisor.facts.base import MISSING, Fact
from advisor.facts.derivation import (
    AnyTable,
    Derivation,
    Makers,
    call_derivation,
    is_fact,
    needs_of_derivation,
)
from advisor.facts.derived import LeftOutStep
from advisor.facts.observed import Damage, StepWindow
from advisor.facts.selection import Selected, Selection, SelectionByRank
from advisor.facts.table import Table
from advisor.machine.freed_memory import GivingBack, give_back_now
from advisor.messages.errors import FactMissing
from advisor.model.run_of_ranks import RunOfRanks

F = TypeVar("F", bound=Fact)
GIVE_BACK_BYTES = 16 << 20
"""Of a rank from here on, memory returns to the system when its work is done: the next one would scatter over it."""
LARGE_BYTES = 512 << 20
"""Of a rank from here on, what was let go while a table of events was read returns before the next one is read."""
APART = 3
"""What takes a table of events and, with it, rests on no more than so many of them is made before the others are read:
then it is let go. Memory over time is such a table, and so are calls with their stacks."""

GROWN_BYTES = 32 << 20
"""What is made beside a long table is let go, and may be held all the same: by so much more than before it returns."""
WORTH_GIVING_BACK = 1 << 18
"""Rows of a table that returns when it is let go: a column takes 2 MiB. Of less, what returns is soon asked for anew,
and after each small table that was a tenth of the time of all derivations of a text capture of 1.3 GB."""

LONG = 1 << 22
"""Rows of a table beside which one derivation works at a time, and what is quickly made is not kept for the next one: a
column takes 32 MiB, and what two of them make on the way would lie in memory at once."""


class Source(Protocol):
    """One capture (or one cluster summary): reads the facts it holds."""

    @property
    def size_bytes(self) -> int:
        """How much input there is to read."""
        ...

    def read(self, fact: type[F]) -> Table[F]:
        """The rows of a fact.

        Raises:
            FactMissing: The capture does not hold it.
        """
        ...

    def release(self) -> None:
        """Lets go of what was kept for further reads. Reading again is allowed, and slower."""
        ...


@runtime_checkable
class OfOneRank(Protocol):
    """A source that says that all its rows are of one rank."""

    @property
    def sole_rank(self) -> int: ...


@runtime_checkable
class ReadBesideOthers(Protocol):
    """A source of which files are read together with those of others that are read next."""

    def read_beside(self, others: Sequence[object]) -> None:
        """Tells it of these, itself among them."""


WantedFact = type[Fact] | Selection
ReadTable = AnyTable | Selected | FactMissing
RankFacts = dict[WantedFact, ReadTable]
RunInputs = Mapping[type, object]
"""What derivations take beside tables, by its type."""
Gather = Callable[[Callable[[Source], RankFacts], Sequence[Source]], Iterable[RankFacts]]
"""How the work over sources is spread: like `map`, and `map` by default; a process pool for many or large ranks. What
sources that follow each other have may come as one (`FactsOfRanks`)."""


def fact_of_wanted(asked: WantedFact) -> type[Fact]:
    """The table that is wanted, or chosen from."""
    return asked if isinstance(asked, type) else asked.fact


def join_ranks(asked: WantedFact, parts: Sequence[ReadTable]) -> ReadTable:
    """What was found of several ranks as one; missing where it is missing of all."""
    missing = [part for part in parts if isinstance(part, FactMissing)]
    if missing and len(missing) == len(parts):
        return FactMissing.joined(missing)
    if isinstance(asked, type):
        return Table.concat(asked, [part for part in parts if isinstance(part, Table)])
    return Selected.concat([part for part in parts if isinstance(part, Selected)])


class FactsOfRanks(RankFacts):
    """The facts of several ranks as one: of each table the rows of the first rank, then those of the next.

    It stands for as many sources that follow each other, each of which is a rank. So what ranks that were derived from
    together have is sent, and put beside that of others, in few tables and not in a small one for each of them.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self._lengths: dict[WantedFact, list[int]] = {}
        """How many rows of each are of which rank; of what is missing nothing."""

    def add(self, asked: WantedFact, found: ReadTable, lengths: Sequence[int]) -> None:
        """Adds what was found of a fact, its rows in the order of the ranks, and how many each of them has."""
        self[asked] = found
        if not isinstance(found, FactMissing):
            self._lengths[asked] = [*lengths]

    def of_each(self, asked: WantedFact) -> list[ReadTable]:
        """What was found of a fact, rank by rank."""
        found = self[asked]
        if isinstance(found, FactMissing):
            return [found] * self.count
        ends = [*accumulate(self._lengths[asked], initial=0)]
        return [_rows_between(found, begin, end) for begin, end in pairwise(ends)]

    def rank_by_rank(self) -> list[RankFacts]:
        """The facts of each of the ranks."""
        parts = [RankFacts() for _ in range(self.count)]
        for asked in self:
            for part, found in zip(parts, self.of_each(asked), strict=True):
                part[asked] = found
        return parts

    def between(self, first: int, last: int) -> FactsOfRanks:
        """The facts of the ranks from one place to before another."""
        chosen = FactsOfRanks(last - first)
        for asked, found in self.items():
            lengths = self._lengths.get(asked, [])
            begin = sum(lengths[:first])
            rows = (
                found
                if isinstance(found, FactMissing)
                else _rows_between(found, begin, begin + sum(lengths[first:last]))
            )
            chosen.add(asked, rows, lengths[first:last])
        return chosen


def ranks_in(part: RankFacts) -> int:
    """For how many sources these facts stand."""
    return part.count if isinstance(part, FactsOfRanks) else 1


def rank_by_rank(parts: Iterable[RankFacts]) -> Iterator[RankFacts]:
    """The facts of each source, whether they came for one or for several."""
    for part in parts:
        if isinstance(part, FactsOfRanks):
            yield from part.rank_by_rank()
        else:
            yield part


def _rows_between(found: AnyTable | Selected, begin: int, end: int) -> AnyTable | Selected:
    if isinstance(found, Selected):
        rows = found.rows.part(begin, end)
        return Selected(rows.only(rows.fact.columns()), found.stands_for[begin:end])
    return found.part(begin, end)


def _in_order_of_ranks(table: AnyTable, ranks: Sequence[int]) -> tuple[AnyTable, list[int]]:
    """The rows of these ranks, those of the first of them first, and how many each has."""
    of, asked = table["rank"], np.array(ranks)
    if (asked[1:] > asked[:-1]).all() and not (of[1:] < of[:-1]).any():  # as nearly all tables are
        ends = np.searchsorted(of, asked, "right")
        lengths = ends - np.searchsorted(of, asked, "left")
        if lengths.sum() == len(of):
            return table, lengths.tolist()
    order = np.argsort(asked)
    place = order[np.minimum(np.searchsorted(asked[order], of), len(asked) - 1)]
    rows = np.flatnonzero(asked[place] == of)
    rows = rows[np.argsort(place[rows], kind="stable")]
    return table.take(rows), np.bincount(place[rows], minlength=len(asked)).tolist()


class FactsWanted:
    """The facts wanted of one source. A class, not a closure, so that a process pool can take it along.

    Events are read first, together, so that the files that hold them can be let go; their tables are let go as soon as
    nothing that is still wanted needs them, those that stand by themselves (`APART`) before the others are read.
    """

    def __init__(
        self,
        inputs: RunInputs,
        makers: Makers,
        wanted: tuple[WantedFact, ...],
        known: Mapping[WantedFact, ReadTable],
        threads: int,
    ) -> None:
        self.inputs, self.makers, self.wanted, self.known, self.threads = inputs, makers, wanted, known, threads
        needed = {asked: makers.observed_behind(fact_of_wanted(asked)) for asked in wanted}
        self.roots = frozenset[type[Fact]]().union(*needed.values())
        """The observed facts behind all of them."""
        behind = frozenset[type[Fact]]().union(*(makers.behind(fact_of_wanted(asked)) for asked in wanted))
        used = frozenset[type[Fact]]().union(*map(makers.needs, behind))
        chosen_from = {fact_of_wanted(asked) for asked in wanted if not isinstance(asked, type)}
        self.passed_on = self.roots.difference(used, chosen_from, [Damage])
        """The observed facts of which nothing is made here: each source gives the rows it has, of whichever rank."""
        together = _read_together(behind, makers)
        self.events = sorted(together, key=lambda root: (min(len(together[root]), APART + 1), root.longest, root.table))
        between = sorted((fact for fact in behind.difference(wanted) if not fact.observed), key=lambda fact: fact.table)
        self.apart: dict[type[Fact], tuple[Collection[type[Fact]], Sequence[WantedFact]]] = {
            root: (others, [one for one in (*wanted, *between) if root in _taken_by(fact_of_wanted(one), makers)])
            for root, others in together.items()
            if root.heavy and len(others) <= APART
        }
        """Tables of events that are used up and let go before the next is read: with which others, and for what."""
        self.order = sorted(wanted, key=lambda asked: (asked is Damage, not any(root.heavy for root in needed[asked])))
        in_turn = (makers.behind(fact_of_wanted(asked)) for asked in reversed(self.order))
        *later, every = accumulate(in_turn, frozenset.union, initial=frozenset[type[Fact]]())
        self._needed: dict[frozenset[WantedFact], set[type[Fact]]] = {}
        self.let_go = [every - left - {*wanted} for left in reversed(later)]
        """By place in the order: what nobody needs any more."""

    def without_known(self, also: Iterable[WantedFact]) -> FactsWanted:
        """The same for a source of which nothing is known, and these beside it: all of it is read."""
        every = sorted(dict.fromkeys((*also, *self.wanted)), key=lambda asked: asked is Damage)
        return FactsWanted(self.inputs, self.makers, tuple(every), {}, self.threads)

    def with_damage(self) -> FactsWanted:
        """The same, and what came to light of damage meanwhile."""
        if Damage in self.wanted:
            return self
        known = {asked: found for asked, found in self.known.items() if asked is not Damage}
        return FactsWanted(self.inputs, self.makers, (*self.wanted, Damage), known, self.threads)

    def inputs_of(self, source: Source) -> RunInputs:
        """What derivations take beside the tables of this source: of the run no more than they may rest on."""
        run = self.inputs[RunOfRanks]
        assert isinstance(run, RunOfRanks)  # noqa: S101 - it is kept by its type
        return {**self.inputs, RunOfRanks: run.only(source.sole_rank)} if isinstance(source, OfOneRank) else self.inputs

    def __call__(self, source: Source) -> RankFacts:
        inputs, found = self._begin(source)
        self._read_events(source, inputs, found)
        source.release()
        if self.threads > 1:
            give_back_now()
            self._side_by_side(source, inputs, found)
        given = self._derive_rest(source, inputs, found)
        if source.size_bytes > GIVE_BACK_BYTES:
            give_back_now()
        return given

    def of_several(self, sources: Sequence[Source]) -> list[RankFacts]:
        """The same of each of these sources. Those of which the same was recorded are derived from together, and what
        those of them have that follow each other stands in one (`FactsOfRanks`).

        What a derivation takes beside the rows themselves is most of what small ranks take; of large ones it is none.
        """
        if len(sources) > 1 and isinstance(sources[0], ReadBesideOthers):
            sources[0].read_beside(sources)
        read = [self._read_roots(source) for source in sources]
        alike: dict[object, list[int]] = {}
        for number, (source, (_, found)) in enumerate(zip(sources, read, strict=True)):
            alike.setdefault(self._what_is_there(source, found) or number, []).append(number)
        given: dict[int, RankFacts] = {}
        for numbers in alike.values():
            if len(numbers) == 1:
                [number] = numbers
                inputs, found = read[number]
                found |= {root: _as_it_is_kept(root, found[root]) for root in self.roots}
                given[number] = self._derive_rest(sources[number], inputs, found)
                continue
            ranks = [cast("OfOneRank", sources[number]).sole_rank for number in numbers]
            together = self._derive_together(ranks, [read[number][1] for number in numbers])
            begins = [at for at, number in enumerate(numbers) if at == 0 or numbers[at - 1] != number - 1]
            for begin, end in pairwise([*begins, len(numbers)]):
                given[numbers[begin]] = together if len(begins) == 1 else together.between(begin, end)
        return [given[number] for number in sorted(given)]

    def _begin(self, source: Source) -> tuple[RunInputs, RankFacts]:
        """What derivations take beside the tables of this source, and the first of those."""
        inputs, found = self.inputs_of(source), dict(self.known)
        left_out = self._left_out_steps(inputs, found, source)
        return _inputs_without_steps(inputs, left_out) if len(left_out) else inputs, found

    def _read_roots(self, source: Source) -> tuple[RunInputs, RankFacts]:
        """The same, and all that is read of the source, as it is read: it is joined with that of others."""
        inputs, found = self._begin(source)
        rest = sorted(self.roots.difference(self.events), key=lambda root: (root is Damage, root.table))
        for root in (*self.events, *rest):
            if root not in found:
                found[root] = _made_or_missing(partial(source.read, root))
        source.release()
        return inputs, found

    def _what_is_there(self, source: Source, found: RankFacts) -> tuple[object, ...] | None:
        """Equal for sources that can be derived from together; None for one that stands alone.

        Where a table is missing or empty, derivations take other ways. Rows of other ranks of which anything is made,
        and steps that do not count are of one source. Groups, which one folder gives for all, are passed on.
        """
        if not isinstance(source, OfOneRank) or _length_of(found.get(LeftOutStep)):
            return None
        there: list[object] = []
        for root in sorted(self.roots, key=lambda root: root.table):
            table = found[root]
            if isinstance(table, FactMissing):
                there.append((table.tables, table.unreadable, table.incomplete, table.behind, table.unnamed))
            elif root in self.passed_on:
                there.append(root.table)
            elif isinstance(table, Table):
                if (table["rank"] != source.sole_rank).any():
                    return None
                there.append(len(table) > 0)
        return tuple(there)

    def _derive_together(self, ranks: Sequence[int], read: Sequence[RankFacts]) -> FactsOfRanks:
        """What is wanted of these ranks, of which everything was read, and of which the same is there."""
        run = self.inputs[RunOfRanks]
        assert isinstance(run, RunOfRanks)  # noqa: S101 - it is kept by its type
        inputs = {**self.inputs, RunOfRanks: run.only(*ranks)}
        joined = ((root, join_ranks(root, [part[root] for part in read])) for root in self.roots)
        found: RankFacts = {root: table.by_name() if isinstance(table, Table) else table for root, table in joined}
        lengths: dict[WantedFact, list[int]] = {
            root: [_length_of(part[root]) for part in read] for root in self.passed_on
        }
        for part in read:
            self._let_go(part, [*part])
        chosen: dict[WantedFact, tuple[ReadTable, list[int]]] = {}
        for asked, unneeded in zip(self.order, self.let_go, strict=True):
            table = resolve_fact(fact_of_wanted(asked), inputs, self.makers, found, cannot_read)
            passed_on = asked in lengths
            chosen[asked] = (table, lengths[asked]) if passed_on else _choose_by_rank(asked, table, ranks)
            self._let_go(found, unneeded)
        self._let_go(found, [*found])
        given = FactsOfRanks(len(ranks))
        for asked in self.wanted:
            given.add(asked, *chosen[asked])
        return given

    def _derive_rest(self, source: Source, inputs: RunInputs, found: RankFacts) -> RankFacts:
        """What is wanted of a source of which events were read."""
        for asked, unneeded in zip(self.order, self.let_go, strict=True):
            self._collect_table(asked, inputs, found, source)
            self._let_go(found, unneeded)
        given = {asked: found[asked] for asked in self.wanted}
        self._let_go(found, found.keys() - given.keys())
        return given

    def _left_out_steps(self, inputs: RunInputs, found: RankFacts, source: Source) -> Table[LeftOutStep]:
        """The steps that do not count: told before anything is read or derived that has steps."""
        if LeftOutStep in self.makers and any(has_steps(root) for root in self.roots):
            table = resolve_fact(LeftOutStep, inputs, self.makers, found, source.read)
            if isinstance(table, Table):
                return table
        return Table.empty(LeftOutStep)

    def _read_events(self, source: Source, inputs: RunInputs, found: RankFacts) -> None:
        """Reads the facts of events, each once; what stands by itself is made, and let go, on the way."""
        left, needed = dict.fromkeys(self.events), self._still_needed(found)
        large = source.size_bytes > LARGE_BYTES
        for fact in self.events:
            others, made = self.apart.get(fact, (frozenset([fact]), ()))
            for one in [one for one in left if one in others]:
                del left[one]
                if one in needed:
                    resolve_fact(one, inputs, self.makers, found, source.read)
                    if large:
                        give_back_now()
            for asked in made:
                if fact_of_wanted(asked) in needed:
                    self._collect_table(asked, inputs, found, source)
            if made:
                self._let_go_unneeded(found)
                needed = self._still_needed(found)

    def _collect_table(self, asked: WantedFact, inputs: RunInputs, found: RankFacts, source: Source) -> None:
        if asked in found:
            return
        table = resolve_fact(fact_of_wanted(asked), inputs, self.makers, found, source.read)
        if not isinstance(asked, type):
            found[asked] = _select_rows(asked, table)

    def _side_by_side(self, source: Source, inputs: RunInputs, found: RankFacts) -> None:
        """Derives beside each other what rests on events, in threads: numpy sorts and searches without the lock.

        Files are read here; each thread then makes one table from tables that are there. First come those after which
        a table can be let go soonest.
        """
        from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

        derived = {fact for fact in map(fact_of_wanted, self.wanted) if not fact.observed}
        heavy = [fact for fact in derived if any(root.heavy for root in self.makers.observed_behind(fact))]
        beside = {fact for asked in heavy for fact in self.makers.behind(asked)}
        unread = (fact for fact in self._let_go_unneeded(found) & beside if fact.observed)
        for fact in sorted(unread, key=lambda fact: fact.table):
            resolve_fact(fact, inputs, self.makers, found, source.read)
        for asked in self.wanted:
            if fact_of_wanted(asked).heavy and fact_of_wanted(asked).observed:
                self._collect_table(asked, inputs, found, source)
        running: dict[Future[RankFacts], type[Fact]] = {}
        giving = GivingBack(GROWN_BYTES)
        with ThreadPoolExecutor(self.threads) as pool:
            while (left := self._let_go_unneeded(found) & beside) or running:
                long = any(_length_of(table) >= LONG for table in found.values())
                ready = self._in_order(left.difference(running.values()), found)
                for fact in ready[: (1 if long else self.threads) - len(running)]:
                    running[pool.submit(self._make, fact, inputs, dict(found), source)] = fact
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for made in done:
                    del running[made]
                    found.update(made.result())
                if long:
                    for table in found.values():
                        if isinstance(table, Table):
                            table.forget_for_now()
                    giving.give_back_if_grown()

    def _make(self, fact: type[Fact], inputs: RunInputs, found: RankFacts, source: Source) -> RankFacts:
        """A table, and what of it was asked for."""
        table = resolve_fact(fact, inputs, self.makers, found, source.read)
        chosen = [asked for asked in self.wanted if not isinstance(asked, type) and asked.fact is fact]
        return {fact: table, **{asked: _select_rows(asked, table) for asked in chosen}}

    def _in_order(self, left: Collection[type[Fact]], found: RankFacts) -> list[type[Fact]]:
        """What can be made of what is there; first what a long table is kept for alone, then what the longest table
        is kept for, then what few others need."""
        needs = {fact: self.makers.needs(fact) for fact in left}
        users = Counter(need for of_fact in needs.values() for need in of_fact)
        length = {need: _length_of(found.get(need)) for need in users}
        held = {fact: max((length[need] for need in of_fact), default=0) for fact, of_fact in needs.items()}
        longest: Counter[type[Fact]] = Counter()
        for asked in left:
            chain = [asked]
            for fact in chain:
                chain += [need for need in needs[fact] if need in needs and need not in chain]
            rows = max(held[fact] for fact in chain)
            for fact in chain:
                longest[fact] = max(longest[fact], rows)
        ready = [fact for fact in left if needs[fact] <= found.keys()]
        few = {fact: min((users[need] for need in needs[fact]), default=0) for fact in ready}
        alone = {fact: [length[need] for need in needs[fact] if users[need] == 1] for fact in ready}
        return sorted(ready, key=lambda fact: (-max(alone[fact], default=0), -longest[fact], few[fact], fact.table))

    def _let_go(self, found: RankFacts, unneeded: Collection[WantedFact]) -> None:
        """Lets go of tables, and of what was made of those that nobody else has, also of others beside them."""
        for asked in unneeded:
            table = found.pop(asked, None)
            if isinstance(table, Table) and asked not in self.known:
                table.forget(other for other in found.values() if isinstance(other, Table))

    def _still_needed(self, found: RankFacts) -> set[type[Fact]]:
        """What is still to be made, and the tables that it is made of: worked out once, for ranks are made alike."""
        held = frozenset(found)
        if held not in self._needed:
            self._needed[held] = self._needed_beside(held)
        return self._needed[held]

    def _needed_beside(self, found: Collection[WantedFact]) -> set[type[Fact]]:
        asked, needed = [fact_of_wanted(one) for one in self.wanted if one not in found], set[type[Fact]]()
        while asked:
            fact = asked.pop()
            if fact in needed:
                continue
            needed.add(fact)
            if fact not in found:
                asked += self.makers.needs(fact)
        return needed

    def _let_go_unneeded(self, found: RankFacts) -> set[type[Fact]]:
        """Lets go of tables that nothing is made of any more; gives what is still to be made."""
        needed = self._still_needed(found)
        unneeded = found.keys() - needed - {*self.wanted}
        worth = any(_length_of(found[one]) >= WORTH_GIVING_BACK for one in unneeded)
        self._let_go(found, unneeded)
        if worth:
            give_back_now()
        return {fact for fact in needed if fact not in found}


def has_steps(fact: type[Fact]) -> bool:
    """Whether rows of a fact belong to steps."""
    return "step" in fact.columns()


def _inputs_without_steps(inputs: RunInputs, left_out: Table[LeftOutStep]) -> RunInputs:
    run = inputs[RunOfRanks]
    assert isinstance(run, RunOfRanks)  # noqa: S101 - it is kept by its type
    return {**inputs, RunOfRanks: run.without_steps(frozenset(left_out["step"].tolist())), LeftOutStep: left_out}


def _as_it_counts(table: AnyTable, inputs: RunInputs) -> AnyTable:
    """A table as all is derived from it: without steps that do not count."""
    left_out = inputs.get(LeftOutStep)
    all_counts = left_out is None or not table.fact.observed or not has_steps(table.fact)
    return table if all_counts else table.once(_without_steps, left_out)


def _without_steps(table: AnyTable, left_out: Table[LeftOutStep]) -> AnyTable:
    """The rows that do not belong to these steps; kernels and collectives lie outside of all steps instead, as those
    before the first one do."""
    inside = np.isin(table["step"], left_out["step"])
    if of_events(table.fact) and table.fact is not StepWindow:
        return table.having(step=np.where(inside, MISSING, table["step"]))
    return table.take(~inside)


def _taken_by(fact: type[Fact], makers: Makers) -> frozenset[type[Fact]]:
    """The tables of events that a fact is made of without another between; itself when it is one."""
    return frozenset(one for one in (fact, *makers.needs(fact)) if one.observed and of_events(one))


def _read_together(facts: Iterable[type[Fact]], makers: Makers) -> Mapping[type[Fact], frozenset[type[Fact]]]:
    """Per fact of events: those that lie with it behind any of these facts that takes it, itself among them."""
    found: dict[type[Fact], frozenset[type[Fact]]] = {}
    for fact in facts:
        events = frozenset(root for root in makers.observed_behind(fact) if of_events(root))
        found |= {root: events | found.get(root, frozenset()) for root in _taken_by(fact, makers)}
    return found


def _length_of(table: ReadTable | None) -> int:
    return len(table) if isinstance(table, Table) else 0


def _select_rows(asked: Selection, table: ReadTable) -> ReadTable:
    return asked.select(table) if isinstance(table, Table) else table


def _choose_by_rank(asked: WantedFact, table: ReadTable, ranks: Sequence[int]) -> tuple[ReadTable, list[int]]:
    """What is wanted of a table of all of these ranks, in their order, and how many rows each has."""
    if isinstance(table, Selected | FactMissing):
        return table, []
    if isinstance(asked, type):
        return _in_order_of_ranks(table, ranks)
    if isinstance(asked, SelectionByRank):
        return asked.select_by_rank(table, ranks)
    rows, lengths = _in_order_of_ranks(table, ranks)
    parts = [asked.select(rows.part(begin, end)) for begin, end in pairwise(accumulate(lengths, initial=0))]
    return Selected.concat(parts), [len(part.rows) for part in parts]


def of_events(fact: type[Fact]) -> bool:
    """Whether a table of events, or one that lies among them in a file."""
    return fact.heavy or fact.among_events


def cannot_read(fact: type[Fact]) -> AnyTable:
    """Stands for a source where all was read.

    Raises:
        FactMissing: Always.
    """
    raise FactMissing([fact.table])


def resolve_fact(
    fact: type[Fact],
    inputs: RunInputs,
    makers: Mapping[type[Fact], Derivation],
    found: RankFacts,
    read: Callable[[type[Fact]], AnyTable],
) -> ReadTable:
    """The table of a fact, read or derived, remembered in `found`; a FactMissing where it cannot be had."""
    if fact not in found:
        make = partial(read, fact) if fact.observed else partial(_derive_fact, fact, inputs, makers, found, read)
        found[fact] = _as_it_is_kept(fact, _made_or_missing(make))
    return found[fact]


def _as_it_is_kept(fact: type[Fact], table: ReadTable) -> ReadTable:
    """A table that was read or derived, in order of names where it was read, and narrow where it may be long."""
    if not isinstance(table, Table):
        return table
    table = table.by_name() if fact.observed else table
    return table.narrow() if fact.heavy else table


def _made_or_missing(make: Callable[[], AnyTable]) -> AnyTable | FactMissing:
    try:
        return make()
    except FactMissing as missing:
        # what is kept would else keep every table of the frames it passed through
        missing.__context__ = None
        return missing.with_traceback(None)


def _derive_fact(
    fact: type[Fact],
    inputs: RunInputs,
    makers: Mapping[type[Fact], Derivation],
    found: RankFacts,
    read: Callable[[type[Fact]], AnyTable],
) -> AnyTable:
    if fact.of_pauses and cast("RunOfRanks", inputs[RunOfRanks]).times_of == "work":
        raise FactMissing([StepWindow.table])
    arguments: dict[str, object] = {}
    missing: list[FactMissing] = []
    for name, (need, optional) in needs_of_derivation(makers[fact]).items():
        if not is_fact(need):
            arguments[name] = inputs[need]
            continue
        table = resolve_fact(need, inputs, makers, found, read)
        if isinstance(table, Table) and not fact.of_all_steps:
            table = _as_it_counts(table, inputs)
        if isinstance(table, FactMissing) and not optional:
            missing.append(table)
        arguments[name] = None if isinstance(table, FactMissing) else table
    if missing:
        raise FactMissing.joined(missing)
    return call_derivation(makers[fact], arguments)
