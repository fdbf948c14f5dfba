# SPDX-License-Identifier: Apache-2.0
"""For whom collectives wait, from both exports, however their ranks are numbered."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from advisor.facts.base import MISSING
from advisor.facts.derived import LongestCall
from advisor.facts.observed import Collective, Damage, PeerWait
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.pipeline import open_profile
from advisor.sources.ascend import collectives
from advisor.sources.ascend.peer_waits import ranks_of_places
from tests.shared_captures import SharedCaptures

REAL = Path(os.environ.get("ADVISOR_REAL_DATA", "")) / "msinsight_pytorch_matrix"


def waits_of(folder: Path) -> Table[PeerWait]:
    return open_profile(folder).table(PeerWait)


# Who stands at a place


def placed(numbers: list[int], own: int, rank: int, members: tuple[int, ...] = (), *, sole: bool = False) -> list[int]:
    return ranks_of_places(np.array(numbers), own, rank, members, sole=sole).tolist()


def test_numbers_are_places_where_a_rank_calls_itself_by_its_place():
    assert placed([0, 2, 3], own=1, rank=8, members=(0, 8, 16, 24)) == [0, 16, 24]


def test_numbers_are_ranks_where_a_rank_calls_itself_by_its_rank():
    assert placed([0, 16, 17], own=8, rank=8, members=(0, 8, 16, 24)) == [0, 16, MISSING]


def test_a_place_behind_the_last_is_nobody():
    assert placed([1, 4], own=0, rank=0, members=(0, 8, 16, 24)) == [8, MISSING]


def test_a_rank_that_calls_itself_by_another_number_names_nobody():
    assert placed([0, 1], own=2, rank=8, members=(0, 8, 16, 24)) == [MISSING, MISSING]
    assert placed([0, 1], own=0, rank=4, members=(0, 8, 16, 24)) == [MISSING, MISSING]


def test_without_members_places_are_ranks_only_in_a_job_of_one_communicator():
    assert placed([5], own=1, rank=1, sole=True) == [5]
    assert placed([5], own=1, rank=1) == [MISSING]
    assert placed([5], own=0, rank=1, sole=True) == [MISSING]


# Both exports


@pytest.mark.parametrize("case", ["slow-rank-host", "slow-network-link", "expert-imbalance"])
def test_both_exports_tell_the_same_waits(case: str, shared: SharedCaptures):
    text, database = (waits_of(shared.written(case, export=export, small=True)).rows() for export in EXPORTS)
    assert text == database
    assert text


EXPORTS = ("text", "database")


def test_the_timeline_leaves_out_waits_of_sends_and_receives_that_lie_side_by_side(shared: SharedCaptures):
    """A database numbers the operator of each task; threads of the timeline do not tell two at once apart."""
    text, database = (waits_of(shared.written("uneven-stages", export=export, small=True)).rows() for export in EXPORTS)
    assert 0 < len(text) < len(database)
    assert all(wait in database for wait in text)


def test_a_wait_belongs_to_a_call_and_lies_within_it(shared: SharedCaptures):
    profile = open_profile(shared.written("slow-rank-host", export="text", small=True))
    calls = {(row["rank"], row["name"], row["start_ns"]): row for row in profile.table(Collective).rows()}
    for wait in profile.table(PeerWait).rows():
        call = calls[wait["rank"], wait["name"], wait["call_ns"]]
        assert call["group"] == wait["group"]
        assert call["start_ns"] <= wait["start_ns"]
        assert wait["wait_us"] <= call["elapse_us"]
        assert wait["peer"] not in (wait["rank"], None)


# Damage


@pytest.fixture
def changed(shared: SharedCaptures, tmp_path: Path) -> Callable[[Callable[[list[dict]], list[dict]]], Path]:
    """A copy of a capture of two ranks with other events in each timeline."""

    def change(edit: Callable[[list[dict]], list[dict]]) -> Path:
        folder = tmp_path / "changed"
        shutil.copytree(shared.written("host-bound-2-ranks", export="text"), folder)
        for path in folder.rglob("trace_view.json"):
            path.write_text(json.dumps(edit(json.loads(path.read_text()))))
        return folder

    return change


NOBODY = (None, -1, 4294967295, [1], {"rank": 1})
"""What is written where a task has no peer; of arguments that hold others nothing is read."""


@pytest.mark.parametrize("value", [4294967295, -1, 10**30, 1 << 40, "NaN", "x", None, [1], {"rank": 1}, 1e300])
def test_a_number_that_is_no_rank_is_nobody(value: object, changed: Callable):
    def edit(events: list[dict]) -> list[dict]:
        for event in events:
            if "dst rank" in event.get("args", {}):
                event["args"]["dst rank"] = value
        return events

    folder = changed(edit)
    profile = open_profile(folder)
    try:
        assert len(profile.table(PeerWait)) == 0
    except FactMissing as missing:
        assert missing.tables == ("peer_waits",)
    damages = profile.table_if_recorded(Damage)
    said = set() if damages is None else {row["what"] for row in damages.rows()}
    assert said == (set() if value in NOBODY else {str(Message("peers_unusable"))})


@pytest.mark.parametrize("value", [4294967295, -1, 10**30, "x", None, 7])
def test_where_a_rank_does_not_call_itself_by_a_known_number_nobody_is_named(value: object, changed: Callable):
    def edit(events: list[dict]) -> list[dict]:
        for event in events:
            if "src rank" in event.get("args", {}):
                event["args"]["src rank"] = value
        return events

    found = waits_of(changed(edit))
    assert set(found["peer"].tolist()) == {MISSING}
    assert set(found["place"].tolist()) <= {0, 1}


def test_waits_of_a_call_that_is_gone_are_left_out_and_those_of_others_stay(changed: Callable):
    gone = "hcom_allReduce"

    def edit(events: list[dict]) -> list[dict]:
        first = next(event["name"] for event in events if event["name"].startswith(gone) and event["ph"] == "X")
        return [event for event in events if event["name"] != first]

    profile = open_profile(changed(edit))
    calls = {(row["rank"], row["start_ns"]) for row in profile.table(Collective).rows()}
    waits = {(row["rank"], row["call_ns"]) for row in profile.table(PeerWait).rows()}
    assert waits
    assert waits < calls


def test_planes_that_are_gone_are_not_recorded(changed: Callable):
    with pytest.raises(FactMissing):
        waits_of(changed(lambda events: [event for event in events if "dst rank" not in event.get("args", {})]))


# Real captures


@pytest.mark.skipif(not REAL.is_dir(), reason="no real captures")
@pytest.mark.parametrize(
    ("capture", "late"), [("text/level1", 5), ("text/level2", 5), ("db/level1", 6), ("db/level2", 4)]
)
def test_both_captured_ranks_of_eight_wait_for_the_one_that_came_last(capture: str, late: int):
    rows = open_profile(REAL / capture).table(LongestCall).rows()
    assert [(row["rank"], row["awaited_rank"], row["awaited_absent"], row["awaited_late"]) for row in rows] == [
        (0, late, True, True),
        (1, late, True, True),
    ]
    assert all(row["awaited_us"] > 0.99 * row["elapse_us"] for row in rows)


@pytest.mark.skipif(not REAL.is_dir(), reason="no real captures")
@pytest.mark.parametrize("capture", ["text/level0", "db/level0"])
def test_level0_does_not_name_tasks_of_collectives(capture: str):
    with pytest.raises(FactMissing):
        waits_of(REAL / capture)


@pytest.mark.skipif(not REAL.is_dir(), reason="no real captures")
def test_the_start_of_each_rank_agrees_with_when_its_peers_stopped_waiting_for_it():
    """Clocks of one host agree: rank 0 waits for rank 1 until that begins the call, but for the copy before."""
    profile = open_profile(REAL / "text/level2")
    begun = {row["rank"]: row["start_ns"] for row in profile.table(Collective).rows() if "_0_1" in row["name"]}
    [wait] = [
        row
        for row in profile.table(PeerWait).rows()
        if (row["rank"], row["peer"]) == (0, 1) and row["call_ns"] == begun[0]
    ]
    assert wait["start_ns"] + wait["wait_us"] * 1000 - begun[1] == pytest.approx(0, abs=100_000)


@pytest.mark.parametrize("export", ["text", "database"])
def test_collectives_are_read_once_for_themselves_and_for_whom_they_waited(
    export: str, shared: SharedCaptures, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = shared.written("healthy", workload="light", export=export)
    read, asked = collectives._WAYS[export], []
    monkeypatch.setitem(collectives._WAYS, export, lambda folder: asked.append(folder.rank) or read(folder))
    profile = open_profile(capture)
    profile.prepare([Collective, PeerWait])
    assert sorted(asked) == list(profile.run.ranks)
