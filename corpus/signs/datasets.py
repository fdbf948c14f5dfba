# SPDX-License-Identifier: Apache-2.0
"""Signs of batches that come late: in folders of MindSpore's old profiler, which marks phases and looks at the queues
of a dataset, and in captures of what followed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import corpus
from corpus import mindinsight
from corpus.export import EPOCH_NS
from corpus.mindinsight import Step
from corpus.operators import vector
from corpus.program import Instruction
from corpus.signs import Sign, Write
from corpus.signs.captures import Altered, about, edit_json, write_setup
from corpus.transformer import Transformer
from corpus.workloads import WORKLOADS

_WAITING: Step = (5000, 14000, 1000)
"""A quarter of the step passes before its forward pass begins."""
_PROMPT: Step = (900, 14000, 1000)
"""Less than the millisecond that is normal."""
_BEGIN_US = 1e6
_FULL, _DRY, _HALF_DRY = [60] * 10, [0] * 10, [0, 3] * 5
_OFTEN_DRY, _SELDOM_DRY = [0] * 4 + [60] * 6, [0] * 3 + [60] * 7
"""Empty in four and in three of ten looks: up to three data preparation keeps up."""

Files = Mapping[str, str]


def _steps(step: Step, rank: int = 0) -> Files:
    """Six steps alike, of which the first has no interval; no two ranks begin at once."""
    return {f"step_trace_raw_{rank}_detail_time.csv": mindinsight.trace([step] * 6, _BEGIN_US + 3 * rank)}


def _uneven(long_us: float) -> Write:
    """Two of nine steps, and of those before them the first, pass forward and backward in so much."""
    passes = [14000 if number % 4 else long_us for number in range(9)]
    steps = [(500, working, 1000) for working in passes]
    return _folder({"step_trace_raw_0_detail_time.csv": mindinsight.trace(steps, _BEGIN_US)})


def _of_data(host: Sequence[int], device: Sequence[int] = (), *, sunk: bool = True) -> Files:
    """Looks at the queues; of a loop that takes its batches itself there is none on the device."""
    if not sunk:
        return {"dataset_iterator_profiling_0.txt": mindinsight.host_queue(host, waited_ms=4)}
    looks = {"minddata_aicpu_0.txt": mindinsight.device_queue(device)} if device else {}
    return {"device_queue_profiling_0.txt": mindinsight.host_queue(host, waited_ms=4), **looks}


def _pipeline(behind_map: Sequence[int]) -> Files:
    """A dataset that is read, mapped and batched, its source ahead of the rest."""
    stages = [("Batch", 4, ()), ("Map", 1, behind_map), ("TFReader", 4, [64, 62] * 5)]
    return {"minddata_pipeline_raw_0.csv": mindinsight.dataset(stages)}


def _fetches(ahead_us: float) -> Files:
    """Each GetNext takes 4 ms, and ends so long before the forward pass of its step."""
    interval, working, tail = _WAITING
    begun = [_BEGIN_US + working + tail + number * sum(_WAITING) for number in range(5)]
    ends = [start + interval - ahead_us for start in begun]
    return {
        "aicpu_intermediate_0.csv": mindinsight.aicpu_calls([("GetNext", end - 4000, end) for end in ends]),
        "aicore_intermediate_0_type.csv": "op_type,execution_time,execution_frequency,percent\nMatMul,14,90,100\n",
    }


def _folder(*parts: Files) -> Write:
    """One folder that holds all of these files."""

    def written(folder: Path) -> None:
        folder.mkdir(parents=True)
        for name, text in (file for part in parts for file in part.items()):
            (folder / name).write_text(text, encoding="utf-8")

    return written


def _ranks(own: Step, others: Step, count: int = 4) -> Write:
    """Data-parallel ranks of which the second has steps of its own; they end together."""
    told = {f"ascend_cluster_analyse_data-parallel_1_{count}_{rank}.csv": "iteration_interval, fp_and_bp, tail\n1,1,1\n"
            for rank in range(count)}  # fmt: skip
    return _folder(told, *(_steps(own if rank == 1 else others, rank) for rank in range(count)))


def _sampled_storage(waits: Sequence[float]) -> Write:
    """A loader that is slow, and what `host_sys=["disk"]` samples meanwhile: for which part of its time, in per cent,
    the process waited."""

    def written(folder: Path) -> None:
        corpus.write(corpus.job("data-loader", seed=11, workload="single", strength=2.0), folder)
        edit_json(folder, "profiler_info*.json", _sample_storage)
        lane = {"ph": "C", "name": "Disk Usage", "pid": 9, "tid": 0}
        samples = [{**lane, "ts": f"{EPOCH_NS // 1000 + at * 50_000}.500", "args": {"Usage(%)": share}}
                   for at, share in enumerate(waits)]  # fmt: skip
        edit_json(folder, "trace_view.json", lambda events: [*events, *samples])
        (output,) = folder.rglob("ASCEND_PROFILER_OUTPUT")
        (output / "host_disk_usage.csv").write_text(
            "Device_id,Peak Disk Read(KB/s),Recommend Disk Read(KB/s),Peak Disk Write(KB/s),"
            "Recommend Disk Write(KB/s)\nhost,1953125.0,0,1000.0,0\n"
        )

    return written


def _sample_storage(info: dict[str, dict[str, dict[str, object]]]) -> None:
    info["config"]["experimental_config"]["_host_sys"] = ["disk"]


def _fetching(us: float, *, beside: bool = False) -> Write:
    """GetNext, an operator of the AI CPU, takes so long in each step, before all other kernels or beside them."""
    fetch = vector("aten::getnext", "GetNext", (4, 1024), 20.0, dtype="INT32", core="AI_CPU", us=us)
    if beside:
        fetch = replace(fetch, kernels=tuple(replace(kernel, stream=3) for kernel in fetch.kernels))

    def change(step: Iterator[Instruction], _number: int) -> Iterator[Instruction]:
        yield fetch
        yield from step

    model = Transformer(layers=4, steps=3, vocabulary=2048, trimmings=True)
    setup = replace(WORKLOADS["single"], workload=Altered(model, change))
    return lambda folder: write_setup(folder, setup, mindspore="graph")


SIGNS: Mapping[str, Sign] = {
    "io/slow-storage": Sign(
        spoiled=_sampled_storage([90.0, 70.0] * 5),
        twin=_sampled_storage([90.0, 8.0] * 5),
        shows={"waiting": 0.8, "reading": 2.0},
    ),
    "io/slow-data-transfer": Sign(
        spoiled=_folder(_steps(_WAITING), _of_data(_SELDOM_DRY, _HALF_DRY)),
        twin=_folder(_steps(_WAITING), _of_data(_OFTEN_DRY, _HALF_DRY)),
        shows={"host_empty": 0.3, "looks": 10, "device_empty": 0.5, "interval": 5000, "interval_share": 0.25},
    ),
    "io/iteration-interval": Sign(
        spoiled=_folder(_steps(_WAITING)),
        twin=_folder(_steps(_PROMPT)),
        shows={"interval": 5000, "interval_share": 0.25, "working": 14000, "tail": 1000},
    ),
    "io/late-getnext": Sign(
        spoiled=_folder(_steps(_WAITING), _fetches(ahead_us=0)),
        twin=_folder(_steps(_WAITING), _fetches(ahead_us=5000)),
        shows={"late_fetch": 4000, "late_share": 0.2, "fetch": 4000, "interval": 5000},
    ),
    "io/slow-getnext": Sign(
        spoiled=_folder(_steps(_WAITING), _of_data(_FULL, [3] * 10), _fetches(ahead_us=0)),
        twin=_folder(_steps(_WAITING), _of_data(_FULL, [0, *[3] * 9]), _fetches(ahead_us=0)),
        shows={"device_empty": 0, "interval": 5000, "fetch": 4000, "late_fetch": 4000},
    ),
    "io/waiting-getnext": Sign(
        spoiled=_fetching(20_000.0),
        twin=_fetching(20_000.0, beside=True),
        shows={"fetches": 1, "taking_us": about(20_000, 0.03), "alone_fetch_us": about(20_000, 0.03)},
    ),
    "io/slow-sending": Sign(
        spoiled=_folder(_steps(_WAITING), _of_data(_SELDOM_DRY, sunk=False)),
        twin=_folder(_steps(_WAITING), _of_data(_OFTEN_DRY, sunk=False)),
        shows={"host_empty": 0.3, "looks": 10, "interval": 5000},
    ),
    "io/slow-dataset-operation": Sign(
        spoiled=_folder(_steps(_WAITING), _of_data(_OFTEN_DRY), _pipeline([0, 16] * 5)),
        twin=_folder(_steps(_WAITING), _of_data(_SELDOM_DRY), _pipeline([0, 16] * 5)),
        shows={"behind": 0.125, "before": 63 / 64, "own_empty": 0.5, "worker_count": 1, "host_empty": 0.4},
    ),
    "ranks/slow-input-rank": Sign(
        spoiled=_ranks((5000, 14000, 1000), (1000, 14000, 5000)),
        twin=_ranks((1900, 14000, 4100), (1000, 14000, 5000)),
        shows={"own_us": 5000, "peers_us": 1000, "excess_us": 4000, "excess_share": 0.2},
    ),
    "compute/uneven-passes": Sign(
        spoiled=_uneven(19000), twin=_uneven(15300), shows={"long_steps": 2, "times_as_long": 19 / 14, "extra_us": 1250}
    ),
    "ranks/slow-forward-rank": Sign(
        spoiled=_ranks((500, 18500, 1000), (500, 14800, 4700)),
        twin=_ranks((500, 15392, 4108), (500, 14800, 4700)),
        shows={"excess": 0.25, "own_us": 18500, "peers_us": 14800, "own_tail_us": 1000, "peers_tail_us": 4700},
    ),
}
