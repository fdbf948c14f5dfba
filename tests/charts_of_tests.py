# SPDX-License-Identifier: Apache-2.0
"""Charts for pages whose text is the promise: drawing takes a second of processor time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from advisor.report.charts.draw import Renderer, _spec_lines


class BlankCharts(Renderer):
    """Gives an empty drawing for each chart, without a process."""

    def __init__(self) -> None:
        super().__init__(start=False)

    def begin(self, specs: Mapping[str, object]) -> None:
        """There is nothing to wait for."""

    def render(self, specs: Mapping[str, object]) -> dict[str, str]:
        """An empty drawing by name."""
        return dict.fromkeys(specs, "<svg></svg>")


class KeptCharts(Renderer):
    """Draws a chart that no process of this run has drawn before, and keeps it in a folder for all of them."""

    def __init__(self, folder: Path, start: bool = True) -> None:
        super().__init__(start=False)
        self.wanted = start
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def begin(self, specs: Mapping[str, object]) -> None:
        """Only what is not in the folder is asked for."""
        for line in set(_spec_lines(specs).values()) - self._asked:
            kept = self._place(line)
            if kept.exists():
                self._asked.add(line)
                self._drawn[line] = kept.read_text("utf-8")
        super().begin(specs)

    def render(self, specs: Mapping[str, object]) -> dict[str, str]:
        """What was drawn, now or before."""
        drawn = super().render(specs)
        for name, line in _spec_lines(specs).items():
            kept = self._place(line)
            if name in drawn and not kept.exists():
                part = kept.with_suffix(f".{os.getpid()}")
                part.write_text(drawn[name], "utf-8")
                part.replace(kept)
        return drawn

    def _place(self, line: str) -> Path:
        return self._folder / f"{hashlib.blake2b(line.encode(), digest_size=16).hexdigest()}.svg"
