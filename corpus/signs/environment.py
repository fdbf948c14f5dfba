# SPDX-License-Identifier: Apache-2.0
"""Signs of the machine and the switches of a job.

The profiler of PyTorch writes a few variables into its metadata, empty where they are not set; `advisor snapshot-env`
writes more of them beside a capture, with what it sees of the host.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from advisor.sources.shared.environment_snapshot import FILE_NAME, VERSION
from corpus.signs import Sign, Write
from corpus.signs.captures import edit_json, write


def _beside(case: str, **kinds: Mapping[str, str]) -> Write:
    """A generated job with a snapshot that says this of each kind: `env`, `host`, `device` and `package`."""

    def written(folder: Path) -> None:
        write(folder, case)
        (folder / FILE_NAME).write_text(json.dumps({"advisor_env": VERSION, **kinds}), encoding="utf-8")

    return written


def _recorded(**variables: str) -> Write:
    """A generated job of four ranks whose profiler found these variables set."""

    def written(folder: Path) -> None:
        def change(metadata: dict[str, dict[str, str]]) -> None:
            metadata["ENV_VARIABLES"] |= variables

        write(folder)
        edit_json(folder, "profiler_metadata.json", change)

    return written


_ANYWHERE = {"cpus": "192", "cpus_allowed": "192", "numa_nodes_allowed": "4"}

SIGNS: Mapping[str, Sign] = {
    "env/numa-balancing": Sign(
        spoiled=_beside("host-bound", host={"numa_balancing": "1", "numa_nodes": "4"}),
        twin=_beside("host-bound", host={"numa_balancing": "1", "numa_nodes": "1"}),
        shows={"nodes": 4},
    ),
    "env/changed-rdma-class": Sign(  # DSCP 25, four times; the twin spells the default out
        spoiled=_recorded(HCCL_RDMA_TC="100", HCCL_RDMA_SL="4"),
        twin=_recorded(HCCL_RDMA_TC="132", HCCL_RDMA_SL="4"),
        shows={"traffic_class": 100, "service_level": 4},
    ),
    "env/cpu-governor": Sign(
        spoiled=_beside("host-bound", host={"cpu_governor": "performance,schedutil"}),
        twin=_beside("host-bound", host={"cpu_governor": "performance"}),
        shows={"governor": "performance,schedutil"},
    ),
    "env/deterministic-communication": Sign(
        spoiled=_beside("healthy-light", env={"HCCL_DETERMINISTIC": "true"}),
        twin=_beside("healthy-light", env={"HCCL_DETERMINISTIC": "false"}),
        shows={"deterministic": 1},
    ),
    "env/disabled-host-cache": Sign(
        spoiled=_recorded(HOST_CACHE_CAPACITY="3000000000"),  # the largest that counts is 2³¹ - 1
        twin=_recorded(HOST_CACHE_CAPACITY="2147483647"),
        shows={"given": 3_000_000_000},
    ),
    "env/fragmenting-allocator": Sign(
        spoiled=_recorded(PYTORCH_NPU_ALLOC_CONF="base_addr_aligned_kb:16,expandable_segments:False"),
        twin=_recorded(PYTORCH_NPU_ALLOC_CONF="base_addr_aligned_kb:16,expandable_segments:True"),
        shows={"fixed": 1},
    ),
    "env/pinned-hccl-algorithm": Sign(  # not set is what a recent profiler writes as empty
        spoiled=_recorded(HCCL_ALGO="level0:NA;level1:H-D_R"),
        twin=_recorded(HCCL_ALGO=""),
        shows={"pinned": 1},
    ),
    "env/small-aclnn-cache": Sign(
        spoiled=_recorded(ACLNN_CACHE_LIMIT="9999"),
        twin=_recorded(ACLNN_CACHE_LIMIT="10000"),
        shows={"smallest": 9999},
    ),
    "env/too-many-threads": Sign(  # four processes of 49 threads need four CPUs more than there are
        spoiled=_beside("host-bound", env={"OMP_NUM_THREADS": "49", "LOCAL_WORLD_SIZE": "4"}, host=_ANYWHERE),
        twin=_beside("host-bound", env={"OMP_NUM_THREADS": "48", "LOCAL_WORLD_SIZE": "4"}, host=_ANYWHERE),
        shows={"threads": 49, "processes": 4, "cpus_seen": 192},
    ),
    "env/unbound-process": Sign(
        spoiled=_beside("host-bound", env={"CPU_AFFINITY_CONF": ""}, host=_ANYWHERE),
        twin=_beside("host-bound", env={"CPU_AFFINITY_CONF": "1"}, host=_ANYWHERE),
        shows={"cpus_seen": 192, "nodes": 4},
    ),
    "env/verbose-logs": Sign(
        spoiled=_recorded(ASCEND_GLOBAL_LOG_LEVEL="1"),
        twin=_recorded(ASCEND_GLOBAL_LOG_LEVEL="3"),
        shows={"lowest_level": 1},
    ),
}
