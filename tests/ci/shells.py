# SPDX-License-Identifier: Apache-2.0
"""Runs what a runner would: a command in a checkout, with an environment of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_logged(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit code, and the log as a runner shows it."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout
