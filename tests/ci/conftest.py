# SPDX-License-Identifier: Apache-2.0
"""What the tests of the files to copy share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "bot"))  # the forge on loopback

import pytest
from fake_forge import FakeForge, fake_forge
from warm_advisor import warm_advisor

from tests.shared_captures import SharedCaptures

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="session")
def advisor_program(tmp_path_factory: pytest.TempPathFactory, shared: SharedCaptures) -> Iterator[str]:
    """What stands for the command advisor, and does what it does."""
    with warm_advisor(tmp_path_factory.mktemp("warm"), CASE, shared.charts) as text:
        yield text


@pytest.fixture
def forge() -> Iterator[FakeForge]:
    """A forge that keeps comments, on loopback."""
    with fake_forge() as running:
        yield running
