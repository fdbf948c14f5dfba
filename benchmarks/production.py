# SPDX-License-Identifier: Apache-2.0
"""Holds the diagnosis against what was published of two production jobs: `python -m benchmarks.production`.

    ADVISOR_REAL_DATA=/data python -m benchmarks.production --output docs/accuracy-production.md

ByteDance recorded large training jobs operator by operator and worked out what each would take if none of its ranks
were slower than the others (Lin et al., "Understanding Stragglers in Large Model Training Using What-if Analysis",
OSDI 2025; data: ByteDance-Seed/StragglerAnalysis). The operators of two of them are written as captures, some steps
at a time, and what advisor says of these steps is held against the step times that were published for them.
Prints the page, writes it with `--output`, and ends with 1 when a first finding is not the published cause.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import advisor
import corpus
from benchmarks.standing import standing_findings
from corpus.events import Collective, HostCall, Job, KernelInfo, Layout, RankTrace, Task
from corpus.planes import group_name, operator_name

FOLDER = "straggler_op_traces"
STEPS_AT_ONCE = 4
"""Steps of one capture."""
_NS = 1e9
_MEETING = "meeting"
_COLLECTIVES = {
    "params-all-gather": ("allGather", "dp"),
    "grads-reduce-scatter": ("reduceScatter", "dp"),
    "layernorm-grads-all-reduce": ("allReduce", "tp"),
    "embedding-grads-all-reduce": ("allReduce", "embedding"),
    "optimizer-clip-main-grad": ("allReduce", "default_group"),
    "forward-send": ("send", "pp"),
    "backward-send": ("send", "pp"),
    "forward-recv": ("receive", "pp"),
    "backward-recv": ("receive", "pp"),
    _MEETING: ("allReduce", "meeting"),
}
"""What moves data, as which collective of which group; gradients are clipped by the norm over all ranks."""
KEPT_AS_IT_IS = "pipeline/bubble"
"""What was published leaves every job its number of micro-batches; where that is too small, it is said beside."""
_HOST = ("gc",)
"""Not on the device, and without a duration in the published traces."""
_END_OF_BACKWARD, _AFTER_BACKWARD = "backward-compute", "layernorm-grads-all-reduce"
_AT_ONCE_S, _ONE_MOMENT_S = 0.05, 0.005
"""A rank that goes on within the former did not wait; ranks that go on within the latter did so together."""


@dataclass(frozen=True)
class PublishedJob:
    """A job of the data set: how its ranks are arranged, what is wrong with it, and which finding says that."""

    name: str
    layout: Layout
    cause: str
    rules: tuple[str, ...]


JOBS = (
    PublishedJob(
        "ST", Layout(tp=1, dp=2, pp=4), "the last pipeline stage has too much to do", ("pipeline/stage-imbalance",)
    ),
    PublishedJob(
        "SE",
        Layout(tp=2, dp=32, pp=2),
        "sequences are of unequal length, another rank has the longest in each step",
        ("ranks/uneven-data",),
    ),
)


@dataclass(frozen=True)
class Window:
    """Some steps of a job: what was said first, and what was published."""

    job: PublishedJob
    steps: tuple[int, ...]
    ranks: int
    first: str
    saving_share: float
    published_share: float
    further: tuple[str, ...]
    micro_batches_share: float
    """What too few micro-batches cost; 0 where there are enough of them."""

    @property
    def right(self) -> bool:
        """Whether the first finding is the published cause."""
        return self.first in self.job.rules


def diagnose_windows(job: PublishedJob, folder: Path, most: int | None = None) -> Iterator[Window]:
    """Diagnose a job, some of its steps at a time; only so many of these captures."""
    published = json.loads((folder / f"result-{job.name}.json").read_text(encoding="utf-8"))
    events = pd.read_parquet(folder / f"trace-{job.name}.parquet")
    events["optype"] = events["optype"].astype(str)
    events = pd.concat([events, _meetings(events)])
    every = sorted(map(int, published["step_t_base"]))
    for begin in range(0, len(every) - STEPS_AT_ONCE + 1, STEPS_AT_ONCE)[:most]:
        steps = tuple(every[begin : begin + STEPS_AT_ONCE])
        with tempfile.TemporaryDirectory() as out:
            traces = _rank_traces(job.layout, events[events["step"].isin(steps)], steps)
            corpus.write(Job(job.name, 0, job.layout, traces), out, level=1, shapes=False, stacks=False, memory=False)
            diagnosis = advisor.diagnose(out)
        standing = standing_findings(diagnosis)
        causes = [one for one in standing if one.rule != KEPT_AS_IT_IS]
        yield Window(
            job,
            steps,
            len(traces),
            causes[0].rule if causes else "",
            (causes[0].saving.share or 0.0) if causes else 0.0,
            _published_share(published, steps),
            tuple(one.rule for one in causes[1:]),
            sum(one.saving.share or 0.0 for one in standing if one.rule == KEPT_AS_IT_IS),
        )


def _published_share(published: Mapping[str, Any], steps: Iterable[int]) -> float:
    """The part of these steps that equal ranks would save: without both launch delays and blocking operators."""
    took = sum(published["step_t_nodelay"][str(step)] for step in steps)
    ideal = sum(published["step_t_noblk"][str(step)] for step in steps)
    return float(1 - ideal / took)


@dataclass(frozen=True)
class _Clock:
    """When the steps of a capture begin, one after the other, ns from its beginning; and when the last one ends."""

    began: Mapping[int, int]
    end: int

    def bounds(self) -> Iterator[tuple[int, int]]:
        """Beginning and end of each step."""
        return pairwise([*self.began.values(), self.end])


def _rank_traces(layout: Layout, events: pd.DataFrame, steps: Sequence[int]) -> list[RankTrace]:
    """What each rank recorded; a step begins when the longest rank was done with the one before."""
    together = tuple(sorted(events[events["optype"] == _MEETING]["rank"].unique().tolist()))
    began, at = {}, 1_000_000
    for step in steps:
        own = events[events["step"] == step]
        began[step] = at
        at += round(float((own["start_ts"] + own["duration"]).max()) * _NS)
    begin = events["step"].map(began) + (events["start_ts"] * _NS).round().astype("int64")
    timed = events.assign(begin=begin, took=(events["duration"] * _NS).round().astype("int64")).sort_values("begin")
    timed = timed[(timed["took"] > 0) & ~timed["optype"].isin(_HOST)]
    clock = _Clock(began, at)
    return [
        _rank_trace(layout, int(str(rank)), own.to_dict("records"), (clock, together))
        for rank, own in timed.groupby("rank")
    ]


def _rank_trace(
    layout: Layout, rank: int, events: Sequence[Mapping[Hashable, Any]], shared: tuple[_Clock, tuple[int, ...]]
) -> RankTrace:
    clock, together = shared
    trace = RankTrace(rank, rank % 8, 3000 + rank, frequency=[(0, 1650)], end=clock.end + 1_000_000, node=rank // 8)
    for number, (start, end) in enumerate(clock.bounds()):
        trace.calls.append(HostCall("step", f"ProfilerStep#{number}", trace.pid, start - 900_000, end - 900_000))
    numbers, met = list(clock.began), Counter[tuple[str, str]]()
    for place, event in enumerate(events, 1):
        kind = event["optype"]
        start, end, step = event["begin"], event["begin"] + event["took"], numbers.index(event["step"])
        op, group = _COLLECTIVES.get(kind, ("", ""))
        members = together if kind == _MEETING else _members(layout, rank, group) if op else ()
        if len(members) > 1:
            name = group_name(group, members)
            trace.collectives.append(_collective(op, name, members, met[name, op], (start, end, place, step)))
            met[name, op] += 1
        else:
            trace.tasks.append(Task("kernel", kind, 2, place, start, end, place, step, KernelInfo(kind)))
    return trace


def _collective(
    op: str, group: str, members: tuple[int, ...], index: int, span: tuple[int, int, int, int]
) -> Collective:
    start, end, number, step = span
    return Collective(
        op, operator_name(op, group, index), group, members, index, 0, start, end, number, step, count=1,
        dtype="BFP16", wait=0, transit=0, launch_start=-1, launch_thread=-1, origin=None,
    )  # fmt: skip


def _members(layout: Layout, rank: int, kind: str) -> tuple[int, ...]:
    if kind == "default_group":
        return tuple(range(layout.world))
    if kind == "embedding":
        line = layout.group("pp", rank)
        return line[0], line[-1]
    return layout.group(kind, rank)


def _meetings(events: pd.DataFrame) -> pd.DataFrame:
    """What the traces do not tell: after the backward pass some ranks all go on from one moment, others at once.

    Who goes on at one moment waited for the others there, each since its own last operator.
    """
    after = events[events["optype"] == _AFTER_BACKWARD].groupby(["step", "rank", "stage"])["start_ts"].min()
    before = events[events["optype"] == _END_OF_BACKWARD]
    ended = (before["start_ts"] + before["duration"]).groupby([before[key] for key in ("step", "rank", "stage")]).max()
    pause = pd.DataFrame({"start_ts": ended, "duration": after - ended, "after": after}).reset_index()
    last = pause["stage"] == pause["stage"].max()
    moment = pause["step"].map(pause[last].groupby("step")["after"].median())
    waited = (pause["duration"] > _AT_ONCE_S) & ((pause["after"] - moment).abs() < _ONE_MOMENT_S)
    share = waited.groupby(pause["rank"]).mean()
    together = pause[pause["rank"].isin(share[share > 1 / 2].index)]
    return together.assign(optype=_MEETING)[["step", "rank", "stage", "optype", "start_ts", "duration"]]


def page(found: Sequence[Window]) -> str:
    """The page, as Markdown."""
    right = sum(one.right for one in found)
    lines = [
        "# Production jobs",
        "",
        "What is said of two large jobs, held against what was published of them.",
        "",
        "Written by `python -m benchmarks.production`. ByteDance recorded two training jobs in production, operator by",
        "operator, and published what each step would take if no rank were slower than the others",
        "([Lin et al., OSDI 2025](https://arxiv.org/abs/2505.05713),",
        "[data](https://github.com/ByteDance-Seed/StragglerAnalysis)). Here their operators are written as captures of",
        f"{STEPS_AT_ONCE} steps each and diagnosed. The traces hold no host calls, no shapes and no names of kernels:",
        "only rules on ranks, stages and communication can speak; the jobs did not run on Ascend devices.",
        "",
        "What was published leaves every job its number of micro-batches. Where that is too small for the pipeline, as",
        "in job ST with one for each stage, advisor says so as well, and first where it costs more: the last column.",
        "",
        f"Of the other findings the first is the published cause in **{right} of {len(found)}** captures.",
        "",
        "| job | published | ranks | steps | said first | saving | all stragglers, published | further causes "
        "| too few micro-batches |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in found:
        further = ", ".join(f"`{rule}`" for rule in one.further)
        steps = ", ".join(map(str, one.steps))
        lines.append(
            f"| {one.job.name} | {one.job.cause} | {one.ranks} | {steps} | `{one.first}` | {one.saving_share:.1%} "
            f"| {one.published_share:.1%} | {further} | {_share_or_none(one.micro_batches_share)} |"
        )
    lines += [
        "",
        "*All stragglers* is what these steps would save if all ranks and stages were equal, from published times. A",
        "single cause is a part of it. In job SE the last stage has more to do as well.",
        "Some ranks all go on from one moment after the backward pass without a recorded reason: they are taken to",
        "have waited for one another, and a collective is written there.",
    ]
    return "\n".join(lines) + "\n"


def _share_or_none(share: float) -> str:
    return f"{share:.1%}" if share else ""


def main() -> int:
    """Diagnose, compare, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.production", description=__doc__)
    parser.add_argument("--output", type=Path, help="where the page is written")
    options = parser.parse_args()
    data = os.environ.get("ADVISOR_REAL_DATA")
    if not data:
        print("set ADVISOR_REAL_DATA to the folder of the real captures", file=sys.stderr)
        return 2
    found = [one for job in JOBS for one in diagnose_windows(job, Path(data) / FOLDER)]
    text = page(found)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return int(not all(one.right for one in found))


if __name__ == "__main__":
    raise SystemExit(main())
