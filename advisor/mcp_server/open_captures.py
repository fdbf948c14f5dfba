# SPDX-License-Identifier: Apache-2.0
"""The last few captures an assistant asked about, kept so that the next question is answered at once."""

from __future__ import annotations

from collections import OrderedDict
from threading import RLock

from msgspec import Struct

from advisor.chips.known_chips import ToldChip
from advisor.fact_store.cache_folder import CacheFolder
from advisor.facts.profile import Profile
from advisor.mcp_server.roots import PermittedPath, Roots
from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.model.findings import Diagnosis
from advisor.model.job import JobKind
from advisor.model.progress import Progress, silent
from advisor.pipeline import diagnose_if_needed, open_given
from advisor.rules.catalog import Catalog

KEPT = 3
"""How many captures are kept at most."""
KEPT_BYTES = 1 << 30
"""Of how much input captures are kept beside the one last asked about."""


class Seen(Struct):
    """One capture, or a diagnosis that was saved."""

    given: PermittedPath
    profile: Profile | None
    """None for a saved diagnosis."""
    diagnosis: Diagnosis | None = None
    """Made when first asked for."""

    @property
    def size_bytes(self) -> int:
        """How much input there is."""
        return self.profile.size_bytes if self.profile is not None else 0


class Opened:
    """Opens captures below the roots and keeps the last few; hold the `lock` while one is worked with."""

    def __init__(
        self,
        roots: Roots,
        catalog: Catalog,
        chip: ToldChip | None = None,
        job: JobKind | None = None,
        cache: CacheFolder | None = None,
    ) -> None:
        self.roots, self.catalog, self.chip, self.job, self.cache = roots, catalog, chip, job, cache
        self.lock = RLock()
        """A profile reads its files as it is asked, which two questions at once must not do."""
        self._seen: OrderedDict[PermittedPath, Seen] = OrderedDict()

    def seen(self, words: str, progress: Progress = silent) -> Seen:
        """What lies at a path; read again where a file has changed.

        Raises:
            InputError: It is not there, outside of the roots, or cannot be read.
        """
        given = self.roots.permit_path(words)
        if given not in self._seen:
            self._seen[given] = self._open_capture(given, progress)
        self._seen.move_to_end(given)
        self._let_go()
        return self._seen[given]

    def profile(self, words: str, progress: Progress = silent) -> Profile:
        """The tables of the capture at a path.

        Raises:
            InputError: There is none that can be read.
            UsageError: It is a saved diagnosis, which has no tables.
        """
        profile = self.seen(words, progress).profile
        if profile is None:
            raise UsageError(Message("saved_has_no_tables"), Message("give_its_capture"))
        return profile

    def diagnosis(self, words: str, progress: Progress = silent) -> Diagnosis:
        """The diagnosis of the capture at a path, or the one saved there.

        Raises:
            InputError: There is none that can be read.
        """
        seen = self.seen(words, progress)
        if seen.diagnosis is None and seen.profile is not None:
            seen.diagnosis = diagnose_if_needed(seen.profile, self.catalog, progress)
        assert seen.diagnosis is not None  # noqa: S101 - what has no profile was saved as a diagnosis
        return seen.diagnosis

    def _open_capture(self, given: PermittedPath, progress: Progress) -> Seen:
        # in this process: forking one that serves requests in threads may leave a lock held for ever
        opened = open_given(given.path, jobs=1, progress=progress, chip=self.chip, job=self.job, cache=self.cache)
        return Seen(given, None, opened) if isinstance(opened, Diagnosis) else Seen(given, opened)

    def _let_go(self) -> None:
        """Forgets captures that changed, those asked about longest ago, and more input than is kept."""
        latest = next(reversed(self._seen))
        for given in [given for given in self._seen if given.path == latest.path and given != latest]:
            _close_capture(self._seen.pop(given))
        while len(self._seen) > 1 and (len(self._seen) > KEPT or self._bytes_kept() > KEPT_BYTES):
            _close_capture(self._seen.popitem(last=False)[1])

    def _bytes_kept(self) -> int:
        return sum(seen.size_bytes for seen in self._seen.values())


def _close_capture(seen: Seen) -> None:
    if seen.profile is not None:
        seen.profile.close()
