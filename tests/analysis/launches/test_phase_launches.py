# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from advisor import load_rules
from advisor.analysis.job.engine_borders import EngineTables
from advisor.analysis.launches.delayed_launches import launch_delays
from advisor.analysis.launches.phase_launches import launch_pauses, phase_launches
from advisor.facts import Table, read_table
from advisor.facts.derived import Dispatch, Gap, LaunchDelay, LaunchPause, PhaseLaunch
from advisor.facts.observed import HostCall, Kernel, Launch
from advisor.model.findings import Diagnosis
from advisor.model.job import told_job
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.pipeline import judge_profile, open_profile
from corpus.cases import setup_of
from corpus.inference import Decoder

RULE = "host/eager-inference"


def forms(kernels: str, launches: str, held: str = "", idle: str = "") -> Table[PhaseLaunch]:
    return phase_launches(
        run_of_ranks(Run()),
        EngineTables(read_table(Kernel, kernels), None, None, None, None),
        read_table(Launch, launches),
        held=read_table(LaunchDelay, held) if held else None,
        idle=read_table(Gap, idle) if idle else None,
        links=None,
        collectives=None,
    )


@pytest.mark.parametrize(
    ("idle", "lost_us"),
    [
        ("1 5000 python\n1 700 python\n1 300 host_late\n2 1000 dequeue", 1000.0),
        ("1 5000 python", 0.0),
        ("1 900 compile\n1 100 python", 100.0),
        ("1 900 python\n1 900 python\n1 900 python\n1 900 python\n1 900 python", 4000.0),
    ],
)
def test_one_long_pause_is_no_loss_of_launching_one_by_one(idle: str, lost_us: float) -> None:
    (row,) = forms(
        "start_ns duration_us\n100 2",
        "host_start_ns device_start_ns\n10 100",
        "cause lost_us\nhost 4000",
        "step duration_us cause\n" + idle,
    ).rows()
    assert row["lost_us"] == lost_us


def test_a_replayed_graph_is_one_call_for_many_kernels() -> None:
    (row,) = forms(
        "start_ns duration_us\n100 2\n200 3\n300 4",
        "host_start_ns device_start_ns\n10 100\n10 200\n20 300\n30 400",
        "cause lost_us\nhost 7\ncompile 9",
    ).rows()
    assert row == {
        "rank": 0, "engine_phase": None, "kernels": 3.0, "calls": 2.0, "kernel_us": 9.0, "lost_us": 7.0,
        "phase_us": None, "fewest_calls": None,
    }  # fmt: skip


def test_kernels_outside_of_the_steps_that_count_are_not_launched_in_them() -> None:
    (row,) = forms(
        "step start_ns duration_us\n- 100 2\n7 200 3\n8 300 4",
        "host_start_ns device_start_ns\n10 100\n20 200\n30 300",
    ).rows()
    assert (row["kernels"], row["calls"], row["kernel_us"]) == (2.0, 2.0, 7.0)


def test_kernels_of_no_known_call_are_those_of_graphs_that_launched_no_known_kernel() -> None:
    kernels = read_table(Kernel, "start_ns duration_us\n100 2\n200 3\n210 3\n220 3\n300 4")
    calls = read_table(HostCall, "kind activity start_ns end_ns\napi replay 150 160\napi replay 290 295")
    launches = read_table(Launch, "host_start_ns device_start_ns\n10 100\n290 300")
    tables = EngineTables(kernels, calls, None, None, None)
    (row,) = phase_launches(
        run_of_ranks(Run()), tables, launches, held=None, idle=None, links=None, collectives=None
    ).rows()
    assert (row["kernels"], row["calls"], row["kernel_us"]) == (5.0, 3.0, 15.0)


def test_ranks_are_told_apart_and_kernels_without_a_launch_left_out() -> None:
    table = forms(
        "rank start_ns duration_us\n0 100 2\n0 150 2\n1 100 5\n2 100 5",
        "rank host_start_ns device_start_ns\n0 10 100\n1 11 100",
    )
    assert [(row["rank"], row["kernels"], row["calls"], row["lost_us"]) for row in table.rows()] == [
        (0, 1.0, 1.0, None),
        (1, 1.0, 1.0, None),
    ]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=30))
def test_calls_are_counted_as_a_person_would(links: list[tuple[int, int]]) -> None:
    kernels = "rank start_ns duration_us\n" + "\n".join(f"{rank} {at} 1" for at, (_, rank) in enumerate(links))
    launches = "rank host_start_ns device_start_ns\n" + "\n".join(
        f"{rank} {call} {at}" for at, (call, rank) in enumerate(links)
    )
    found = {row["rank"]: row["calls"] for row in forms(kernels, launches).rows()}
    assert found == {rank: len({call for call, own in links if own == rank}) for rank in {own for _, own in links}}


MARKS = {"prefill": '"step[EXTEND bs=1 toks=900]"', "decode": '"step[DECODE bs=8]"'}
Step = tuple[str, list[tuple[int, int]]]
"""What a step does, and its kernels: how long after the one before each is launched, and how long it runs, µs."""


def marked(
    steps: list[Step], run: Run | None = None, pauses: str = ""
) -> tuple[list[Any], list[Any], Table[LaunchDelay]]:
    """An engine that marks its steps: what each phase launched and the pauses of each, beside what the rank loses."""
    host, device = 0, 0
    calls, kernels, launches, links = [], [], [], []
    for phase, work in steps:
        calls.append(f"{MARKS[phase]} 1 python {host} {host + 1}")
        for later, lasts in work:
            host += 1_000 * later + 10 if later else 0  # zero: by the same call
            start, idle = max(host + 5_000, device), max(host + 5_000 - device, 0)
            kernels.append(f"{start} {lasts}")
            launches.append(f"{host} {start}")
            links.append(f"{start} {(start - host) / 1e3} {idle / 1e3} {str(idle > 0).lower()}")
            device = start + 1_000 * lasts
        host += 10
    given_calls = read_table(HostCall, "name thread kind start_ns end_ns\n" + "\n".join(calls))
    given_kernels = read_table(Kernel, "start_ns duration_us\n" + "\n".join(kernels))
    given_links = read_table(Dispatch, "start_ns latency_us idle_before_us vertical\n" + "\n".join(links))
    given_launches = read_table(Launch, "host_start_ns device_start_ns\n" + "\n".join(launches))
    held = launch_delays(given_kernels, given_calls, links=given_links, collectives=None, tasks=None, windows=None)
    tables = EngineTables(given_kernels, given_calls, None, None, None)
    told = run_of_ranks(run or Run())
    gaps = read_table(Gap, f"start_ns duration_us cause\n{pauses}")
    return (
        phase_launches(told, tables, given_launches, held=held, idle=None, links=given_links, collectives=None).rows(),
        launch_pauses(told, gaps, tables, given_launches, links=given_links, collectives=None).rows(),
        held,
    )


SLOW_DECODE: list[Step] = [("prefill", [(2, 100)] * 5), ("decode", [(60, 3)] * 20), ("decode", [(60, 3)] * 20)]


def test_each_phase_has_its_own_launches_and_losses() -> None:
    whole, prefill, decode = marked(SLOW_DECODE)[0]
    assert (whole["engine_phase"], whole["kernels"]) == (None, 45)
    assert (prefill["engine_phase"], prefill["kernels"], prefill["calls"], prefill["kernel_us"]) == (
        "prefill", 5, 5, 500,
    )  # fmt: skip
    assert (decode["engine_phase"], decode["kernels"], decode["kernel_us"]) == ("decode", 40, 120)
    assert prefill["lost_us"] < 0.05 * prefill["phase_us"]
    assert decode["lost_us"] > 0.5 * decode["phase_us"]


def test_steps_that_replay_a_graph_show_among_those_that_do_not() -> None:
    """One in ten of those that generate launches its 20 kernels with one call."""
    alone: Step = ("decode", [(60, 3)] * 20)
    whole, prefill, decode = marked([("prefill", [(2, 100)] * 5), *[alone] * 9, ("decode", [(60, 3)] + [(0, 3)] * 19)])[
        0
    ]
    assert (whole["fewest_calls"], prefill["fewest_calls"], decode["fewest_calls"]) == (1, 1, 0.05)
    whole, _, decode = marked([("prefill", [(2, 100)] * 5), *[alone] * 9])[0]
    assert (whole["fewest_calls"], decode["fewest_calls"]) == (1, 1)


def test_where_the_user_says_what_all_steps_do_no_phases_are_told() -> None:
    assert len(marked(SLOW_DECODE, Run(job=told_job("decode", "")))[0]) == 1
    assert len(marked(SLOW_DECODE, Run(job=told_job("serving", "")))[0]) == 3


def test_a_pause_is_of_the_phase_whose_work_ended_it() -> None:
    """The first kernel begins after 7.01 µs, and the last of the prompt ends after 507."""
    pauses = "520000 7.0 host_late\n0 7.01 python\n600000 9.0 wait"
    found = [(row["start_ns"], row["engine_phase"]) for row in marked(SLOW_DECODE, pauses=pauses)[1]]
    assert found == [(520000, None), (0, None), (520000, "decode"), (0, "prefill")]


def test_a_long_pause_that_only_begins_in_a_wait_is_one_of_a_late_host() -> None:
    calls = read_table(HostCall, "name thread kind activity start_ns end_ns\nwait 1 api synchronise 0 90000")
    idle = read_table(
        Gap, "start_ns duration_us cause\n80000 1500 synchronise\n2000000 900 synchronise\n0 50 host_late"
    )
    told = EngineTables(Table.empty(Kernel), calls, None, None, None)
    found = launch_pauses(run_of_ranks(Run()), idle, told, Table.empty(Launch), links=None, collectives=None).rows()
    assert [(row["duration_us"], row["cause"]) for row in found] == [(50, "host_late"), (1500, "host_late")]


_WORK = st.lists(st.tuples(st.integers(0, 80), st.integers(1, 120)), min_size=1, max_size=8)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["prefill", "decode"]), _WORK), min_size=1, max_size=5))
def test_no_phase_loses_more_than_it_takes_nor_all_together_more_than_the_rank(steps: list[Step]) -> None:
    (whole, *phases), _, held = marked(steps)
    assert {row["engine_phase"] for row in phases} == {phase for phase, _ in steps}
    assert sum(row["kernels"] for row in phases) == whole["kernels"] == sum(len(work) for _, work in steps)
    assert sum(row["kernel_us"] for row in phases) == pytest.approx(whole["kernel_us"])
    assert all(0 <= row["lost_us"] <= row["phase_us"] + 1e-9 for row in phases)
    assert sum(row["lost_us"] for row in phases) <= whole["lost_us"] + 1e-6
    assert len(held)


def diagnosed(folder: Path, **changes: Any) -> Diagnosis:
    """A server that reads a long prompt in every other pass and generates in the others, and marks nothing."""
    setup = setup_of("healthy", "inference")
    changes = {"steps": 10, "prefill_every": 2, "prompt": 2048, **changes}
    workload = replace(cast("Decoder", setup.workload), **changes)
    corpus.write(corpus.job("healthy", 1, setup=replace(setup, workload=workload)), folder, steps=False)
    return judge_profile(open_profile(folder, jobs=1), load_rules().select([RULE, "capture/*"]), shown=())


def test_tokens_that_are_launched_one_by_one_are_named_though_prompts_hide_it(tmp_path: Path) -> None:
    """Over the whole capture a slow host loses less than a fifth, for the prompts keep the device busy."""
    diagnosis = diagnosed(tmp_path, host_us=200.0)
    (finding,) = (one for one in diagnosis.findings if one.rule == RULE)
    values = {one.name: cast("float", one.value) for one in finding.evidence}
    assert finding.subject == {"engine_phase": "decode"}
    assert values["lost_share"] > 0.2 > values["lost_us_per_step"] / cast("float", diagnosis.run.step_us)
    assert finding.saving is not None
    assert finding.saving.us <= values["phase_us_per_step"] < cast("float", diagnosis.run.step_us)
    assert {one.table for one in finding.occurrences} == {LaunchPause.table}


def test_its_twin_with_a_host_that_keeps_up_is_quiet(tmp_path: Path) -> None:
    assert [one for one in diagnosed(tmp_path).findings if one.rule == RULE] == []


def test_tokens_alone_are_judged_as_the_whole_capture(tmp_path: Path) -> None:
    (finding,) = (one for one in diagnosed(tmp_path, host_us=350.0, prefill_every=0).findings if one.rule == RULE)
    assert finding.subject == {"engine_phase": None}
