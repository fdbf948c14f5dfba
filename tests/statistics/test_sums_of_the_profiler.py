# SPDX-License-Identifier: Apache-2.0
"""Tables of real captures say what the profiler's own sums of the same captures say, to rounding."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import advisor
from advisor.cli.main import main

MATRIX = [f"msinsight_pytorch_matrix/{export}/{level}" for export in ("text", "db") for level in ("level1", "level2")]


def sums_beside(folder: Path, name: str) -> pd.DataFrame:
    """The profiler's own sums of both ranks of a capture, of the text export."""
    files = sorted(folder.glob(f"rank*/ASCEND_PROFILER_OUTPUT/{name}"))
    assert files
    return pd.concat([pd.read_csv(file).assign(rank=rank) for rank, file in enumerate(files)])


@pytest.mark.parametrize("level", ["level1", "level2"])
def test_kernels_agree_with_op_statistic(real_data: Path, level: str) -> None:
    folder = real_data / "msinsight_pytorch_matrix" / "text" / level
    recorded = sums_beside(folder, "op_statistic.csv").set_index(["rank", "OP Type", "Core Type"])
    counted = advisor.stats(folder, "kernels", per_rank=True).set_index(["rank", "op_type", "core"])
    assert set(counted.index) == set(recorded.index)
    counted, recorded = counted.sort_index(), recorded.sort_index()
    assert counted["calls"].tolist() == recorded["Count"].tolist()
    for ours, theirs in {"mean_us": "Avg Time(us)", "min_us": "Min Time(us)", "max_us": "Max Time(us)"}.items():
        assert counted[ours].tolist() == pytest.approx(recorded[theirs].tolist(), abs=0.0011)
    off = (counted["total_us"] - recorded["Total Time(us)"]).abs()
    assert (off <= 0.0006 * counted["calls"] + 0.0005).all()  # each row of the list is rounded to the ns


@pytest.mark.parametrize("level", ["level1", "level2"])
def test_modules_and_what_lies_elsewhere_agree_with_op_statistic(real_data: Path, level: str) -> None:
    folder = real_data / "msinsight_pytorch_matrix" / "text" / level
    recorded = sums_beside(folder, "op_statistic.csv").groupby("rank")[["Total Time(us)", "Count"]].sum()
    counted = advisor.stats(folder, "modules", per_rank=True)
    whole = counted[counted["module"].isna() | ~counted["module"].str.contains("/", na=False)]
    assert whole.groupby("rank")["kernels"].sum().tolist() == recorded["Count"].tolist()
    assert whole.groupby("rank")["total_us"].sum().tolist() == pytest.approx(
        recorded["Total Time(us)"].tolist(), abs=0.1
    )


@pytest.mark.parametrize("level", ["level1", "level2"])
def test_the_table_of_modules_holds_what_the_tree_does(real_data: Path, level: str, tmp_path: Path) -> None:
    folder = real_data / "msinsight_pytorch_matrix" / "text" / level
    assert main(["modules", str(folder), "-o", str(tmp_path / "modules.csv")]) == 0
    table = pd.read_csv(tmp_path / "modules.csv")
    tree = advisor.stats(folder, "modules", per_rank=True)
    roots = tree[tree["module"].notna() & ~tree["module"].str.contains("/", na=False)]
    written = table.groupby("rankID")["totalKernelDuration(ns)"].sum() / 1e3
    assert written.tolist() == pytest.approx(roots.groupby("rank")["total_us"].sum().tolist())
    each = table["avgKernelDuration(ns)"] * table["opCount"]
    assert each.tolist() == pytest.approx(table["totalKernelDuration(ns)"].tolist(), rel=1e-4)


def test_operators_come_from_their_list_where_no_timeline_was_given(tmp_path: Path) -> None:
    output = tmp_path / "x_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    head = "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
    rows = ["aten::add,,,2,3,0,0", "aten::add,,,4,5,0,0", "aten::mm,,,1,10,0,0"]
    (output / "step_trace_time.csv").write_text("Step,Computing,Communication(Not Overlapped),Free\n1,10,0,5\n")
    (output / "operator_details.csv").write_text("\n".join([f"{head}Device Total Duration(us)", *rows]) + "\n")
    counted = advisor.stats(tmp_path, "operators")
    assert counted[["name", "calls", "total_us", "max_us"]].values.tolist() == [
        ["aten::mm", 1, 10, 10],
        ["aten::add", 2, 8, 5],
    ]


@pytest.mark.parametrize("level", ["level1", "level2"])
def test_calls_agree_with_api_statistic(real_data: Path, level: str) -> None:
    folder = real_data / "msinsight_pytorch_matrix" / "text" / level
    recorded = sums_beside(folder, "api_statistic.csv").groupby(["rank", "API Name"])[["Time(us)", "Count"]].sum()
    counted = advisor.stats(folder, "apis", by=["name"], per_rank=True).set_index(["rank", "name"])
    both = counted.join(recorded, how="inner", on=["rank", "name"])
    assert len(both) > 50
    same = both[both["calls"] == both["Count"]]
    assert len(same) >= 0.9 * len(both)
    pd.testing.assert_series_equal(same["total_us"], same["Time(us)"], check_names=False, rtol=1e-4, atol=0.02)


@pytest.mark.parametrize("capture", MATRIX)
def test_collectives_agree_with_communication_json(real_data: Path, capture: str) -> None:
    beside = real_data / capture.replace("/db/", "/text/")
    elapsed = {
        rank: sum(
            call["Communication Time Info"]["Elapse Time(ms)"] * 1e3
            for step in json.loads(file.read_text()).values()
            for name, call in step["collective"].items()
            if name != "Total Op Info"
        )
        for rank, file in enumerate(sorted(beside.glob("rank*/ASCEND_PROFILER_OUTPUT/communication.json")))
    }
    counted = advisor.stats(real_data / capture, "collectives", per_rank=True).groupby("rank")["total_us"].sum()
    if "/text/" in capture:
        assert counted.to_dict() == pytest.approx(elapsed, rel=1e-6)
    else:  # a run of its own
        assert counted.index.tolist() == [*elapsed]


@pytest.mark.parametrize("capture", MATRIX)
def test_every_table_adds_up(real_data: Path, capture: str) -> None:
    profile = advisor.load_profile(real_data / capture)
    for name in ("kernels", "operators", "apis", "collectives", "gaps"):
        merged, apart = (advisor.stats(profile, name, per_rank=per_rank) for per_rank in (False, True))
        assert merged["total_us"].sum() == pytest.approx(apart["total_us"].sum())
        assert merged["calls"].sum() == apart["calls"].sum()
        assert merged["total_share"].sum() == pytest.approx(1)
        ordered = merged[["min_us", "q1_us", "median_us", "q3_us", "max_us"]].to_numpy()
        assert (ordered[:, 1:] >= ordered[:, :-1] * (1 - 1e-9)).all()
        assert (merged["mean_us"].between(merged["min_us"] * (1 - 1e-9), merged["max_us"] * (1 + 1e-9))).all()
    ranks = advisor.stats(profile, "ranks")
    steps = advisor.stats(profile, "steps")
    assert ranks["span_us"].mean() == pytest.approx(steps["span_us"].mean())
