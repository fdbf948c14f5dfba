# SPDX-License-Identifier: Apache-2.0
"""The tables by which a database is known as one of a profiler or of the analysis of a cluster: all that are read, and
a few more."""

from __future__ import annotations

import sqlite3

from advisor.messages.message import Message
from advisor.sources.files.database import listed_tables

_OF_EVENTS = (
    "CANN_API COMMUNICATION_OP COMMUNICATION_TASK_INFO COMPUTE_TASK_INFO CONNECTION_IDS GC_RECORD MEMCPY_INFO "
    "MSTX_EVENTS OVERLAP_ANALYSIS PYTORCH_API PYTORCH_CALLCHAINS STEP_TIME TASK TASK_PMU_INFO"
)
_OF_SAMPLES = (
    "ACC_PMU AICORE_FREQ CPU_USAGE DDR HBM HCCS HOST_DISK_USAGE HOST_MEM_USAGE HOST_NETWORK_USAGE LLC MEMORY_RECORD "
    "NETDEV_STATS NIC NPU_MEM NPU_MODULE_MEM NPU_OP_MEM OP_MEMORY PCIE QOS ROCE SOC_BANDWIDTH_LEVEL"
)
_OF_RECORDING = "HOST_INFO META_DATA NPU_INFO RANK_DEVICE_MAP SESSION_TIME_INFO STRING_IDS STATUS_INFO"
_OF_ANALYSIS = "CommAnalyzerBandwidth CommAnalyzerMatrix CommAnalyzerTime StepTraceTime"
_OF_CLUSTER = "CommunicationGroupMapping HostInfo RankDeviceMap"
_BEGINNINGS = ("enum_", "cluster")
"""How names begin of tables of constants, and of most of those of a cluster."""
TABLES = frozenset(f"{_OF_EVENTS} {_OF_SAMPLES} {_OF_RECORDING} {_OF_ANALYSIS} {_OF_CLUSTER}".casefold().split())
_MOST_NAMED = 4
_LONGEST = 40


def is_known_table(name: str) -> bool:
    """Whether a profiler writes a table of this name."""
    folded = name.casefold()
    return folded in TABLES or folded.startswith(_BEGINNINGS)


def find_foreign_tables(connection: sqlite3.Connection) -> Message | None:
    """What a database holds that no profiler wrote; None where one did, or where it holds no table at all."""
    names = sorted(name for name in listed_tables(connection) if not name.startswith("sqlite_"))
    if not names or any(map(is_known_table, names)):
        return None
    shown = ", ".join(name[:_LONGEST] for name in names[:_MOST_NAMED])
    return Message("no_profiler_table", names=shown + (" …" if len(names) > _MOST_NAMED else ""))
