# SPDX-License-Identifier: Apache-2.0
"""The figures of a real cluster summary, of sixteen ranks in two stages, equal those of plain loops over its files."""

from __future__ import annotations

import ast
import csv
import json
import re
from pathlib import Path
from statistics import mean, median, median_low
from typing import Any

import pytest

from advisor.analysis import DERIVATIONS
from advisor.facts.derived import CollectiveCall, LinkUse, Meeting, Overlap, PacketTransfer, RankTime, StageTime
from advisor.facts.profile import Profile
from advisor.sources import open_input
from tests.shared_captures import SharedCaptures

SUMMARY = "msinsight_server_testdata/cluster_analysis_output"
COLUMNS = {
    "compute_us": "Computing",
    "exposed_comm_us": "Communication(Not Overlapped)",
    "overlapped_us": "Overlapped",
    "comm_us": "Communication",
    "free_us": "Free",
    "bubble_us": "Bubble",
}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def profile(real_data: Path) -> Profile:
    run, sources = open_input(real_data / SUMMARY)
    return Profile(run, sources, DERIVATIONS)


@pytest.fixture(scope="module")
def told(real_data: Path) -> dict[int, Row]:
    """Per rank what the table says of its one step, its whole length, and its stage."""
    with (real_data / SUMMARY / "cluster_step_trace_time.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    stages = [ast.literal_eval(row["Index"]) for row in rows if row["Type"] == "stage"]
    found = {}
    for row in rows:
        if row["Type"] == "rank":
            rank = int(row["Index"])
            values: Row = {name: float(row[title]) for name, title in COLUMNS.items()}
            values["span_us"] = values["compute_us"] + values["exposed_comm_us"] + values["free_us"]
            values["stage"] = next(number for number, ranks in enumerate(sorted(stages)) if rank in ranks)
            found[rank] = values
    return found


def operators(path: Path) -> list[tuple[str, str, str, Row]]:
    """Outer key, name, communicator and content of every entry but the sums."""
    return [
        (outer, *key.split("@"), content)
        for outer, steps in json.loads(path.read_bytes()).items()
        for found in steps.values()
        for key, content in found.items()
        if key != "Total Op Info"
    ]


def test_the_split_of_each_rank_is_that_of_the_table(profile: Profile, told: dict[int, Row]) -> None:
    rows = list(profile.table(Overlap).rows())
    assert [row["rank"] for row in rows] == sorted(told)
    for row in rows:
        for name, value in told[row["rank"]].items():
            assert row[name] == pytest.approx(value), (row["rank"], name)


def test_peers_are_the_other_ranks_of_the_stage(profile: Profile, told: dict[int, Row]) -> None:
    for row in profile.table(RankTime).rows():
        own = told[row["rank"]]
        others = [one for rank, one in told.items() if one["stage"] == own["stage"] and rank != row["rank"]]
        assert row["peers"] == len(others) == 7
        for part in ("compute", "comm", "free"):
            assert row[f"peer_{part}_us"] == pytest.approx(median(one[f"{part}_us"] for one in others))
        assert row["least_peer_comm_us"] == pytest.approx(min(one["comm_us"] for one in others))


def test_stages_are_the_means_of_their_ranks_and_the_middle_of_what_these_compute(
    profile: Profile, told: dict[int, Row]
) -> None:
    spans = [mean(one["span_us"] for one in told.values() if one["stage"] == stage) for stage in (0, 1)]
    for row in profile.table(StageTime).rows():
        own = [one for one in told.values() if one["stage"] == row["stage"]]
        for part in ("span_us", "exposed_comm_us", "bubble_us", "free_us"):
            assert row[part] == pytest.approx(mean(one[part] for one in own))
        assert row["compute_us"] == pytest.approx(median_low(one["compute_us"] for one in own))
        assert row["slowest_compute_us"] == max(one["compute_us"] for one in own)
        assert row["unseen_us"] == pytest.approx(max(spans) - spans[row["stage"]])


def test_each_collective_takes_on_each_rank_what_the_file_says(profile: Profile, real_data: Path) -> None:
    expected = {
        (int(rank), name, group): content["Communication Time Info"]
        for _, name, group, ranks in operators(real_data / SUMMARY / "cluster_communication.json")
        for rank, content in ranks.items()
    }
    rows = {(row["rank"], row["name"], row["group"]): row for row in profile.table(CollectiveCall).rows()}
    assert rows.keys() == expected.keys()
    for key, times in expected.items():
        row = rows[key]
        assert row["elapse_us"] == pytest.approx(1e3 * times["Elapse Time(ms)"])
        assert row["p2p"] == key[1].startswith(("hcom_send", "hcom_receive"))
        if times["Transit Time(ms)"]:
            assert row["transit_us"] == pytest.approx(1e3 * times["Transit Time(ms)"])
            assert row["idle_us"] == pytest.approx(1e3 * times["Idle Time(ms)"])
        if times["Transit Time(ms)"] or times["Wait Time(ms)"]:
            assert row["wait_us"] == pytest.approx(1e3 * times["Wait Time(ms)"])


def test_who_came_last_took_shortest(profile: Profile, real_data: Path) -> None:
    found = {(row["name"], row["group"]): row for row in profile.table(Meeting).rows()}
    met = 0
    for outer, name, group, ranks in operators(real_data / SUMMARY / "cluster_communication.json"):
        times = {int(r): 1e3 * one["Communication Time Info"]["Elapse Time(ms)"] for r, one in ranks.items()}
        if outer != "p2p" and len(times) > 1:
            row, shortest = found[name, group], min(times.values())
            met += 1
            assert (row["ranks"], row["last_rank"]) == (len(times), min(times, key=times.__getitem__))
            assert row["shortest_us"] == pytest.approx(shortest)
            assert row["longest_us"] == pytest.approx(max(times.values()))
            assert row["waited_us"] == pytest.approx(mean(times.values()) - shortest)
    assert met


def test_each_link_has_the_bandwidth_of_what_went_over_it(profile: Profile, real_data: Path) -> None:
    moved: dict[tuple[int, int, str], list[tuple[float, float]]] = {}
    kinds: dict[tuple[str, str, tuple[int, int, str]], list[tuple[float, float]]] = {}
    for _, name, group, pairs in operators(real_data / SUMMARY / "cluster_communication_matrix.json"):
        op = re.sub(r"hcom_([a-zA-Z]+)_.*", r"\1", name)
        for pair, one in pairs.items():
            source, target = map(int, pair.split("-"))
            key = source, target, one["Transport Type"]
            if key[2] != "LOCAL":
                amount = one["Transit Size(MB)"] * 1e6, one["Transit Time(ms)"] * 1e3
                moved.setdefault(key, []).append(amount)
                kinds.setdefault((op, group, key), []).append(amount)
    found = {(row["source"], row["target"], row["link"]): row for row in profile.table(LinkUse).rows()}
    assert found.keys() == moved.keys()
    for key, amounts in moved.items():
        row = found[key]
        assert row["size_bytes"] == pytest.approx(sum(size for size, _ in amounts), abs=len(amounts))
        assert row["transit_us"] == pytest.approx(sum(us for _, us in amounts))
        sums = [tuple(map(sum, zip(*one, strict=True))) for (_, _, of), one in kinds.items() if of == key]
        bulk = [one for one in sums if one[0] >= 1e6]
        rate = sum(size for size, _ in bulk) / sum(us for _, us in bulk) / 1e3 if bulk else None
        assert row["bandwidth_gbps"] == (rate if rate is None else pytest.approx(rate))


def test_packets_have_the_bandwidth_of_one_link(profile: Profile, real_data: Path) -> None:
    expected = sorted(
        (int(rank), name, link, round(float(size) * 1e6), count, ms * 1e3)
        for _, name, _, ranks in operators(real_data / SUMMARY / "cluster_communication.json")
        for rank, content in ranks.items()
        for link, info in content["Communication Bandwidth Info"].items()
        for size, (count, ms) in info["Size Distribution"].items()
        if link != "SDMA"
    )
    columns = ("rank", "name", "link", "packet_bytes", "packets", "transit_us")
    found = sorted(
        (tuple(row[name] for name in columns), row["rate_gbps"]) for row in profile.table(PacketTransfer).rows()
    )
    assert len(found) == len(expected)
    for (row, rate), told_packets in zip(found, expected, strict=True):
        assert row == (*told_packets[:5], pytest.approx(told_packets[5]))
        assert rate == pytest.approx(row[3] * row[4] / row[5] / 1e3)


def test_the_step_of_the_report_is_the_mean_of_the_ranks(
    real_data: Path, shared: SharedCaptures, told: dict[int, Row]
) -> None:
    split = shared.diagnosis(real_data / SUMMARY).split
    assert split is not None
    for name in ("compute_us", "exposed_comm_us", "overlapped_us", "free_us"):
        assert getattr(split, name) == pytest.approx(mean(one[name] for one in told.values()))
    longest = max(told, key=lambda rank: told[rank]["span_us"])
    assert (split.slowest_rank, split.slowest_us) == (longest, pytest.approx(told[longest]["span_us"]))
    assert split.step_us == pytest.approx(mean(one["span_us"] for one in told.values()))
