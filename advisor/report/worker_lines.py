# SPDX-License-Identifier: Apache-2.0
"""A progress display with lines below it. Brings rich: import late."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rich.console import RenderableType
from rich.progress import Progress, ProgressColumn
from rich.text import Text


class ProgressWithLines(Progress):
    """Bars, and under them what is said now, a line each."""

    def __init__(self, lines: Callable[[], Iterable[str]], *columns: ProgressColumn, **how: Any) -> None:
        self._lines = lines
        super().__init__(*columns, **how)

    def get_renderables(self) -> Iterable[RenderableType]:
        """What is drawn."""
        yield from super().get_renderables()
        for line in self._lines():
            yield Text(f"  {line}", style="dim", no_wrap=True, overflow="ellipsis")
