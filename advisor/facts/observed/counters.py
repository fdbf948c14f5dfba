# SPDX-License-Identifier: Apache-2.0
"""What the hardware counted: in kernels, apart from the use of their pipes, and at the ports of the network."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Key, Name, Ns, Number, Rank, Rate, Share, Us, Volatile
from advisor.messages.text import Text


class KernelCounters(Fact):
    """One kernel with the counters of a set of `aic_metrics` other than PipeUtilization.

    A recording has one set; the columns of the others are missing. What the chip counts apart for its cube and its
    vector cores is added up, shares are the larger of both.
    """

    table = "kernel_counters"
    called = Text("hardware counters of kernels", "算子的硬件计数器")
    never_empty = True
    heavy = True
    record_with = Text(
        en="record once more with another set of hardware counters, one at a time: aic_metrics=L2Cache, "
        "ResourceConflictRatio, Memory …",
        zh="另采一次其他硬件计数器组（每次一组）：aic_metrics=L2Cache、ResourceConflictRatio、Memory 等",
    )

    rank: Rank
    op_name: Annotated[str, Name("Name of the kernel.")]
    op_type: Annotated[str, Key("Operator type.")]
    duration_us: Annotated[float, Us("Device time.")]
    bank_group_share: Annotated[
        float, Share("ResourceConflictRatio: cycles the vector unit waits for another access to its bank group.")
    ]
    bank_share: Annotated[float, Share("The same for access to the same bank, reading against writing.")]
    resource_share: Annotated[float, Share("The same for instructions that need the same unit.")]
    l2_hits: Annotated[float, Count("L2Cache: requests the L2 cache answered, reading and writing.")]
    l2_misses: Annotated[float, Count("Requests it had to fetch or write out; victims included on Ascend 950.")]
    memory_read_gbps: Annotated[float, Rate("Memory: read from device memory.")]
    memory_write_gbps: Annotated[float, Rate("Written to device memory.")]
    l2_read_gbps: Annotated[float, Rate("Read from the L2 cache.")]
    l2_write_gbps: Annotated[float, Rate("Written to the L2 cache.")]
    l1_read_gbps: Annotated[float, Rate("Read from the L1 buffer.")]
    l1_write_gbps: Annotated[float, Rate("Written to the L1 buffer.")]
    ub_read_gbps: Annotated[float, Rate("Read from the unified buffer.")]
    ub_write_gbps: Annotated[float, Rate("Written to the unified buffer.")]
    ub_vector_read_gbps: Annotated[float, Rate("MemoryUB: read from the unified buffer by the vector unit.")]
    ub_vector_write_gbps: Annotated[float, Rate("Written to it by the vector unit.")]
    ub_scalar_read_gbps: Annotated[float, Rate("Read from it by the scalar unit.")]
    ub_scalar_write_gbps: Annotated[float, Rate("Written to it by the scalar unit.")]
    ub_result_write_gbps: Annotated[float, Rate("Written to it with results of the cube unit (fixpipe); Ascend 950.")]
    l0a_read_gbps: Annotated[float, Rate("MemoryL0: read from L0A, the left matrix.")]
    l0a_write_gbps: Annotated[float, Rate("Written to L0A.")]
    l0b_read_gbps: Annotated[float, Rate("Read from L0B, the right matrix.")]
    l0b_write_gbps: Annotated[float, Rate("Written to L0B.")]
    l0c_read_gbps: Annotated[float, Rate("Read from L0C, the result, by the cube unit.")]
    l0c_write_gbps: Annotated[float, Rate("Written to L0C by the cube unit.")]
    l0c_vector_read_gbps: Annotated[float, Rate("Read from L0C by the vector unit; of chips with one kind of core.")]
    l0c_vector_write_gbps: Annotated[float, Rate("Written to L0C by the vector unit; of chips with one kind of core.")]
    memory_read_bytes: Annotated[float, Bytes("MemoryAccess: read from device memory.")]
    memory_write_bytes: Annotated[float, Bytes("Written to device memory.")]
    memory_to_l1_bytes: Annotated[float, Bytes("Moved from device memory to L1.")]
    memory_to_ub_bytes: Annotated[float, Bytes("Moved from device memory to the unified buffer.")]
    ub_to_memory_bytes: Annotated[float, Bytes("Moved from the unified buffer to device memory.")]
    l0c_to_l1_bytes: Annotated[float, Bytes("Moved from L0C to L1.")]
    l0c_to_memory_bytes: Annotated[float, Bytes("Moved from L0C to device memory.")]
    cube_half_share: Annotated[float, Share("ArithmeticUtilization: the cube unit busy with half precision.")]
    cube_int8_share: Annotated[float, Share("The cube unit busy with int8.")]
    vector_single_share: Annotated[float, Share("The vector unit busy with float32.")]
    vector_half_share: Annotated[float, Share("The vector unit busy with float16.")]
    vector_int32_share: Annotated[float, Share("The vector unit busy with int32.")]
    vector_other_share: Annotated[float, Share("The vector unit busy with anything else.")]
    cube_operations: Annotated[float, Number("Operations of the cube unit.")]
    vector_operations: Annotated[float, Number("Operations of the vector unit.")]


class PortCounters(Fact):
    """What a network port of the device had done by one moment.

    The database counts, from when the port came up. Text files tell how busy the port was over the whole capture.
    """

    table = "port_counters"
    called = Text("counters of network ports", "网口计数器")
    never_empty = True
    heavy = True
    record_with = Text(
        en="record with sys_io=True in the experimental_config of the profiler",
        zh="采集时在 experimental_config 中设置 sys_io=True",
    )

    rank: Rank
    network: Annotated[str, Key("`NIC`, `RoCE`, or `device` (all ports of the device together; database only).")]
    port: Annotated[int, Volatile("Port of the device, where it has several.")]
    time_ns: Annotated[int, Ns("Moment.")]
    bandwidth_gbps: Annotated[float, Rate("What the port can carry each way.")]
    received_gbps: Annotated[float, Rate("Received.")]
    sent_gbps: Annotated[float, Rate("Sent.")]
    packets: Annotated[float, Count("Packets received and sent so far.")]
    dropped: Annotated[float, Count("Packets dropped so far.")]
    broken: Annotated[float, Count("Packets with errors so far.")]
    repeated: Annotated[float, Count("Packets sent again after a time-out so far; `device` only.")]
    congested: Annotated[float, Count("Notifications of congestion (CNP) received so far; `device` only.")]
    paused: Annotated[float, Count("Requests to pause (PFC) received so far; `device` only.")]


class TrafficSample(Fact):
    """How fast a memory, a cache or a link of the device moved bytes one way, at one moment.

    Text files that sum a capture up hold one sample without a moment, the mean of all.
    """

    table = "traffic_samples"
    called = Text("traffic of memory and links", "显存、缓存与链路的流量")
    never_empty = True
    heavy = True
    record_with = Text(
        en="record with sys_interconnection=True in the experimental_config of the profiler; memory and its cache are "
        "sampled by some versions without being asked",
        zh="采集时在 experimental_config 中设置 sys_interconnection=True；部分版本会默认采样显存及其缓存",
    )

    rank: Rank
    place: Annotated[
        str,
        Key(
            "`HBM` or `DDR` (memory), `LLC` (its cache), `QoS` (memory again, by who asks), `HCCS` (to other devices), "
            "`PCIe` (to the host)."
        ),
    ]
    way: Annotated[
        str, Key("`read` or `write`; of links `received` or `sent`; of `QoS` the class of traffic, as it was set.")
    ]
    unit: Annotated[int, Volatile("Unit of the memory or cache, where there are several.")]
    time_ns: Annotated[int, Ns("Moment; missing of a mean.")]
    speed_gbps: Annotated[float, Rate("Bytes moved in a second.")]
    hit_share: Annotated[float, Share("Of a cache: how much of what was asked for it held.")]


class AicpuTask(Fact):
    """One operator on the AI CPU, and what its time went to (data_preprocess.csv; aicpu_*.csv of msprof)."""

    table = "aicpu_tasks"
    called = Text("what time on the AI CPU goes to", "AI CPU 各阶段耗时")
    never_empty = True
    heavy = True
    record_with = Text(
        en="record with profiler_level=Level2 (text export)", zh="采集时设置 profiler_level=Level2（文本导出）"
    )

    rank: Rank
    op_name: Annotated[str, Name("Name of the kernel.")]
    compute_us: Annotated[float, Us("Computing.")]
    copy_us: Annotated[float, Us("Time copying memory.")]
    task_us: Annotated[float, Us("The operator: what precedes it, computing and copying.")]
    dispatch_us: Annotated[float, Us("Time until it was handed to a processor of the AI CPU.")]
    total_us: Annotated[float, Us("From start to end: dispatch, scheduling and the operator.")]
