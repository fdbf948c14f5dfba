# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr: only on a terminal, and only once the work has taken a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from advisor.report.words import say

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from advisor.messages.text import Language

PATIENCE_S = 1.0


class ProgressBar:
    """Called with what is done (see `advisor.progress`); shows itself when that is worth looking at."""

    def __init__(self, language: Language = "en") -> None:
        self._language = language
        self._since = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._shown: RichProgress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._begun: dict[str, tuple[int, int]] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._wanted:
            return
        if self._shown is None and time.monotonic() - self._since < PATIENCE_S:
            self._begun[what] = done, total
            return
        shown = self._shown or self._show_bar()
        self._update_task(shown, what, done, total)

    def _update_task(self, shown: RichProgress, what: str, done: int, total: int) -> None:
        if what not in self._tasks:
            self._tasks[what] = shown.add_task(say(f"doing_{what}", self._language), total=total)
        shown.update(self._tasks[what], completed=done, total=total)

    def _show_bar(self) -> RichProgress:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        from advisor.report.console import terminal_console

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._shown = Progress(*columns, console=terminal_console(sys.stderr), transient=True)
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
