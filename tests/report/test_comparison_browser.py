# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compared_samples import compared
from test_browser import browser, pytestmark, shown

from advisor.report.charts.draw import Renderer
from advisor.report.comparison.page import comparison_page

__all__ = ["browser", "pytestmark"]


@pytest.fixture(params=["en", "zh"])
def opened(browser: Any, request: pytest.FixtureRequest, renderer: Renderer, tmp_path: Path) -> Any:
    """The sample comparison, freshly opened in each language."""
    path = tmp_path / "compare.html"
    path.write_bytes(comparison_page(compared(), request.param, renderer).encode("utf-8", "backslashreplace"))
    browser.get(path.as_uri())
    return browser


def test_the_console_is_quiet_and_nothing_hostile_runs(opened: Any) -> None:
    for control in opened.find_elements("css selector", "button, summary"):
        opened.execute_script("arguments[0].click()", control)
    assert opened.get_log("browser") == []
    assert opened.find_elements("css selector", "img, iframe, script + script, [onerror]") == []
    assert opened.execute_script("return performance.getEntriesByType('resource').length") == 0
    opened.execute_script("localStorage.clear()")


def test_the_first_screen_holds_verdict_both_bars_and_the_parts(opened: Any) -> None:
    for selector in ("h1", ".lead", ".compared", ".times tbody tr:last-child", "#moved h2"):
        one = shown(opened, selector)[0]
        assert one.rect["y"] + one.rect["height"] <= 800, selector


def test_both_bars_are_drawn_to_one_scale(opened: Any) -> None:
    before, after = (one.rect["width"] for one in shown(opened, ".compared .bar"))
    assert before / after == pytest.approx(117 / 131, abs=0.01)
    parts = [one.rect["width"] for one in shown(opened, ".compared .bar")[1].find_elements("css selector", "span")]
    assert [width / sum(parts) for width in parts] == pytest.approx([16 / 131, 82 / 131, 33 / 131], abs=0.015)


def test_what_stayed_the_same_and_the_tables_are_folded(opened: Any) -> None:
    assert shown(opened, ".group.same .change") == []
    assert shown(opened, ".sheet table") == []
    opened.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert len(shown(opened, ".group.same .change")) == 1
    assert len(shown(opened, ".sheet table")) == 3


def test_nothing_is_wider_than_a_phone_even_when_all_is_open(opened: Any) -> None:
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    opened.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    width = opened.execute_script("return document.documentElement.scrollWidth")
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width <= 390


def test_a_phone_shows_every_part_of_the_step_with_its_judgement(opened: Any) -> None:
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    cells = [cell.rect for cell in shown(opened, ".times td")]
    hidden = opened.execute_script(
        "const one = document.querySelector('.times .scroll'); return one.scrollWidth - one.clientWidth"
    )
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(cells) == 4 * 6
    assert all(rect["x"] >= 0 and rect["x"] + rect["width"] <= 390 for rect in cells)
    assert hidden <= 0


def test_the_theme_reaches_the_charts(opened: Any) -> None:
    look = "return getComputedStyle(document.querySelector('.chart svg text')).fill"
    opened.execute_script("document.documentElement.dataset.theme = 'light'")
    light = opened.execute_script(look)
    opened.find_element("id", "theme").click()
    assert opened.execute_script(look) != light
    opened.execute_script("localStorage.clear()")
