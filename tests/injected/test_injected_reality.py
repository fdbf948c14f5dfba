# SPDX-License-Identifier: Apache-2.0
"""Programs of real captures: run without a change they come out as recorded, and what is written of them agrees."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.model.findings import Severity
from benchmarks.injected.capture import KERNELS, OPERATORS, OUTPUT, TRACE, nanoseconds
from benchmarks.injected.changes import Changes
from benchmarks.injected.children import in_children
from benchmarks.injected.faults import Run, all_faults
from benchmarks.injected.program import Job
from benchmarks.injected.reading import job_of
from benchmarks.injected.rerun import rerun
from benchmarks.injected.run import spoil
from benchmarks.injected.splits import length, splits
from benchmarks.injected.writing import write

LEVELS = ("level0", "level1", "level2")


@pytest.fixture(scope="module")
def real(real_data: Path) -> Path:
    return real_data / "msinsight_pytorch_matrix" / "text"


@pytest.fixture(scope="module")
def written(real: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Level1 captures, run without a change and written again."""
    job, captures = job_of(real / "level1")
    rerun(job)
    return write(job, captures, tmp_path_factory.mktemp("again") / "level1")


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / OUTPUT / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def events(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / OUTPUT / TRACE).read_bytes())
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_a_recorded_step_run_without_change_comes_out_as_recorded(real: Path, level: str) -> None:
    job, _ = job_of(real / level)
    recorded = [moment.at for moment in job.moments()]
    rerun(job)
    assert [moment.at for moment in job.moments()] == recorded


@pytest.mark.parametrize("level", LEVELS[1:])
def test_nearly_every_task_waits_for_its_launch(real: Path, level: str) -> None:
    job, _ = job_of(real / level)
    for rank in job.ranks:
        assert all(task.launch is not None for task in rank.kernels)


@pytest.mark.parametrize("name", [KERNELS, OPERATORS, "op_statistic.csv", "api_statistic.csv", "step_trace_time.csv"])
@pytest.mark.parametrize("rank", ["rank0_ascend_pt", "rank1_ascend_pt"])
def test_files_written_without_change_hold_what_was_recorded(real: Path, written: Path, name: str, rank: str) -> None:
    before, after = (sorted(map(_comparable, rows(f / rank, name))) for f in (real / "level1", written))
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert all(map(_same, one, other)), (one, other)


def _comparable(row: dict[str, str]) -> tuple[str, ...]:
    return tuple((value or "").strip() for value in row.values())


def _same(one: str, other: str) -> bool:
    try:
        return float(one) == pytest.approx(float(other), rel=1e-4, abs=0.02)
    except ValueError:
        return one == other


def test_arrows_keep_both_their_ends(real: Path, written: Path) -> None:
    before, after = (events(folder / "rank0_ascend_pt") for folder in (real / "level1", written))
    assert _arrows(before) == _arrows(after)


def _arrows(found: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(event["cat"], str(event["id"]), event["ph"]) for event in found if event["ph"] in ("s", "f")}


def spoiled(folder: Path, real: Path, fault: str, amount: float) -> Path:
    run = Run.of(*job_of(real / "level1"))
    spoil(run, all_faults()[fault], amount)
    return write(run.job, run.captures, folder / fault)


@pytest.mark.parametrize("fault", ["casts", "item-reads", "slow-host-rank"])
def test_sums_of_a_spoiled_capture_agree_with_its_trace(tmp_path: Path, real: Path, fault: str) -> None:
    capture = spoiled(tmp_path, real, fault, 20e6) / "rank1_ascend_pt"
    kernels = [row for row in rows(capture, KERNELS) if row["Accelerator Core"] != "HCCL"]
    total = sum(float(row["Duration(us)"]) for row in kernels)
    assert total == pytest.approx(sum(float(row["Total Time(us)"]) for row in rows(capture, "op_statistic.csv")), abs=1)
    starts = {nanoseconds(e["ts"]) for e in events(capture) if e["ph"] == "X" and e["name"] == kernels[-1]["Name"]}
    assert nanoseconds(kernels[-1]["Start Time(us)"]) in starts
    (step,) = rows(capture, "step_trace_time.csv")
    parts = sum(float(step[name]) for name in ("Computing", "Communication(Not Overlapped)", "Free"))
    assert parts == pytest.approx(float(step["Stage"]), abs=1)


@pytest.mark.parametrize("fault", ["casts", "two-waits", "blocking-copies", "many-collectives", "reduction-at-the-end"])
def test_a_spoiled_capture_is_read_without_damage(tmp_path: Path, real: Path, fault: str) -> None:
    diagnosis = advisor.diagnose(spoiled(tmp_path, real, fault, 20e6))
    assert not [f for f in diagnosis.findings if f.rule.startswith("capture/") and f.severity > Severity.low]


@pytest.fixture(scope="module")
def run(real: Path) -> Run:
    """The run of the Level1 captures; tests spoil it in a process of their own."""
    return Run.of(*job_of(real / "level1"))


@pytest.mark.parametrize("fault", sorted(all_faults()))
def test_no_fault_makes_a_step_shorter(run: Run, fault: str) -> None:
    (after,) = in_children(partial(_step_with, run, fault), [10e6], 1)
    assert after >= run.job.longest_step_ns


def test_more_of_a_fault_makes_the_step_longer(run: Run) -> None:
    steps = list(in_children(partial(_step_with, run, "casts"), [10e6, 20e6, 40e6], 1))
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]


def _step_with(run: Run, fault: str, amount: float) -> float:
    spoil(run, all_faults()[fault], amount)
    return run.job.longest_step_ns


def test_the_split_of_a_program_is_that_of_the_profiler(real: Path) -> None:
    job: Job = job_of(real / "level2")[0]
    for rank in job.ranks:
        (told,) = rows(real / "level2" / rank.name, "step_trace_time.csv")
        (split,) = splits(rank)
        assert length(split.computing) / 1e3 == pytest.approx(float(told["Computing"]), abs=1)
        assert length(split.exposed) / 1e3 == pytest.approx(float(told["Communication(Not Overlapped)"]), abs=1)
        assert length(split.free) / 1e3 == pytest.approx(float(told["Free"]), abs=1)


def test_operators_know_their_tasks(real: Path) -> None:
    changes = Changes(job_of(real / "level1")[0].ranks[0])
    sent = {id(task) for operator in changes.operators for task in operator.kernels}
    assert len(sent) >= 0.95 * len(changes.rank.kernels)


def test_what_is_put_in_before_a_fault_and_with_it_has_numbers_of_its_own(run: Run) -> None:
    (counts,) = in_children(partial(_numbers_of_links, run), ["unfused-gelu"], 1)
    assert counts[0] == counts[1]


def _numbers_of_links(run: Run, fault: str) -> tuple[int, int]:
    """How many queue entries there are, and how many numbers they have."""
    common = all_faults()[fault].common
    assert common is not None
    common(run)
    rerun(run.job)
    run = Run.of(run.job, run.captures)
    spoil(run, all_faults()[fault], 20e6)
    links = [call.link for call in run.job.ranks[0].calls if call.event.get("cat") == "enqueue"]
    return len(links), len(set(links))


def test_gradients_that_are_summed_apart_are_a_chain_and_products_alone_are_none(tmp_path: Path, real: Path) -> None:
    fault, run = all_faults()["gradients-summed-apart"], Run.of(*job_of(real / "level1"))
    assert fault.common is not None
    fault.common(run)
    rerun(run.job)
    told = []
    for name in ("apart", "inside"):
        if name == "apart":
            write(run.job, run.captures, tmp_path / "inside")
            spoil(Run.of(run.job, run.captures), fault, 4e6)
            write(run.job, run.captures, tmp_path / "apart")
        found = advisor.load_profile(tmp_path / name).table("fusible_chains")
        told.append([row["chains"] for row in found.rows() if row["pattern"] == "gradient-accumulation"])
    assert told == [[3.0, 3.0], []]
