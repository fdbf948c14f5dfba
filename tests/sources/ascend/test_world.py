# SPDX-License-Identifier: Apache-2.0
"""How many ranks a job had is what its captures tell, even where only one rank is here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.sources import open_input

STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n,1,1,0,1,1\n"


def _capture(folder: Path, rank: int, pairs: list[str], metadata: object = None) -> Path:
    output = folder / f"r{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "step_trace_time.csv").write_text(STEPS)
    (output.parent / f"profiler_info_{rank}.json").write_text("{}")
    cell = {"Transport Type": "HCCS", "Transit Size(MB)": 1, "Transit Time(ms)": 1}
    matrix = {"step": {"collective": {"allreduce-total@1": dict.fromkeys(pairs, cell)}}}
    (output / "communication_matrix.json").write_text(json.dumps(matrix))
    (output.parent / "profiler_metadata.json").write_text(json.dumps(metadata or {}))
    return output.parent


@pytest.mark.parametrize(
    ("rank", "pairs", "metadata", "told"),
    [
        (0, ["0-0", "0-1", "0-7"], {}, (8, "communication_matrix", "1-7")),
        (9, ["1-0"], {}, (10, "communication_matrix", "0-8")),
        (0, ["0-0"], {}, (0, "", "")),
        (0, [], {}, (0, "", "")),
        (0, ["0-99999999"], {}, (0, "", "")),
        (0, ["0-3"], {"distributed_args": {"world_size": 16}}, (16, "distributed_args", "1-15")),
        (
            0,
            ["0-1"],
            {"parallel_group_info": {"g": {"group_name": "dp", "global_ranks": [0, 4]}}},
            (5, "groups", "1-4"),
        ),
    ],
)
def test_the_job_is_as_large_as_what_tells_most(
    tmp_path: Path, rank: int, pairs: list[str], metadata: object, told: tuple[int, str, str]
) -> None:
    run, _ = open_input(_capture(tmp_path, rank, pairs, metadata))
    assert (run.world_size, run.world_source, run.missing_ranks) == told


def test_all_ranks_together_tell_more_than_one(tmp_path: Path) -> None:
    _capture(tmp_path, 0, ["0-8"])
    _capture(tmp_path, 1, ["1-9"])
    run, _ = open_input(tmp_path)
    assert (run.ranks, run.world_size, run.missing_ranks) == ((0, 1), 10, "2-9")


@pytest.mark.parametrize(
    ("capture", "world", "missing"),
    [
        ("msinsight_server_testdata/test_rank_0", 9, "1-8"),
        ("msinsight_pytorch_matrix/text/level1/rank0_ascend_pt", 8, "1-7"),
        ("msinsight_pytorch_matrix/text/level2", 8, "2-7"),
        ("msinsight_pytorch_matrix/db/level1/rank1_ascend_pt", 8, "0, 2-7"),
        ("msinsight_pytorch_matrix/db/level0", 0, ""),
    ],
)
def test_one_rank_of_a_real_job_is_not_one_rank(real_data: Path, capture: str, world: int, missing: str) -> None:
    run, _ = open_input(real_data / capture)
    assert (run.world_size, run.missing_ranks) == (world, missing)
