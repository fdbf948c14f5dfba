# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None)  # how busy the machine is tells nothing of the code
hypothesis.settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """A folder of real captures, named by ADVISOR_REAL_DATA; tests that need it skip without it."""
    folder = os.environ.get("ADVISOR_REAL_DATA")
    if not folder:
        pytest.skip("ADVISOR_REAL_DATA names no folder of real captures")
    return Path(folder)
