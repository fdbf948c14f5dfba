# SPDX-License-Identifier: Apache-2.0
"""Captures of one job, written both ways by the corpus generator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shared_captures import SharedCaptures

Capture = Callable[..., Path]


@pytest.fixture(scope="session")
def capture(shared: SharedCaptures) -> Capture:
    """Where one job lies, written once: `capture("database", level=2)`. Tests do not change it."""

    def written(export: str, level: int = 1, case: str = "healthy-pipeline") -> Path:
        return shared.written(case, small=case == "healthy-pipeline", export=export, level=level)

    return written
