# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.missing_tools import fail_for_a_missing_tool
from tests.shared_captures import SharedCaptures, stamps_of_files
from tests.warm_advisor import TOP, warm_advisor

TIERS = {"landing": 0.4, "nightly": 20.0}
"""How many of its examples each property is tried on: those of a landing are always the same, those of a night follow
from a seed."""
TIER = os.environ.get("ADVISOR_TIER", "landing")
hypothesis.settings.register_profile(  # how busy the machine is tells nothing of the code
    "landing", deadline=None, derandomize=True, database=None
)
hypothesis.settings.register_profile("nightly", deadline=None, database=None, print_blob=True)
hypothesis.settings.load_profile(TIER)
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
"""What `jsonschema` looks at international addresses with builds 38 grammars as it is loaded, for most of a second; no
schema of ours has one."""
gc.set_threshold(
    1_000_000
)  # as in the command itself; a generated job is hundreds of thousands of objects, none garbage


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests that look for what is left behind see nothing of those that run beside them."""
    folder = str(tmp_path_factory.mktemp("tmp"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="session")
def real_data() -> Iterator[Path]:
    """The folder of real captures that ADVISOR_REAL_DATA names; tests that need it skip without it, none changes it."""
    named = os.environ.get("ADVISOR_REAL_DATA")
    if not named:
        pytest.skip("ADVISOR_REAL_DATA names no folder of real captures")
    folder = Path(named)
    before = stamps_of_files(folder)
    yield folder
    after = stamps_of_files(folder)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    assert not changed, "a real capture was written to"


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedCaptures]:
    """Generated captures and diagnoses that all workers of this run share; no test changes one."""
    own = tmp_path_factory.getbasetemp()
    captures = SharedCaptures((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared")
    yield captures
    assert not captures.changed(), "a test has written into what all tests read"


@pytest.fixture(scope="session")
def advisor_program(tmp_path_factory: pytest.TempPathFactory, shared: SharedCaptures) -> Iterator[str]:
    """What stands for the command advisor, and does what it does."""
    capture = TOP / "corpus" / "host-bound-2-ranks"
    with warm_advisor(tmp_path_factory.mktemp("warm"), capture, shared.charts) as text:
        yield text


@pytest.fixture(scope="session")
def advisor_command(tmp_path_factory: pytest.TempPathFactory, advisor_program: str) -> Path:
    """Where it lies, to be called from a shell."""
    path = tmp_path_factory.mktemp("programs") / "advisor"
    path.write_text(advisor_program, "utf-8")
    path.chmod(0o755)
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives each property as many examples as the tier has of those that it asks for."""
    tests = {id(test): test for test in (getattr(item, "obj", None) for item in items)}.values()
    for test in (test for test in tests if hasattr(test, "_hypothesis_internal_use_settings")):
        own = test._hypothesis_internal_use_settings
        examples = max(1, round(own.max_examples * TIERS[TIER]))
        test._hypothesis_internal_use_settings = hypothesis.settings(own, max_examples=examples)


def pytest_collection_finish() -> None:
    """What was loaded and collected stays to the end: to look through it for garbage takes a twentieth of all time."""
    gc.freeze()


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
