# SPDX-License-Identifier: Apache-2.0
"""What the tests of the bot share."""

from __future__ import annotations

import ssl
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_forge import FakeForge, fake_forge

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))  # the sample diagnoses


@pytest.fixture(autouse=True)
def without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the machine these tests run on knows nothing of its loopback."""
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture(autouse=True, scope="session")
def without_certificates() -> Iterator[None]:
    """No forge of these tests speaks TLS; reading all certificates of the world takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)
        yield


@pytest.fixture
def served() -> Iterator[FakeForge]:
    """A forge that keeps comments, on loopback."""
    with fake_forge() as forge:
        yield forge
