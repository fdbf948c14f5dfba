# SPDX-License-Identifier: Apache-2.0
"""What ran on the host, and what it launched."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Key, Moment, Name, Ns, Rank, Rate, Share, Us, Volatile
from advisor.facts.observed.recording import BOTH, LEVEL1
from advisor.messages.text import Text


class HostCall(Fact):
    """One call on the host: framework operators, queue handling, calls into the device's software, Python functions."""

    table = "host_calls"
    called = Text("host calls", "host 侧调用")
    heavy = True
    longest = True
    moment = Moment(end="end_ns")
    record_with = BOTH

    rank: Rank
    thread: Annotated[int, Volatile("Thread id of the host.")]
    kind: Annotated[
        str,
        Key(
            "`operator`, `step`, `data_loader`, `optimizer`, `enqueue`, `dequeue`, `python`, `gc`; of the device's "
            "software `api` (what programs call; acl of CANN), `launch` (node), `graph` (model), `communicate` (hccl), "
            "`runtime` (below)."
        ),
    ]
    name: Annotated[str, Key("Name of the call without its layer prefix, such as aclrtSynchronizeStream.")]
    activity: Annotated[
        str,
        Key(
            "What it does, whatever it is called: `synchronise` (waits for the device), `copy`, `blocking_copy`, "
            "`dispatch` (of an operator that may have to be built), `build`, `allocate` (or give back device memory), "
            "`free` (device memory, of GPUs, which waits for the device), `pin` (or give back host memory), `compile` "
            "(a part of the program, as torch.compile and Triton do), `read` (a value of the device), `fetch` (perhaps "
            "one), `make` (a tensor of no other), `launch` (one kernel, of GPUs without graphs), `replay` (a captured "
            "graph), `execute` (a model that was loaded as a file), either with `_through` where it returns when the "
            "device is done with it, `update` (begin or end to bring captured tasks of a graph up to date); missing "
            "where that makes no difference."
        ),
    ]
    start_ns: Annotated[int, Ns("Start.")]
    end_ns: Annotated[int, Ns("End.")]
    connection: Annotated[int, Volatile("connection_id (CANN calls) or correlation_id (enqueue and dequeue).")]


class Launch(Fact):
    """One HostToDevice link: the host call that launched a device task, and the task's start.

    `host_start_ns` is the start of the launching call. At Level0 the text export keeps only a moment inside it. Work of
    a graph to which no link leads is of the call that ran the graph, where their order tells which.
    """

    table = "launches"
    called = Text("launches", "下发记录")
    heavy = True
    record_with = BOTH

    rank: Rank
    thread: Annotated[int, Volatile("Host thread of the launching call; missing in Level0 text.")]
    host_start_ns: Annotated[int, Ns("Start of the launching call.")]
    host_end_ns: Annotated[int, Ns("End of the launching call; missing in Level0 text.")]
    device_start_ns: Annotated[int, Ns("Start of the task on the device.")]
    stream: Annotated[int, Volatile("Stream of the task; missing for collectives.")]


class OperatorLink(Fact):
    """One link from an operator of the framework to the device task it led to, as the profiler drew it."""

    table = "operator_links"
    called = Text("links from framework operators to tasks", "框架算子到 device 任务的关联")
    heavy = True
    record_with = BOTH

    rank: Rank
    operator_start_ns: Annotated[int, Ns("Start of the operator; missing where the database holds the link alone.")]
    device_start_ns: Annotated[int, Ns("Start of the task on the device; missing where no task has its connection.")]


class PassedTask(Fact):
    """One task that a thread of the host passed on to another, as MindSpore does with operators in PyNative mode: from
    Python to the frontend, from there to the backend, and on to the thread that launches."""

    table = "passed_tasks"
    called = Text("tasks that threads of the host passed on", "host 线程之间转交的任务")
    heavy = True
    moment = Moment(end="end_ns", name=())
    record_with = BOTH

    rank: Rank
    thread: Annotated[int, Volatile("Thread of the host that passed the task on.")]
    passed_ns: Annotated[int, Ns("When it did.")]
    worker: Annotated[int, Volatile("Thread of the host that carried the task out.")]
    start_ns: Annotated[int, Ns("When that began.")]
    end_ns: Annotated[int, Ns("When that ended.")]


class ApiTotal(Fact):
    """All calls of one CANN interface over the whole capture (api_statistic)."""

    table = "api_totals"
    called = Text("sums over API calls", "API 调用汇总")
    among_events = True
    never_empty = True
    record_with = LEVEL1

    rank: Rank
    level: Annotated[str, Key("acl, model, node, hccl or runtime.")]
    kind: Annotated[str, Key("Kind of such calls, as in `host_calls`; the level where it is none of these.")]
    name: Annotated[str, Key("Interface.")]
    activity: Annotated[
        str,
        Key(
            "What it does, as in `host_calls`, or `await_size` (an operator that waits for the device inside of it, to "
            "learn how large its result is); missing for calls inside of others."
        ),
    ]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Together.")]
    min_us: Annotated[float, Us("Shortest.")]
    max_us: Annotated[float, Us("Longest.")]


class OperatorCall(Fact):
    """One call of a framework operator with its host and device cost and where it was called from."""

    table = "operator_calls"
    called = Text("operator calls of the framework", "框架算子调用")
    never_empty = True
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
    device_self_us: Annotated[
        float,
        Us("Device time of the kernels that it launches itself, without those of nested operators; text export only."),
    ]
    device_total_us: Annotated[float, Us("Device time with children; text export only.")]


class HostUse(Fact):
    """What was used of the host's memory, storage and network while one rank was recorded.

    Files that sum a recording up tell peaks; a mean is known where it was sampled.
    """

    table = "host_uses"
    called = Text("use of the host's memory, storage and network", "host 内存、磁盘与网络的使用情况")
    among_events = True
    never_empty = True
    record_with = Text(
        en="record with host_sys=[HostSystem.MEM, HostSystem.DISK, HostSystem.NETWORK] in the experimental_config of "
        "the profiler",
        zh="采集时在 experimental_config 中设置 host_sys=[HostSystem.MEM, HostSystem.DISK, HostSystem.NETWORK]",
    )

    rank: Rank
    memory_bytes: Annotated[float, Bytes("Memory of the host.")]
    memory_share: Annotated[
        float, Share("Part of it that all processes held, mean; without what the kernel gives back when asked.")
    ]
    process_share: Annotated[
        float, Share("The most of it that the process of the rank held at once, files that it has mapped included.")
    ]
    storage_wait_share: Annotated[
        float, Share("Part of its time that the process waited for storage, mean over its threads.")
    ]
    read_gbps: Annotated[float, Rate("The most that the process read from storage in a second.")]
    written_gbps: Annotated[float, Rate("The most that it wrote to storage in a second.")]
    network_gbps: Annotated[float, Rate("The most that all network cards of the host sent and received in a second.")]
    network_limit_gbps: Annotated[float, Rate("What they carry together each way.")]
    network_share: Annotated[
        float,
        Share("The most sent and received of what a card carries each way, mean over the cards; 2 is full both ways."),
    ]
