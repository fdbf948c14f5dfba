# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr: only on a terminal, and only once the work has taken a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self

from advisor.report.words import say
from advisor.units import show_value

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from advisor.messages.text import Language
    from advisor.model.progress import WorkerState

PATIENCE_S = 1.0
RANKS = "ranks"
MOST_WORKERS = 8
"""Lines for workers: those that have been at their rank longest, for one of them may hang."""
_ENOUGH = 2
"""Ranks that have to be done before it is told how long the others will take."""


class ProgressBar:
    """Called with what is done (see `advisor.model.progress`); shows itself when that is worth looking at."""

    def __init__(self, language: Language = "en") -> None:
        self._language = language
        self._since = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._shown: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._begun: dict[str, tuple[int, int]] = {}
        self._ranks_since = self._since, sys.maxsize
        """When reading ranks began, which it may do again for more of them, and how many were done then."""
        self._workers: Sequence[WorkerState] = ()

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._wanted:
            return
        if what == RANKS and done <= self._ranks_since[1]:
            self._ranks_since = time.monotonic(), done
        if self._shown is None and time.monotonic() - self._since < PATIENCE_S:
            self._begun[what] = done, total
            return
        shown = self._shown or self._show_bar()
        self._update_task(shown, what, done, total)

    def _update_task(self, shown: RichProgress, what: str, done: int, total: int) -> None:
        if what not in self._tasks:
            self._tasks[what] = shown.add_task(say(f"doing_{what}", self._language), total=total, amount="")
        amount = self._say_ranks(done, total) if what == RANKS and total > 1 else ""
        shown.update(self._tasks[what], completed=done, total=total, amount=amount)

    def _say_ranks(self, done: int, total: int) -> str:
        """How many ranks are done, and once two are how many in a second, and how long the others will take."""
        since, before = self._ranks_since
        taken = time.monotonic() - since
        if done - before < _ENOUGH or done == total or taken <= 0:
            return say("ranks_done", self._language, done=f"{done:,}", total=f"{total:,}")
        rate = (done - before) / taken
        left = show_value((total - done) / rate * 1e6, "us")
        words = {"done": f"{done:,}", "total": f"{total:,}", "rate": f"{rate:.3g}", "left": left}
        return say("ranks_rate", self._language, **words)

    def show_workers(self, workers: Sequence[WorkerState]) -> None:
        """Where the workers of a cluster stand, below the bar; shown with it."""
        self._workers = workers

    def _lines_of_workers(self) -> Iterator[str]:
        """A line for each worker, and one for those that there is no room for."""
        longest = sorted(self._workers, key=lambda one: (-one.seconds, one.address))
        for one in longest[:MOST_WORKERS]:
            kind = "worker_is_idle" if one.rank is None else "worker_reads"
            words = {"rank": str(one.rank), "taken": show_value(one.seconds * 1e6, "us"), "done": f"{one.done:,}"}
            yield say(kind, self._language, address=one.address.rpartition("//")[2], **words)
        if len(longest) > MOST_WORKERS:
            yield say("more_workers", self._language, count=f"{len(longest) - MOST_WORKERS:,}")

    def _show_bar(self) -> RichProgress:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

        from advisor.report.console import terminal_console
        from advisor.report.worker_lines import ProgressWithLines

        words, amount = TextColumn("{task.description}"), TextColumn("{task.fields[amount]}")
        columns = (words, BarColumn(), TaskProgressColumn(), amount, TimeElapsedColumn())
        console = terminal_console(sys.stderr)
        self._shown = ProgressWithLines(self._lines_of_workers, *columns, console=console, transient=True)
        self._shown.start()
        for what, (done, total) in self._begun.items():
            if done < total:
                self._update_task(self._shown, what, done, total)
        return self._shown

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self._shown is not None:
            self._shown.stop()
            self._shown = None
            self._wanted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
