# SPDX-License-Identifier: Apache-2.0
"""Captures of one job, written both ways by the corpus generator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import corpus

Capture = Callable[..., Path]


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """Where one job lies, written once: `capture("database", level=2)`. Tests do not change it."""
    root = tmp_path_factory.mktemp("captures")

    def written(export: str, level: int = 1, case: str = "healthy-pipeline") -> Path:
        folder = root / f"{case}-{export}-{level}"
        return folder if folder.exists() else corpus.write(corpus.job(case), folder, export, level)

    return written
