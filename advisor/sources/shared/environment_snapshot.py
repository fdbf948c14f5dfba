#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what profiles do not record of a machine and a job: settings, host, devices, versions. Never a secret.

Copied to a compute node it runs alone, on Python 3.7 and later, without any package:

    python env.py -o ./prof/advisor_env.json

Start it from the shell or the script that starts the job, with its environment; the file belongs beside the capture, or
into the folder of a rank. Environment variables are written by a list of names, and values that look like anything but
switches, numbers, sizes and names of files are left out.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping

FILE_NAME = "advisor_env.json"
VERSION = 1
VARIABLES = """
ACL_DEVICE_SYNC_TIMEOUT ACL_OP_COMPILER_CACHE_DIR ACL_OP_COMPILER_CACHE_MODE ACLNN_CACHE_LIMIT
ASCEND_ENHANCE_ENABLE ASCEND_GLOBAL_EVENT_ENABLE ASCEND_GLOBAL_LOG_LEVEL ASCEND_LAUNCH_BLOCKING
ASCEND_RT_VISIBLE_DEVICES ASCEND_SLOG_PRINT_TO_STDOUT ASCEND_VISIBLE_DEVICES
ATB_LAYER_INTERNAL_TENSOR_REUSE ATB_LLM_HCCL_ENABLE ATB_LLM_LCOC_ENABLE ATB_OPERATION_EXECUTE_ASYNC
ATB_WORKSPACE_MEM_ALLOC_ALG_TYPE COMBINED_ENABLE CPU_AFFINITY_CONF
CUDA_DEVICE_MAX_CONNECTIONS CUDA_LAUNCH_BLOCKING CUDA_VISIBLE_DEVICES
HCCL_ALGO HCCL_BUFFSIZE HCCL_DETERMINISTIC HCCL_INTRA_PCIE_ENABLE HCCL_INTRA_ROCE_ENABLE HCCL_OP_EXPANSION_MODE
HCCL_RDMA_RETRY_CNT HCCL_RDMA_SL HCCL_RDMA_TC HCCL_RDMA_TIMEOUT HOST_CACHE_CAPACITY
INF_NAN_MODE_ENABLE INF_NAN_MODE_FORCE_DISABLE KMP_AFFINITY LD_PRELOAD
MALLOC_ARENA_MAX MALLOC_CONF MINDIE_ASYNC_SCHEDULING_ENABLE MKL_NUM_THREADS MULTI_STREAM_MEMORY_REUSE
NCCL_ALGO NCCL_BUFFSIZE NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_P2P_DISABLE NCCL_PROTO
OMP_NUM_THREADS OMP_PROC_BIND OPENBLAS_NUM_THREADS P2P_HCCL_BUFFSIZE PER_STREAM_QUEUE
PYTHONOPTIMIZE PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF PYTORCH_NO_NPU_MEMORY_CACHING PYTORCH_NPU_ALLOC_CONF
SGLANG_SET_CPU_AFFINITY STREAMS_PER_DEVICE TASK_QUEUE_ENABLE
TORCH_HCCL_BLOCKING_WAIT TORCH_HCCL_ZERO_COPY TORCH_NCCL_BLOCKING_WAIT
VLLM_ASCEND_ENABLE_FLASHCOMM1 VLLM_ASCEND_ENABLE_MLAPO VLLM_ASCEND_ENABLE_NZ VLLM_USE_V1
VLLM_WORKER_MULTIPROC_METHOD WORLD_SIZE LOCAL_WORLD_SIZE
""".split()  # noqa: SIM905 - a list to read and to add to
"""Names that are written, with an empty value where they are not set."""
PACKAGES = """
torch torch_npu torchvision mindspore mindformers vllm vllm_ascend sglang deepspeed megatron-core mindspeed verl
transformers accelerate flash-attn triton triton-ascend numpy
""".split()  # noqa: SIM905
_LONGEST = 200
_LIMITS = ("nofile", "memlock", "nproc", "stack", "core")
_BETWEEN = re.compile(r"[,:;=/+\- ]")
_LONG_WORDS = (
    "expandable_segments garbage_collection_threshold max_split_size_mb roundup_power2_divisions cudaMallocAsync"
)
_PART = re.compile(r"\d{0,9}(\.\d{1,9})?[A-Za-z]{0,3}|[A-Za-z_]{1,12}\d{0,2}|" + _LONG_WORDS.replace(" ", "|"))
"""What values are made of: numbers, sizes, short words with a number such as `npu0`, and a few long words."""
_LIBRARY = re.compile(r"lib[\w+-]{1,30}\.so[\d.]{0,10}")
_SECRET = re.compile(r"(?i)key|token|secret|passw|credential|auth|://|@|^(sk|pk|hf|gh[opsu]|glpat|xox[a-z])[-_]|^AKIA")
_CHIP_ROW = re.compile(r"^\|\s*\d+\s+([A-Za-z0-9_-]+)\s*\|\s*(OK|Warning|Alarm|Critical)\b", re.M)
_SMI_VERSION = re.compile(r"npu-smi(?:(?!npu-smi)[^\n])*?Version:\s*([\w.]+)")


def plain_value(name: str, value: str) -> str | None:
    """The value of a variable as it may be written, of libraries their names alone; None where it may be secret."""
    if len(value) > _LONGEST or _SECRET.search(value):
        return None
    if name.endswith("_DIR"):
        return "set" if value else ""
    if name == "LD_PRELOAD":
        libraries = [os.path.basename(part) for part in re.split("[: ]+", value) if part]
        return ":".join(libraries) if all(map(_LIBRARY.fullmatch, libraries)) else None
    return value if all(map(_PART.fullmatch, _BETWEEN.split(value))) else None


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The variables of the list that are set to something plain, and those that are not set."""
    told = {name: plain_value(name, given.get(name, "")) for name in VARIABLES}
    return {name: value for name, value in told.items() if value is not None}


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(200).strip()
    except OSError:
        return ""


def _chosen(path: str) -> str:
    """The word in brackets of a switch such as `always [madvise] never`."""
    found = re.search(r"\[(\w+)\]", _first_line(path))
    return found.group(1) if found else ""


def _said_by(*command: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603, PLW1510 - a fixed command; whatever its end is
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")


def host() -> dict[str, str]:
    """What the machine is, and how it was set, by names; what cannot be read is left out."""
    governors = Counter(map(_first_line, glob.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")))
    system = "/proc/sys/"
    found: dict[str, object] = {
        "machine": platform.machine(),
        "kernel": platform.release(),
        "cpus": os.cpu_count() or "",
        "cpus_allowed": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "",
        "cpu_governor": ",".join(sorted(name for name in governors if name)),
        "numa_nodes": len(glob.glob("/sys/devices/system/node/node[0-9]*")) or "",
        "numa_nodes_allowed": _allowed_nodes(),
        "numa_balancing": _first_line(system + "kernel/numa_balancing"),
        "swappiness": _first_line(system + "vm/swappiness"),
        "transparent_hugepage": _chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        "memory_kib": (re.findall(r"\d+", _first_line("/proc/meminfo")) or [""])[0],
        "python": platform.python_version(),
    }
    found.update(("limit_" + name, value) for name, value in _limits())
    return {name: str(value) for name, value in found.items() if value != ""}


def _allowed_nodes() -> int | str:
    """Over how many NUMA nodes the CPUs of this process are spread."""
    if not hasattr(os, "sched_getaffinity"):
        return ""
    mine = os.sched_getaffinity(0)
    nodes = [
        path
        for path in glob.glob("/sys/devices/system/node/node[0-9]*")
        if any(os.path.exists(os.path.join(path, "cpu{}".format(cpu))) for cpu in mine)  # noqa: UP032 - Python 3.7
    ]
    return len(nodes) or ""


def _limits() -> Iterator[tuple[str, object]]:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    for name in _LIMITS:
        number = getattr(resource, "RLIMIT_" + name.upper(), None)
        if number is not None:
            soft = resource.getrlimit(number)[0]
            yield name, "unlimited" if soft == resource.RLIM_INFINITY else soft


def devices() -> dict[str, str]:
    """Driver, firmware, toolkit and the kinds of devices, as their own tools say."""
    smi = _said_by("npu-smi", "info")
    gpus = _said_by("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    chips = Counter(" ".join(row) for row in _CHIP_ROW.findall(smi))
    found = {
        "npu_smi": (_SMI_VERSION.findall(smi) or [""])[0],
        "npu_driver": _version_in("/usr/local/Ascend/driver/version.info"),
        "npu_firmware": _version_in("/usr/local/Ascend/firmware/version.info"),
        "npus": ", ".join("{} {}".format(many, name) for name, many in sorted(chips.items())),  # noqa: UP032
        "gpus": ", ".join("{} {}".format(many, name) for name, many in sorted(Counter(gpus).items())),  # noqa: UP032
    }
    return {name: value for name, value in found.items() if value}


def _version_in(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(r"(?mi)^version\s*=\s*([\w.\-]+)", file.read(4096))
    except OSError:
        return ""
    return found.group(1) if found else ""


def packages() -> dict[str, str]:
    """Versions of what the job may be built on, as far as it is installed for this Python."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7
        return {}
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def snapshot(given: Mapping[str, str]) -> dict[str, object]:
    """All of it, as it is written."""
    return {
        "advisor_env": VERSION,
        "env": environment(given),
        "host": host(),
        "device": devices(),
        "package": packages(),
    }


def write_snapshot(path: str) -> str:
    """Writes the snapshot of this process to a file, or into a folder; gives its path.

    A name without an ending is that of a folder, which is made where it is not there yet: the profiler writes there,
    too, and could not where a file had taken the name.
    """
    if os.path.isdir(path) or not os.path.splitext(path)[1]:
        os.makedirs(path, exist_ok=True)
        path = os.path.join(path, FILE_NAME)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(snapshot(os.environ), file, indent=1, sort_keys=True)
        file.write("\n")
    return path


def main() -> int:
    """Writes the snapshot where the command line says."""
    parser = argparse.ArgumentParser(description="Write settings, host, devices and versions beside a profile")
    parser.add_argument(
        "-o",
        "--output",
        default=FILE_NAME,
        metavar="FILE",
        help="file or folder; a name without an ending is a folder (default: %(default)s)",
    )
    print(write_snapshot(parser.parse_args().output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
