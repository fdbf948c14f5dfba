# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.facts.observed import Link
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.matrix_groups import groups_by_senders
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
from advisor.sources.ascend.sent_pairs import pair_of_key, pairs_in_matrix
from advisor.sources.family import GroupMembers


def captured(root: Path, rank: int, sent: dict[str, list[tuple[int, int]]]) -> Folder:
    """A capture whose matrix holds these pairs by communicator."""
    moved = {"Transport Type": "HCCS", "Transit Size(MB)": 4, "Transit Time(ms)": 2, "Bandwidth(GB/s)": 2}
    told = {
        f"allreduce-total@{group}": {f"{sender}-{receiver}": moved for sender, receiver in pairs}
        for group, pairs in sent.items()
    }
    path = root / f"communication_matrix_{rank}.json"
    path.write_text(json.dumps({"step": {"collective": told}}))
    return Folder(rank=rank, root=root, output=root, readings=READINGS, files={"communication_matrix.json": path})


def ring(members: list[int], root: Path, group: str = "77") -> list[Folder]:
    """Each member sends to the next, numbered by its place among them."""
    size = len(members)
    return [captured(root, rank, {group: [(place, (place + 1) % size)]}) for place, rank in enumerate(sorted(members))]


@given(members=st.sets(st.integers(0, 40), min_size=2, max_size=6).map(sorted), lost=st.integers(0, 5))
def test_members_of_a_group_are_those_that_send_in_it_where_all_were_captured(members: list[int], lost: int) -> None:
    with TemporaryDirectory() as name:
        folders = ring(members, Path(name))
        assert groups_by_senders(folders) == {"77": GroupMembers("", tuple(members))}
        del folders[lost % len(folders)]
        assert groups_by_senders(folders) == {}, "who is at the place of the lost rank nobody knows"


def test_ranks_that_send_from_several_places_tell_no_members(tmp_path: Path) -> None:
    torn = [captured(tmp_path, rank, {"77": [(0, 1), (1, 0)]}) for rank in (4, 6)]
    assert groups_by_senders(torn) == {}


def test_a_folder_without_a_matrix_or_with_a_torn_one_tells_nothing(tmp_path: Path) -> None:
    torn = captured(tmp_path, 0, {})
    torn.files["communication_matrix.json"].write_text('{"step": {"coll')
    assert groups_by_senders([Folder(rank=1, root=tmp_path, output=tmp_path, readings=READINGS), torn]) == {}


def test_links_of_a_group_of_unknown_members_are_told_only_where_ranks_are_numbered_as_they_are(tmp_path: Path) -> None:
    (row,) = captured(tmp_path, 1, {"77": [(1, 0), (0, 1)]}).read(Link).rows()
    assert (row["source"], row["target"]) == (1, 0)
    with pytest.raises(FactMissing):
        captured(tmp_path, 5, {"77": [(1, 0)]}).read(Link)


def test_links_are_told_between_the_ranks_that_were_found_to_be_members(tmp_path: Path) -> None:
    folders = ring([4, 6], tmp_path)
    known = groups_by_senders(folders)
    rows = [row for folder in folders for row in replace(folder, groups_by_senders=known).read(Link).rows()]
    assert [(row["source"], row["target"]) for row in rows] == [(4, 6), (6, 4)]


def test_a_place_far_behind_all_members_costs_nothing(tmp_path: Path) -> None:
    folders = [captured(tmp_path, 0, {"77": [(0, 9_999_999)]})]
    tracemalloc.start()
    assert groups_by_senders(folders) == {}
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_pairs_are_those_of_the_entries_that_hold_them_and_nothing_is_decoded(tmp_path: Path) -> None:
    folder = captured(tmp_path, 0, {"77": [(0, 1)], "88": [(2, 0), (2, 1)]})
    file = folder.files["communication_matrix.json"]
    content = json.loads(file.read_text())
    content["step"]["p2p"] = {"hcom_send__1_0": {"4-5": {"Transit Size(MB)": 1}, "odd": {}, "1-2-3": {}, "6-7": 3}}
    file.write_text(json.dumps(content, indent=1))
    assert pairs_in_matrix(folder) == {("77", 0, 1), ("88", 2, 0), ("88", 2, 1), ("", 4, 5)}
    assert not folder._kept.decoded


@pytest.mark.parametrize(("key", "pair"), [("3-12", (3, 12)), ("3-", None), ("a3-1", None), ("12345678-1", None)])
def test_a_pair_of_ranks_is_two_numbers(key: str, pair: tuple[int, int] | None) -> None:
    assert pair_of_key(key) == pair
