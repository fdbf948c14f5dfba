# SPDX-License-Identifier: Apache-2.0
"""Prism on loopback: it answers for a forge, and holds every request and answer against the forge's description."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from forge_descriptions import PREFIX, Node, parameters, strict
from msgspec import Struct

TOP = Path(__file__).parents[2]
FETCHED = runpy.run_path(str(TOP / "scripts" / "forge-apis"))
_WITHIN_S = 60
_MARK = "up-to-here-"
_RECEIVED = re.compile(r"\[HTTP SERVER\] (\w+) (\S+) .*Request received")
_OBJECTION = re.compile(r"✖|Violation")
_FORWARDED = re.compile(r'Forwarding "(\w+)" request to (\S+?)\.\.\.$', re.M)
_EXPECTED = "Unable to match the returned status code"
"""Descriptions seldom list 401, 429 and 5xx, which a server may always answer; such an answer is passed on."""


class Prism(Struct):
    """A server that runs, and what it wrote down since `forget`."""

    forge: str
    address: str
    """The API as `--api-url` takes it."""
    description: Node
    log: Path
    upstream: str = ""
    _read: int = 0
    _marks: int = 0

    def forget(self) -> None:
        """Leaves what was written so far to others."""
        self._read = len(self._written())

    def asked(self) -> list[str]:
        """The requests that came, as `post /repos/…`, each once for every time it came."""
        return [f"{method} {path}" for method, path in _RECEIVED.findall(self._text()) if _MARK not in path]

    def objections(self) -> list[str]:
        """What in requests and answers is not as described."""
        lines = [line.partition("] › ")[2].strip() for line in self._text().splitlines() if _OBJECTION.search(line)]
        return [line for line in lines if _EXPECTED not in line and _MARK not in line] + self._unknown_parameters()

    def _unknown_parameters(self) -> list[str]:
        """Query parameters the description does not know: Prism itself lets them pass."""
        found = []
        for method, url in _FORWARDED.findall(self._text()):
            parts = urlsplit(url)
            path = parts.path.removeprefix(urlsplit(self.upstream).path)
            known = parameters(self.description, method, path)
            found += [f"{method} {path}: {name}" for name, _ in parse_qsl(parts.query) if name not in known]
        return found

    def _text(self) -> str:
        return self._written()[self._read :]

    def _written(self) -> str:
        """The log, which lags behind the answers, up to and with a request of our own."""
        self._marks += 1
        mark = f"{_MARK}{self._marks} ✖"
        httpx2.get(f"{self.address}/{_MARK}{self._marks}", trust_env=False)
        until = time.monotonic() + _WITHIN_S
        while mark not in (text := _uncoloured(self.log)):
            assert time.monotonic() < until, f"Prism wrote nothing of {mark}"
            time.sleep(0.01)
        return text


@contextmanager
def prism(forge: str, folder: Path, upstream: str = "") -> Iterator[Prism]:
    """Prism answering for a forge with examples of the description, or passing requests on to `upstream`."""
    described = strict(forge, needed() / f"{forge}.json")
    file, log = folder / f"{forge}.json", folder / f"{forge}.log"
    file.write_text(json.dumps(described), "utf-8")
    port = _free_port()
    what = ("proxy", str(file), upstream) if upstream else ("mock", str(file))
    command = ["node", str(needed() / "node_modules" / "@stoplight" / "prism-cli" / "dist" / "index.js"), *what]
    with log.open("wb") as out:
        process = subprocess.Popen([*command, "--errors", "-h", "127.0.0.1", "-p", str(port)], stdout=out, stderr=out)
    try:
        _wait_for(process, log)
        yield Prism(forge, f"http://127.0.0.1:{port}{PREFIX[forge]}", described, log, upstream)
    finally:
        process.terminate()
        process.wait(10)


def needed() -> Path:
    """The folder with Prism and the descriptions; the test skips without it."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed: https://nodejs.org")
    if not FETCHED["is_current"]():
        pytest.skip("the descriptions of the forges are not here: run scripts/forge-apis")
    folder: Path = FETCHED["folder"]()
    return folder


def _wait_for(process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _WITHIN_S
    while "Prism is listening" not in log.read_text("utf-8"):
        if process.poll() is not None or time.monotonic() > until:
            raise AssertionError(f"Prism does not start:\n{log.read_text('utf-8')}")
        time.sleep(0.05)


def _uncoloured(log: Path) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", log.read_text("utf-8"))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port
