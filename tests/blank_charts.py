# SPDX-License-Identifier: Apache-2.0
"""Charts for pages whose text is the promise: as many as asked for, and nothing in them. Drawing takes a second."""

from __future__ import annotations

from collections.abc import Mapping

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
