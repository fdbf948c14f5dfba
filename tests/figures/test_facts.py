# SPDX-License-Identifier: Apache-2.0
"""The figures behind every report equal those that plain loops find in the raw files of the same capture."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import pytest

from advisor.analysis import DERIVATIONS
from advisor.facts.base import Fact
from advisor.facts.derived import (
    CollectiveCall,
    Gap,
    LaunchWait,
    LeftOutStep,
    LinkUse,
    LongestCall,
    Meeting,
    OperatorShare,
    Overlap,
    PacketTransfer,
    RankTime,
)
from advisor.facts.profile import Profile
from advisor.messages.errors import FactMissing
from advisor.sources import open_input
from corpus.answers import ANSWERS
from tests.conftest import TIER
from tests.figures.plain_figures import (
    Interval,
    calls_that_meet,
    exposed_us,
    length,
    link_traffic,
    mean_of_steps,
    median_of_others,
    merged,
    split_steps,
)
from tests.figures.raw_capture import Call, Rank, read_capture, read_members, without_steps
from tests.shared_captures import AMONG_FOUR, SharedCaptures

JOBS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("python-busy", {}),
    ("exposed-communication", {}),
    ("data-loader", {}),
    ("expert-imbalance", {}),
    ("slow-rank-compute", {}),
    ("slow-link", {}),
    ("cast-excess", {}),
    ("launch-blocking", {}),
    ("uneven-stages", {}),
    ("healthy-light", {"level": 0}),
    ("python-busy", {"export": "database"}),
    ("slow-link", {"export": "database"}),
    ("healthy-light", {"export": "database", "level": 0}),
)
"""Bound by the host, by communication, by input; experts, uneven ranks, a slow link, a pipeline; both exports."""

NIGHTLY = tuple(
    (case, {"seed": int(os.environ.get("ADVISOR_SEED", "3")), "export": export})
    for case in sorted(ANSWERS.keys() - {"damaged-trace"})
    for export in ("text", "database")
    if TIER == "nightly"
)
"""Every fault in both exports, in jobs of the seed of the night."""

REAL = (
    *(f"msinsight_pytorch_matrix/{export}/level{level}" for export in ("text", "db") for level in range(3)),
    "helix_fixtures/standalone_real_output",
)

TABLES = (
    Overlap,
    Gap,
    OperatorShare,
    CollectiveCall,
    LongestCall,
    Meeting,
    RankTime,
    LinkUse,
    PacketTransfer,
    LaunchWait,
)
ROUNDING_NS = 2
NEAR_US = ROUNDING_NS / 1000
"""Starts of the two files of the text export differ by a nanosecond, by rounding."""


class Compared(NamedTuple):
    """One capture, read by both."""

    ranks: list[Rank]
    tables: Mapping[type[Fact], list[dict[str, Any]]]
    members: dict[str, list[int]]
    """Ranks of each communicator, by its hash."""

    def rows(self, fact: type[Fact], rank: int) -> list[dict[str, Any]]:
        """The rows of one rank."""
        return [row for row in self.tables[fact] if row["rank"] == rank]


def compare(folder: Path) -> Compared:
    run, sources = open_input(folder)
    profile = Profile(run, sources, DERIVATIONS)
    profile.prepare(TABLES)
    tables = {}
    for fact in TABLES:
        try:
            tables[fact] = list(profile.table(fact).rows())
        except FactMissing:
            tables[fact] = []
    left_out = set(profile.table(LeftOutStep)["step"].tolist())
    return Compared(without_steps(read_capture(folder), left_out), tables, read_members(folder))


def near(value: float | None, slack: float = NEAR_US) -> Any:
    """Equal to rounding; missing equals missing."""
    return value if value is None else pytest.approx(value, rel=1e-8, abs=slack)


def assert_equal_figures(job: Compared) -> None:
    for rank in job.ranks:
        assert_splits(job, rank)
        assert_gaps(job, rank)
        assert_operators(job, rank)
        assert_collectives(job, rank)
        assert_longest(job, rank)
        assert_packets(job, rank)
        assert_launches(job, rank)
    assert_meetings(job)
    assert_peers(job)
    assert_links(job)


def assert_splits(job: Compared, rank: Rank) -> None:
    found = {row["step"]: row for row in job.rows(Overlap, rank.number)}
    expected = split_steps(rank)
    assert found.keys() == expected.keys()
    parts = ("span", "compute", "comm", "overlapped", "free", "bubble")
    for step, split in expected.items():
        row = found[step]
        slack = NEAR_US * (1 + 2 * len(rank.calls))
        for part in parts:
            assert row[f"{part}_us"] == near(getattr(split, part), slack), (rank.number, step, part)
        assert row["exposed_comm_us"] == near(split.exposed, slack)
        assert row["copy_us"] == near(split.copies, slack)
        assert row["event_wait_us"] == near(split.waits, slack)
        told = rank.sums.get(step)
        if told:
            names = ("computing", "communication_not_overlapped", "overlapped", "communication", "free")
            ours = ("compute_us", "exposed_comm_us", "overlapped_us", "comm_us", "free_us")
            assert [row[name] for name in ours] == [pytest.approx(told[name], abs=0.5) for name in names]


def assert_gaps(job: Compared, rank: Rank) -> None:
    if not job.tables[Gap]:
        return
    found = defaultdict(list)
    for row in job.rows(Gap, rank.number):
        found[row["step"]].append((row["start_ns"], row["start_ns"] + round(row["duration_us"] * 1000)))
    for step, split in split_steps(rank).items():
        assert_same_intervals(found[step], split.gaps)


def assert_same_intervals(found: list[Interval], expected: Iterable[Interval]) -> None:
    """The same time, whatever it is cut into; borders may lie a rounding apart."""
    parts = sorted(found)
    assert all(one[1] <= other[0] for one, other in pairwise(parts)), "two causes are charged with the same time"
    whole = merged(parts)
    borders = [[border for interval in merged(of) for border in interval] for of in (whole, expected)]
    assert len(borders[0]) == len(borders[1])
    assert all(abs(one - other) <= ROUNDING_NS for one, other in zip(*borders, strict=True))


def assert_operators(job: Compared, rank: Rank) -> None:
    steps = len(split_steps(rank))
    by_type = defaultdict(list)
    for kernel in rank.kernels:
        by_type[kernel.op_type].append((kernel.end - kernel.start) / 1000)
    rows = {row["op_type"]: row for row in job.rows(OperatorShare, rank.number)}
    if by_type.keys() <= {"N/A"}:
        assert sum(row["calls"] for row in rows.values()) * steps == pytest.approx(len(rank.kernels))
        return
    everything = sum(map(sum, by_type.values()))
    assert rows.keys() == by_type.keys()
    for name, times in by_type.items():
        row = rows[name]
        assert row["calls"] * steps == pytest.approx(len(times))
        assert row["total_us"] * steps == near(sum(times))
        assert row["longest_us"] == near(max(times))
        assert row["median_us"] == near(median(times))
        assert row["mean_us"] == near(mean(times))
        assert row["kernel_share"] == pytest.approx(sum(times) / everything)


def call_key(call: Call | Mapping[str, Any]) -> tuple[Any, ...]:
    if isinstance(call, Call):
        return call.step is None, call.step, call.name, call.start
    return call["step"] is None, call["step"], call["name"], call["start_ns"]


def assert_collectives(job: Compared, rank: Rank) -> None:
    found = sorted(job.rows(CollectiveCall, rank.number), key=call_key)
    expected = sorted(rank.calls, key=call_key)
    assert [row["name"] for row in found] == [call.name for call in expected]
    for row, call in zip(found, expected, strict=True):
        assert (row["op"], row["p2p"]) == (call.op, call.p2p)
        assert row["elapse_us"] == near(length(call))
        assert row["exposed_us"] == near(exposed_us(rank, call), 4 * NEAR_US)
        if call.transit:
            assert row["transit_us"] == near(call.transit)
            assert (row["wait_us"], row["idle_us"]) == (near(call.wait), near(call.idle))


def assert_longest(job: Compared, rank: Rank) -> None:
    like = defaultdict(list)
    for call in rank.calls:
        if not call.p2p:
            like[call.step, call.op, call.group].append(call)
    rows = {(row["step"], row["op"]): row for row in job.rows(LongestCall, rank.number)}
    groups = {key[:2] for key in like}
    if len(groups) != len(like):
        return
    assert rows.keys() == groups
    for (step, op, _), calls in like.items():
        row, longest = rows[step, op], max(calls, key=lambda call: (length(call), -call.start))
        others = [length(call) for call in calls if call is not longest]
        assert (row["name"], row["elapse_us"]) == (longest.name, near(length(longest)))
        assert row["others"] == len(others)
        assert row["others_us"] == near(median(others) if others else None)


def assert_packets(job: Compared, rank: Rank) -> None:
    found = sorted(
        job.rows(PacketTransfer, rank.number),
        key=lambda row: (row["step"], row["name"], row["link"], row["packet_bytes"]),
    )
    expected = sorted(rank.packets)
    assert len(found) == len(expected)
    for row, told in zip(found, expected, strict=True):
        assert (row["name"], row["link"]) == (told.call, told.link)
        assert (row["packet_bytes"], row["packets"]) == (told.size, told.number)
        assert row["transit_us"] == near(told.us)
        assert row["rate_gbps"] == (pytest.approx(told.size * told.number / told.us / 1000) if told.us else None)


def assert_launches(job: Compared, rank: Rank) -> None:
    """Copies before the first kernel and after the last belong to no step."""
    begin = min(row.start for row in (*rank.kernels, *rank.calls)) - ROUNDING_NS
    finish = max(row.end for row in (*rank.kernels, *rank.calls))
    for row in job.rows(LaunchWait, rank.number):
        assert row["tasks"] == sum(begin <= start < finish for start in rank.launched)


def assert_meetings(job: Compared) -> None:
    expected = {}
    for parts in calls_that_meet(job.ranks):
        times = [length(call) for _, call in parts]
        if max(times) > min(times):
            last, call = min(parts, key=lambda part: (length(part[1]), part[0].number))
            exposed = mean(exposed_us(rank, call) for rank, call in parts)
            expected[call.step, last.number, call.start] = (len(parts), min(times), max(times), mean(times), exposed)
    rows = [row for row in job.tables[Meeting] if not row["p2p"]]
    found = {(row["step"], row["last_rank"], row["last_start_ns"]): row for row in rows}
    assert found.keys() == expected.keys()
    for key, (ranks, shortest, longest, middle, exposed) in expected.items():
        row = found[key]
        assert row["ranks"] == ranks
        assert (row["shortest_us"], row["longest_us"]) == (near(shortest), near(longest))
        assert row["waited_us"] == near(middle - shortest)
        assert row["exposed_us"] == near(exposed, 4 * NEAR_US)


def assert_peers(job: Compared) -> None:
    splits = {rank.number: split_steps(rank) for rank in job.ranks}
    stages = {row["rank"]: row["stage"] for row in job.tables[RankTime]}
    means = {
        part: {n: mean_of_steps(split, part) for n, split in splits.items()}
        for part in ("span", "compute", "comm", "exposed", "free")
    }
    for row in job.tables[RankTime]:
        own = row["rank"]
        alike = {n for n in splits if stages[n] == stages[own]}
        assert row["peers"] == len(alike) - 1
        for part, column in (
            ("span", "span"),
            ("compute", "compute"),
            ("comm", "comm"),
            ("exposed", "exposed_comm"),
            ("free", "free"),
        ):
            assert row[f"{column}_us"] == near(means[part][own], 0.1)
        if len(alike) > 1:
            for part in ("compute", "comm", "free"):
                values = {n: means[part][n] for n in alike}
                assert row[f"peer_{part}_us"] == near(median_of_others(values, own), 0.1)
            assert row["least_peer_comm_us"] == near(min(means["comm"][n] for n in alike - {own}), 0.1)


def assert_links(job: Compared) -> None:
    expected = link_traffic(job.ranks, job.members)
    found = {(row["source"], row["target"], row["link"]): row for row in job.tables[LinkUse]}
    assert found.keys() == expected.keys()
    for key, link in expected.items():
        row = found[key]
        assert row["size_bytes"] == pytest.approx(link.size, abs=1)
        assert row["transit_us"] == near(link.time)
        assert row["bandwidth_gbps"] == (pytest.approx(link.bulk / link.bulk_time / 1000) if link.bulk_time else None)


@pytest.mark.parametrize(
    ("case", "how"),
    (*JOBS, *NIGHTLY),
    ids=lambda part: "-".join(map(str, part.values())) if isinstance(part, dict) else part,
)
def test_every_figure_of_a_generated_job_is_what_its_files_add_up_to(
    case: str, how: dict[str, Any], shared: SharedCaptures
) -> None:
    assert_equal_figures(compare(shared.written(case, small=case not in AMONG_FOUR, **how)))


@pytest.mark.parametrize("name", REAL)
def test_every_figure_of_a_real_capture_is_what_its_files_add_up_to(name: str, real_data: Path) -> None:
    assert_equal_figures(compare(real_data / name))
