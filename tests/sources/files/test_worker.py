# SPDX-License-Identifier: Apache-2.0
"""No worker outlives the process that it works for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOP = Path(__file__).parents[3]
SCRIPT = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from advisor.sources.files.worker import end_with_parent
if __name__ == "__main__":
    with ProcessPoolExecutor(3, get_context("fork"), initializer=end_with_parent) as pool:
        for _ in range(3):
            pool.submit(time.sleep, 300)
        print(*pool._processes, flush=True)
        time.sleep(300)
"""


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes as Linux shows them")
def test_workers_end_when_their_parent_was_killed() -> None:
    around = {**os.environ, "PYTHONPATH": str(TOP)}
    parent = subprocess.Popen([sys.executable, "-c", SCRIPT], env=around, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    workers = [int(word) for word in parent.stdout.readline().split()]
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert len(workers) == 3
    limit = time.monotonic() + 20
    while any(map(is_running, workers)) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not any(map(is_running, workers))
