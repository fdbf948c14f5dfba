# SPDX-License-Identifier: Apache-2.0
"""Charts for pages whose text is the promise: drawing takes a second of processor time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from advisor.report.charts.draw import Renderer


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
        super().begin({name: spec for name, spec in specs.items() if not self._place(spec).exists()})

    def render(self, specs: Mapping[str, object]) -> dict[str, str]:
        """What was drawn, now or before."""
        there = {name: self._place(spec) for name, spec in specs.items() if self._place(spec).exists()}
        drawn = super().render({name: spec for name, spec in specs.items() if name not in there})
        for name, svg in drawn.items():
            kept = self._place(specs[name])
            part = kept.with_suffix(f".{os.getpid()}")
            part.write_text(svg, "utf-8")
            part.replace(kept)
        drawn |= {name: kept.read_text("utf-8") for name, kept in there.items()}
        return {name: drawn[name] for name in specs if name in drawn}

    def _place(self, spec: object) -> Path:
        said = json.dumps(spec, sort_keys=True).encode()
        return self._folder / f"{hashlib.blake2b(said, digest_size=16).hexdigest()}.svg"
