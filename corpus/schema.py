# SPDX-License-Identifier: Apache-2.0
"""The tables of the database export, schema 1.0.0 (CANN 8.0, torch_npu of January 2025)."""

from __future__ import annotations

_NAMED = "id INTEGER PRIMARY KEY,name TEXT"
_TIMES = "startNs INTEGER, endNs INTEGER"

MAIN: dict[str, str] = {
    "SESSION_TIME_INFO": "startTimeNs INTEGER,endTimeNs INTEGER",
    "NPU_INFO": "id INTEGER,name TEXT",
    "HOST_INFO": "hostUid TEXT,hostName TEXT",
    "ENUM_HCCL_RDMA_TYPE": _NAMED,
    "COMPUTE_TASK_INFO": (
        "name INTEGER,globalTaskId INTEGER PRIMARY KEY,blockDim INTEGER,mixBlockDim INTEGER,taskType INTEGER,"
        "opType INTEGER,inputFormats INTEGER,inputDataTypes INTEGER,inputShapes INTEGER,outputFormats INTEGER,"
        "outputDataTypes INTEGER,outputShapes INTEGER,attrInfo INTEGER"
    ),
    "ENUM_MSTX_EVENT_TYPE": _NAMED,
    "ENUM_HCCL_LINK_TYPE": _NAMED,
    "ENUM_HCCL_TRANSPORT_TYPE": _NAMED,
    "NPU_MEM": "type INTEGER,ddr NUMERIC,hbm NUMERIC,timestampNs INTEGER,deviceId INTEGER",
    "ENUM_HCCL_DATA_TYPE": _NAMED,
    "COMMUNICATION_TASK_INFO": (
        "name INTEGER,globalTaskId INTEGER,taskType INTEGER,planeId INTEGER,groupName INTEGER,notifyId INTEGER,"
        "rdmaType INTEGER,srcRank INTEGER,dstRank INTEGER,transportType INTEGER,size INTEGER,dataType INTEGER,"
        "linkType INTEGER,opId INTEGER"
    ),
    "ENUM_MODULE": _NAMED,
    "COMMUNICATION_OP": (
        "opName INTEGER,startNs INTEGER,endNs INTEGER,connectionId INTEGER,groupName INTEGER,"
        "opId INTEGER PRIMARY KEY,relay INTEGER,retry INTEGER,dataType INTEGER,algType INTEGER,count NUMERIC,"
        "opType INTEGER"
    ),
    "ENUM_API_TYPE": _NAMED,
    "NPU_MODULE_MEM": "moduleId INTEGER,timestampNs INTEGER,totalReserved NUMERIC,deviceId INTEGER",
    "TASK": (
        "startNs INTEGER,endNs INTEGER,deviceId INTEGER,connectionId INTEGER,globalTaskId INTEGER,globalPid INTEGER,"
        "taskType INTEGER,contextId INTEGER,streamId INTEGER,taskId INTEGER,modelId INTEGER"
    ),
    "CANN_API": (
        "startNs INTEGER,endNs INTEGER,type INTEGER,globalTid INTEGER,connectionId INTEGER PRIMARY KEY,name INTEGER"
    ),
    "TASK_PMU_INFO": "globalTaskId INTEGER,name INTEGER,value NUMERIC",
    "META_DATA": "name TEXT,value TEXT",
    "AICORE_FREQ": "deviceId INTEGER,timestampNs NUMERIC,freq INTEGER",
    "STRING_IDS": "id INTEGER PRIMARY KEY,value TEXT",
    "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
    "STEP_TIME": f"id INTEGER, {_TIMES}",
    "PYTORCH_API": (
        "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber INTEGER, "
        "fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER"
    ),
    "CONNECTION_IDS": "id INTEGER, connectionId INTEGER",
    "MSTX_EVENTS": (
        "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, message INTEGER, "
        "globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER"
    ),
    "MEMORY_RECORD": (
        "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, totalActive INTEGER, "
        "streamPtr INTEGER, deviceId INTEGER"
    ),
    "OP_MEMORY": (
        "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, activeReleaseTime INTEGER, "
        "duration INTEGER, activeDuration INTEGER, allocationTotalAllocated INTEGER, "
        "allocationTotalReserved INTEGER, allocationTotalActive INTEGER, releaseTotalAllocated INTEGER, "
        "releaseTotalReserved INTEGER, releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER"
    ),
    "PYTORCH_CALLCHAINS": "id INTEGER, stack INTEGER, stackDepth INTEGER",
    "GC_RECORD": f"{_TIMES}, globalTid INTEGER",
}
_LATER = {
    "COMPUTE_TASK_INFO": ",opState INTEGER,hf32Eligible INTEGER",
    "COMMUNICATION_OP": ",deviceId INTEGER,rankSize INTEGER",
    "AICORE_FREQ": ",dieId INTEGER",
}
WHEN_USED = (
    *("GC_RECORD", "STEP_TIME", "MEMORY_RECORD", "OP_MEMORY", "PYTORCH_CALLCHAINS", "TASK_PMU_INFO", "MSTX_EVENTS"),
)
"""Tables that are only made when there is something to put in."""
OF_FRAMEWORK = (
    *("STEP_TIME", "PYTORCH_API", "CONNECTION_IDS", "PYTORCH_CALLCHAINS", "MEMORY_RECORD", "OP_MEMORY", "GC_RECORD"),
)
"""Tables that torch_npu adds to those of msprof."""
INDEXES = (
    "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)",
    "CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId)",
)

ANALYSIS: dict[str, str] = {
    "StepTraceTime": (
        "step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC, "
        "communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC, "
        "communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC"
    ),
    "CommAnalyzerBandwidth": (
        "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC, "
        "bandwidth NUMERIC, large_packet_ratio NUMERIC, package_size NUMERIC, count NUMERIC, total_duration NUMERIC, "
        "step TEXT, type TEXT"
    ),
    "CommAnalyzerMatrix": (
        "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, transport_type TEXT, "
        "transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, step TEXT, type TEXT, op_name TEXT"
    ),
    "CommAnalyzerTime": (
        "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC, transit_time NUMERIC, "
        "wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, step TEXT, type TEXT"
    ),
}


OF_STEPS = ("step TEXT", "type TEXT", "op_name TEXT")
"""Columns that torch_npu adds to the communication tables of msprof."""


def main(later: bool) -> dict[str, str]:
    """The tables of schema 1.0.0, or of 1.2.0, which says blockNum and adds columns."""
    if not later:
        return MAIN
    tables = {name: columns + _LATER.get(name, "") for name, columns in MAIN.items()}
    renamed = tables["COMPUTE_TASK_INFO"].replace("blockDim", "blockNum").replace("mixBlockDim", "mixBlockNum")
    return tables | {"COMPUTE_TASK_INFO": renamed}


def analysis(level: int, device: bool) -> dict[str, str]:
    """The tables of analysis.db: the step times alone at Level0; with the device in front of them in later versions."""
    kept = ANALYSIS if level else {"StepTraceTime": ANALYSIS["StepTraceTime"]}
    return kept | {"StepTraceTime": "deviceId INTEGER, " * device + kept["StepTraceTime"]}


def analysis_of_msprof() -> dict[str, str]:
    """The tables of communication_analyzer.db: the communication alone, without steps and kinds."""
    return {
        name: ", ".join(column for column in columns.split(", ") if column not in OF_STEPS)
        for name, columns in ANALYSIS.items()
        if name != "StepTraceTime"
    }


_END = ((65534, "N/A"), (65535, "INVALID_TYPE"))
_MODULES = (
    "SLOG", "IDEDD", "IDEDH", "HCCL", "FMK", "HIAIENGINE", "DVPP", "RUNTIME", "CCE", "HDC", "DRV", "MDCFUSION",
    "MDCLOCATION", "MDCPERCEPTION", "MDCFSM", "MDCCOMMON", "MDCMONITOR", "MDCBSWP", "MDCDEFAULT", "MDCSC", "MDCPNC",
    "MLL", "DEVMM", "KERNEL", "LIBMEDIA", "CCECPU", "ASCENDDK", "ROS", "HCCP", "ROCE", "TEFUSION", "PROFILING", "DP",
    "APP", "TS", "TSDUMP", "AICPU", "LP", "TDT", "FE",
)  # fmt: skip
ENUMS: dict[str, tuple[tuple[int, str], ...]] = {
    "ENUM_API_TYPE": (
        (5000, "runtime"), (5500, "hccl"), (10000, "node"), (15000, "model"), (20000, "acl"), (50001, "op"),
        (50002, "queue"), (50003, "trace"), (50004, "mstx"),
    ),
    "ENUM_HCCL_DATA_TYPE": (
        *enumerate((
            "INT8", "INT16", "INT32", "FP16", "FP32", "INT64", "UINT64", "UINT8", "UINT16", "UINT32", "FP64", "BFP16",
            "INT128",
        )),
        *_END,
    ),
    "ENUM_HCCL_LINK_TYPE": (
        *enumerate(("ON_CHIP", "HCCS", "PCIE", "ROCE", "SIO", "HCCS_SW", "STANDARD_ROCE", "RESERVED")), *_END,
    ),
    "ENUM_HCCL_TRANSPORT_TYPE": (*enumerate(("SDMA", "RDMA", "LOCAL")), *_END),
    "ENUM_HCCL_RDMA_TYPE": (
        *enumerate((
            "RDMA_SEND_NOTIFY", "RDMA_SEND_PAYLOAD", "RDMA_PAYLOAD_PREPARE", "RDMA_PAYLOAD_CHECK", "RDMA_PAYLOAD_ACK",
            "RDMA_SEND_OP",
        )),
        *_END,
    ),
    "ENUM_MSTX_EVENT_TYPE": tuple(enumerate(("marker", "push/pop", "start/end", "marker_ex"))),
    "ENUM_MODULE": tuple(enumerate(_MODULES)),
}  # fmt: skip
