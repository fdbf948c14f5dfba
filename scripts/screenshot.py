# SPDX-License-Identifier: Apache-2.0
"""Takes a picture of a report with headless Chromium: `scripts/screenshot.py report.html picture.png [--dark]`."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path


def main() -> int:
    """Opens the report and writes what the first screen, or with --full the whole page, looks like."""
    parser = argparse.ArgumentParser(description="Take a picture of a report with headless Chromium")
    parser.add_argument("report", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--size", default="1280x800", help="width and height of the window (default: 1280x800)")
    parser.add_argument("--dark", action="store_true", help="in the dark theme")
    parser.add_argument("--full", action="store_true", help="the whole page, however long")
    parser.add_argument("--at", default="", help="scroll to this anchor")
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    return _take(arguments, width, height)


def _take(arguments: argparse.Namespace, width: int, height: int) -> int:
    from selenium import webdriver

    driver_path = shutil.which("chromedriver")
    if driver_path is None:
        sys.stderr.write("chromedriver is not installed (Debian: apt install chromium chromium-driver)\n")
        return 2
    options = webdriver.ChromeOptions()
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-background-networking", "hide-scrollbars"):
        options.add_argument(f"--{flag}")
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_path)) as browser:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", _metrics(width, height))
        theme = {"name": "prefers-color-scheme", "value": "dark" if arguments.dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme, still]})
        browser.get(arguments.report.resolve().as_uri() + (f"#{arguments.at}" if arguments.at else ""))
        if arguments.full:
            tall = int(browser.execute_script("return document.documentElement.scrollHeight"))
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", _metrics(width, tall))
        browser.save_screenshot(str(arguments.picture))
    return 0


def _metrics(width: int, height: int) -> dict[str, object]:
    return {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}


if __name__ == "__main__":
    sys.exit(main())
