# SPDX-License-Identifier: Apache-2.0
"""The work over ranks taken from a cache where it was done before, whoever does the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from msgspec import Struct, field

from advisor.fact_store.cache_folder import CacheFolder
from advisor.fact_store.cached_facts import decode_facts, encode_facts
from advisor.facts.observed import Damage
from advisor.facts.rank_facts import FactsWanted, Gather, RankFacts, Source, WantedFact, rank_by_rank
from advisor.facts.table import Table
from advisor.messages.errors import OF_THE_SYSTEM
from advisor.model.progress import Progress
from advisor.model.unread import SavedMessage
from advisor.rank_work.arrivals import Arrival, arrivals_of, in_order
from advisor.rank_work.lost_rank import FactsOfLostRank, unless_all_lost
from advisor.rank_work.work_keys import FilesState, NoKeyError, ValueKeys, files_state, program_key
from advisor.release import VERSION
from advisor.sources.family import RestsOnFiles

SETTLED_NS = 2_000_000_000
"""Files that were changed later than this before the work began may change again within the same tick of a clock of
their file system, of which the coarsest have two seconds: what is made of them is not kept."""


class _Past(Struct):
    """What became of a source since it was opened."""

    source: Source
    """Kept, for an id is its own while it is."""
    opened: str
    """What described it then."""
    asked: list[str] = field(default_factory=list)
    """What was wanted of it, in order: what comes to light of damage depends on what was read before."""
    unread: list[WantedFact] = field(default_factory=list)
    """What of that was taken from the cache, so that nothing was read for it."""


class _Place(Struct, frozen=True):
    """Where the facts of a source are kept: its key, and the state of its files when it was made."""

    key: str
    files: FilesState
    rests_on: RestsOnFiles


class StoredWork:
    """Gives what is kept in a cache, leaves the rest to another gatherer, and keeps it as it arrives.

    `capture` is how the run is called.
    """

    def __init__(self, cache: CacheFolder, gather: Gather, progress: Progress, capture: str = "") -> None:
        self._cache, self._gather, self._progress, self._capture = cache, gather, progress, capture
        self._past: dict[int, _Past] = {}

    def __call__(self, work: Callable[[Source], RankFacts], sources: Sequence[Source]) -> Iterator[RankFacts]:
        if not isinstance(work, FactsWanted):
            yield from self._gather(work, sources)
            return
        began_ns = time.time_ns()
        places = self._places_of(work, sources)
        kept: list[Arrival] = []
        missing: list[tuple[int, _Place | None]] = []
        for number, (source, place) in enumerate(zip(sources, places, strict=True)):
            found = None if place is None else self._facts_kept(place, work.wanted)
            if found is None:
                missing.append((number, place))
                continue
            self._past[id(source)].unread += work.wanted
            kept.append(Arrival(number, found))
        fresh = self._fresh_facts(work, sources, missing, began_ns) if missing else ()
        yield from in_order(chain(kept, fresh))
        if not missing:
            self._progress("ranks", len(sources), len(sources))

    def _fresh_facts(
        self, work: FactsWanted, sources: Sequence[Source], missing: Sequence[tuple[int, _Place | None]], began_ns: int
    ) -> Iterator[Arrival]:
        """What is wanted of those that are missing, as it comes: it is kept before any other is waited for."""
        asked = [sources[number] for number, _ in missing]
        arrivals = arrivals_of(self._gather, self._work_for(work, asked), asked)
        written = False
        try:
            for first, facts in unless_all_lost(arrivals, len(sources)):
                for at, made in enumerate(rank_by_rank([facts]), first):
                    number, place = missing[at]
                    part = {one: made[one] for one in work.wanted}
                    if place is not None and _may_be_kept(made):
                        written |= self._keep_facts(place, part, began_ns)
                    yield Arrival(number, part)
        finally:
            if written:
                self._cache.remove_oldest()

    def _places_of(self, work: FactsWanted, sources: Sequence[Source]) -> list[_Place | None]:
        """Where the facts of each source are kept; None for those of which that cannot be told."""
        keys = ValueKeys()
        try:
            asked = keys.key_of((program_key(), work.wanted))
        except NoKeyError:
            return [None for _ in sources]
        return [self._place_of(asked, source, work, keys) for source in sources]

    def _place_of(self, asked: str, source: Source, work: FactsWanted, keys: ValueKeys) -> _Place | None:
        if not isinstance(source, RestsOnFiles):
            return None
        try:
            past = self._past.get(id(source)) or _Past(source, keys.key_of(source))
            of_rank = keys.key_of((asked, list(work.inputs_of(source).values())))
        except NoKeyError:
            return None
        self._past[id(source)] = past
        past.asked.append(of_rank)
        files = files_state(source.rests_on)
        return None if files is None else _Place(keys.key_of((past.opened, past.asked, files.key)), files, source)

    def _facts_kept(self, place: _Place, wanted: Sequence[WantedFact]) -> RankFacts | None:
        content = self._cache.read_entry(place.key)
        if content is None:
            return None
        try:
            return decode_facts(content, wanted)
        except ValueError:  # as msgspec's own errors are
            return None

    def _work_for(self, work: FactsWanted, missing: Sequence[Source]) -> FactsWanted:
        """The work, and what was not read before: of what is read then, damage comes to light that is asked for now."""
        past = [self._past[id(source)] for source in missing if id(source) in self._past]
        unread = [asked for one in past for asked in one.unread]
        for one in past:
            one.unread = []
        return (work.without_known(unread) if unread else work).with_damage()

    def _keep_facts(self, place: _Place, part: RankFacts, began_ns: int) -> bool:
        """Keeps what was just read, unless a file changed meanwhile; gives whether that could be done."""
        if place.files.newest_ns > began_ns - SETTLED_NS or files_state(place.rests_on.rests_on) != place.files:
            return False
        content = encode_facts(part)
        if content is None:
            return False
        return self._cache.write_entry(place.key, content, capture=self._capture, version=VERSION)


def _may_be_kept(made: RankFacts) -> bool:
    """Whether another reader would have found the same: the system may refuse one what it gives the next, and a rank
    that was set aside may be read another time."""
    if isinstance(made, FactsOfLostRank):
        return False
    damage = made[Damage]
    told = set(damage.texts("what_message").values()) if isinstance(damage, Table) else set()
    return not any(SavedMessage.from_json(text).codes() & OF_THE_SYSTEM for text in told if text)
