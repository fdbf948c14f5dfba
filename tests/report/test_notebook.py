# SPDX-License-Identifier: Apache-2.0
"""What notebooks show is legible on any ground and runs nothing, in a real browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_samples import HOSTILE, rich

from advisor.comparison import compare
from advisor.messages.text import LANGUAGES, Language
from advisor.report.notebook import COLOURS, comparison_html, diagnosis_html, finding_html, table_html
from advisor.report.words import SEVERITIES

GROUNDS = {"light": ("#ffffff", "#1f1f1f"), "dark": ("#1e1e1e", "#d4d4d4")}
"""Ground and letters, as VS Code and Jupyter set them."""


def shown(language: Language) -> str:
    diagnosis = rich()
    before = diagnosis.model_copy(update={"findings": diagnosis.findings[1:]})
    return "".join(
        [
            diagnosis_html(diagnosis, language),
            *(finding_html(finding, language) for finding in diagnosis.findings),
            comparison_html(compare(before, diagnosis), language),
            table_html(HOSTILE[0], HOSTILE, [HOSTILE, (None, 1.5, True)], 2, language),
        ]
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    webdriver: Any = pytest.importorskip("selenium.webdriver")
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1100,900"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))) as one:
        yield one


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GROUNDS)
def test_letters_take_the_colour_of_what_surrounds_them(
    name: str, language: Language, browser: Any, tmp_path: Path
) -> None:
    ground, letters = GROUNDS[name]
    page = tmp_path / "cell.html"
    style = f"background:{ground};color:{letters};font:14px sans-serif"
    # as Jupyter: tables and code come with a look of their own
    rules = "table{color:#000;background:#fff} tr:nth-child(odd){background:#f5f5f5} code{color:#000;background:#eee}"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><style>{rules}</style><body style='{style}'>{shown(language)}", "utf-8"
    )
    browser.get(page.as_uri())
    seen = browser.execute_script(
        "return [...document.querySelectorAll('body *')].filter(e => e.innerText && e.innerText.trim())"
        ".map(e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor])"
    )
    body = browser.execute_script("return getComputedStyle(document.body).color")
    assert len(seen) > 50
    assert {colour for colour, _ in seen} == {body}
    assert {behind for _, behind in seen} == {"rgba(0, 0, 0, 0)"}
    assert browser.get_log("browser") == []
    assert not browser.execute_script("return window.hacked")
    assert browser.find_elements("css selector", "body img, body script, body iframe, body a") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_stands_in_a_row_is_set_apart_and_a_colour_stays_with_its_word(language: Language) -> None:
    html = shown(language)
    assert "</span><span>" not in html
    word = SEVERITIES["critical"].say(language)
    together = (
        rf'<span style="white-space:nowrap"><span style="[^"]*background:{COLOURS["critical"]}"></span>{word}</span>'
    )
    assert re.search(together, html)


def test_colours_stand_out_from_light_and_dark() -> None:
    def brightness(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for ground, _ in GROUNDS.values():
        for colour in COLOURS.values():
            light, dark = sorted((brightness(colour), brightness(ground)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 2.3, (colour, ground)  # the parts of a bar are named beside it
