# SPDX-License-Identifier: Apache-2.0
"""What loaders read: one class per fact, the same whether it came from the text or the database export."""

from __future__ import annotations

from typing import Annotated

from advisor.facts.base import (
    Bytes,
    Count,
    Fact,
    Flag,
    Index,
    Key,
    Mhz,
    Name,
    Ns,
    Number,
    Rank,
    Rate,
    Share,
    Stage,
    Step,
    Us,
    Volatile,
)
from advisor.text import Text

_NPU = Text(
    en="record with ProfilerActivity.NPU among the activities",
    zh="采集时在 activities 中加入 ProfilerActivity.NPU",
)
_BOTH = Text(
    en="record with activities CPU and NPU together",
    zh="采集时 activities 同时包含 CPU 与 NPU",
)
_LEVEL1 = Text(
    en="record with profiler_level=Level1 or above",
    zh="采集时设置 profiler_level=Level1 或更高",
)
_MEMORY = Text(en="record with profile_memory=True", zh="采集时设置 profile_memory=True")


class StepTime(Fact):
    """Where one rank's time went in one step, as the profiler itself summed it up."""

    table = "step_times"
    record_with = _NPU

    rank: Rank
    step: Step
    stage: Stage
    compute_us: Annotated[float, Us("Device busy with computation.")]
    comm_us: Annotated[float, Us("Device communicating, hidden behind computation or not.")]
    exposed_comm_us: Annotated[float, Us("Communication not hidden behind computation.")]
    overlapped_us: Annotated[float, Us("Communication hidden behind computation.")]
    free_us: Annotated[float, Us("Device neither computing nor communicating; copies and event waits included.")]
    bubble_us: Annotated[float, Us("Time in pipeline receives; 0 when the job uses batchSendRecv.")]
    preparing_us: Annotated[float, Us("From the host's start of the step to the first device work.")]


class StepWindow(Fact):
    """The host's window of one step: ProfilerStep#N in the timeline, STEP_TIME in the database."""

    table = "step_windows"
    among_events = True
    record_with = Text(
        en="call prof.step() at the end of every training step",
        zh="在每个训练 step 结束时调用 prof.step()",
    )

    rank: Rank
    step: Step
    start_ns: Annotated[int, Ns("Host start of the step.")]
    end_ns: Annotated[int, Ns("Host end of the step.")]


class Kernel(Fact):
    """One compute task of the device (communication is in `collectives`, copies in `device_tasks`)."""

    table = "kernels"
    heavy = True
    record_with = _NPU

    rank: Rank
    step: Step
    stream: Annotated[int, Volatile("Stream the task ran on; missing at Level0.")]
    op_name: Annotated[str, Name("Name of the kernel.")]
    op_type: Annotated[str, Key("Operator type, as CANN names it; at Level0 the last part of the name.")]
    core: Annotated[str, Key("AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, AI_CPU, DSA_SQE …")]
    op_state: Annotated[str, Key("`dynamic` or `static`; missing when not recorded.")]
    start_ns: Annotated[int, Ns("Device start.")]
    duration_us: Annotated[float, Us("Device time.")]
    wait_us: Annotated[float, Us("Idle time of the device before it (not a queue time); text export only.")]
    blocks: Annotated[float, Count("Blocks the kernel was split into (Block Dim / Block Num).")]
    input_shapes: Annotated[str, Key("Shapes of the inputs, `;` between tensors, `,` between dimensions.")]
    input_dtypes: Annotated[str, Key("Data types of the inputs, `;` between tensors.")]
    input_formats: Annotated[str, Key("Memory formats of the inputs, `;` between tensors.")]
    mac_share: Annotated[float, Share("Cube (matrix) unit busy: aic_mac_ratio.")]
    vector_share: Annotated[float, Share("Vector unit busy: aiv_vec_ratio.")]
    scalar_share: Annotated[float, Share("Scalar unit busy, the larger of aic and aiv.")]
    mte2_share: Annotated[float, Share("Loading from memory (MTE2) busy, the larger of aic and aiv.")]
    mte3_share: Annotated[float, Share("Storing to memory (MTE3) busy.")]
    cube_share: Annotated[float, Share("Cube utilisation over all cores of the chip (cube_utilization(%) / 100).")]


class DeviceTask(Fact):
    """Anything the device's task scheduler ran: kernels, copies, event and notify waits, communication tasks."""

    table = "device_tasks"
    heavy = True
    record_with = _NPU

    rank: Rank
    stream: Annotated[int, Volatile("Stream the task ran on.")]
    name: Annotated[str, Name("Name of the task.")]
    kind: Annotated[str, Key("`kernel`, `copy`, `wait` (event or notify), `comm`, `mark` (records, place holders).")]
    task_type: Annotated[str, Key("Type as CANN names it, such as PCIE_DMA_SQE; spellings differ between exports.")]
    start_ns: Annotated[int, Ns("Device start.")]
    end_ns: Annotated[int, Ns("Device end.")]
    connection: Annotated[int, Volatile("Id that links the task to the host call that launched it.")]
    size_bytes: Annotated[float, Bytes("Bytes copied; Level2 only.")]
    direction: Annotated[str, Key("`h2d`, `d2h`, `d2d` or missing; without Level2, PCIE_DMA copies have no direction.")]


class HostCall(Fact):
    """One call on the host: framework operators, queue handling, CANN calls, Python functions."""

    table = "host_calls"
    heavy = True
    record_with = _BOTH

    rank: Rank
    thread: Annotated[int, Volatile("Thread id of the host.")]
    kind: Annotated[
        str,
        Key(
            "`operator`, `step`, `data_loader`, `optimizer`, `enqueue`, `dequeue`, `python`, `gc`, "
            "`acl`, `node`, `model`, `hccl`, `runtime`."
        ),
    ]
    name: Annotated[str, Key("Name of the call without its layer prefix, such as aclrtSynchronizeStream.")]
    start_ns: Annotated[int, Ns("Start.")]
    end_ns: Annotated[int, Ns("End.")]
    connection: Annotated[int, Volatile("connection_id (CANN calls) or correlation_id (enqueue and dequeue).")]


class Launch(Fact):
    """One HostToDevice link: the host call that launched a device task, and the task's start.

    `host_start_ns` is the start of the launching call. At Level0 the text export keeps only a moment inside it.
    """

    table = "launches"
    heavy = True
    record_with = _BOTH

    rank: Rank
    thread: Annotated[int, Volatile("Host thread of the launching call; missing in Level0 text.")]
    host_start_ns: Annotated[int, Ns("Start of the launching call.")]
    host_end_ns: Annotated[int, Ns("End of the launching call; missing in Level0 text.")]
    device_start_ns: Annotated[int, Ns("Start of the task on the device.")]
    stream: Annotated[int, Volatile("Stream of the task; missing for collectives.")]


class Collective(Fact):
    """One communication operator on one rank."""

    table = "collectives"
    among_events = True
    record_with = _NPU

    rank: Rank
    step: Step
    name: Annotated[str, Name("Name, such as hcom_allReduce__271_0_1.")]
    op: Annotated[str, Key("allReduce, allGather, reduceScatter, broadcast, allToAllV, send, receive, batchSendRecv …")]
    group: Annotated[str, Name("Hash or name of the communicator, as recorded.")]
    group_kind: Annotated[str, Key("tp, pp, dp, ep, cp, world … when the parallel groups are recorded.")]
    p2p: Annotated[bool, Flag("Send, receive or batchSendRecv.")]
    start_ns: Annotated[int, Ns("Device start.")]
    elapse_us: Annotated[float, Us("Start to end on this rank: transit, wait and idle together.")]
    transit_us: Annotated[float, Us("Data moving; Level1 and above.")]
    wait_us: Annotated[float, Us("Waiting for peers; Level1 and above.")]
    sync_us: Annotated[float, Us("The part of the wait before the first transfer.")]
    idle_us: Annotated[float, Us("Neither moving data nor waiting, as the profiler sees it.")]
    size_bytes: Annotated[float, Bytes("Payload: count times size of the data type.")]
    dtype: Annotated[str, Key("Data type, such as FP32.")]
    algorithm: Annotated[str, Key("Algorithm, such as MESH-RING.")]


class Transfer(Fact):
    """What one communication operator moved over one kind of link, in packets of one size."""

    table = "transfers"
    record_with = _LEVEL1

    rank: Rank
    step: Step
    name: Annotated[str, Name("Communication operator.")]
    op: Annotated[str, Key("Kind of operator, as in `collectives`.")]
    group: Annotated[str, Name("Communicator, as in `collectives`.")]
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO. The SDMA sum of the files is left out: it counts them again.")]
    packet_bytes: Annotated[float, Bytes("Size of one packet (MB of the files are 1e6 bytes).")]
    packets: Annotated[float, Count("How many packets of this size.")]
    transit_us: Annotated[float, Us("Time these packets took together.")]


class Link(Fact):
    """What one kind of collective moved from one rank to another."""

    table = "links"
    record_with = _LEVEL1

    rank: Rank
    step: Step
    op: Annotated[str, Key("Kind of operator, lower case, as communication_matrix names it.")]
    group: Annotated[str, Name("Communicator.")]
    source: Annotated[int, Volatile("Sending rank, global where the group is known.")]
    target: Annotated[int, Volatile("Receiving rank, global where the group is known.")]
    link: Annotated[str, Key("HCCS, RDMA, PCIE, SIO; on-chip copies (LOCAL) are left out.")]
    size_bytes: Annotated[float, Bytes("Bytes moved.")]
    transit_us: Annotated[float, Us("Time moving.")]
    bandwidth_gbps: Annotated[float, Rate("Size over time.")]


class MemoryUse(Fact):
    """Device memory held by one component at one moment."""

    table = "memory_uses"
    record_with = _MEMORY

    rank: Rank
    component: Annotated[str, Key("PTA, GE, PTA+GE (allocators), APP (whole process), WORKSPACE …")]
    time_ns: Annotated[int, Ns("Moment.")]
    allocated_bytes: Annotated[float, Bytes("Handed out by the allocator.")]
    reserved_bytes: Annotated[float, Bytes("Taken from the device.")]
    active_bytes: Annotated[float, Bytes("In use by streams, freed blocks awaiting their stream included.")]


class ModuleMemory(Fact):
    """Device memory reserved by one CANN module at one moment."""

    table = "module_memory"
    record_with = _MEMORY

    rank: Rank
    component: Annotated[str, Key("HCCL, RUNTIME, GE, APP, SLOG …")]
    time_ns: Annotated[int, Ns("Moment.")]
    reserved_bytes: Annotated[float, Bytes("Reserved.")]


class OperatorMemory(Fact):
    """One allocation made by an operator."""

    table = "operator_memory"
    record_with = _MEMORY

    rank: Rank
    name: Annotated[str, Key("Operator that allocated.")]
    size_bytes: Annotated[float, Bytes("Size.")]
    allocated_ns: Annotated[int, Ns("Allocation; missing when before the capture.")]
    released_ns: Annotated[int, Ns("Release; missing when still alive at the end.")]


class L2Cache(Fact):
    """Level-2 cache behaviour of one kernel."""

    table = "l2_cache"
    record_with = Text(en="record with l2_cache=True", zh="采集时设置 l2_cache=True")

    rank: Rank
    stream: Annotated[int, Volatile("Stream.")]
    task: Annotated[int, Volatile("Task id.")]
    op_name: Annotated[str, Name("Kernel.")]
    hit_share: Annotated[float, Share("Hit rate; often not available.")]
    victim_share: Annotated[float, Share("Victim rate.")]


class OperatorTotal(Fact):
    """All calls of one operator type on one kind of core, over the whole capture (op_statistic)."""

    table = "operator_totals"
    record_with = _LEVEL1

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    core: Annotated[str, Key("Core type.")]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Together.")]
    min_us: Annotated[float, Us("Shortest.")]
    max_us: Annotated[float, Us("Longest.")]


class ApiTotal(Fact):
    """All calls of one CANN interface over the whole capture (api_statistic)."""

    table = "api_totals"
    record_with = _LEVEL1

    rank: Rank
    level: Annotated[str, Key("acl, model, node, hccl or runtime.")]
    name: Annotated[str, Key("Interface.")]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Together.")]
    min_us: Annotated[float, Us("Shortest.")]
    max_us: Annotated[float, Us("Longest.")]


class OperatorCall(Fact):
    """One call of a framework operator with its host and device cost and where it was called from."""

    table = "operator_calls"
    heavy = True
    record_with = Text(
        en="record with ProfilerActivity.CPU (and with_stack=True for call stacks)",
        zh="采集时加入 ProfilerActivity.CPU（需要调用栈时设置 with_stack=True）",
    )

    rank: Rank
    name: Annotated[str, Key("Operator, such as aten::item.")]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]
    call_stack: Annotated[str, Name("Frames, innermost first, `;` between them.")]
    host_self_us: Annotated[float, Us("Host time without children.")]
    host_total_us: Annotated[float, Us("Host time with children.")]
    device_self_us: Annotated[float, Us("Device time of its own kernels; text export only.")]
    device_total_us: Annotated[float, Us("Device time with children; text export only.")]


class Frequency(Fact):
    """AI Core frequency from one moment on."""

    table = "frequencies"
    among_events = True
    record_with = _NPU

    rank: Rank
    time_ns: Annotated[int, Ns("Moment.")]
    mhz: Annotated[float, Mhz("Frequency.")]


class Setting(Fact):
    """One environment variable or profiler switch of one rank."""

    table = "settings"
    record_with = Text(
        en="keep profiler_metadata.json beside the output (recent torch_npu versions write it)",
        zh="保留 profiler_metadata.json（较新的 torch_npu 会自动写出）",
    )

    rank: Rank
    kind: Annotated[str, Key("`env` or `profiler`.")]
    name: Annotated[str, Key("Name, such as ASCEND_LAUNCH_BLOCKING.")]
    value: Annotated[str, Key("Value as recorded; empty text for a variable that was recorded as unset.")]
    number: Annotated[float, Number("The value as a number, where it is one; true is 1, false is 0.")]


class Group(Fact):
    """One member of one communication group."""

    table = "groups"
    record_with = Text(
        en="use a torch_npu that writes parallel_group_info, or add distributed_args with prof.add_metadata_json",
        zh="使用会写出 parallel_group_info 的 torch_npu，或用 prof.add_metadata_json 写入 distributed_args",
    )

    group: Annotated[str, Name("Communicator as `collectives` names it.")]
    group_kind: Annotated[str, Key("tp, pp, dp, ep, cp, world …")]
    rank: Rank
    position: Annotated[int, Index("Place of the rank inside the group, from 0.")]


class RankCapture(Fact):
    """How one rank was captured."""

    table = "rank_captures"

    rank: Rank
    source: Annotated[str, Key("text, database, text+database or cluster.")]
    level: Annotated[str, Key("Level_none, Level0, Level1, Level2; missing when not recorded.")]
    level_number: Annotated[float, Number("-1 for Level_none, 0 to 2 otherwise.")]
    complete: Annotated[bool, Flag("The profiler was stopped properly.")]
    with_stack: Annotated[bool, Flag("Call stacks were recorded.")]
    profile_memory: Annotated[bool, Flag("Memory was recorded.")]
    has_steps: Annotated[bool, Flag("Steps were marked with prof.step().")]
    other_captures: Annotated[float, Count("Further captures of the same rank that were left aside.")]


class Damage(Fact):
    """Something in the input that could not be read, with its place."""

    table = "damages"

    rank: Rank
    file: Annotated[str, Name("File, relative to the input.")]
    place: Annotated[str, Name("Line, row or byte offset of the first occurrence.")]
    what: Annotated[str, Name("What was wrong, in English.")]
    kind: Annotated[str, Key("`row` (some rows left out), `truncated`, `unreadable` (the file as a whole), `clock`.")]
    rows: Annotated[float, Count("Rows or events left out.")]
    share: Annotated[float, Share("Part of the file's rows left out; 1 for a file that cannot be read.")]


OBSERVED: tuple[type[Fact], ...] = (
    StepTime,
    StepWindow,
    Kernel,
    DeviceTask,
    HostCall,
    Launch,
    Collective,
    Transfer,
    Link,
    MemoryUse,
    ModuleMemory,
    OperatorMemory,
    L2Cache,
    OperatorTotal,
    ApiTotal,
    OperatorCall,
    Frequency,
    Setting,
    Group,
    RankCapture,
    Damage,
)
