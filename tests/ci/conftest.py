# SPDX-License-Identifier: Apache-2.0
"""What the tests of the files to copy share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "bot"))  # the forge on loopback

import pytest
from fake_forge import FakeForge, fake_forge


@pytest.fixture
def forge() -> Iterator[FakeForge]:
    """A forge that keeps comments, on loopback."""
    with fake_forge() as running:
        yield running
