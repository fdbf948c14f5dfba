# SPDX-License-Identifier: Apache-2.0
"""Who talks to whom, and who stands in which stage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sources.ascend import groups
from advisor.sources.ascend.groups import (
    Sizes,
    communicator_hash,
    from_cluster,
    groups_in_metadata,
    kind_of,
    parallel_layout,
    stages_by_pairs,
)
from advisor.sources.family import GroupMembers
from advisor.sources.files.jsonfile import as_integer, as_integers


def test_a_communicator_hashes_as_hccl_names_it() -> None:
    assert communicator_hash("group_name_19") == "3985310405473756128"
    assert communicator_hash("10.174.216.241%enp189s0f1_55000_0_1738895506630464") == "6960437680420871035"


@given(st.text(max_size=40))
def test_a_hash_stays_as_it_is(name: str) -> None:
    assert communicator_hash(communicator_hash(name)) == communicator_hash(name)


def test_the_hashes_of_real_groups_are_those_of_the_cluster_file(real_data: Path) -> None:
    folder = real_data / "msinsight_server_testdata"
    metadata = json.loads((folder / "metadata" / "profiler_metadata.json").read_text())
    ours = groups_in_metadata(metadata["parallel_group_info"])
    theirs = from_cluster(json.loads((folder / "communication_group" / "communication_group.json").read_text()))
    shared = ours.keys() & theirs.keys()
    assert len(shared) >= 5
    assert all(set(ours[name].ranks) == set(theirs[name].ranks) for name in shared)


@pytest.mark.parametrize(("name", "kind"), [("dp_cp", "dp"), ("default_group", "world"), ("exp", "ep"), ("TP", "tp"),
    ("hccl_world_group", "world"), ("8-1511346369440329881", ""), ("0-1-2-3", "")])  # fmt: skip
def test_kinds_of_groups_have_one_name_each(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def chain(*ranks: int) -> GroupMembers:
    return GroupMembers("pp", ranks)


def test_stages_are_the_places_in_the_pipeline_groups() -> None:
    found = parallel_layout(Sizes({"pp": 2, "dp": 2}, 4), {"a": chain(0, 2), "b": chain(1, 3)})
    assert found.stages == ((0, 1), (2, 3))
    assert (found.pp, found.dp, found.source) == (2, 2, "distributed_args")


def test_without_groups_stages_follow_the_order_of_megatron() -> None:
    assert parallel_layout(Sizes({"pp": 4, "tp": 2}, 8), {}).stages == ((0, 1), (2, 3), (4, 5), (6, 7))


def test_a_world_that_does_not_divide_gives_no_stages() -> None:
    assert parallel_layout(Sizes({"pp": 3}, 8), {}).stages == ()


def test_sizes_follow_from_groups_when_nothing_else_tells() -> None:
    found = parallel_layout(
        Sizes({}, 0), {"a": GroupMembers("tp", (0, 1)), "b": GroupMembers("tp", (2,)), "c": chain(0, 2)}
    )
    assert (found.tp, found.pp, found.source) == (2, 2, "parallel_group_info")


def test_nothing_recorded_is_an_unknown_layout() -> None:
    assert parallel_layout(Sizes({}, 0), {}).source == ""


def test_stages_follow_from_who_sends_to_whom() -> None:
    assert stages_by_pairs([(0, 2), (1, 3)], 4) == ((0, 1), (2, 3))
    assert stages_by_pairs([(0, 2), (2, 4), (1, 3), (3, 5)], 6) == ((0, 1), (2, 3), (4, 5))
    assert stages_by_pairs([(0, 1)], 4) == ()
    assert stages_by_pairs([], 4) == ()


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_no_content_of_a_file_breaks_the_groups(content: object) -> None:
    found = {**groups_in_metadata(content), **from_cluster(content)}
    assert all(member.ranks for member in found.values())
    parallel_layout(Sizes.recorded(content), found)
    assert len(groups.group_table(found)) == sum(len(group.ranks) for group in found.values())


@given(st.lists(st.integers(-(2**65), 2**65) | st.booleans() | st.floats() | st.text("0123456789", max_size=3)))
def test_numbers_of_a_list_are_those_that_are_whole_one_by_one(values: list[object]) -> None:
    assert as_integers(values) == tuple(one for one in map(as_integer, values) if one is not None)
