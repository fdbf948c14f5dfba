# SPDX-License-Identifier: Apache-2.0
"""Profile: all facts of one run, read or derived when first asked for, one rank at a time.

A profile is *given* its sources and derivations, so this module knows neither files nor formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar, cast, overload

from advisor.chips.chip_files import shipped_chips
from advisor.chips.known_chips import ChipTable
from advisor.facts.base import Fact
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derivation import (
    AnyTable,
    Derivation,
    Makers,
    completion_of,
    is_fact,
    needs_of_derivation,
    rests_on_patterns,
)
from advisor.facts.names import FACTS
from advisor.facts.observed import Damage
from advisor.facts.rank_facts import (
    FactsOfRanks,
    FactsWanted,
    Gather,
    RankFacts,
    ReadTable,
    RunInputs,
    Source,
    WantedFact,
    cannot_read,
    fact_of_wanted,
    join_ranks,
    of_events,
    rank_by_rank,
    resolve_fact,
)
from advisor.facts.selection import Selected, Selection
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, UsageError
from advisor.messages.message import Message, did_you_mean
from advisor.messages.text import Text
from advisor.model.run import Run
from advisor.model.run_of_ranks import RunOfRanks, run_of_ranks

F = TypeVar("F", bound=Fact)
BESIDE_WORTH_BYTES = 64 << 20
"""From this much input on, what is derived from one rank is derived in threads."""


class Closable(Protocol):
    """What is let go of in the end."""

    def close(self) -> None: ...


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
        `chips` is what is known of chips, where it is more than what is shipped, and `say_missing` says in the
        words of people what was not recorded and how to have it."""
        self._chips = chips or shipped_chips()
        self._say_missing = say_missing
        self.run, self._keeps = run, keeps
        self._patterns: ChainPatterns | None = None
        self._usual_patterns = usual_patterns
        self._sources = tuple(sources)
        self._makers = Makers(derivations)
        self._completions = {
            fact: completion
            for fact, derivation in self._makers.items()
            if (completion := completion_of(derivation)) is not None
        }
        self._gather = gather
        self._found: RankFacts = {}
        self._reasons: dict[FactMissing, Text] = {}
        """What was said of what was not recorded, by what was found in its place: many rules ask for it."""

    def look_for(self, patterns: ChainPatterns) -> None:
        """Looks for these chains of kernels from now on; what was found by other patterns is forgotten."""
        if patterns != self._patterns:
            self._patterns = patterns
            for asked in [one for one in self._found if rests_on_patterns(fact_of_wanted(one), self._makers)]:
                del self._found[asked]

    @property
    def _inputs(self) -> RunInputs:
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
        if self._say_missing is None:
            raise FactMissing(found.tables, found.unreadable, found.incomplete, found.behind, found.unnamed)
        if found not in self._reasons:
            self._reasons[found] = self._say_missing(found, self.run)
        raise found.because(self._reasons[found])

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
        for _ in self._read_parts(left):
            pass
        across = [fact for fact in map(fact_of_wanted, left) if fact.across_ranks]
        inputs = {**self._inputs, Run: self.run} if across else {}
        for fact in across:
            resolve_fact(fact, inputs, self._makers, self._found, cannot_read)

    def read_ranks(self, wanted: Iterable[WantedFact]) -> Iterator[RankFacts]:
        """What is read and derived of each rank for these, rank by rank; what is there already is not read again.

        All of them together are kept when the last one was given. Nobody may change what is given.
        """
        return rank_by_rank(self._read_parts(wanted))

    def _read_parts(self, wanted: Iterable[WantedFact]) -> Iterator[RankFacts]:
        """The same as it comes: of some ranks together."""
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
            self._found[asked] = join_ranks(asked, [part.pop(asked) for part in parts])

    def _completed(self, part: RankFacts) -> RankFacts:
        """What was found of a source, or of several, with what the other ranks tell of each."""
        for fact, completion in self._completions.items():
            if isinstance(table := part.get(fact), Table):
                tables = part.of_each(fact) if isinstance(part, FactsOfRanks) else [table]
                part[fact] = join_ranks(fact, [completion(self.run, one) for one in tables])
        return part

    def prepare_events(self, also: Iterable[type[Fact]] = ()) -> None:
        """Reads and derives everything that rests on events, before it is known what is wanted of them.

        They lie in one file, which is read once; for a single source with room for all its tables. What is made on
        request only is left for later, but for those of `also`, which may hold observed facts that nothing rests on.
        """
        also = frozenset(also)
        made = [fact for fact in self._makers if fact in also or not fact.on_request]
        behind = {fact: self._makers.observed_behind(fact) for fact in made}
        resting = [fact for fact, roots in behind.items() if any(of_events(root) for root in roots)]
        roots = (root for fact in resting for root in behind[fact] if of_events(root))
        self.prepare([*resting, *roots, *(fact for fact in also if fact.observed)])

    def _needs_per_rank(self, wanted: Iterable[WantedFact]) -> Iterator[WantedFact]:
        """What must be collected rank by rank for these: themselves, or what an across-ranks fact needs."""
        for asked in wanted:
            if isinstance(asked, type) and asked.across_ranks:
                needs = needs_of_derivation(self._makers[asked]).values()
                yield from self._needs_per_rank(need for need, _ in needs if is_fact(need))
            else:
                yield asked


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
