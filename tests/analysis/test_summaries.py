# SPDX-License-Identifier: Apache-2.0
"""Links, stages, steps, memory and frequency: small tables made of small tables."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.chip.frequency import frequency_uses
from advisor.analysis.chip.memory import memory_peaks, module_peaks
from advisor.analysis.ranks.links import link_uses
from advisor.analysis.ranks.pipeline import stage_times
from advisor.analysis.steps.steps import step_spans
from advisor.chips.chip_files import shipped_chips
from advisor.facts.derived import ChipLimit, Overlap
from advisor.facts.observed import Device, Frequency, Kernel, Link, MemoryUse, ModuleMemory
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.run import Parallel, Run
from advisor.model.run_of_ranks import run_of_ranks

RUN = run_of_ranks(Run())


def ring(speeds: list[float], size: float = 1e9) -> Table[Link]:
    count = len(speeds)
    return Table.build(
        Link,
        rank=list(range(count)),
        step=1,
        source=list(range(count)),
        target=[(at + 1) % count for at in range(count)],
        link=["HCCS"] * count,
        size_bytes=size,
        transit_us=[size / speed / 1e3 for speed in speeds],
    )


def test_a_slow_link_stands_out_from_links_of_its_kind():
    rows = link_uses(ring([20, 21, 19, 20, 5]), None).rows()
    assert [round(r["bandwidth_gbps"]) for r in rows] == [20, 21, 19, 20, 5]
    assert rows[4]["deviation"] > 5 > max(r["deviation"] for r in rows[:4])
    assert rows[0]["alike"] == 5 and rows[0]["typical_gbps"] == pytest.approx(20)


def test_a_link_says_in_which_step_it_lost_most_and_what_is_usual_of_its_steps():
    steps = [ring([20, 20, 20, 20, speed]).having(step=np.full(5, at)) for at, speed in enumerate([20, 4, 20, 10, 19])]
    *sound, slow = link_uses(Table.concat(Link, steps), None).rows()
    assert (slow["bulk_steps"], slow["slowest_step"]) == (5, 1)
    assert slow["middle_gbps"] == pytest.approx(19)
    assert slow["bandwidth_gbps"] < 12
    assert [row["slowest_step"] for row in sound] == [None] * 4
    (small, *_) = link_uses(ring([20.0] * 4, size=1000), None).rows()
    assert (small["bulk_steps"], small["middle_gbps"], small["slowest_step"]) == (0, None, None)


@given(st.lists(st.lists(st.integers(1, 9), min_size=4, max_size=4), min_size=1, max_size=5))
def test_steps_of_links_are_those_of_a_plain_loop(speeds: list[list[int]]):
    tables = [ring(list(map(float, one))).having(step=np.full(4, at)) for at, one in enumerate(speeds)]
    for row, own in zip(link_uses(Table.concat(Link, tables), None).rows(), zip(*speeds, strict=True), strict=True):
        assert row["middle_gbps"] == pytest.approx(float(np.median(own)))
        lost = [1e6 / speed - 1e6 / row["typical_gbps"] for speed in own]
        if max(lost) > 1e-6:
            assert lost[row["slowest_step"]] == pytest.approx(max(lost))


def test_equal_links_do_not_deviate():
    assert {r["deviation"] for r in link_uses(ring([20.0] * 4), None).rows()} == {0.0}


def test_links_of_another_kind_or_load_are_not_compared():
    other = ring([2, 2]).having(link=["RDMA", "RDMA"])
    light = ring([1, 1], size=2e6)
    rows = link_uses(Table.concat(Link, [ring([20, 20, 20]), other, light]), None).rows()
    assert all(r["deviation"] == 0 for r in rows if r["size_bytes"] < 1e9 or r["link"] == "RDMA")


def test_a_ring_over_many_ranks_is_not_held_against_sends_of_as_much_over_the_same_kind_of_link():
    sends = ring([24, 25, 24, 24, 25, 24]).having(op=["send"] * 6)
    reduces = ring([11, 11, 11, 5, 11]).having(op=["allreduce"] * 5, source=np.arange(10, 15), target=np.arange(11, 16))
    small = reduces.having(op=["send"] * 5, size_bytes=np.full(5, 2e6), transit_us=np.full(5, 100.0))
    rows = {r["source"]: r for r in link_uses(Table.concat(Link, [sends, reduces, small]), None).rows()}
    assert {source for source, row in rows.items() if row["deviation"] > 3} == {13}
    assert rows[13]["typical_gbps"] == pytest.approx(11, rel=0.02) and rows[13]["alike"] == 5


def test_of_few_links_of_one_collective_both_directions_of_a_slow_one_stand_out_beside_the_others():
    sends = ring([24, 24, 6, 6]).having(op=["send"] * 4)
    reduces = ring([24] * 8).having(op=["allreduce"] * 8, source=np.arange(10, 18), target=np.arange(11, 19))
    rows = link_uses(Table.concat(Link, [sends, reduces]), None).rows()
    assert [row["deviation"] > 3 for row in rows] == [False, False, True, True] + [False] * 8


def test_a_link_told_by_both_ends_counts_once():
    text = (
        "rank step source target link size_bytes transit_us\n0 1 0 1 HCCS 100 1\n1 1 0 1 HCCS 100 1\n1 1 1 0 HCCS 70 1"
    )
    assert [r["size_bytes"] for r in link_uses(read_table(Link, text), None).rows()] == [100, 70]


def test_traffic_is_per_step_and_a_link_without_time_keeps_its_recorded_bandwidth():
    text = "step source target link size_bytes transit_us bandwidth_gbps\n1 0 1 HCCS 1e6 0 7\n2 0 1 HCCS 3e6 0 9"
    (row,) = link_uses(read_table(Link, text), None).rows()
    assert row["size_bytes"] == 2e6 and row["bandwidth_gbps"] == 8.0


def test_a_few_bytes_tell_nothing_of_a_link_and_set_no_other_apart():
    few = ring([0.025] * 3, size=96.0)
    rows = link_uses(Table.concat(Link, [ring([20, 20, 19, 20]), few.having(source=[9, 8, 7])]), None).rows()
    assert [r["bandwidth_gbps"] for r in rows if r["size_bytes"] < 1e6] == [None] * 3
    assert [r["bandwidth_gbps"] for r in rows[:4]] == pytest.approx([20, 20, 19, 20])
    assert rows[0]["alike"] == 4


def test_many_small_calls_beside_large_ones_do_not_slow_a_link_down():
    text = """
    step op        source target link size_bytes transit_us bandwidth_gbps
    1    allreduce 0      1      HCCS 20e6       1000       20
    1    barrier   0      1      HCCS 20e3       1000       0.02
    """
    (row,) = link_uses(read_table(Link, text), None).rows()
    assert (row["bandwidth_gbps"], row["bulk_us"], row["transit_us"]) == pytest.approx((20, 1000, 2000))


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(3, 5), st.sampled_from([1e3, 999_999.0, 1e6, 4e6]), st.integers(1, 9)),
        min_size=1,
    )
)
def test_bandwidth_is_that_of_the_bulk_alone(moved):
    links = Table.build(
        Link, rank=[m[0] for m in moved], step=1, source=[m[0] for m in moved], target=[m[1] for m in moved],
        link=["HCCS"] * len(moved), size_bytes=[m[2] for m in moved], transit_us=[float(m[3]) for m in moved],
    )  # fmt: skip
    for row in link_uses(links, None).rows():
        bulk = [m for m in moved if (m[0], m[1]) == (row["source"], row["target"]) and m[2] >= 1e6]
        expected = sum(m[2] for m in bulk) / sum(m[3] for m in bulk) / 1e3 if bulk else None
        assert row["bandwidth_gbps"] == (expected if expected is None else pytest.approx(expected))


def test_exposure_of_a_link_is_that_of_its_ranks():
    split = read_table(Overlap, "rank comm_us exposed_comm_us\n0 100 30\n1 100 60")
    first, *_, last = link_uses(ring([20, 20, 20]), split).rows()
    assert first["exposed_share"] == pytest.approx(0.6) and last["exposed_share"] == pytest.approx(0.3)


STAGES = """
rank step stage span_us compute_us exposed_comm_us bubble_us free_us
0    1    0     100     50         30              10        20
1    1    0     100     70         20              10        10
2    1    1     100     90         5               0         5
3    1    -     100     99         0               0         1
"""


def test_stage_times_are_means_over_ranks_the_middle_of_computation_and_the_slowest():
    rows = stage_times(Run(parallel=Parallel(stages=((0, 1), (2,), (9,)))), read_table(Overlap, STAGES)).rows()
    assert [(r["stage"], r["ranks"], r["stages"]) for r in rows] == [(0, 2, 3), (1, 1, 3)]
    assert rows[0]["compute_us"] == 50 and rows[0]["slowest_compute_us"] == 70 and rows[0]["bubble_us"] == 10


def test_unknown_stages_are_a_missing_fact():
    with pytest.raises(FactMissing) as caught:
        stage_times(Run(), read_table(Overlap, "rank step span_us\n0 1 5"))
    assert caught.value.tables == ("groups",)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 50)), max_size=9))
def test_steps_are_set_against_the_median_of_the_others(rows):
    steps = [sum(r == rank for r, _ in rows[:at]) for at, (rank, _) in enumerate(rows)]
    split = Table.build(Overlap, rank=[r for r, _ in rows], step=steps, span_us=[float(s) for _, s in rows])
    for row in step_spans(split).rows():
        mine = [span for rank, span in rows if rank == row["rank"]]
        others = mine[: row["step"]] + mine[row["step"] + 1 :]
        assert row["typical_us"] == (statistics.median(others) if others else None)
        assert row["steps"] == len(mine)
        between = mine[1:-1]
        assert row["shortest_between_us"] == min(between, default=None)
        assert row["longest_between_us"] == max(between, default=None)
        if len(mine) != 3:
            assert row["edge"] == (row["step"] in (0, len(mine) - 1))


@pytest.mark.parametrize(
    ("spans", "edges"),
    [
        ([100, 160, 105], [False, False, False]),
        ([100, 160, 115], [True, False, True]),
        ([100, 60, 100], [True, False, True]),
        ([100, 160, 160, 100], [True, False, False, True]),
    ],
    ids=["a longer one between equals", "unequal edges", "a shorter one", "of four"],
)
def test_of_three_steps_a_longer_one_between_equals_is_held_against_these(
    spans: list[float], edges: list[bool]
) -> None:
    split = Table.build(Overlap, rank=[0] * len(spans), step=list(range(len(spans))), span_us=spans)
    assert [row["edge"] for row in step_spans(split).rows()] == edges


MEMORY = """
component time_ns allocated_bytes reserved_bytes
PTA       10      50              100
PTA       20      90              400
PTA       30      95              400
PTA       40      10              50
APP       10      -               700
GE        -       1               1
"""


def test_the_peak_is_the_first_moment_of_most_reserved_memory():
    rows = {r["component"]: r for r in memory_peaks(RUN, shipped_chips(), read_table(MemoryUse, MEMORY), None).rows()}
    assert rows["PTA"]["time_ns"] == 20 and rows["PTA"]["allocated_bytes"] == 90
    assert rows["PTA"]["reserved_bytes"] == 400 and rows["PTA"]["largest_allocated_bytes"] == 95
    assert rows["APP"]["allocated_bytes"] is None and rows["APP"]["reserved_bytes"] == 700
    assert "GE" not in rows


def test_most_in_use_is_that_of_the_whole_recording_with_blocks_that_await_their_stream():
    """The pool was taken before: its peak is the first moment recorded, when little of it is in use."""
    said = """
    component time_ns allocated_bytes active_bytes reserved_bytes
    PTA       10      20              20           400
    PTA       20      300             350          400
    PTA       30      310             0            400
    GE        10      40              -            80
    """
    rows = {r["component"]: r for r in memory_peaks(RUN, shipped_chips(), read_table(MemoryUse, said), None).rows()}
    assert rows["PTA"]["allocated_bytes"] == 20 and rows["PTA"]["largest_used_bytes"] == 350
    assert rows["GE"]["largest_used_bytes"] == 40


@pytest.mark.parametrize(("chip", "known"), [("Ascend910B", False), ("", False), ("Ascend910B4-1", True)])
def test_capacity_is_given_only_where_the_name_of_the_chip_tells(chip, known):
    row = memory_peaks(run_of_ranks(Run(chip=chip)), shipped_chips(), read_table(MemoryUse, MEMORY), None).rows()[0]
    assert (row["capacity_bytes"] is not None) == known


def test_frequency_is_weighted_by_time():
    samples = read_table(Frequency, "time_ns mhz\n0 1800\n3000 900")
    kernels = read_table(Kernel, "step start_ns duration_us\n1 1000 1\n2 3000 1")
    (row,) = frequency_uses(RUN, shipped_chips(), samples, kernels, None, None, None).rows()
    assert row["mean_mhz"] == pytest.approx((1800 * 3 + 900 * 1) / 4)
    assert row["low_share"] == pytest.approx(0.25) and row["compute_us"] == pytest.approx(0.5)
    assert row["highest_mhz"] == 1800 and row["lowest_mhz"] == 900


def test_what_kernels_lose_at_a_lowered_clock_is_measured_by_their_like_at_the_full_one():
    """Products take 125 instead of 100, additions as long as ever; the one that the change cuts tells nothing."""
    samples = read_table(Frequency, "time_ns mhz\n0 1800\n300000 1350")
    said = """
    step start_ns op_type  input_shapes duration_us
    1    0        MatMulV3 64,64        100
    1    100000   Add      64           40
    1    250000   MatMulV3 64,64        120
    2    400000   MatMulV3 64,64        125
    2    525000   Add      64           40
    2    600000   Mul      64           60
    """
    (row,) = frequency_uses(RUN, shipped_chips(), samples, read_table(Kernel, said), None, None, None).rows()
    assert row["beyond_full_us"] == pytest.approx(25 / 2)  # of two steps
    most_unlike = said.replace("Mul      64           60", "Mul      64           600")
    (row,) = frequency_uses(RUN, shipped_chips(), samples, read_table(Kernel, most_unlike), None, None, None).rows()
    assert row["beyond_full_us"] is None


def test_what_ran_slowly_outside_of_the_steps_is_lost_in_none_of_them() -> None:
    samples = read_table(Frequency, "time_ns mhz\n0 900\n300000 1800\n600000 900")
    kernels = read_table(
        Kernel,
        """
        step start_ns op_type  input_shapes duration_us
        -    100000   MatMulV3 64,64        200
        1    400000   MatMulV3 64,64        100
        2    700000   MatMulV3 64,64        120
        """,
    )
    (row,) = frequency_uses(RUN, shipped_chips(), samples, kernels, None, None, None).rows()
    assert (row["compute_us"], row["beyond_full_us"]) == (60, 10)


@pytest.mark.parametrize(
    ("device", "nominal", "low"),
    [
        ("chip nominal_mhz\nAscend910B 1800", 1800, 1),
        ("chip nominal_mhz\nAscend910B -", 1500, 1),
        ("chip nominal_mhz\n- 1200", 1200, 0),
        ("chip nominal_mhz\nAscend310 -", None, 0),
        ("chip nominal_mhz\n- -", None, 0),
    ],
)
def test_a_constant_clock_is_held_against_what_the_chip_was_built_for(device, nominal, low):
    samples = read_table(Frequency, "time_ns mhz\n0 1200")
    kernels = read_table(Kernel, "step start_ns duration_us\n1 1000 600")
    (row,) = frequency_uses(RUN, shipped_chips(), samples, kernels, None, None, read_table(Device, device)).rows()
    assert row["nominal_mhz"] == nominal and row["low_share"] == low
    assert row["full_mhz"] == max(nominal or 0, 1200)
    assert row["compute_us"] == pytest.approx(600 * low)


def test_a_lone_sample_is_the_whole():
    (row,) = frequency_uses(
        RUN, shipped_chips(), read_table(Frequency, "time_ns mhz\n5 1800\n9 0"), None, None, None, None
    ).rows()
    assert row["mean_mhz"] == 1800 and row["low_share"] == 0 and row["compute_us"] is None


def test_where_no_name_tells_the_capacity_the_cores_do_and_what_was_recorded_wins():
    limits = read_table(ChipLimit, "rank memory_bytes\n0 64000000000")
    uses = read_table(MemoryUse, MEMORY)

    def capacity(chip: str, device: str | None) -> float:
        devices = None if device is None else read_table(Device, device)
        return memory_peaks(run_of_ranks(Run(chip=chip)), shipped_chips(), uses, devices, limits).rows()[0][
            "capacity_bytes"
        ]

    assert capacity("", None) == capacity("Ascend910B", "memory_bytes\n-") == 64e9
    assert capacity("Ascend910B4", None) == 32 * 1024**3
    assert capacity("", "memory_bytes\n80000000000") == 80e9


def test_of_a_device_of_which_more_was_taken_than_it_holds_the_memory_is_not_known() -> None:
    uses = Table.build(
        MemoryUse, rank=[0, 0, 1], component=["PTA", "APP", "APP"], time_ns=[1, 1, 1],
        reserved_bytes=[10e9, 100e9, 64 * 1024.0**3],
    )  # fmt: skip
    rows = memory_peaks(run_of_ranks(Run(chip="Ascend910B3")), shipped_chips(), uses, None).rows()
    assert [row["capacity_bytes"] for row in rows] == [None, None, 64 * 1024**3]


def test_nothing_recorded_gives_empty_tables():
    assert not len(link_uses(Table.empty(Link), None))
    assert not len(memory_peaks(RUN, shipped_chips(), Table.empty(MemoryUse), None))
    assert not len(frequency_uses(RUN, shipped_chips(), Table.empty(Frequency), None, None, None, None))
    assert not len(step_spans(Table.empty(Overlap)))


def test_a_module_peaks_where_it_reserved_most():
    uses = read_table(ModuleMemory, "rank component reserved_bytes\n0 HCCL 5\n0 HCCL 9\n0 APP -\n1 HCCL 7")
    peaks = {(row["rank"], row["component"]): row["most_bytes"] for row in module_peaks(uses).rows()}
    assert peaks == {(0, "HCCL"): 9, (0, "APP"): None, (1, "HCCL"): 7}


AMOUNTS = st.sampled_from([1e3, 1e6, 1.9e6, 2e6, 4e6, 4.1e6, 9e6, math.nan])
TRANSITS = st.sampled_from([0.0, 50.0, 100.0, 101.0, 400.0])


def plain_bandwidth(told):
    """Bytes over time of what is 1 MB or more, and the bytes themselves; nothing where there are none."""
    bulk = [(size, us) for size, us in told if size >= 1e6]
    size, took = (sum(part) for part in zip(*bulk, strict=True)) if bulk else (math.nan, math.nan)
    return size, (size / took / 1e3 if took > 0 else math.nan)


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 1), st.integers(2, 4), st.sampled_from("AB"), AMOUNTS, TRANSITS),
        min_size=1,
        max_size=10,
    )
)
def test_links_are_set_against_the_median_of_those_that_carried_as_much(rows):
    """Sent or received as told by either end, with times of zero, unknown sizes, and links without their like."""
    links = Table.build(
        Link, rank=[target if received else source for received, source, target, *_ in rows], step=1,
        source=[row[1] for row in rows], target=[row[2] for row in rows], link=[row[3] for row in rows],
        size_bytes=[row[4] for row in rows], transit_us=[row[5] for row in rows], bandwidth_gbps=math.nan,
    )  # fmt: skip
    ways = {}
    for received, *way, size, us in rows:
        ways.setdefault(tuple(way), {}).setdefault(received, []).append((size, us))
    told = {way: plain_bandwidth(ends.get(False) or ends[True]) for way, ends in ways.items()}
    found = {(row["source"], row["target"], row["link"]): row for row in link_uses(links, None).rows()}
    assert found.keys() == told.keys()
    for way, (size, rate) in told.items():
        row = found[way]
        assert row["bandwidth_gbps"] == (None if math.isnan(rate) else pytest.approx(rate))
        if math.isnan(size):
            continue
        like = plain_like(size, [one for other, (one, _) in told.items() if other[2] == way[2] and one > 0])
        rates = [one for other, (much, one) in told.items() if other[2] == way[2] and much in like]
        assert row["alike"] == len(rates)
        known = [one for one in rates if not math.isnan(one)]
        assert row["typical_gbps"] == (pytest.approx(statistics.median(known)) if known else None)
        if not math.isnan(rate):
            usual = statistics.median(known)
            spread = 1.4826 * statistics.median(abs(one - usual) for one in known)
            assert row["deviation"] == pytest.approx(max(usual - rate, 0) / max(spread, 0.01 * usual))


def plain_like(size, sizes):
    """The sizes that follow each other by no more than a factor of two, up and down from one."""
    like = {size}
    while more := {one for one in sizes if one not in like and any(one / 2 <= near <= one * 2 for near in like)}:
        like |= more
    return like
