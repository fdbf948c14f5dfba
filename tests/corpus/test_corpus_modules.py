# SPDX-License-Identifier: Apache-2.0
"""Generated jobs mark the modules of their model where they are told to, and everything else stays as it is."""

from __future__ import annotations

import contextlib
import csv
import json
import sqlite3
from collections import defaultdict
from pathlib import Path

import pytest

import corpus
from advisor.model.modules import ModuleReport
from advisor.pipeline import modules, open_profile
from corpus.events import Job


@pytest.fixture(scope="module")
def job() -> Job:
    return corpus.job("healthy", 3)


def told(job: Job, folder: Path, export: str) -> ModuleReport:
    return modules(open_profile(corpus.write(job, folder / export, export, modules=True)))


def expected(job: Job) -> dict[tuple[int, str, bool], float]:
    """By rank, module and pass: the time of its kernels, each looked up by itself."""
    found: dict[tuple[int, str, bool], float] = defaultdict(float)
    for trace in job.ranks:
        forward = {id(later): earlier for earlier, later in trace.gradients}
        for task in trace.kernels():
            if task.origin is None:
                continue
            call = forward.get(id(task.origin), task.origin)
            around = [one for one in trace.modules if one.start <= call.start and call.end <= one.end]
            path = "/".join(one.name for one in around)
            if path:
                found[trace.rank, path, call is not task.origin] += (task.end - task.start) / 1e3
    return found


@pytest.mark.parametrize("export", ["text", "database"])
def test_every_kernel_is_charged_to_the_module_that_launched_it(job: Job, tmp_path: Path, export: str) -> None:
    found: dict[tuple[int, str, bool], float] = defaultdict(float)
    for rank in told(job, tmp_path, export).ranks:
        for row in rank.operators:
            path = "/".join(filter(None, (row.parent, row.module)))
            found[rank.rank, path, row.phase == "backward"] += row.total_us
    assert found == pytest.approx(expected(job), rel=1e-4)


def test_both_exports_tell_the_same_modules(job: Job, tmp_path: Path) -> None:
    text, database = (told(job, tmp_path, export) for export in ("text", "database"))
    for one, other in zip(text.ranks, database.ranks, strict=True):
        assert (one.source, one.ranges, one.backward) == (other.source, other.ranges, other.backward)
        assert [node.path for node in one.tree] == [node.path for node in other.tree]
        assert [node.total_us for node in one.tree] == pytest.approx([node.total_us for node in other.tree], rel=1e-3)
    assert [node.path for node in text.ranks[0].tree if node.path] == [
        "model", "model/layers.*", "model/layers.*/self_attn", "model/layers.*/mlp",
    ]  # fmt: skip


def test_without_marks_the_files_are_as_they_were(job: Job, tmp_path: Path) -> None:
    report = modules(open_profile(corpus.write(job, tmp_path / "plain")))
    assert report.ranks == ()
    assert report.unmarked == report.run.ranks


QKV, MASK = "4,2048,2048", "2048,2048"
SHAPES = {
    "FlashAttentionScore": (";".join([QKV] * 3 + ["", "", "", MASK]), "DT_BF16;DT_BF16;DT_BF16;;;;BOOL"),
    "FlashAttentionScoreGrad": (";".join([QKV] * 4 + ["", "", "", MASK]), "DT_BF16;" * 4 + ";;;BOOL"),
}
CAUSAL = {"input_layout": "BSH", "sparse_mode": 2, "actual_seq_qlen": [], "actual_seq_kvlen": []}
FORWARD_FLOPS = 4 * 4 * 2048**2 * 2048 / 2
"""Four sequences of 2048, 16 heads of 128, causal."""
NEAR_NS = 1000


def mark_text(folder: Path, message: str) -> None:
    """Give attention its mask, and set a mark before each call of it, in the text export of one rank."""
    with (folder / "kernel_details.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    kind, shapes, dtypes = (head.index(name) for name in ("Type", "Input Shapes", "Input Data Types"))
    for row in rows:
        if row[kind] in SHAPES:
            row[shapes], row[dtypes] = f'"{SHAPES[row[kind]][0]}"', SHAPES[row[kind]][1]
    with (folder / "kernel_details.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
    events = json.loads((folder / "trace_view.json").read_text("utf-8"))
    lane = next(event for event in events if "domain" in event.get("args", {}))
    for event in [one for one in events if one.get("name") == "npu::npu_fusion_attention"]:
        whole, part = event["ts"].split(".")
        at = int(whole) * 1000 + int(part) - NEAR_NS
        args = {"event_type": "marker", "domain": "flash_attn_args"}
        events.append({**lane, "name": message, "ts": f"{at // 1000}.{at % 1000:03}", "dur": 0, "args": args})
    (folder / "trace_view.json").write_text(json.dumps(events), "utf-8")


def mark_database(path: Path, message: str) -> None:
    """The same in a database."""
    with contextlib.closing(sqlite3.connect(path)) as found, found:
        (top,) = found.execute("SELECT max(id) FROM STRING_IDS").fetchone()
        texts = [message, "flash_attn_args", *(text for pair in SHAPES.values() for text in pair)]
        ids = {text: top + number for number, text in enumerate(texts, 1)}
        found.executemany("INSERT INTO STRING_IDS VALUES (?,?)", [(number, text) for text, number in ids.items()])
        for kind, (shapes, dtypes) in SHAPES.items():
            found.execute(
                "UPDATE COMPUTE_TASK_INFO SET inputShapes=?, inputDataTypes=? WHERE opType=(SELECT id FROM STRING_IDS "
                "WHERE value=?)", (ids[shapes], ids[dtypes], kind),
            )  # fmt: skip
        found.execute(
            "INSERT INTO MSTX_EVENTS SELECT startNs - ?, startNs - ?, 0, 0, 0, ?, globalTid, globalTid, ?, 4000000000 "
            "FROM PYTORCH_API WHERE name=(SELECT id FROM STRING_IDS WHERE value='npu::npu_fusion_attention')",
            (NEAR_NS, NEAR_NS, ids[message], ids["flash_attn_args"]),
        )


@pytest.mark.parametrize("export", ["text", "database"])
def test_marks_of_attention_tell_its_share_of_the_peak_forward_and_backward(
    job: Job, tmp_path: Path, export: str
) -> None:
    root = corpus.write(job, tmp_path / export, export, modules=True)
    folder = sorted(root.glob("*/ASCEND_PROFILER_OUTPUT"))[0]
    message = json.dumps(CAUSAL)
    if export == "text":
        mark_text(folder, message)
    else:
        mark_database(next(folder.glob("ascend_pytorch_profiler*.db")), message)
    profile = open_profile(folder.parent)
    peak = profile.table("chip_limits")["half_tflops"][0] * 1e12
    kinds = {"FlashAttentionScore": FORWARD_FLOPS, "FlashAttentionScoreGrad": 2.5 * FORWARD_FLOPS}
    rows = [row for row in profile.table("operator_rooflines").rows() if row["op_type"] in kinds]
    assert len(rows) == 2
    for row in rows:
        flops = kinds[str(row["op_type"])]
        assert row["mega_flops"] == pytest.approx(flops / 1e6)
        assert row["mfu"] == pytest.approx(flops / peak / (float(str(row["mean_us"])) / 1e6))
    told = {row.operator: row for row in modules(profile).ranks[0].operators if "attention" in row.operator}
    assert {row.phase for row in told.values()} == {"forward", "backward"}
    assert all(row.mfu is not None and 0.2 < row.mfu < 1 for row in told.values())
    attention = [node.mfu for node in modules(profile).ranks[0].tree if node.name == "self_attn"]
    assert len(attention) == 1 and attention[0] is not None and 0.2 < attention[0] < 1
