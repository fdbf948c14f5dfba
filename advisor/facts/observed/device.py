# SPDX-License-Identifier: Apache-2.0
"""What ran on the device."""

from typing import Annotated

from advisor.facts.base import (
    Bytes,
    Count,
    Fact,
    Key,
    Mhz,
    Moment,
    Name,
    Ns,
    Number,
    Rank,
    Share,
    Stage,
    Step,
    Us,
    Volatile,
)
from advisor.facts.observed.recording import LEVEL1, NPU, PHASES
from advisor.messages.text import Text

ROLES = ("cast", "move", "fill", "other")
"""What a kernel does to data where it computes nothing; most compute, look up or communicate, and are `other`."""


CAUSAL = "causal"
"""In `input_formats` of attention, before the format of queries that meet no later keys."""


class Kernel(Fact):
    """One compute task of the device (communication is in `collectives`, copies in `device_tasks`)."""

    table = "kernels"
    called = Text("kernels", "kernel 明细")
    heavy = True
    moment = Moment(lasts="duration_us", name=("op_name", "op_type"))
    record_with = NPU

    rank: Rank
    step: Step
    stream: Annotated[int, Volatile("Stream the task ran on; missing at Level0.")]
    graph: Annotated[
        int,
        Volatile("Number of the compiled graph that ran it; missing of a kernel launched by itself; text export only."),
    ]
    op_name: Annotated[str, Name("Name of the kernel.")]
    op_type: Annotated[
        str,
        Key("Operator type, as CANN names it; at Level0 the last part of the name; on GPUs the framework's operator."),
    ]
    function: Annotated[str, Key("What ran, where an operator may run several functions: traces of GPUs name it.")]
    effect: Annotated[
        str,
        Key("Its role: what it does to data (`cast`, `move`, `fill`, `other`); missing where its type alone tells."),
    ]
    core: Annotated[str, Key("AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, AI_CPU, DSA_SQE …")]
    op_state: Annotated[str, Key("`dynamic` or `static`; missing when not recorded.")]
    start_ns: Annotated[int, Ns("Device start.")]
    duration_us: Annotated[float, Us("Device time.")]
    wait_us: Annotated[float, Us("Idle time of the device before it (not a queue time); text export only.")]
    blocks: Annotated[float, Count("Blocks the kernel was split into (Block Dim / Block Num).")]
    input_shapes: Annotated[str, Key("Shapes of the inputs, `;` between tensors, `,` between dimensions.")]
    input_dtypes: Annotated[str, Key("Data types of the inputs, `;` between tensors.")]
    input_formats: Annotated[
        str,
        Key(
            "Memory formats of the inputs, `;` between tensors. Of fused attention that PyTorch launched on a GPU how "
            "queries, keys and values lie, such as `BSND`, with `causal` before it where queries meet no later keys."
        ),
    ]
    output_shapes: Annotated[str, Key("Shapes of the outputs, written like those of the inputs.")]
    output_dtypes: Annotated[str, Key("Data types of the outputs, `;` between tensors.")]
    hf32: Annotated[str, Key("`YES` where float32 may be multiplied as HF32, else `NO`; missing when not recorded.")]
    mac_share: Annotated[float, Share("Cube (matrix) unit busy: aic_mac_ratio.")]
    vector_share: Annotated[float, Share("Vector unit busy: aiv_vec_ratio.")]
    scalar_share: Annotated[float, Share("Scalar unit busy, the larger of aic and aiv.")]
    mte2_share: Annotated[float, Share("Loading from memory (MTE2) busy, the larger of aic and aiv.")]
    mte3_share: Annotated[float, Share("Storing to memory (MTE3) busy.")]
    mte1_share: Annotated[
        float, Share("Loading operands of the cube from L1 into L0A and L0B (MTE1) busy: aic_mte1_ratio.")
    ]
    fixpipe_share: Annotated[
        float,
        Share(
            "Writing results of the cube out of L0C (FixPipe) busy, converted on the way: aic_fixpipe_ratio; missing "
            "on chips that have none."
        ),
    ]
    cube_share: Annotated[float, Share("Cube utilisation over all cores of the chip (cube_utilization(%) / 100).")]
    cube_mhz: Annotated[
        float,
        Mhz(
            "Clock of all cube cores of the chip together, by aic_total_cycles, which is what `cube_share` counts of "
            "the duration; of databases only where a kernel has as many blocks as any chip has cores."
        ),
    ]


class DeviceTask(Fact):
    """Anything the device's task scheduler ran: kernels, copies, event and notify waits, communication tasks."""

    table = "device_tasks"
    called = Text("tasks of the device", "device 任务")
    heavy = True
    moment = Moment(end="end_ns")
    record_with = NPU

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


class L2Cache(Fact):
    """Level-2 cache behaviour of one kernel."""

    table = "l2_cache"
    called = Text("L2 cache hit rates", "L2 Cache 命中率")
    never_empty = True
    heavy = True
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
    called = Text("sums over operator types", "算子类型汇总")
    among_events = True
    never_empty = True
    record_with = LEVEL1

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    core: Annotated[str, Key("Core type.")]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Together.")]
    min_us: Annotated[float, Us("Shortest.")]
    max_us: Annotated[float, Us("Longest.")]
    share: Annotated[
        float,
        Share("Part of the time of all types of the device, as the profiler wrote it; missing where it did not."),
    ]


class RankFlops(Fact):
    """How much one rank computes in a step, as the profiler counted it by the kinds and shapes of operators."""

    table = "rank_flops"
    called = Text("floating-point operations of ranks", "各卡的浮点计算量")
    record_with = PHASES

    rank: Rank
    stage: Stage
    mega_flops: Annotated[float, Number("Floating-point operations of a step, in millions, padding included.")]
    gflops_per_s: Annotated[float, Number("Their number per second while AI Cores compute, in 10^9.")]


class Frequency(Fact):
    """AI Core frequency from one moment on."""

    table = "frequencies"
    called = Text("AI Core frequency", "AI Core 频率")
    heavy = True
    moment = Moment("time_ns", name=())
    record_with = NPU

    rank: Rank
    time_ns: Annotated[int, Ns("Moment.")]
    mhz: Annotated[float, Mhz("Frequency.")]
