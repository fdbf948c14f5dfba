# SPDX-License-Identifier: Apache-2.0
"""Why a rule does not concern a run is said in the words and units of a reader, in each language."""

from __future__ import annotations

from advisor.engine.reason import of_condition
from advisor.model.job import JobKind
from advisor.model.run import Capture, Run

TRAINING = Run(
    ranks=(0,),
    steps=(1,),
    framework="PyTorch",
    captures=(Capture(rank=0, path="p", source="text", recorder="msprof"),),
    job=JobKind(workload="training"),
)


def test_the_kind_of_job_is_said_in_the_language_of_the_report() -> None:
    said = of_condition(["workload", "rank_count"], TRAINING).text
    assert said.en == "does not concern this run (number of ranks: 1, kind of job: training)"
    assert said.zh == "不适用于本次运行（卡数 1，任务类型 训练）"


def test_names_stay_as_they_are() -> None:
    said = of_condition(["framework", "recorder"], TRAINING).text
    assert said.zh == "不适用于本次运行（训练框架 PyTorch，采集工具 msprof）"
