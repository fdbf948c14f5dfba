# SPDX-License-Identifier: Apache-2.0
"""Signs of pipeline stages, and of what moves between and within them: in folders of MindSpore's old profiler, and in
captures of today's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus import mindinsight
from corpus.events import Layout
from corpus.mindinsight import Spans, Step
from corpus.planes import group_name
from corpus.program import AwaitCommunication, Communicate, Instruction, Launch
from corpus.signs import Sign, Write
from corpus.signs.captures import Altered, about, edit_json, write_setup
from corpus.transformer import Transformer
from corpus.workloads import WORKLOADS

_RANKS = 4
_INTERVAL_US, _TAIL_US = 1000.0, 500.0
_BEGIN_US = 1e6
"""Of the first rank; no two of them begin at once."""

Stage = Sequence[tuple[float, float, float]]
"""Computation, receiving and other communication of each step, in ms."""


def _even(compute: float, receive: float, other: float, first: float | None = None) -> Stage:
    """Four steps alike, of which the first receives for longer."""
    return [(compute, receive if first is None else first, other), *[(compute, receive, other)] * 3]


def _stages(*stages: Stage, flops: Sequence[float] = (), spans: Spans | None = None) -> Write:
    """Folders of two ranks per stage; `flops`, in millions, by stage, and what the trace of each rank tells apart."""

    def written(folder: Path) -> None:
        folder.mkdir(parents=True)
        for rank in range(_RANKS):
            stage = rank * len(stages) // _RANKS
            steps = [(_INTERVAL_US, sum(row) * 1e3, _TAIL_US) for row in stages[stage]]
            name = f"ascend_cluster_analyse_pipeline-parallel_{len(stages)}_{_RANKS}_{rank}.csv"
            files = {
                f"step_trace_raw_{rank}_detail_time.csv": mindinsight.trace(steps, _BEGIN_US + 3 * rank, spans),
                name: mindinsight.stage_times(stages[stage]),
            }
            if flops:
                told = {"FLOPs": flops[stage], "FLOPS": 5000.0, "FLOPS_Utilization": 0.7}
                files[f"flops_summary_{rank}.json"] = json.dumps(told)
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8")

    return written


def _tails(step: Step, reducing_us: float) -> Write:
    """Data-parallel ranks whose AllReduce runs for so long from the begin of the tail on."""
    begin = step[0] + step[1]
    spans = {"stream_48_0_AllReduce-op663": (begin, begin + reducing_us)}

    def written(folder: Path) -> None:
        folder.mkdir(parents=True)
        for rank in range(_RANKS):
            text = mindinsight.trace([step] * 4, _BEGIN_US + 3 * rank, spans)
            (folder / f"step_trace_raw_{rank}_detail_time.csv").write_text(text, encoding="utf-8")
            told = folder / f"ascend_cluster_analyse_data-parallel_1_{_RANKS}_{rank}.csv"
            told.write_text("iteration_interval, fp_and_bp, tail\n1,1,1\n", encoding="utf-8")

    return written


_SMALL = replace(
    WORKLOADS["pipeline"],
    workload=Transformer(layers=4, batch=2, micro_batches=10, steps=2, vocabulary=1024, trimmings=True),
    layout=Layout(pp=2),
)


def _first_stage(layers: tuple[int, int]) -> Write:
    """A pipeline of which only the first stage was captured."""
    model = _SMALL.workload
    assert isinstance(model, Transformer)  # noqa: S101 - as it was made
    setup = replace(_SMALL, workload=replace(model, stage_layers=layers))

    def written(folder: Path) -> None:
        write_setup(folder, setup)
        shutil.rmtree(sorted(folder.glob("*_ascend_pt"), key=_rank_of)[1])

    return written


def _rank_of(folder: Path) -> int:
    (info,) = folder.glob("profiler_info*.json")
    return int(json.loads(info.read_bytes())["rank_id"])


def _bare_transfers(hidden: int) -> Write:
    """The wider the layers, the more they compute for each byte that they send. Of 1024 wide ones each micro-batch
    sends 4096 rows of 2 bytes, 512 µs at 16.5 GB/s with what a packet costs besides."""
    model = Transformer(layers=2, hidden=hidden, batch=2, micro_batches=10, steps=2, vocabulary=1024, trimmings=True)
    return lambda folder: write_setup(folder, replace(_SMALL, workload=model))


def _redistributing(size: int) -> Write:
    """Before each attention so many bytes are gathered by the two ranks among which its operators are split: of 64 MiB
    half is sent, 1198 µs at 28 GB/s, and 29 for what a collective and a packet cost besides."""

    members = (0, 1)

    def change(step: Iterator[Instruction], _number: int) -> Iterator[Instruction]:
        for one in step:
            if isinstance(one, Launch) and one.kernels[0].info.op_type == "FlashAttentionScore":
                yield Communicate("c10d::_allgather_base_", "allGather", members, size, "tp", "BFP16")
                yield AwaitCommunication(members)
            yield one

    model = Transformer(layers=4, steps=2, batch=1, vocabulary=1024, trimmings=True)
    setup = replace(WORKLOADS["tensor"], workload=Altered(model, change), layout=Layout(tp=2))
    return lambda folder: write_setup(folder, setup, mindspore="graph")


def _sharing_embedding(size: int) -> Write:
    """Both stages add up the gradient of what they share when all micro-batches are done: 128 MiB take 4.8 ms at
    28 GB/s."""
    members = (0, 1)

    def change(step: Iterator[Instruction], _number: int) -> Iterator[Instruction]:
        yield from step
        yield Communicate("c10d::allreduce_", "allReduce", members, size, "embd", "FP32")
        yield AwaitCommunication(members)

    def named(metadata: dict[str, Any]) -> None:
        told = {"group_name": "embd", "group_rank": 0, "global_ranks": list(members)}
        metadata["parallel_group_info"][group_name("embd", members)] = told

    def written(folder: Path) -> None:
        write_setup(folder, replace(_SMALL, workload=Altered(_SMALL.workload, change)))
        edit_json(folder, "profiler_metadata.json", named)

    return written


_SENT: Spans = {"stream_48_0_Send-op663": (1000, 21000), "stream_40_0_AllReduce-op17": (30000, 38000)}

SIGNS: Mapping[str, Sign] = {
    "pipeline/first-receive": Sign(
        spoiled=_stages(_even(20, 40, 5), _even(20, 40, 5, first=400)),
        twin=_stages(_even(20, 40, 5), _even(20, 40, 5, first=50)),
        shows={"received_us": 400_000, "usual_us": 40_000, "first_step_us": 425_500},
    ),
    "pipeline/flops-imbalance": Sign(
        spoiled=_stages(_even(20, 40, 5), _even(60, 0, 5), flops=(1e5, 3e5)),
        twin=_stages(_even(20, 40, 5), _even(60, 0, 5), flops=(1e5, 1.4e5)),
        shows={"excess": 0.5, "own_flops": 3e5, "average_flops": 2e5, "lowest_flops": 1e5},
    ),
    "pipeline/stage-collectives": Sign(
        spoiled=_stages(_even(50, 20.5, 28), _even(50, 48.5, 0)),
        twin=_stages(_even(50, 20.5, 28), _even(50, 48.5, 0), spans=_SENT),
        shows={"collective_part": 0.28, "collective": 28_000, "receive": 20_500},
    ),
    "pipeline/unseen-stages": Sign(
        spoiled=_first_stage((1, 3)),
        twin=_first_stage((2, 2)),
        shows={"pipeline_stages": 2, "not_captured": "1", "batches": 10},
    ),
    "pipeline/exposed-transfers": Sign(
        spoiled=_bare_transfers(1024),
        twin=_bare_transfers(2560),
        shows={"moving_us": about(10 * 512, 0.03), "calls": 20},
    ),
    "comm/embedding-reduction": Sign(
        spoiled=_sharing_embedding(128 << 20),
        twin=_sharing_embedding(8 << 20),
        shows={"calls": 1},
    ),
    "comm/redistribution": Sign(
        spoiled=_redistributing(64 << 20),
        twin=_redistributing(24 << 20),
        shows={
            "top_op": "allGather", "top_before": "RotaryMul", "top_after": "FlashAttentionScore", "calls_per_step": 4,
            "redistributed_us": about(4 * 1227, 0.03),
        },
    ),
    "comm/long-tail": Sign(
        spoiled=_tails((500, 16500, 3000), 2800),
        twin=_tails((500, 16500, 3000), 1500),
        shows={"tail_part": 0.14, "reduced_us": 2800, "tail": 3000},
    ),
}  # fmt: skip
