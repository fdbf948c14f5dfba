# SPDX-License-Identifier: Apache-2.0
"""The benchmarks count what a command's children use, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.processes import best, measure, peak_of_process

MIB = 2**20
PARENT = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import time; held = bytearray(80 << 20); time.sleep(0.6); print('child')"])
print("parent")
sys.exit(3)
"""
pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory is read from /proc")


def test_memory_of_children_counts() -> None:
    measured = measure([sys.executable, "-c", PARENT])
    assert 80 * MIB < measured.peak_bytes < 200 * MIB
    assert measured.seconds >= 0.6


def test_the_largest_process_is_told_apart_from_all_together() -> None:
    measured = measure([sys.executable, "-c", PARENT])
    assert 80 * MIB < measured.largest_bytes < 200 * MIB
    assert peak_of_process(os.getpid()) > 10 * MIB
    assert peak_of_process(2**30) == 0


def test_what_a_worker_has_to_itself_leaves_out_what_it_shares_with_its_parent() -> None:
    forked = """
import os, sys, time
shared = bytearray(b"x") * (90 << 20)
if os.fork() == 0:
    own = bytearray(b"x") * (30 << 20)
    time.sleep(0.6)
    os._exit(0)
os.wait()
"""
    measured = measure([sys.executable, "-c", forked])
    assert 30 * MIB < measured.worker_bytes < 60 * MIB < measured.largest_bytes


def test_a_process_beside_the_command_counts_as_a_worker_of_it() -> None:
    code = "import time; held = bytearray(b'x') * (60 << 20); time.sleep(30)"
    with subprocess.Popen([sys.executable, "-c", code]) as beside:
        measured = measure([sys.executable, "-c", "import time; time.sleep(0.8)"], beside=[beside.pid])
        beside.kill()
    assert 60 * MIB < measured.worker_bytes < 100 * MIB


def test_the_exit_code_and_the_output_are_kept() -> None:
    measured = measure([sys.executable, "-c", "print('x' * 300000); raise SystemExit(3)"])
    assert measured.code == 3
    assert measured.output.count("x") == 300_000


def test_the_best_of_runs_is_the_fastest(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    slow_once = (
        f"import pathlib, time; p = pathlib.Path({str(marker)!r}); time.sleep(0 if p.exists() else 2); p.touch()"
    )
    assert best([sys.executable, "-c", slow_once], 2).seconds < 2


def test_a_measured_command_keeps_what_it_compiled_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert (
        measure([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"], watch=False).output == "False\n"
    )
