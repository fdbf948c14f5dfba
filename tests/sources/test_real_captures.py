# SPDX-License-Identifier: Apache-2.0
"""Real captures: every fact is read, nothing is damaged, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from advisor.facts.observed import OBSERVED, Damage, MemoryUse, OperatorMemory, Setting, StepTime
from advisor.messages.errors import FactMissing
from advisor.sources import open_input

SIX = [f"{export}/level{level}" for export in ("text", "db") for level in (0, 1, 2)]
NEVER_AT_LEVEL0 = {"transfers", "links", "operator_totals", "peer_waits"}
OF_MINDSPORE = {
    "step_phases",
    "rank_flops",
    "batch_queues",
    "data_fetches",
    "dataset_operations",
    "host_cpus",
    "passed_tasks",
}


@pytest.fixture(params=SIX)
def six(request: pytest.FixtureRequest, real_data: Path) -> Path:
    """One of the six captures of one program."""
    return real_data / "msinsight_pytorch_matrix" / str(request.param)


def test_everything_recorded_is_read_and_nothing_is_damaged(six: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns, path.stat().st_size) for path in six.rglob("*"))
    run, sources = open_input(six)
    assert run.ranks == (0, 1)
    assert run.steps == (50,)
    for source in sources:
        missing = set()
        for fact in sorted(OBSERVED, key=lambda fact: fact is Damage):
            try:
                table = source.read(fact)
            except FactMissing:
                missing.add(fact.table)
            else:
                assert len(table) or fact is Damage or fact.table == "groups", fact.table
        assert missing <= {
            "groups",
            "l2_cache",
            "api_totals",
            "overlap_tracks",
            "devices",
            "aicpu_tasks",
            "kernel_counters",
            "port_counters",
            "host_uses",
            "program_marks",
            "attention_marks",
        } | OF_MINDSPORE | (NEVER_AT_LEVEL0 if run.level == "Level0" else set())
        assert source.read(Damage).rows() == []
    after = sorted((path, path.stat().st_mtime_ns, path.stat().st_size) for path in six.rglob("*"))
    assert before == after


def test_the_parts_of_a_step_add_up(six: Path) -> None:
    _, sources = open_input(six)
    for source in sources:
        steps = source.read(StepTime)
        np.testing.assert_allclose(steps["comm_us"], steps["exposed_comm_us"] + steps["overlapped_us"], atol=0.5)
        span = steps["compute_us"] + steps["exposed_comm_us"] + steps["free_us"]
        assert (steps["exposed_comm_us"] / span > 0.6).all()


def test_memory_is_in_bytes_in_both_exports(six: Path) -> None:
    _, sources = open_input(six)
    reserved = sources[0].read(MemoryUse)["reserved_bytes"]
    assert 1e9 < np.nanmax(reserved) < 4e9
    uses = sources[0].read(MemoryUse).texts("component")
    assert set(uses.names) == {"APP", "PTA", "GE", "PTA+GE"}
    assert len(sources[0].read(OperatorMemory)) == 184


def test_settings_are_named_alike_in_both_exports(real_data: Path) -> None:
    folder = real_data / "msinsight_pytorch_matrix"
    text, database = (open_input(folder / export / "level1")[1][0].read(Setting) for export in ("text", "db"))
    assert text.texts("name").values() == database.texts("name").values()


def test_files_of_2023_with_fewer_columns_are_read(real_data: Path) -> None:
    run, (source,) = open_input(real_data / "msinsight_server_testdata" / "test_rank_0")
    assert (run.framework, run.level, run.steps) == ("PyTorch", "Level1", (2,))
    assert np.isnan(source.read(StepTime)["preparing_us"]).all()
    assert np.isnan(source.read(MemoryUse)["active_bytes"]).all()
