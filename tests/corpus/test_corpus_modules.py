# SPDX-License-Identifier: Apache-2.0
"""Generated jobs mark the modules of their model where they are told to, and everything else stays as it is."""

from __future__ import annotations

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
