# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None)  # how busy the machine is tells nothing of the code
hypothesis.settings.load_profile("unhurried")
gc.set_threshold(100_000)  # as in the command itself; a generated job is hundreds of thousands of objects, none garbage


@pytest.fixture(scope="session")
def real_data() -> Path:
    """A folder of real captures, named by ADVISOR_REAL_DATA; tests that need it skip without it."""
    folder = os.environ.get("ADVISOR_REAL_DATA")
    if not folder:
        pytest.skip("ADVISOR_REAL_DATA names no folder of real captures")
    return Path(folder)
