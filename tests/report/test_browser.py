# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: quiet console, working controls, and nothing hostile comes alive."""

from __future__ import annotations

import base64
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from report_samples import rich, write_report

from advisor.messages.text import Text
from advisor.model.findings import Occurrence, TimeSplit
from advisor.report.charts.draw import Renderer
from advisor.report.renderers.html import LONGEST_WHOLE

PHONE = 390
webdriver: Any = pytest.importorskip("selenium.webdriver")
pytestmark = pytest.mark.skipif(
    not (shutil.which("chromedriver") and shutil.which("chromium")),
    reason="chromium and chromedriver are not installed",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-background-networking", "window-size=1280,800"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))) as one:
        yield one


@pytest.fixture(params=["en", "zh"])
def opened(browser: Any, request: pytest.FixtureRequest, renderer: Renderer, tmp_path: Path) -> Any:
    """The sample report, freshly opened in each language."""
    write_report(rich(), tmp_path / "report.html", request.param, renderer)
    browser.get((tmp_path / "report.html").as_uri())
    return browser


def shown(browser: Any, selector: str) -> list[Any]:
    return [one for one in browser.find_elements("css selector", selector) if one.is_displayed()]


def test_the_console_is_quiet_and_nothing_hostile_runs(opened: Any) -> None:
    for control in opened.find_elements("css selector", "button, summary"):
        opened.execute_script("arguments[0].click()", control)
    assert opened.get_log("browser") == []
    assert opened.find_elements("css selector", "img, iframe, script + script, [onerror]") == []
    assert not opened.execute_script("return window.hacked")
    requests = opened.execute_script("return performance.getEntriesByType('resource').length")
    assert requests == 0


def test_the_first_screen_holds_verdict_time_split_and_the_first_findings(opened: Any) -> None:
    for selector in ("h1", ".lead", ".first-step", ".bar", ".legend", ".ranking li:nth-child(2)"):
        (one,) = shown(opened, selector)
        assert one.rect["y"] + one.rect["height"] <= 800, selector


def test_a_list_in_a_list_is_indented_and_words_at_the_right_are_no_numbers(
    browser: Any, renderer: Renderer, tmp_path: Path
) -> None:
    why = Text("- one\n  1. inner\n\n| a | b |\n|---|---:|\n| x | y |", "")
    made = rich()
    rules = tuple(one.model_copy(update={"why": why}) for one in made.rules)
    write_report(made.model_copy(update={"rules": rules}), tmp_path / "report.html", "en", renderer)
    browser.get((tmp_path / "report.html").as_uri())
    outer, inner = (browser.find_element("css selector", name) for name in (".why > ul > li", ".why li > ol > li"))
    assert inner.location["x"] > outer.location["x"]
    assert browser.find_element("css selector", ".why td.n").value_of_css_property("font-weight") == "400"


def test_nine_findings_print_on_a_dozen_pages(browser: Any, renderer: Renderer, tmp_path: Path) -> None:
    one = rich()
    nine = [one.findings[0].model_copy(update={"fingerprint": f"f{number}"}) for number in range(9)]
    write_report(one.model_copy(update={"findings": tuple(nine)}), tmp_path / "report.html", "en", renderer)
    browser.get((tmp_path / "report.html").as_uri())
    printed = base64.b64decode(browser.print_page())
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12


def test_no_flag_of_a_command_is_broken_between_lines(opened: Any) -> None:
    broken = (
        "return [...document.querySelectorAll('pre .unbroken')].filter(one => one.getClientRects().length > 1).length"
    )
    assert len(opened.find_elements("css selector", ".unbroken")) > 0
    opened.set_window_size(420, 800)
    assert opened.execute_script(broken) == 0
    opened.set_window_size(1280, 800)


def test_the_time_split_is_drawn_to_scale(opened: Any) -> None:
    widths = [one.rect["width"] for one in shown(opened, ".bar span")]
    assert [round(width / sum(widths), 2) for width in widths] == pytest.approx([0.70, 0.22, 0.08], abs=0.015)


def test_search_shows_matching_findings_only(opened: Any) -> None:
    search = opened.find_element("id", "search")
    search.send_keys("TASK_QUEUE_ENABLE")
    assert len(shown(opened, ".ranking li")) == len(shown(opened, "article")) == 1
    search.send_keys(" no such words")
    assert shown(opened, ".ranking li") == []
    assert len(shown(opened, "#no-match")) == 1


def test_filters_narrow_by_severity_and_category(opened: Any) -> None:
    everything = len(shown(opened, "article"))
    opened.find_element("css selector", "#by-severity option[value=low]").click()
    assert len(shown(opened, "article")) == 9
    opened.find_element("css selector", "#by-category option[value=host]").click()
    assert shown(opened, "article") == []
    opened.find_element("css selector", "#by-severity option[value='']").click()
    assert len(shown(opened, "article")) == 2
    opened.find_element("css selector", "#by-category option[value='']").click()
    assert len(shown(opened, "article")) == everything


def test_an_anchor_leads_to_its_finding_even_when_it_was_filtered_away(opened: Any) -> None:
    target = rich().findings[2].fingerprint
    opened.find_element("id", "search").send_keys("nothing like it")
    opened.execute_script(f"location.hash = 'f-{target}'")
    opened.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 50))")
    assert len(shown(opened, f"#f-{target}")) == 1


def test_keys_move_through_the_findings_and_into_the_search(opened: Any) -> None:
    body = opened.find_element("tag name", "body")
    fingerprints = [finding.fingerprint for finding in rich().findings]
    body.send_keys("j")
    assert opened.switch_to.active_element.get_attribute("id") == f"f-{fingerprints[0]}"
    opened.switch_to.active_element.send_keys("j")
    assert opened.switch_to.active_element.get_attribute("id") == f"f-{fingerprints[1]}"
    opened.switch_to.active_element.send_keys("k")
    assert opened.switch_to.active_element.get_attribute("id") == f"f-{fingerprints[0]}"
    opened.switch_to.active_element.send_keys("/")
    assert opened.switch_to.active_element.get_attribute("id") == "search"


def test_the_theme_can_be_turned_and_reaches_the_charts(opened: Any) -> None:
    def look() -> list[str]:
        script = (
            "return ['body', '.chart svg text'].map(s => getComputedStyle(document.querySelector(s)))"
            ".map(s => s.backgroundColor + s.fill)"
        )
        return list(opened.execute_script(script))

    opened.execute_script("document.documentElement.dataset.theme = 'light'")
    before = look()
    opened.find_element("id", "theme").click()
    assert all(one != other for one, other in zip(before, look(), strict=True))
    opened.execute_script("localStorage.clear()")


@contextmanager
def phone(browser: Any) -> Iterator[None]:
    """While it lasts the page is as wide as a phone."""
    metrics = {"width": PHONE, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_is_wider_than_a_phone(opened: Any) -> None:
    with phone(opened):
        assert opened.execute_script("return document.documentElement.scrollWidth") <= PHONE


def test_no_keys_are_named_where_there_is_no_keyboard(opened: Any) -> None:
    assert shown(opened, ".tone-keys")
    with phone(opened):
        assert shown(opened, ".tone-keys") == []


def test_in_print_nothing_beside_a_heading_is_larger_than_the_text(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        larger = """
            const size = (one) => parseFloat(getComputedStyle(one).fontSize), text = size(document.body);
            return [...document.querySelectorAll("#findings p, #findings strong, article p, article li, article td")]
                .filter((one) => !one.closest(".saving") && one.textContent.trim() && size(one) > text + 0.1)
                .map((one) => one.textContent.trim().slice(0, 40))"""
        assert opened.execute_script(larger) == []
    finally:
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_copy_button_covers_no_flag_on_a_phone(browser: Any, renderer: Renderer, tmp_path: Path) -> None:
    one = rich()
    (step, *_) = one.rules[0].fix
    longer = step.model_copy(update={"code": "--num-layers-per-virtual-pipeline-stage 2"})
    changed = one.model_copy(update={"rules": (one.rules[0].model_copy(update={"fix": (longer,)}), *one.rules[1:])})
    write_report(changed, tmp_path / "report.html", "en", renderer)
    with phone(browser):
        browser.get((tmp_path / "report.html").as_uri())
        covered = browser.execute_script("""
            return [...document.querySelectorAll(".copyable")].flatMap(one => {
              const button = one.querySelector(".copy").getBoundingClientRect();
              return [...one.querySelectorAll("code span")].filter(word => {
                const at = word.getBoundingClientRect();
                return at.right > button.left && at.left < button.right
                  && at.bottom > button.top && at.top < button.bottom;
              }).map(word => word.textContent);
            });""")
    assert covered == []


@pytest.mark.parametrize("name", ["a b'\"<img src=x onerror=alert(1)>&é 中文 $(id)", "W" * LONGEST_WHOLE, "w" * 200])
def test_no_name_of_a_capture_is_wider_than_a_phone(
    name: str, browser: Any, renderer: Renderer, tmp_path: Path
) -> None:
    one = rich()
    renamed = one.model_copy(update={"run": one.run.model_copy(update={"name": name})})
    write_report(renamed, tmp_path / "report.html", "en", renderer)
    browser.get((tmp_path / "report.html").as_uri())
    with phone(browser):
        assert browser.execute_script("return document.documentElement.scrollWidth") <= PHONE


LABELS = """return [...document.querySelectorAll('.split .bar span')].map(part => {
  const words = document.createRange();
  words.selectNodeContents(part);
  const [label, box] = [words.getBoundingClientRect(), part.getBoundingClientRect()];
  return [part.textContent, label.top < box.bottom - 1, label.width <= box.width];
})"""
"""Of each part of the bar: its label, whether that is seen, and whether there is room for it."""


def test_labels_of_the_time_split_are_whole_or_left_out(browser: Any, renderer: Renderer, tmp_path: Path) -> None:
    one = rich()
    split = TimeSplit(step_us=1000, compute_us=68, exposed_comm_us=740, free_us=192, overlapped_us=0)
    write_report(one.model_copy(update={"split": split}), tmp_path / "report.html", "en", renderer)
    browser.get((tmp_path / "report.html").as_uri())
    assert browser.execute_script(LABELS) == [["74 %", True, True], ["19 %", True, True], ["6.8 %", True, True]]
    with phone(browser):
        told = browser.execute_script(LABELS)
    assert [label for label, seen, _ in told if seen] == ["74 %", "19 %"]
    assert all(fits for _, seen, fits in told if seen)


def test_without_scripts_everything_is_still_there(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    opened.refresh()
    try:
        assert len(shown(opened, "article")) == len(rich().findings)
        assert shown(opened, "#controls, .copy, #theme") == []
    finally:
        opened.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_copy_button_says_when_it_is_done(opened: Any) -> None:
    button = opened.find_element("css selector", "button.copy")
    done = button.get_attribute("data-done")
    opened.execute_script("arguments[0].click()", button)
    opened.execute_async_script("setTimeout(arguments[0], 200)")
    assert button.text == done


def test_a_mark_of_a_chart_says_its_values_at_once_and_is_silent_elsewhere(opened: Any) -> None:
    mark = opened.find_elements("css selector", "#chart-links .mark-rect path")[3]
    words = opened.execute_script("return arguments[0].querySelector('title').textContent", mark)
    point = "arguments[0].dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 1270, clientY: 790}))"
    opened.execute_script(point, mark)
    (said,) = shown(opened, "#pointed")
    assert said.text == words
    assert said.rect["x"] + said.rect["width"] <= 1280
    opened.execute_script(point, opened.find_element("css selector", "h1"))
    assert shown(opened, "#pointed") == []
    assert opened.get_log("browser") == []


def test_the_moments_of_an_operator_fit_a_laptop(browser: Any, renderer: Renderer, tmp_path: Path) -> None:
    one = rich()
    event = Occurrence(
        table="host_calls", rank=0, step=9, name="torch::autograd::AccumulateGrad", start_ns=1606910597307097000,
        duration_us=5630.0, since_step_us=160_000.0, since_start_us=1_019_016.0,
    )  # fmt: skip
    first = one.findings[0].model_copy(update={"occurrences": (event,)})
    changed = one.model_copy(update={"findings": (first, *one.findings[1:])})
    write_report(changed, tmp_path / "report.html", "en", renderer)
    browser.get((tmp_path / "report.html").as_uri())
    beyond = """
        document.querySelectorAll("details").forEach((part) => { part.open = true; });
        return [...document.querySelectorAll(".finding > details .scroll")]
            .filter((one) => one.textContent.includes("AccumulateGrad"))
            .map((one) => one.scrollWidth - one.clientWidth)"""
    assert browser.execute_script(beyond) == [0]


def test_print_cuts_no_column_off(browser: Any, renderer: Renderer, tmp_path: Path) -> None:
    name = "torch/nn/modules/container.py(213): forward"
    event = Occurrence(
        table="host_calls", rank=1, step=50, name=name, start_ns=1736408883712573895, duration_us=1350.0,
        since_step_us=23_700.0, since_start_us=36_256.0,
    )  # fmt: skip
    one = rich((name, name))
    first = one.findings[0].model_copy(update={"occurrences": (event,) * 5})
    write_report(
        one.model_copy(update={"findings": (first, *one.findings[1:])}), tmp_path / "report.html", "en", renderer
    )
    browser.get((tmp_path / "report.html").as_uri())
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    size = {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False}  # A4 without its margins
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        beyond = """
            document.querySelectorAll("details").forEach((part) => { part.open = true; });
            return [...document.querySelectorAll("table")].map((one) => one.getBoundingClientRect().right)
                .filter((right) => right > document.documentElement.clientWidth)"""
        assert browser.execute_script(beyond) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
