# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster on this machine: a scheduler and its workers as processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_START_S = 60.0
AS_DOCUMENTED = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
"""What docs/cluster.md sets for a cluster."""


@dataclass
class Loopback:
    """A scheduler and its workers, whose logs and files lie in a folder."""

    folder: Path
    address: str = ""
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, what: str, *options: str, path: str = str(ROOT)) -> subprocess.Popen[bytes]:
        """Starts `dask scheduler` or `dask worker` in a session of its own."""
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        folder = {"PYTHONPATH": path, "DASK_TEMPORARY_DIRECTORY": str(self.folder)}
        environment = {**os.environ, **folder, **AS_DOCUMENTED}
        with (self.folder / f"{what}-{len(self.started)}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self.started.append(process)
        return process

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        """Starts the scheduler, and waits until its address is known."""
        file = self.folder / "scheduler.json"
        process = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
        )
        end = time.monotonic() + _START_S
        while not self.address and time.monotonic() < end:
            time.sleep(0.05)
            written = file.read_text() if file.exists() else ""
            if written.rstrip().endswith("}"):  # it is not written at once
                self.address = json.loads(written)["address"]
        return process

    def start_workers(self, *options: str, path: str = str(ROOT)) -> subprocess.Popen[bytes]:
        """Starts workers of one thread each."""
        return self.start("worker", self.address, "--nthreads", "1", "--no-dashboard", *options, path=path)

    def end(self) -> None:
        """Ends all of them at once."""
        for process in self.started:
            end_session(process)


def end_session(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
