# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.missing_tools import fail_for_a_missing_tool
from tests.shared_captures import SharedCaptures

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


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedCaptures]:
    """Generated captures and diagnoses that all workers of this run share; no test changes one."""
    own = tmp_path_factory.getbasetemp()
    captures = SharedCaptures((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared")
    yield captures
    assert not captures.changed(), "a test has written into what all tests read"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Of a test."""
    report = yield
    fail_for_a_missing_tool(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Of a file that skips as a whole."""
    report = yield
    fail_for_a_missing_tool(report)
    return report
