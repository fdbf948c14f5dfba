# SPDX-License-Identifier: Apache-2.0
"""How a job is written out: which export, which level, which spelling."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.events import HostCall, Job, Layout, RankTrace, Task
from corpus.planes import group_name

EPOCH_NS = 1_736_412_474_000_000_000
"""When the job began. A fixed moment, so that files are the same at every run."""
_BOOT_NS = 177_399_527_848_890


@dataclass(frozen=True, slots=True)
class Export:
    """One way to write a job."""

    level: int = 1
    device_column: bool = False
    """`Device_id` in the csv files, as torch_npu 2.1.0.post13 and 2.7.1 write it."""
    block_word: str = "Dim"
    """`Block Dim` until torch_npu 2.7, `Block Num` from 2.14."""
    communication_word: str = "HCCL"
    """`HCCL` until CANN 8.0, `COMMUNICATION` from 8.3, for core, lane and API level."""
    steps: bool = True
    """Whether the job called prof.step()."""
    memory: bool = True
    clock_ns: int = 0
    """How far the device's clock is shifted against the host's."""
    versions: bool = False
    """Whether profiler_info names the versions and writes the rank as text, as torch_npu 2.7 does."""
    stacks: bool = True
    shapes: bool = True
    """Whether with_stack and record_shapes were on."""
    tabs: bool = True
    """A tab behind every moment in the csv files; tools that write them again drop it."""
    windows: bool = False
    """Whether every csv file ends its lines with a carriage return too."""
    op_state: bool = True
    """Whether kernel_details has `OP State`, `HF32 Eligible` and `Mix Block`; those of September 2023 have not."""
    uncounted: int = 0
    """Every n-th kernel has `N/A` for all its hardware counters, as long kernels have; 0 is none."""
    all_idle: bool = False
    """Whether all time of a collective is told as idle, as CANN 8.3 does."""
    numbered: bool = True
    """Whether files carry the rank in their names; a job that was not launched for several ranks has none."""
    totals: bool = False
    """Whether only the totals of operators and calls are there: op_statistic.csv and api_statistic.csv."""
    tables: bool = True
    """Whether anything is there but the timeline, which is what people pass on."""
    typed: bool = True
    """Whether tasks have types; CANN of early 2024 calls all `Other` but those of the AI CPU."""
    grouped: bool = True
    """Whether the profiler knew the groups; captures of January 2025 name none."""
    modules: bool = False
    """Whether the program marked its modules, with mstx=True, and gradients are linked to the forward pass."""
    raw: bool = False
    """Whether the folder of the raw data is still there; its info.json is all that names the chip of a text export."""

    mindspore: str = ""
    """How MindSpore ran the job, `pynative` or `graph` (operator by operator); empty where torch_npu recorded it."""

    @property
    def later(self) -> bool:
        """Whether databases have the schema of the versions that say `Block Num`, 1.2.0 and not 1.0.0."""
        return self.block_word != "Dim"

    @property
    def lane(self) -> str:
        """Name of the lane and of the API level of communication."""
        return self.communication_word.capitalize() if self.communication_word != "HCCL" else "HCCL"

    def host(self, time: int) -> int:
        """A time of the host in ns since the epoch."""
        return EPOCH_NS + time

    def records(self, call: HostCall) -> bool:
        """Whether a host call is recorded: steps when prof.step() is called, Python frames with stacks."""
        return (self.steps or call.layer != "step") and (self.stacks or call.layer != "python")

    def stack(self, call: HostCall) -> str:
        """The call stack, where it was asked for."""
        return call.stack if self.stacks else ""

    def shapes_of(self, call: HostCall) -> tuple[str, str]:
        """Shapes and data types of a framework operator, where they were asked for."""
        return (call.shapes, call.dtypes) if self.shapes else ("", "")

    def counts(self, task: Task) -> bool:
        """Whether the hardware counters of a kernel are known."""
        return not self.uncounted or task.task_id % self.uncounted > 0

    def moment(self, time: int) -> str:
        """A moment as csv files write it."""
        return us_text(time) + "\t" * self.tabs

    def type_of(self, kind: str) -> str:
        """The type of a task as it is recorded."""
        return kind if self.typed or kind == "AI_CPU" else "Other"

    def suffix(self, trace: RankTrace) -> str:
        """What follows the names of a rank's files."""
        return f"_{trace.rank}" if self.numbered else ""

    def device(self, time: int) -> int:
        """A time of the device in ns since the epoch."""
        return EPOCH_NS + self.clock_ns + time


def us_text(ns: int) -> str:
    """Whole ns as decimal µs with three digits, as timestamps are written."""
    digits = str(ns)
    return f"{digits[:-3]}.{digits[-3:]}" if ns >= 1000 else f"0.{ns:03d}"  # noqa: PLR2004


def us(ns: int) -> float:
    """A duration in µs."""
    return ns / 1000


def host_name(trace: RankTrace) -> str:
    """The host a rank ran on."""
    return f"node{trace.node}"


def folder_name(trace: RankTrace) -> str:
    """The folder of one rank: host, process, moment."""
    return f"{host_name(trace)}_{trace.pid}_20250109084754{trace.rank % 1000:03d}_ascend_pt"


def new_output(job: Job, trace: RankTrace, folder: Path, export: Export, kind: str) -> Path:
    """Make the folder of one rank, with profiler_info_{rank}.json and profiler_metadata.json; where its files belong.

    Raises:
        FileExistsError: It is there already.
    """
    rank = folder / folder_name(trace)
    output = rank / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    _dump(rank / f"profiler_info{export.suffix(trace)}.json", _profiler_info(job, trace, export, kind))
    _dump(rank / "profiler_metadata.json", metadata(job, trace, export))
    if export.raw or job.raw:
        device = rank / "PROF_000001_20250109084754000_RAHBCDEFGIJKLMNO" / f"device_{trace.device}"
        device.mkdir(parents=True)
        _dump(device / f"info.json.{trace.device}", _device_info(trace))
    return output


def _dump(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=4), encoding="utf-8")


def _profiler_info(job: Job, trace: RankTrace, export: Export, kind: str) -> dict[str, object]:
    steps = len(trace.steps())
    text: object = [kind] if export.versions else kind
    info: dict[str, object] = {
        "config": {
            "common_config": {
                "activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
                "schedule": {"wait": 0, "active": steps, "warmup": 1, "repeat": 1, "skip_first": 10},
                "record_shapes": export.shapes,
                "profile_memory": export.memory,
                "with_stack": export.stacks,
                "with_flops": False,
                "with_modules": False,
            },
            "experimental_config": {
                "_profiler_level": f"Level{export.level}",
                "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION" if export.level else "ACL_AICORE_NONE",
                "_l2_cache": True,
                "_msprof_tx": False,
                "_data_simplification": True,
                "record_op_args": False,
                "_export_type": text,
                "_op_attr": False,
                "_gc_detect_threshold": 1.0 if any(call.layer == "gc" for call in trace.calls) else None,
            },
        },
        "start_info": {"syscnt_enable": True, "freq": 100, "start_cnt": _BOOT_NS // 10, "start_monotonic": _BOOT_NS},
        "end_info": {"collectionTimeEnd": EPOCH_NS + trace.end, "MonotonicTimeEnd": _BOOT_NS + trace.end},
        "rank_id": str(trace.rank) if export.versions else trace.rank,
    }
    if job.damage == "killed":
        del info["end_info"]
    if export.versions:
        info |= {"torch_npu_version": "2.7.1", "cann_version": "8.3.RC1"}
    return info


def _device_info(trace: RankTrace) -> dict[str, object]:
    """What info.json of a device says; frequencies are texts there, and platform 5 is Ascend910B."""
    device = {
        "id": trace.device, "env_type": 3, "ai_core_num": 20, "aiv_num": 40, "ai_cpu_core_num": 6,
        "aic_frequency": "1800", "aiv_frequency": "1800", "hwts_frequency": "50",
    }  # fmt: skip
    return {
        "DeviceInfo": [device], "platform_version": "5", "rank_id": trace.rank, "pid": str(trace.pid),
        "pid_name": "python3", "hostname": host_name(trace),
    }  # fmt: skip


_RECORDED = (
    "ASCEND_GLOBAL_LOG_LEVEL", "HCCL_RDMA_TC", "HCCL_RDMA_SL", "ACLNN_CACHE_LIMIT", "HOST_CACHE_CAPACITY",
    "ASCEND_ENHANCE_ENABLE", "PYTORCH_NPU_ALLOC_CONF", "ASCEND_LAUNCH_BLOCKING", "HCCL_ALGO",
)  # fmt: skip


def metadata(job: Job, trace: RankTrace, export: Export) -> dict[str, object]:
    """What profiler_metadata.json and META_DATA hold."""
    held: dict[str, object] = {} if job.layout.plain else {"distributed_args": _arguments(job.layout, trace.rank)}
    held["ENV_VARIABLES"] = {name: job.environment.get(name, "") for name in _RECORDED}
    if export.grouped:
        held["parallel_group_info"] = groups_of(job.layout, trace.rank)
    return held


def _arguments(layout: Layout, rank: int) -> dict[str, object]:
    """What a framework that arranges ranks hands to the profiler."""
    return {
        "tensor_model_parallel_size": layout.tp,
        "pipeline_model_parallel_size": layout.pp,
        "data_parallel_size": layout.dp,
        "context_parallel_size": 1,
        "expert_model_parallel_size": layout.ep,
        "sequence_parallel": False,
        "rank": rank,
        "world_size": layout.world,
    }


_SPELLED = {"ep": "exp"}
"""Megatron's names of groups where they differ from ours."""


def groups_of(layout: Layout, rank: int) -> dict[str, dict[str, Any]]:
    """What `parallel_group_info` holds of a rank."""
    found: dict[str, dict[str, Any]] = {}
    everyone = tuple(range(layout.world))
    kinds = () if layout.plain else ("tp", "dp", "pp", "ep")
    wanted = [("default_group", everyone)] + [(kind, layout.group(kind, rank)) for kind in kinds]
    for kind, members in wanted:
        if len(members) > 1 or kind == "default_group":
            name = group_name(kind, members)
            found[name] = {
                "group_name": _SPELLED.get(kind, kind),
                "group_rank": members.index(rank),
                "global_ranks": list(members),
            }
    return found
