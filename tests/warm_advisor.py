# SPDX-License-Identifier: Apache-2.0
"""The command advisor for scripts and pages that call it: each time a process of its own, without the start-up.

One process has loaded everything, has diagnosed a capture once and drawn its charts; for each command it makes a copy
of itself that gets the words, the folder, the environment and the standard streams of whoever called, as far as they
are open.

    python warm_advisor.py <socket> <capture> <folder for charts>
"""

from __future__ import annotations

import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[1]
PROGRAM = """\
#!{python} -ISE
import json, os, socket, sys
held = [number for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream]
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = [held, sys.argv[1:], os.getcwd(), dict(os.environ)]
    socket.send_fds(server, [json.dumps(asked).encode() + b"\\n"], held)
    sys.exit(int(server.makefile().read() or 70))
"""
"""What scripts call in place of advisor."""


@contextmanager
def warm_advisor(folder: Path, capture: Path, charts: Path) -> Iterator[str]:
    """The text of a program that does what advisor does, while the process behind it runs."""
    address = folder / "advisor"
    words = [sys.executable, __file__, str(address), str(capture), str(charts)]
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield PROGRAM.format(python=sys.executable, address=str(address))
        finally:
            process.terminate()


def main(address: str, capture: str, charts: str) -> None:
    """Serves one command after another until it is terminated, or whoever started it is gone."""
    _warm_up(capture, Path(charts))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            with connection:
                _serve(connection)


def _warm_up(capture: str, charts: Path) -> None:
    import httpx2  # noqa: F401 - what the bot asks forges with takes longer to load than to ask

    import advisor.cli.outputs
    import advisor.report.charts.draw
    from advisor.cli.main import main as advise
    from tests.charts_of_tests import KeptCharts

    advisor.report.charts.draw.Renderer = partial(KeptCharts, charts)  # type: ignore[assignment,misc]
    with tempfile.TemporaryDirectory() as folder:
        outputs = [word for suffix in ("html", "json", "sarif") for word in ("-o", f"{folder}/one.{suffix}")]
        checked = advise(["check", capture, "-q", "--fail-on", "none", *outputs])
        sys.stdout, kept = io.StringIO(), sys.stdout
        commented = advise(["bot", "--dry-run", f"{folder}/one.json"])
        sys.stdout = kept
    assert (checked, commented) == (0, 0), "what is not warm costs each test anew"


def _serve(connection: socket.socket) -> None:
    content, files, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    while not content.endswith(b"\n"):
        content += connection.recv(1 << 20)
    child = os.fork()
    if child == 0:
        held, *asked = json.loads(content)
        _become(dict(zip(held, files, strict=True)), *asked)
    for file in files:
        os.close(file)
    _, status = os.waitpid(child, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _become(files: Mapping[int, int], words: Sequence[str], folder: str, environment: Mapping[str, str]) -> Any:
    """Does what the command advisor does, and ends."""
    import advisor.__main__

    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for number in range(3):
            os.dup2(files[number], number) if number in files else os.close(number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        streams = [
            os.fdopen(number, mode, encoding="utf-8") if number in files else None for number, mode in enumerate("rww")
        ]
        sys.stdin, sys.stdout, sys.stderr = streams
        sys.argv = ["advisor", *words]
        advisor.__main__.run()
    except BaseException:  # noqa: BLE001 - a copy never goes on as a server
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(70)


if __name__ == "__main__":
    main(*sys.argv[1:])
