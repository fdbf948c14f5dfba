# SPDX-License-Identifier: Apache-2.0
"""Draws Vega-Lite specs as static SVG in a process of its own, which may die without harm to the report."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.messages.text import Language
    from advisor.model.findings import Exhibit
    from advisor.model.run import Run

TIMEOUT_S = 60.0
"""Longer than any bounded chart takes on a busy machine; after this the charts are given up, not the report."""

_PROGRAM = Path(__file__).with_name("process.py")


class Renderer:
    """Draws charts. Started early, it wakes up on another core while the capture is read.

    Use it as a context: whatever happens inside, no process stays behind.
    """

    def __init__(self, start: bool = True) -> None:
        self.wanted = start
        """Whether there will be something to draw."""
        self._rests = False
        self._process: subprocess.Popen[bytes] | None = None
        self._work: Thread | None = None
        self._asked: set[str] = set()
        self._drawn: dict[str, str] = {}
        if start:
            self.start()

    def start(self) -> None:
        """Starts the drawing process, once; nothing happens where processes cannot be started."""
        if self._process is not None:
            return
        try:
            self._process = subprocess.Popen(  # noqa: S603 — this interpreter and our own file; -P keeps the working folder off the path
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            self._process = None  # the report then names the charts it lacks

    def rest(self) -> None:
        """Ends the drawing process until there is something to draw: it holds 60 MiB that a large capture can use."""
        self._rests = self.wanted
        self.close()

    def wake(self) -> None:
        """Starts the drawing process again after a rest."""
        if self._rests:
            self._rests = False
            self.start()

    def begin(self, specs: Mapping[str, object]) -> None:
        """Has the named specs drawn beside what the caller does next. Each is asked for once, drawn or not."""
        new = {line: name for name, line in _spec_lines(specs).items() if line not in self._asked}
        if new:
            self._await_drawing()
            self._asked.update(new)
            self.start()
            self._work = Thread(target=self._draw_charts, args=(new,), daemon=True)
            self._work.start()

    def render(self, specs: Mapping[str, object]) -> dict[str, str]:
        """The SVG of each named spec. A chart that cannot be drawn is missing from the answer."""
        self.begin(specs)
        self._await_drawing()
        return {name: self._drawn[line] for name, line in _spec_lines(specs).items() if line in self._drawn}

    def close(self) -> None:
        """Ends the drawing process and waits for its end."""
        process = self._process
        if process is not None:
            process.kill()
        self._await_drawing()
        self._reap_process()

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _draw_charts(self, asked: Mapping[str, str]) -> None:
        """Sends the lines and the empty one that ends the process; keeps all that comes back."""
        if self._process is None:
            return
        content = "".join(f"{line}\n" for line in [*asked, ""]).encode()
        try:
            said, _ = self._process.communicate(content, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as late:
            said = late.stdout or b""
            self._process.kill()
        self._reap_process()
        lines = {name: line for line, name in asked.items()}
        for name, svg in map(_read_answer, said.splitlines()):
            if svg and name in lines:
                self._drawn[lines[name]] = svg

    def _await_drawing(self) -> None:
        if self._work is not None:
            self._work.join()
            self._work = None  # only now: who is interrupted here still has to wait before the process is reaped

    def _reap_process(self) -> None:
        """Leaves neither a zombie nor an open pipe."""
        process, self._process = self._process, None
        if process is not None:
            process.communicate()


def begin_charts(renderer: Renderer, language: Language, exhibits: Sequence[Exhibit], run: Run) -> None:
    """Has the charts of a report drawn ahead, where it will be an HTML one: the renderer is wanted for it."""
    if renderer.wanted:
        from advisor.report.charts.specs import exhibit_charts

        renderer.begin(
            {chart.kind: chart.spec for chart in exhibit_charts(exhibits, language, run.hosts, run.times_of)}
        )


def _spec_lines(specs: Mapping[str, object]) -> dict[str, str]:
    return {name: json.dumps({"name": name, "spec": spec}, sort_keys=True) for name, spec in specs.items()}


def _read_answer(line: bytes) -> tuple[str, str]:
    """The name and the SVG on one line; nothing for a chart that failed or a line cut short."""
    try:
        said = json.loads(line)
    except ValueError:
        return "", ""
    return str(said.get("name", "")), str(said.get("svg", ""))
