# SPDX-License-Identifier: Apache-2.0
"""Who interrupts the drawing of charts gets the interruption, not a mistake of two that read from one process."""

from __future__ import annotations

from threading import Thread

import pytest

from advisor.report.charts.draw import Renderer


def test_an_interruption_while_charts_are_drawn_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    join, interrupted = Thread.join, []

    def interrupt_once(thread: Thread, timeout: float | None = None) -> None:
        if not interrupted:
            interrupted.append(thread)
            raise KeyboardInterrupt
        join(thread, timeout)

    monkeypatch.setattr(Thread, "join", interrupt_once)
    with pytest.raises(KeyboardInterrupt), Renderer() as renderer:
        renderer.render({"a": {"data": {"values": [{"a": 1}]}, "mark": "bar"}})
    assert not interrupted[0].is_alive()
    assert renderer._process is None
