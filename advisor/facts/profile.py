# SPDX-License-Identifier: Apache-2.0
"""Profile: all facts of one run, read or derived when first asked for, one rank at a time.

A profile is *given* its sources and derivations, so this module knows neither files nor formulas.
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, Protocol, TypeGuard, TypeVar, cast, get_args, get_type_hints, overload, runtime_checkable

import numpy as np

from advisor.chips import ChipTable
from advisor.facts.base import MISSING, Fact
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derived import LeftOutStep
from advisor.facts.names import FACTS
from advisor.facts.observed import Damage, StepWindow
from advisor.facts.selection import Selected, Selection
from advisor.facts.table import Table
from advisor.freed_memory import give_back_now
from advisor.messages.errors import FactMissing, UsageError
from advisor.messages.message import Message, did_you_mean
from advisor.messages.text import Text
from advisor.model.run import Run
from advisor.model.run_of_ranks import RunOfRanks, run_of_ranks

F = TypeVar("F", bound=Fact)
GIVE_BACK_BYTES = 16 << 20
"""Of a rank from here on, memory returns to the system when its work is done: the next one would scatter over it."""
APART = 3
"""What is made of a table of events and, with it, of no more than so many of them is made before the others are read:
then it is let go. Memory over time is such a table, and so are calls with their stacks."""
BESIDE_WORTH_BYTES = 64 << 20
"""From this much input on, what is derived from one rank is derived in threads."""
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
_OF_ONE_RANK: set[Derivation] = set()


def completed_by(completion: Completion) -> Callable[[D], D]:
    """For a derivation of some ranks: fills in what depends on the others, in the process that gathers the tables.

    So the work on a rank does not depend on which others there are. Derivations that rest on the table may get it
    without that.
    """

    def register(derivation: D) -> D:
        _COMPLETIONS[derivation] = completion
        return derivation

    return register


def of_one_rank(derivation: D) -> D:
    """For a derivation that weighs the rows of a rank against each other without asking which rank they are of: it is
    given those of one rank at a time."""
    _OF_ONE_RANK.add(derivation)
    return derivation


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


class Closable(Protocol):
    """What is let go of in the end."""

    def close(self) -> None: ...


WantedFact = type[Fact] | Selection
ReadTable = AnyTable | Selected | FactMissing
RankFacts = dict[WantedFact, ReadTable]
_RunInputs = Mapping[type, object]
"""What derivations take beside tables, by its type."""
Gather = Callable[[Callable[["Source"], RankFacts], Sequence["Source"]], Iterable[RankFacts]]
"""How the work over sources is spread: like `map`, and `map` by default; a process pool for many or large ranks."""


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
        return frozenset[type[Fact]]().union(*(self.observed_required(need) for need in required if _is_fact(need)))


class Profile:
    """All facts of one run."""

    def __init__(
        self,
        run: Run,
        sources: Sequence[Source],
        derivations: Iterable[Derivation],
        gather: Gather = map,
        keeps: Closable | None = None,
        *,
        usual_patterns: Callable[[], ChainPatterns] = ChainPatterns,
        chips: ChipTable | None = None,
        say_missing: Callable[[FactMissing, Run], Text] | None = None,
    ) -> None:
        """`keeps` is what has to be there as long as sources are read, such as a folder with what was unpacked,
        `usual_patterns` gives the chains of kernels that are looked for where nobody said which (`look_for`),
        `chips` is what is known of chips, where it is more than what everybody knows, and `say_missing` says in the
        words of people what was not recorded and how to have it."""
        self._chips = chips or ChipTable()
        self._say_missing = say_missing
        self.run, self._keeps = run, keeps
        self._patterns: ChainPatterns | None = None
        self._usual_patterns = usual_patterns
        self._sources = tuple(sources)
        self._makers = Makers(derivations)
        self._completions = {
            fact: _COMPLETIONS[derivation] for fact, derivation in self._makers.items() if derivation in _COMPLETIONS
        }
        self._gather = gather
        self._found: RankFacts = {}

    def look_for(self, patterns: ChainPatterns) -> None:
        """Looks for these chains of kernels from now on; what was found by other patterns is forgotten."""
        if patterns != self._patterns:
            self._patterns = patterns
            for asked in [one for one in self._found if _rests_on_patterns(fact_of_wanted(one), self._makers)]:
                del self._found[asked]

    @property
    def _inputs(self) -> _RunInputs:
        """For what is made rank by rank."""
        if self._patterns is None:
            self._patterns = self._usual_patterns()
        return {RunOfRanks: run_of_ranks(self.run), ChainPatterns: self._patterns, ChipTable: self._chips}

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
        asked = fact_of_name(fact) if isinstance(fact, str) else fact
        if asked not in self._found:
            self.prepare([asked])
        return cast("AnyTable", self._there(self._found[asked]))

    def table_if_recorded(self, fact: type[F]) -> Table[F] | None:
        """The same; None where the table was not recorded, or something it is derived from was not."""
        try:
            return self.table(fact)
        except FactMissing:
            return None

    def selected(self, selection: Selection) -> Selected:
        """The rows of a table that a selection wants, over all ranks; the others stay where they were read.

        Raises:
            FactMissing: The table was not recorded on any rank, or something it is derived from was not.
        """
        if selection not in self._found:
            self.prepare([selection])
        return cast("Selected", self._there(self._found[selection]))

    def anew(self) -> Profile:
        """The same run with nothing read of it."""
        return Profile(
            self.run,
            self._sources,
            self._makers.values(),
            self._gather,
            usual_patterns=self._usual_patterns,
            chips=self._chips,
            say_missing=self._say_missing,
        )

    def _there(self, found: ReadTable) -> AnyTable | Selected:
        """What was found, if it was.

        Raises:
            FactMissing: It was not. Another one each time: what was raised holds whoever asked, and with that the
                profile that holds it.
        """
        if not isinstance(found, FactMissing):
            return found
        missing = FactMissing(found.tables, found.unreadable, found.incomplete, found.behind)
        raise missing if self._say_missing is None else missing.because(self._say_missing(missing, self.run))

    def close(self) -> None:
        """Lets go of what sources are read from; tables that were not asked for cannot be had any more."""
        if self._keeps is not None:
            self._keeps.close()

    def observed_behind(self, fact: type[Fact]) -> frozenset[type[Fact]]:
        """The observed facts that a fact rests on; itself when it is observed."""
        return self._makers.observed_behind(fact)

    def observed_required(self, fact: type[Fact]) -> frozenset[type[Fact]]:
        """The observed facts without which there is no such fact; itself when it is observed."""
        return self._makers.observed_required(fact)

    def __repr__(self) -> str:
        ranks, steps = len(self.run.ranks), len(self.run.steps)
        return f"<profile {self.run.name!r}: {ranks} ranks, {steps} steps>"

    def prepare(self, wanted: Iterable[WantedFact]) -> None:
        """Reads and derives these facts and selections in one pass over the ranks, so that each file is read once.

        Asking for everything that will be wanted at once is what keeps memory at the size of the largest rank.
        """
        left = [asked for asked in dict.fromkeys(wanted) if asked not in self._found]
        for _ in self.read_ranks(left):
            pass
        across = [fact for fact in map(fact_of_wanted, left) if fact.across_ranks]
        inputs = {**self._inputs, Run: self.run} if across else {}
        for fact in across:
            _resolve_fact(fact, inputs, self._makers, self._found, _cannot_read)

    def read_ranks(self, wanted: Iterable[WantedFact]) -> Iterator[RankFacts]:
        """What is read and derived of each rank for these, rank by rank; what is there already is not read again.

        All of them together are kept when the last one was given. Nobody may change what is given.
        """
        per_rank = [asked for asked in dict.fromkeys(self._needs_per_rank(wanted)) if asked not in self._found]
        if not per_rank:
            return
        # damage comes to light while other facts are read, so it is asked for last
        ordered = tuple(sorted(per_rank, key=lambda asked: asked is Damage))
        threads = 2 if self.single and self.size_bytes > BESIDE_WORTH_BYTES else 1
        known = dict(self._found) if self.single else {}
        work = FactsWanted(self._inputs, self._makers, ordered, known, threads)
        parts: list[RankFacts] = []
        for part in map(self._completed, self._gather(work, self._sources)):
            yield part
            parts.append(part)
        for asked in ordered:  # each is let go where it came from, so that nothing is held twice
            self._found[asked] = _join_ranks(asked, [part.pop(asked) for part in parts])

    def _completed(self, part: RankFacts) -> RankFacts:
        """What was found of a source, with what the other ranks tell."""
        for fact, completion in self._completions.items():
            if isinstance(table := part.get(fact), Table):
                part[fact] = completion(self.run, table)
        return part

    def prepare_events(self, also: Iterable[type[Fact]] = ()) -> None:
        """Reads and derives everything that rests on events, before it is known what is wanted of them.

        They lie in one file, which is read once; for a single source with room for all its tables. What is made on
        request only is left for later, but for those of `also`, which may hold observed facts that nothing rests on.
        """
        also = frozenset(also)
        made = [fact for fact in self._makers if fact in also or not fact.on_request]
        behind = {fact: self._makers.observed_behind(fact) for fact in made}
        resting = [fact for fact, roots in behind.items() if any(_of_events(root) for root in roots)]
        roots = (root for fact in resting for root in behind[fact] if _of_events(root))
        self.prepare([*resting, *roots, *(fact for fact in also if fact.observed)])

    def _needs_per_rank(self, wanted: Iterable[WantedFact]) -> Iterator[WantedFact]:
        """What must be collected rank by rank for these: themselves, or what an across-ranks fact needs."""
        for asked in wanted:
            if isinstance(asked, type) and asked.across_ranks:
                needs = needs_of_derivation(self._makers[asked]).values()
                yield from self._needs_per_rank(need for need, _ in needs if _is_fact(need))
            else:
                yield asked


def fact_of_wanted(asked: WantedFact) -> type[Fact]:
    """The table that is wanted, or chosen from."""
    return asked if isinstance(asked, type) else asked.fact


def _split_ranks(table: ReadTable, ranks: Sequence[int]) -> list[ReadTable]:
    """The rows of each of these ranks, in their order; what is missing is missing of each."""
    if not isinstance(table, Table):
        return [table] * len(ranks)
    of = table["rank"]
    return [table.take(np.flatnonzero(of == rank)) for rank in ranks]


def _join_ranks(asked: WantedFact, parts: Sequence[ReadTable]) -> ReadTable:
    missing = [part for part in parts if isinstance(part, FactMissing)]
    if missing and len(missing) == len(parts):
        return FactMissing.joined(missing)
    if isinstance(asked, type):
        return Table.concat(asked, [part for part in parts if isinstance(part, Table)])
    return Selected.concat([part for part in parts if isinstance(part, Selected)])


class FactsWanted:
    """The facts wanted of one source. A class, not a closure, so that a process pool can take it along.

    Events are read first, together, so that the files that hold them can be let go; their tables are let go as soon as
    nothing that is still wanted needs them, those that stand by themselves (`APART`) before the others are read.
    """

    def __init__(
        self,
        inputs: _RunInputs,
        makers: Makers,
        wanted: tuple[WantedFact, ...],
        known: Mapping[WantedFact, ReadTable],
        threads: int,
    ) -> None:
        self.inputs, self.makers, self.wanted, self.known, self.threads = inputs, makers, wanted, known, threads
        needed = {asked: makers.observed_behind(fact_of_wanted(asked)) for asked in wanted}
        self.roots = frozenset[type[Fact]]().union(*needed.values())
        """The observed facts behind all of them."""
        together = _read_together(needed.values())
        self.events = sorted(together, key=lambda root: (min(len(together[root]), APART + 1), root.longest, root.table))
        self.apart: dict[type[Fact], tuple[Collection[type[Fact]], Sequence[WantedFact]]] = {
            root: (others, [asked for asked in wanted if root in needed[asked]])
            for root, others in together.items()
            if root.heavy and len(others) <= APART
        }
        """Tables of events that are used up and let go before the next is read: with which others, and for what."""
        self.order = sorted(wanted, key=lambda asked: (asked is Damage, not any(root.heavy for root in needed[asked])))
        behind = (makers.behind(fact_of_wanted(asked)) for asked in reversed(self.order))
        *later, every = accumulate(behind, frozenset.union, initial=frozenset[type[Fact]]())
        self._needed: dict[frozenset[WantedFact], set[type[Fact]]] = {}
        self.let_go = [every - left - {*wanted} for left in reversed(later)]
        """By place in the order: what nobody needs any more."""

    def without_known(self, also: Iterable[WantedFact]) -> FactsWanted:
        """The same for a source of which nothing is known, and these beside it: all of it is read."""
        every = sorted(dict.fromkeys((*also, *self.wanted)), key=lambda asked: asked is Damage)
        return FactsWanted(self.inputs, self.makers, tuple(every), {}, self.threads)

    def inputs_of(self, source: Source) -> _RunInputs:
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
        """The same of each of these sources. Those of which the same was recorded are derived from together.

        What a derivation takes beside the rows themselves is most of what small ranks take; of large ones it is none.
        """
        read = [self._read_roots(source) for source in sources]
        alike: dict[object, list[int]] = {}
        for number, (source, (_, found)) in enumerate(zip(sources, read, strict=True)):
            alike.setdefault(self._what_is_there(source, found) or number, []).append(number)
        given: dict[int, RankFacts] = {}
        for numbers in alike.values():
            if len(numbers) == 1:
                [number] = numbers
                given[number] = self._derive_rest(sources[number], *read[number])
            else:
                ranks = [cast("OfOneRank", sources[number]).sole_rank for number in numbers]
                parts = self._derive_together(ranks, [read[number][1] for number in numbers])
                given |= zip(numbers, parts, strict=True)
        return [given[number] for number in range(len(sources))]

    def _begin(self, source: Source) -> tuple[_RunInputs, RankFacts]:
        """What derivations take beside the tables of this source, and the first of those."""
        inputs, found = self.inputs_of(source), dict(self.known)
        left_out = self._left_out_steps(inputs, found, source)
        return _inputs_without_steps(inputs, left_out) if len(left_out) else inputs, found

    def _read_roots(self, source: Source) -> tuple[_RunInputs, RankFacts]:
        """The same, and all that is read of the source."""
        inputs, found = self._begin(source)
        rest = sorted(self.roots.difference(self.events), key=lambda root: (root is Damage, root.table))
        for root in (*self.events, *rest):
            _resolve_fact(root, inputs, self.makers, found, source.read)
        source.release()
        return inputs, found

    def _what_is_there(self, source: Source, found: RankFacts) -> tuple[object, ...] | None:
        """Equal for sources that can be derived from together; None for one that stands alone.

        Where a table is missing or empty, derivations take other ways. Rows of other ranks, as groups that one folder
        gives for all, and steps that do not count are of one source.
        """
        if not isinstance(source, OfOneRank) or _length_of(found.get(LeftOutStep)):
            return None
        there: list[object] = []
        for root in sorted(self.roots, key=lambda root: root.table):
            table = found[root]
            if isinstance(table, FactMissing):
                there.append((table.tables, table.unreadable, table.incomplete, table.behind))
            elif isinstance(table, Table):
                if (table["rank"] != source.sole_rank).any():
                    return None
                there.append(len(table) > 0)
        return tuple(there)

    def _derive_together(self, ranks: Sequence[int], read: Sequence[RankFacts]) -> list[RankFacts]:
        """What is wanted of each of these ranks, of which everything was read, and of which the same is there."""
        run = self.inputs[RunOfRanks]
        assert isinstance(run, RunOfRanks)  # noqa: S101 - it is kept by its type
        inputs = {**self.inputs, RunOfRanks: run.only(*ranks)}
        found: RankFacts = {root: _join_ranks(root, [part[root] for part in read]) for root in self.roots}
        parts = [RankFacts() for _ in ranks]
        for asked, unneeded in zip(self.order, self.let_go, strict=True):
            fact = fact_of_wanted(asked)
            if fact not in parts[0]:
                table = _resolve_fact(fact, inputs, self.makers, found, _cannot_read)
                for part, of_rank in zip(parts, _split_ranks(table, ranks), strict=True):
                    part[fact] = of_rank
            if not isinstance(asked, type):
                for part in parts:
                    part[asked] = _select_rows(asked, part[fact])
            for tables in (found, *parts):
                self._let_go(tables, unneeded)
        given = [{asked: part[asked] for asked in self.wanted} for part in parts]
        for tables in (found, *read):
            self._let_go(tables, [*tables])
        for part in parts:
            self._let_go(part, part.keys() - {*self.wanted})
        return given

    def _derive_rest(self, source: Source, inputs: _RunInputs, found: RankFacts) -> RankFacts:
        """What is wanted of a source of which events were read."""
        for asked, unneeded in zip(self.order, self.let_go, strict=True):
            self._collect_table(asked, inputs, found, source)
            self._let_go(found, unneeded)
        given = {asked: found[asked] for asked in self.wanted}
        self._let_go(found, found.keys() - given.keys())
        return given

    def _left_out_steps(self, inputs: _RunInputs, found: RankFacts, source: Source) -> Table[LeftOutStep]:
        """The steps that do not count: told before anything is read or derived that has steps."""
        if LeftOutStep in self.makers and any(has_steps(root) for root in self.roots):
            table = _resolve_fact(LeftOutStep, inputs, self.makers, found, source.read)
            if isinstance(table, Table):
                return table
        return Table.empty(LeftOutStep)

    def _read_events(self, source: Source, inputs: _RunInputs, found: RankFacts) -> None:
        """Reads the facts of events, each once; what stands by itself is made, and let go, on the way."""
        left, needed = dict.fromkeys(self.events), self._still_needed(found)
        for fact in self.events:
            others, made = self.apart.get(fact, (frozenset([fact]), ()))
            for one in [one for one in left if one in others]:
                del left[one]
                if one in needed:
                    _resolve_fact(one, inputs, self.makers, found, source.read)
            for asked in made:
                self._collect_table(asked, inputs, found, source)
            if made:
                self._let_go_unneeded(found)
                needed = self._still_needed(found)

    def _collect_table(self, asked: WantedFact, inputs: _RunInputs, found: RankFacts, source: Source) -> None:
        if asked in found:
            return
        table = _resolve_fact(fact_of_wanted(asked), inputs, self.makers, found, source.read)
        if not isinstance(asked, type):
            found[asked] = _select_rows(asked, table)

    def _side_by_side(self, source: Source, inputs: _RunInputs, found: RankFacts) -> None:
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
            _resolve_fact(fact, inputs, self.makers, found, source.read)
        for asked in self.wanted:
            if fact_of_wanted(asked).heavy and fact_of_wanted(asked).observed:
                self._collect_table(asked, inputs, found, source)
        running: dict[Future[RankFacts], type[Fact]] = {}
        with ThreadPoolExecutor(self.threads) as pool:
            while (left := self._let_go_unneeded(found) & beside) or running:
                ready = self._in_order(left.difference(running.values()), found)
                for fact in ready[: self.threads - len(running)]:
                    running[pool.submit(self._make, fact, inputs, dict(found), source)] = fact
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for made in done:
                    del running[made]
                    found.update(made.result())

    def _make(self, fact: type[Fact], inputs: _RunInputs, found: RankFacts, source: Source) -> RankFacts:
        """A table, and what of it was asked for."""
        table = _resolve_fact(fact, inputs, self.makers, found, source.read)
        chosen = [asked for asked in self.wanted if not isinstance(asked, type) and asked.fact is fact]
        return {fact: table, **{asked: _select_rows(asked, table) for asked in chosen}}

    def _in_order(self, left: Collection[type[Fact]], found: RankFacts) -> list[type[Fact]]:
        """What can be made of what is there; first what the longest table is kept for, then what few others need."""
        needs = {fact: self.makers.needs(fact) for fact in left}
        users = Counter(need for of_fact in needs.values() for need in of_fact)
        longest: Counter[type[Fact]] = Counter()
        for asked in left:
            chain = [asked]
            for fact in chain:
                chain += [need for need in needs[fact] if need in needs and need not in chain]
            rows = max(_length_of(found.get(need)) for fact in chain for need in needs[fact])
            for fact in chain:
                longest[fact] = max(longest[fact], rows)
        ready = [fact for fact in left if needs[fact] <= found.keys()]
        return sorted(
            ready,
            key=lambda fact: (-longest[fact], min((users[need] for need in needs[fact]), default=0), fact.table),
        )

    def _let_go(self, found: RankFacts, unneeded: Collection[WantedFact]) -> None:
        """Lets go of tables, and of what was made of those that nobody else has."""
        for asked in unneeded:
            table = found.pop(asked, None)
            if isinstance(table, Table) and asked not in self.known:
                table.forget()

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
            if fact not in needed and fact not in found:
                asked += self.makers.needs(fact)
            needed.add(fact)
        return needed

    def _let_go_unneeded(self, found: RankFacts) -> set[type[Fact]]:
        """Lets go of tables that nothing is made of any more; gives what is still to be made."""
        needed = self._still_needed(found)
        unneeded = found.keys() - needed - {*self.wanted}
        self._let_go(found, unneeded)
        if any(fact_of_wanted(one).heavy for one in unneeded):
            give_back_now()
        return {fact for fact in needed if fact not in found}


def has_steps(fact: type[Fact]) -> bool:
    """Whether rows of a fact belong to steps."""
    return "step" in fact.columns()


def _inputs_without_steps(inputs: _RunInputs, left_out: Table[LeftOutStep]) -> _RunInputs:
    run = inputs[RunOfRanks]
    assert isinstance(run, RunOfRanks)  # noqa: S101 - it is kept by its type
    return {**inputs, RunOfRanks: run.without_steps(frozenset(left_out["step"].tolist())), LeftOutStep: left_out}


def _as_it_counts(table: AnyTable, inputs: _RunInputs) -> AnyTable:
    """A table as all is derived from it: without steps that do not count."""
    left_out = inputs.get(LeftOutStep)
    all_counts = left_out is None or not table.fact.observed or not has_steps(table.fact)
    return table if all_counts else table.once(_without_steps, left_out)


def _without_steps(table: AnyTable, left_out: Table[LeftOutStep]) -> AnyTable:
    """The rows that do not belong to these steps; kernels and collectives lie outside of all steps instead, as those
    before the first one do."""
    inside = np.isin(table["step"], left_out["step"])
    if _of_events(table.fact) and table.fact is not StepWindow:
        return table.having(step=np.where(inside, MISSING, table["step"]))
    return table.take(~inside)


def _read_together(needed: Iterable[frozenset[type[Fact]]]) -> Mapping[type[Fact], frozenset[type[Fact]]]:
    """Per fact of events: those that lie with it behind anything that is wanted, itself among them."""
    found: dict[type[Fact], frozenset[type[Fact]]] = {}
    for roots in needed:
        events = frozenset(root for root in roots if _of_events(root))
        found |= {root: events | found.get(root, frozenset()) for root in events}
    return found


def _length_of(table: ReadTable | None) -> int:
    return len(table) if isinstance(table, Table) else 0


def _select_rows(asked: Selection, table: ReadTable) -> ReadTable:
    return asked.select(table) if isinstance(table, Table) else table


def _of_events(fact: type[Fact]) -> bool:
    return fact.heavy or fact.among_events


@cache
def _facts_needed(derivation: Derivation) -> frozenset[type[Fact]]:
    return frozenset(need for need, _ in needs_of_derivation(derivation).values() if _is_fact(need))


def _is_fact(need: type) -> TypeGuard[type[Fact]]:
    return issubclass(need, Fact)


def _rests_on_patterns(fact: type[Fact], makers: Makers) -> bool:
    derived = (one for one in makers.behind(fact) if not one.observed)
    return any(need is ChainPatterns for one in derived for need, _ in needs_of_derivation(makers[one]).values())


def _cannot_read(fact: type[Fact]) -> AnyTable:
    raise FactMissing([fact.table])


def _resolve_fact(
    fact: type[Fact],
    inputs: _RunInputs,
    makers: Mapping[type[Fact], Derivation],
    found: RankFacts,
    read: Callable[[type[Fact]], AnyTable],
) -> ReadTable:
    """The table of a fact, read or derived, remembered in `found`; a FactMissing where it cannot be had."""
    if fact in found:
        return found[fact]
    try:
        table = read(fact).by_name() if fact.observed else _derive_fact(fact, inputs, makers, found, read)
        found[fact] = table.narrow() if fact.heavy else table
    except FactMissing as missing:
        # what is kept would else keep every table of the frames it passed through
        found[fact] = missing.with_traceback(None)
        missing.__context__ = None
    return found[fact]


def _derive_fact(
    fact: type[Fact],
    inputs: _RunInputs,
    makers: Mapping[type[Fact], Derivation],
    found: RankFacts,
    read: Callable[[type[Fact]], AnyTable],
) -> AnyTable:
    if fact.of_pauses and cast("RunOfRanks", inputs[RunOfRanks]).times_of == "work":
        raise FactMissing([StepWindow.table])
    arguments: dict[str, object] = {}
    missing: list[FactMissing] = []
    for name, (need, optional) in needs_of_derivation(makers[fact]).items():
        if not _is_fact(need):
            arguments[name] = inputs[need]
            continue
        table = _resolve_fact(need, inputs, makers, found, read)
        if isinstance(table, Table) and not fact.of_all_steps:
            table = _as_it_counts(table, inputs)
        if isinstance(table, FactMissing) and not optional:
            missing.append(table)
        arguments[name] = None if isinstance(table, FactMissing) else table
    if missing:
        raise FactMissing.joined(missing)
    return _call_by_ranks(makers[fact], arguments)


def _call_by_ranks(derivation: Derivation, arguments: Mapping[str, object]) -> AnyTable:
    """What a derivation makes; one that asks for it is given the ranks one by one."""
    if derivation not in _OF_ONE_RANK:
        return call_derivation(derivation, arguments)
    tables = {name: table for name, table in arguments.items() if isinstance(table, Table)}
    ranks = sorted({rank for table in tables.values() for rank in np.unique(table["rank"]).tolist()})
    if len(ranks) <= 1:
        return call_derivation(derivation, arguments)
    of_rank = {name: _split_ranks(table, ranks) for name, table in tables.items()}
    made = [
        call_derivation(derivation, {**arguments, **{name: parts[number] for name, parts in of_rank.items()}})
        for number in range(len(ranks))
    ]
    for part in (part for parts in of_rank.values() for part in parts):
        if isinstance(part, Table):
            part.forget()
    return Table.concat(fact_of_derivation(derivation), made)


def fact_of_name(name: str) -> type[Fact]:
    """The fact of this name, as rules write it after `in:`.

    Raises:
        UsageError: There is none; the message names the nearest.
    """
    from difflib import get_close_matches

    if name in FACTS:
        return FACTS[name]
    near = get_close_matches(name, FACTS, 1)
    raise UsageError(Message("no_table", name=name), did_you_mean(near) or Message("known", names=", ".join(FACTS)))


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
