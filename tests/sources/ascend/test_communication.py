# SPDX-License-Identifier: Apache-2.0
"""What operators moved, over which links, between whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.facts.base import MISSING
from advisor.facts.observed import Damage, Fact, Link, Transfer
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.communication import op_of, ranks_of, step_number
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
from advisor.sources.family import GroupMembers
from advisor.sources.shared.collective_kinds import is_p2p


def rank(tmp_path: Path, name: str, content: object, **groups: GroupMembers) -> Folder:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return Folder(rank=1, root=tmp_path, output=tmp_path, readings=READINGS, files={name: path}, groups=groups)


def bandwidth(**links: object) -> dict[str, object]:
    return {"Communication Bandwidth Info": {k: {"Size Distribution": v} for k, v in links.items()}}


def transfers(tmp_path: Path, operators: object, step: str = "step3") -> list[dict[str, object]]:
    return rank(tmp_path, "communication.json", {step: {"collective": operators}}).read(Transfer).rows()


def links(tmp_path: Path, operators: object, **groups: GroupMembers) -> list[dict[str, object]]:
    return rank(tmp_path, "communication_matrix.json", {"step": {"collective": operators}}, **groups).read(Link).rows()


def moved(link: str, size: float, time: float) -> dict[str, object]:
    return {"Transport Type": link, "Transit Size(MB)": size, "Transit Time(ms)": time, "Bandwidth(GB/s)": 1}


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("hcom_allReduce__271_0_1", "allReduce"),
        ("hcom_send__822_0", "send"),
        ("hcom_batchSendRecv__128_3_1", "batchSendRecv"),
        ("hcom_allGather_AicpuKernel__1_2_3", "allGather"),
        ("hcom_alltoallv_", "alltoallv"),
        ("strange", "strange"),
        ("", ""),
    ],
)
def test_the_kind_of_an_operator_stands_in_its_name(name: str, op: str) -> None:
    assert op_of(name) == op


def test_batch_send_and_receive_is_point_to_point_wherever_it_is_listed() -> None:
    assert is_p2p("batchSendRecv")
    assert not is_p2p("allReduce")


def test_step_alone_is_no_number() -> None:
    assert (step_number("step13"), step_number("step"), step_number("13"), step_number("stepx")) == (13, None, 13, None)


def test_ranks_are_read_from_brackets_only() -> None:
    assert ranks_of("(0, 12, 3)") == (0, 12, 3)
    assert ranks_of("p2p") == ()


def test_packets_are_given_by_link_and_size_in_bytes_and_us(tmp_path: Path) -> None:
    row = transfers(tmp_path, {"hcom_allReduce__271_0_1@77": bandwidth(HCCS={"8.388608": [2, 0.5]})})
    assert row == [
        {
            "rank": 1,
            "step": 3,
            "name": "hcom_allReduce__271_0_1",
            "op": "allReduce",
            "group": "77",
            "link": "HCCS",
            "packet_bytes": 8388608.0,
            "packets": 2.0,
            "transit_us": 500.0,
        }
    ]


def test_sums_over_links_and_over_operators_are_left_out(tmp_path: Path) -> None:
    same = {"1": [1, 1]}
    operators = {"hcom_x__1_0_1@7": bandwidth(SDMA=same, HCCS=same, RDMA=same), "Total Op Info": bandwidth(HCCS=same)}
    assert [row["link"] for row in transfers(tmp_path, operators)] == ["HCCS", "RDMA"]


def test_a_job_without_steps_has_no_step_number(tmp_path: Path) -> None:
    row, *_ = transfers(tmp_path, {"hcom_x__1_0_1@7": bandwidth(HCCS={"1": [1, 1]})}, "step")
    assert row["step"] is None


def test_entries_of_a_wrong_type_are_left_out_and_noted(tmp_path: Path) -> None:
    operators: dict[str, object] = {"hcom_x__1_0_1@7": bandwidth(HCCS={"1": [1, 1]}), "hcom_y__1_1_1@7": None}
    folder = rank(tmp_path, "communication.json", {"step1": {"collective": operators, "p2p": 3}, "step2": "x"})
    assert [row["op"] for row in folder.read(Transfer).rows()] == ["x"]
    assert sum(int(str(row["rows"])[:-2]) for row in folder.read(Damage).rows()) == 3


def test_a_truncated_file_makes_its_facts_unreadable(tmp_path: Path) -> None:
    folder = rank(tmp_path, "communication.json", '{"step1": {"collective": {"hcom')
    with pytest.raises(FactMissing) as caught:
        folder.read(Transfer)
    assert caught.value.unreadable == ("communication.json",)


def test_totals_stand_for_all_operators_of_their_kind(tmp_path: Path) -> None:
    pair = {"1-0": moved("HCCS", 4, 2)}
    rows = links(tmp_path, {"allreduce-top1@7": pair, "allreduce-total@7": {"1-0": moved("HCCS", 10, 5)}})
    assert [(row["op"], row["size_bytes"], row["transit_us"], row["bandwidth_gbps"]) for row in rows] == [
        ("allreduce", 10e6, 5000.0, 2.0)
    ]


def test_without_totals_operators_are_added_up(tmp_path: Path) -> None:
    """Files of 2023 list every operator by its own name."""
    operators = {f"hcom_send__822_{i}@7": {"1-0": moved("RDMA", 4, 2)} for i in range(3)}
    rows = links(tmp_path, operators)
    assert [(row["op"], row["size_bytes"], row["transit_us"]) for row in rows] == [("send", 12e6, 6000.0)]


def test_copies_on_the_chip_are_no_link(tmp_path: Path) -> None:
    assert links(tmp_path, {"send-total@7": {"1-1": moved("LOCAL", 4, 2)}}) == []


def test_ranks_inside_a_group_become_global(tmp_path: Path) -> None:
    operators = {"allreduce-total@7": {"1-0": moved("HCCS", 4, 2)}}
    (row,) = links(tmp_path, operators, **{"7": GroupMembers("dp", (4, 6))})
    assert (row["source"], row["target"]) == (6, 4)


def test_ranks_that_do_not_fit_their_group_are_global_already(tmp_path: Path) -> None:
    operators = {"send-total@7": {"0-8": moved("RDMA", 4, 2)}}
    (row,) = links(tmp_path, operators, **{"7": GroupMembers("pp", (0, 8))})
    assert (row["source"], row["target"]) == (0, 8)


def test_nothing_moved_in_no_time_has_no_bandwidth(tmp_path: Path) -> None:
    (row,) = links(tmp_path, {"send-total@7": {"1-0": moved("HCCS", 0, 0)}})
    assert row["bandwidth_gbps"] is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "step1",
                    "step",
                    "p2p",
                    "collective",
                    "hcom_x__1_0_1@7",
                    "Total Op Info",
                    "allreduce-total@9",
                    "Communication Bandwidth Info",
                    "HCCS",
                    "Size Distribution",
                    "1-0",
                    "4.2",
                    "Transport Type",
                    "Transit Size(MB)",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=60)
@pytest.mark.parametrize(("fact", "name"), [(Transfer, "communication.json"), (Link, "communication_matrix.json")])
def test_no_content_of_a_file_ends_the_run(
    tmp_path_factory: pytest.TempPathFactory, fact: type[Fact], name: str, content: Any
) -> None:
    folder = rank(tmp_path_factory.mktemp("c"), name, {"step1": {"collective": content, "p2p": {"hcom": content}}})
    table = folder.read(fact)
    assert (table["step"] != MISSING).all()
