# SPDX-License-Identifier: Apache-2.0
"""What a diagnosis says of a capture, its split, its account and the numbers of its findings, is what its files say."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from advisor.model.findings import Diagnosis
from tests.figures.finding_values import RULES, Job
from tests.figures.raw_capture import Rank, read_capture, read_members, without_steps
from tests.shared_captures import AMONG_FOUR, SharedCaptures

JOBS = (
    "exposed-communication",
    "awaited-reductions",
    "expert-imbalance",
    "slow-rank-compute",
    "slow-rank-data",
    "slow-link",
    "cast-excess",
    "transdata-excess",
    "aicpu-exposed",
    "launch-blocking",
    "host-bound",
    "uneven-stages",
)
REAL = (
    *(f"msinsight_pytorch_matrix/{export}/level{level}" for export in ("text", "db") for level in range(3)),
    "helix_fixtures/standalone_real_output",
)
DIGITS = 1e-6
"""Numbers of a diagnosis have nine digits; starts in two files of an export differ by a nanosecond."""


def job_of(recorded: list[Rank], folder: Path, diagnosis: Diagnosis) -> Job:
    """What counts of that which was recorded."""
    parallel = diagnosis.run.parallel
    told = [one for one in diagnosis.findings if one.rule == "capture/start-up-step"]
    ranks = without_steps(recorded, {event.step for one in told for event in one.occurrences})
    return Job(ranks, read_members(folder), {rank.number: parallel.stage_of(rank.number) for rank in ranks})


def near(value: float | str) -> Any:
    return value if isinstance(value, str) else pytest.approx(value, rel=DIGITS, abs=0.05 if value > 1 else DIGITS)


def assert_what_is_said_is_in_the_files(folder: Path, diagnosis: Diagnosis) -> set[str]:
    every = read_capture(folder)
    job, recorded = job_of(every, folder, diagnosis), {rank.number: rank for rank in every}
    assert_split(job, diagnosis)
    assert_steps(job, diagnosis)
    assert_account(job, diagnosis)
    assert_events(job, recorded, diagnosis)
    told = {finding.rule for finding in diagnosis.findings} & RULES.keys()
    for finding in diagnosis.findings:
        if finding.rule in RULES:
            measured = {item.name: item.value for item in finding.evidence}
            for name, value in RULES[finding.rule](job, finding).items():
                assert measured[name] == near(value), (finding.rule, name)
    return told


def assert_split(job: Job, diagnosis: Diagnosis) -> None:
    split = diagnosis.split
    assert split is not None
    every = [one for steps in job.splits.values() for one in steps.values()]
    assert split.step_us == diagnosis.run.step_us == near(mean(one.span for one in every))
    assert split.compute_us == near(mean(one.compute for one in every))
    assert split.exposed_comm_us == near(mean(one.exposed for one in every))
    assert split.overlapped_us == near(mean(one.overlapped for one in every))
    assert split.free_us == near(mean(one.free for one in every))
    if len(job.ranks) > 1:
        spans = {rank: job.mean(rank, "span") for rank in job.ranks}
        slowest = max(spans, key=spans.__getitem__)
        assert (split.slowest_rank, split.slowest_us) == (slowest, near(spans[slowest]))
    assert diagnosis.run.steps == tuple(sorted({step for steps in job.splits.values() for step in steps}))


def assert_steps(job: Job, diagnosis: Diagnosis) -> None:
    assert diagnosis.account is not None
    for told in diagnosis.account.steps:
        same = [steps[told.step] for steps in job.splits.values()]
        assert told.step_us == near(mean(one.span for one in same))
        assert told.compute_us == near(mean(one.compute for one in same))
        assert told.exposed_comm_us == near(mean(one.exposed for one in same))
        assert told.free_us == near(mean(one.free for one in same))


def assert_account(job: Job, diagnosis: Diagnosis) -> None:
    """Kernels and collectives by name: each moment of a rank is charged once, to what began first."""
    assert diagnosis.account is not None
    every = sum(len(steps) for steps in job.splits.values())
    typed = {entry.name: entry for entry in diagnosis.account.spent if entry.part == "compute" and entry.name}
    charged: dict[str, float] = {}
    calls: dict[str, int] = {}
    for rank in job.ranks.values():
        reached = 0
        for kernel in sorted(rank.kernels, key=lambda kernel: (kernel.start, -kernel.end)):
            own = max(kernel.end - max(kernel.start, reached), 0) / 1000
            reached = max(reached, kernel.end)
            charged[kernel.op_type] = charged.get(kernel.op_type, 0) + own / every
            calls[kernel.op_type] = calls.get(kernel.op_type, 0) + 1
    if charged.keys() != {"N/A"}:
        assert typed.keys() == charged.keys()
        for name, entry in typed.items():
            assert (entry.us, entry.count) == (near(charged[name]), near(calls[name] / every)), name
    assert sum(entry.us for entry in typed.values()) == near(sum(charged.values()))


def assert_events(job: Job, recorded: dict[int, Rank], diagnosis: Diagnosis) -> None:
    """Every event that is shown was recorded, with this name, start and length; the longest kernel of the operators
    listed is the longest."""
    for finding in diagnosis.findings:
        if finding.rule == "compute/top-operators":
            worst = finding.occurrences[0]
            assert finding.excerpt is not None
            at = [head.name for head in finding.excerpt.columns].index("op_type")
            listed = {row[at] for row in finding.excerpt.rows}
            kernels = recorded[worst.rank or 0].kernels
            longest = max(row.end - row.start for row in kernels if row.op_type in listed) / 1000
            assert worst.duration_us == near(longest)
        for event in finding.occurrences:
            rank = recorded[event.rank or 0]
            if event.table in RECORDED:
                rows = rank.kernels if event.table == "kernels" else rank.calls
                (row,) = (row for row in rows if row.name == event.name and abs(row.start - event.start_ns) <= 1)
                assert event.duration_us == near((row.end - row.start) / 1000)
                assert event.step == row.step
            elif event.table == "gaps":
                begin, end = event.start_ns - 1, event.start_ns + round(event.duration_us * 1000) + 1
                free = job.splits[rank.number][event.step].gaps
                assert any(start - 1 <= begin + 1 and end - 1 <= stop + 1 for start, stop in free)


RECORDED = ("kernels", "collective_calls")


@pytest.mark.parametrize("case", JOBS)
def test_what_a_diagnosis_says_of_a_generated_job_is_in_its_files(case: str, shared: SharedCaptures) -> None:
    small = case not in AMONG_FOUR
    folder, diagnosis = shared.written(case, small=small), shared.diagnosed(case, small=small)
    assert assert_what_is_said_is_in_the_files(folder, diagnosis)


@pytest.mark.parametrize("name", REAL)
def test_what_a_diagnosis_says_of_a_real_capture_is_in_its_files(
    name: str, real_data: Path, shared: SharedCaptures
) -> None:
    assert assert_what_is_said_is_in_the_files(real_data / name, shared.diagnosis(real_data / name))
