# SPDX-License-Identifier: Apache-2.0
"""Operators: kernels taken together, by type and by shape, and what the hardware counted in them."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Flag, Key, Mhz, Number, Rank, Rate, Share, Stage, Step, Times, Us
from advisor.facts.derived.rooflines import FAMILY
from advisor.messages.text import Text

ROLE = (
    "What they do to data where they compute nothing: `cast`, `move` (copy, transpose, cut, join) or `fill`; else "
    "`other`. An operator that does several has a row for each."
)


COMMUNICATES = "It exchanges data inside, such as MatmulReduceScatter: its time holds waiting for other ranks."


BUSIEST_PIPE = (
    "The busiest pipe of all (cube, vector, scalar, loading, storing, filling and emptying L0); missing unless "
    "loading, scalar and an arithmetic unit were recorded, and where none was ever busy, as on the AI CPU."
)


class OperatorShare(Fact):
    """All kernels of one type on one rank, per step.

    Where the list of kernels is absent or lacks rows, and the profiler's totals by operator type were recorded, these
    stand for it: calls and time over the whole capture, which tell neither steps nor what ran at the same time.
    """

    table = "operators"
    called = Text("operators", "算子统计")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    core: Annotated[
        str,
        Key("Core type; the one with most time where a type ran on several. What ran on the AI CPU has its own row."),
    ]
    family: Annotated[str, Key(FAMILY)]
    role: Annotated[str, Key(ROLE)]
    conversion: Annotated[bool, Flag("Changes only type or layout: Cast, TransData, Transpose, TensorMove.")]
    communicates: Annotated[bool, Flag(COMMUNICATES)]
    source: Annotated[
        str, Key("`kernels`, or `totals` (of the profiler): then calls and time are those of the whole capture.")
    ]
    calls: Annotated[float, Count("How often per step.")]
    total_us: Annotated[float, Us("Device time per step.")]
    alone_us: Annotated[float, Us("The part per step in which nothing else ran on the device.")]
    unshared_us: Annotated[
        float,
        Us(
            "The part per step in which no kernel of another type ran, nor a collective at whose end the device stood "
            "still (that one would take as long anyway). Kernels on a side stream that the main stream does not wait "
            "for count for nothing. Without these kernels the step would be so much shorter."
        ),
    ]
    instant_us: Annotated[
        float,
        Us(
            "How much sooner a step would end if these kernels took no time and were launched as before (`removals`): "
            "`unshared_us` where the host is far ahead or launches were not recorded, less where what follows has to "
            "wait for its own launch."
        ),
    ]
    removed_us: Annotated[
        float, Us("The same without the calls that launch nothing but these kernels; at most `unshared_us`, too.")
    ]
    without_us: Annotated[
        float,
        Us(
            "The same with the pauses before these kernels and all that their calls cost, which may be more than "
            "`unshared_us`; missing where launches were not recorded."
        ),
    ]
    median_us: Annotated[float, Us("Median duration of one; missing for totals.")]
    mean_us: Annotated[float, Us("Mean duration.")]
    longest_us: Annotated[float, Us("Longest of all.")]
    kernel_share: Annotated[float, Share("Part of the kernel time.")]
    step_share: Annotated[
        float,
        Share(
            "Their part of the kernel time, times the part of the step that computes: what runs at the same time "
            "counts once, and the shares of all types add up to no more than the step."
        ),
    ]
    dynamic_share: Annotated[float, Share("Part of its time in kernels with dynamic shape; missing when not recorded.")]
    busiest_share: Annotated[float, Share(BUSIEST_PIPE)]
    float32_share: Annotated[
        float, Share("Part of its time in kernels that multiply float32; missing when types were not recorded.")
    ]
    beyond_ridge_share: Annotated[
        float,
        Share(
            "Of a product: the part of its time in kernels whose operations take longer at the peak of the chip than "
            "their bytes at the bandwidth of its memory, so that more rows in each make it no quicker per row; missing "
            "where that is not known of half of its time."
        ),
    ]
    peak_tflops: Annotated[
        float,
        Number("Peak of products in FLOAT16 of the chip, 10^12 operations per second; missing where nothing tells it."),
    ]
    narrowable_share: Annotated[
        float,
        Share(
            "Part of its time in kernels with an input in float64, int16, int64 or a complex type, for which a type "
            "that the AI Cores have may do; missing when types were not recorded."
        ),
    ]
    float64_share: Annotated[
        float, Share("Part of its time in kernels with an input in float64; missing when types were not recorded.")
    ]
    aclnn_share: Annotated[
        float,
        Share(
            "Part of its time in kernels that calls of aclnn or compiled graphs launched, and not those of aclop, as "
            "their names tell; missing where kernels have no names, on GPUs, and for the profiler's totals."
        ),
    ]
    inside_call: Annotated[
        str,
        Key(
            "Call of the operator library that launches most of them in addition to its main kernel, such as "
            "conversions in `aclnnUpsampleBilinear2d`; missing where none does, or names of kernels do not tell."
        ),
    ]
    inside_share: Annotated[
        float, Share("Part of its time in kernels that such calls launch; missing for the profiler's totals.")
    ]
    choosing_us: Annotated[
        float,
        Us(
            "The part of the device time that chooses tokens: between the last kernel of the model and the choice, "
            "such as an `argmax`, and the choice itself; missing for the profiler's totals."
        ),
    ]
    shapes: Annotated[float, Count("Distinct input shapes.")]
    chained_us: Annotated[
        float, Us("The part of the device time in chains that one fused operator would replace (`fusible_chains`).")
    ]
    chained_serving_us: Annotated[
        float, Us("The same of chains whose fused operator serves inference alone; not in `chained_us`.")
    ]


class OperatorShape(Fact):
    """All kernels of one type with the same inputs, per step."""

    table = "operator_shapes"
    called = Text("operators by shape", "按 shape 统计的算子")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    function: Annotated[str, Key("What ran, where an operator may run several functions: traces of GPUs name it.")]
    core: Annotated[str, Key("Core type.")]
    family: Annotated[str, Key(FAMILY)]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]
    input_dtypes: Annotated[str, Key("Data types of the inputs.")]
    input_formats: Annotated[str, Key("Formats of the inputs.")]
    output_shapes: Annotated[str, Key("Shapes of the outputs.")]
    output_dtypes: Annotated[str, Key("Data types of the outputs.")]
    in_float32: Annotated[
        bool,
        Flag(
            "Its inputs are float32: by their types, or where none were recorded by the name of the kernel, in which "
            "libraries for GPUs say it. Missing where neither tells."
        ),
    ]
    calls: Annotated[float, Count("How often per step.")]
    total_us: Annotated[float, Us("Device time per step.")]
    instant_us: Annotated[
        float, Us("How much sooner a step would end if all kernels of this type took no time, as in `operators`.")
    ]
    steady_us: Annotated[
        float,
        Us(
            "How much sooner a step would end if each took no longer than the fastest quarter of them; their whole "
            "excess where the rank could not be replayed."
        ),
    ]
    mean_us: Annotated[float, Us("Mean duration.")]
    steady_mean_us: Annotated[float, Us("Mean duration if each took no longer than the fastest quarter of them.")]
    spread: Annotated[
        float,
        Times(
            "Standard deviation of the duration over its mean; where every step has as many calls, from the mean of "
            "those at the same place of a step."
        ),
    ]
    slow_steps: Annotated[
        float,
        Count(
            "Number of steps in which they take longer than in the others; slow and fast steps are separated at the "
            "largest gap between their times; missing where not every step has as many of them, where fewer than two "
            "steps are slow or quick, and where the slow ones came first. The first step is left out."
        ),
    ]
    slowdown: Annotated[
        float, Times("Their mean time in slow steps over that in quick ones; missing where `slow_steps` is.")
    ]
    excess_us: Annotated[
        float,
        Us("What they take in slow steps beyond a quick one, spread over all steps; missing where `slow_steps` is."),
    ]
    contrast: Annotated[
        float,
        Share(
            "How clearly both levels lie apart: the gap between them as a part of the gap and the larger spread on one "
            "of them; 1 where there is no spread. A step within which the level rose for good is not part of it."
        ),
    ]
    others_slowdown: Annotated[
        float, Times("The time of all other kernels of the rank in these slow steps over that in the quick ones.")
    ]
    mac_share: Annotated[float, Share("Cube busy, weighted by time.")]
    vector_share: Annotated[float, Share("Vector unit busy, weighted by time.")]
    scalar_share: Annotated[float, Share("Scalar unit busy, weighted by time.")]
    mte2_share: Annotated[float, Share("Loading busy, weighted by time.")]
    mte3_share: Annotated[float, Share("Storing (MTE3) busy, weighted by time.")]
    mte1_share: Annotated[float, Share("Loading operands into L0A and L0B (MTE1) busy, weighted by time.")]
    fixpipe_share: Annotated[float, Share("Writing results out of L0C (FixPipe) busy, weighted by time.")]
    busiest_share: Annotated[float, Share(BUSIEST_PIPE)]
    second_share: Annotated[float, Share("The second busiest pipe; missing where `busiest_share` is.")]
    hf32_share: Annotated[
        float, Share("Part of its time in kernels that may multiply float32 as HF32; missing when not recorded.")
    ]
    mean_mhz: Annotated[float, Mhz("Clock of the AI Cores as they begin, weighted by time; missing when not recorded.")]
    picks_last: Annotated[
        bool,
        Flag("A Gather along the last axis of its input, by its shapes; missing for one of which they do not tell."),
    ]
    most_memory_us: Annotated[
        float,
        Us(
            "What all its inputs and outputs take at the bandwidth of the device memory, as in `operator_rooflines`; "
            "missing where nothing tells the chip."
        ),
    ]
    half_us: Annotated[
        float,
        Us(
            "What a product in float32 would take in bfloat16 at the part of the peak and of the bandwidth that real "
            "ones reach; missing of others, where nothing tells the chip, or where it takes longer than float32 tells."
        ),
    ]
    communicates: Annotated[bool, Flag(COMMUNICATES)]
    blocks: Annotated[float, Count("Blocks, the smallest seen.")]
    step_share: Annotated[float, Share("Part of the step.")]


class OverlapSlowdown(Fact):
    """Kernels of one type with equal inputs that ran during communication, compared with those that did not.

    Only where three or more ran without it, and three or more during it or covered by it in part; a kernel counts as
    running during communication where communication covers nine tenths of it.
    """

    table = "overlap_slowdowns"
    called = Text("operators with and without communication beside them", "有无通信并行时的算子耗时对比")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    function: Annotated[str, Key("What ran, where an operator may run several functions: traces of GPUs name it.")]
    family: Annotated[str, Key(FAMILY)]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]
    input_dtypes: Annotated[str, Key("Data types of the inputs.")]
    beside_calls: Annotated[float, Count("Kernels per step that ran during communication.")]
    bare_calls: Annotated[float, Count("Kernels per step that ran while nothing communicated.")]
    beside_median_us: Annotated[float, Us("Median duration of those that ran during communication.")]
    bare_median_us: Annotated[float, Us("Median duration without.")]
    slowdown: Annotated[float, Times("The former over the latter.")]
    beside_us: Annotated[float, Us("Device time per step of those that ran during communication.")]
    at_bare_us: Annotated[float, Us("What those would take per step at the median duration without communication.")]
    extra_us: Annotated[
        float,
        Us("Difference of the two per step: what running during communication costs; 0 where they are not slower."),
    ]
    apart: Annotated[
        bool,
        Flag(
            "Whether even the fastest quarter of those that run during communication takes longer than the "
            "slowest quarter of the others."
        ),
    ]
    partly_calls: Annotated[float, Count("Kernels per step that communication covers in part.")]
    partly_extra_us: Annotated[
        float,
        Us(
            "How much longer those take per step than the median without communication, each no more than it is "
            "covered; 0 where even their fastest quarter takes no longer than the slowest quarter of the others."
        ),
    ]


class OperatorPace(Fact):
    """All kernels of one type on a rank in its slow steps, compared with its fast ones.

    Only kernels that every step runs equally often with equal inputs; slow and fast steps of a rank are separated at
    the largest gap between the summed times of these kernels. A rank has no row where fewer than two steps are slow or
    quick, or where the slow ones came first. The first step is left out.
    """

    table = "operator_paces"
    called = Text("operators in slow and quick steps", "快慢 step 中的算子耗时")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    family: Annotated[str, Key(FAMILY)]
    quick_us: Annotated[float, Us("Their time in a quick step, on average.")]
    slow_us: Annotated[float, Us("Their time in a slow step, on average.")]
    slowdown: Annotated[float, Times("The latter over the former.")]
    extra_us: Annotated[float, Us("What they take beyond a quick step, spread over all steps.")]
    more_beside: Annotated[
        float, Share("How much larger the part of their time during communication is in slow steps than in fast ones.")
    ]
    input_known: Annotated[bool, Flag("Shapes of their inputs, or the blocks they were split into, were recorded.")]
    compared_steps: Annotated[float, Count("Steps of the rank that were compared.")]
    slow_steps: Annotated[float, Count("Those of them in which the kernels of the rank are slow.")]
    first_slow_step: Annotated[float, Count("Number of the first slow step.")]
    lasting: Annotated[bool, Flag("All steps from the first slow one on are slow.")]
    contrast: Annotated[float, Share("How clearly slow and quick steps lie apart, as in `operator_shapes`.")]
    compared_share: Annotated[float, Share("Part of all kernel time of these steps that was compared.")]
    sooner_us: Annotated[
        float,
        Us(
            "How much sooner a step of the rank would end, on average, if all its kernels were as quick in every step; "
            "their whole excess where the rank could not be replayed."
        ),
    ]


class OperatorTrend(Fact):
    """How the kernels of one type on a rank take longer, or less long, from step to step.

    Only kernels that every step runs equally often with equal inputs; the first step is left out. First and last are
    the ends of the straight line of least squares through the times of all compared steps.
    """

    table = "operator_trends"
    called = Text("growth of operators from step to step", "算子耗时随 step 的变化")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    family: Annotated[str, Key(FAMILY)]
    first_us: Annotated[float, Us("Their time in the first compared step, by that line.")]
    last_us: Annotated[float, Us("Their time in the last compared step, by that line.")]
    growth: Annotated[float, Times("The latter over the former.")]
    input_known: Annotated[bool, Flag("Shapes of their inputs, or the blocks they were split into, were recorded.")]
    compared_steps: Annotated[float, Count("Steps of the rank that were compared.")]
    rank_growth: Annotated[float, Times("The same growth of all compared kernels of the rank together.")]
    correlation: Annotated[
        float, Share("Rank correlation (Spearman) between the order of the steps and the time of all these kernels.")
    ]
    noise_share: Annotated[
        float,
        Share(
            "How much the time of all these kernels changes from one step to the next beside the growth, on average, "
            "as a part of the first."
        ),
    ]
    steepest_share: Annotated[
        float, Share("The largest rise from one step to the next, as a part of the growth: about 1 of a single jump.")
    ]
    over_first_us: Annotated[float, Us("What all these kernels take beyond the first compared step, on average.")]
    compared_share: Annotated[float, Share("Part of all kernel time of these steps that was compared.")]
    first_mhz: Annotated[float, Mhz("Clock as the first compared step begins; missing when not recorded.")]
    last_mhz: Annotated[float, Mhz("Clock as the last compared step begins; missing when not recorded.")]


class OperatorCounters(Fact):
    """What the hardware counted in all kernels of one type on one rank, apart from the use of their pipes.

    A recording has one set of `aic_metrics`; the columns of the others are missing.
    """

    table = "operator_counters"
    called = Text("hardware counters of operators", "各类算子的硬件计数器")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    core: Annotated[str, Key("Core type; the one with most time where a type ran on several.")]
    family: Annotated[str, Key(FAMILY)]
    calls: Annotated[float, Count("How often per step.")]
    total_us: Annotated[float, Us("Device time per step.")]
    step_share: Annotated[float, Share("Part of the step, as in `operators`.")]
    bank_share: Annotated[
        float, Share("Cycles in which the vector unit waits for a bank or bank group of its buffer, weighted by time.")
    ]
    resource_share: Annotated[float, Share("The same for instructions that need the same unit.")]
    hit_share: Annotated[
        float,
        Share("L2 cache: requests it answered over all, of aic_metrics=L2Cache, else the mean of l2_cache by time."),
    ]
    memory_gbps: Annotated[float, Rate("Read from and written to device memory, weighted by time.")]
    memory_bytes: Annotated[float, Bytes("Read from and written to device memory per kernel.")]


class AicpuStage(Fact):
    """What the time of operators of one type on the AI CPU of one rank goes to, on average."""

    table = "aicpu_stages"
    called = Text("what time on the AI CPU goes to", "AI CPU 各阶段耗时")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type; the name of the kernel where its type is not known.")]
    calls: Annotated[float, Count("How often, in the whole capture.")]
    total_us: Annotated[float, Us("Mean from start to end.")]
    compute_us: Annotated[float, Us("Of that, time computing.")]
    copy_us: Annotated[float, Us("Time copying memory.")]
    dispatch_us: Annotated[float, Us("Time until it was handed to a processor of the AI CPU.")]
    scheduling_us: Annotated[
        float,
        Us(
            "The rest of the time from start to end: waiting inside the AI CPU; missing where the recorded "
            "times contradict each other."
        ),
    ]


class CacheCopy(Fact):
    """All kernels of one type and shape that copy, gather, cast or reorder a whole cache of keys and values, per
    step."""

    table = "cache_copies"
    called = Text("copies of the KV cache", "KV 缓存的拷贝")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    input_shapes: Annotated[str, Key("Shapes of the inputs; one, or that of the output, is the shape of a cache.")]
    output_shapes: Annotated[str, Key("Shapes of the outputs.")]
    gathers: Annotated[
        bool, Flag("It takes what indices say out of a cache, much more than the new keys and values of the step.")
    ]
    calls: Annotated[float, Count("How often per step.")]
    total_us: Annotated[float, Us("Device time per step.")]
    instant_us: Annotated[
        float, Us("How much sooner a step would end if all kernels of this type took no time, as in `operators`.")
    ]
    step_share: Annotated[float, Share("Part of the step.")]


class RunTimePadding(Fact):
    """All kernels of one type and shape that pad the last axis of what a product or attention reads, per step; those
    whose shapes were not recorded among them."""

    table = "run_time_paddings"
    called = Text("padding of tensors", "张量的补齐")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]
    output_shapes: Annotated[str, Key("Shapes of the outputs.")]
    used_by: Annotated[
        str,
        Key(
            "Type of the operator that reads the padded tensor; of several attention, then of the forward pass, then "
            "the longest. Missing where the shapes of what pads were not recorded."
        ),
    ]
    family: Annotated[str, Key("`attention` or `matmul`.")]
    narrow_side: Annotated[float, Count("Length of the last axis before.")]
    wide_side: Annotated[float, Count("Length of the last axis behind.")]
    calls: Annotated[float, Count("How often per step.")]
    pad_us: Annotated[float, Us("Device time per step.")]
    cut_us: Annotated[float, Us("Kernels per step that cut such a tensor back.")]
    instant_us: Annotated[
        float,
        Us("How much sooner a step would end if padding and cutting took no time, each as in `operator_shapes`."),
    ]
    step_share: Annotated[float, Share("Part of the step that padding and cutting take.")]


LONGEST_COUNTED_US = 100


class KernelLength(Fact):
    """Kernels of one rank that are about as long: a row for each whole µs below 100 µs, one for all that are longer."""

    table = "kernel_lengths"
    called = Text("kernels", "kernel 明细")
    of_pauses = True
    observed = False

    rank: Rank
    from_us: Annotated[
        float, Us("Lower bound of their duration; the upper bound is 1 µs more. Missing without a duration.")
    ]
    kernels: Annotated[float, Count("How many, in all steps.")]
    total_us: Annotated[float, Us("Together.")]
    middle_us: Annotated[float, Us("Median duration of all kernels of the rank.")]
    calls_per_kernel: Annotated[
        float,
        Share(
            "Host calls that launched kernels of the rank over those kernels, at most 1: one that replays a graph "
            "launches many. Where no launch was recorded, by the totals of calls if these count replays; else missing. "
            "No more than the part that no compiled graph ran, where one ran any."
        ),
    ]


class ShapeCount(Fact):
    """Of one rank and step: how many different input shapes its kernels have, and how many are seen first."""

    table = "shape_counts"
    called = Text("kernels", "kernel 明细")
    observed = False

    rank: Rank
    step: Step
    distinct_shapes: Annotated[float, Count("Different input shapes in the step; missing when none was recorded.")]
    new_shapes: Annotated[float, Count("Shapes that no earlier step had; missing when none was recorded.")]


class PatchConvolution(Fact):
    """Forward convolutions whose kernel is as large as its stride, which a matrix multiplication does as well."""

    table = "patch_convolutions"
    called = Text("convolutions of patches", "patch 卷积")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]
    input_dtypes: Annotated[str, Key("Data types of the inputs.")]
    input_formats: Annotated[str, Key("Formats of the inputs.")]
    output_shapes: Annotated[str, Key("Shapes of the outputs.")]
    patches: Annotated[bool, Flag("Kernel as large as its stride, nothing padded; missing where shapes do not tell.")]
    places: Annotated[
        float, Count("Patches in each row of the input: places of the output; missing where shapes do not tell.")
    ]
    calls: Annotated[float, Count("How often per step.")]
    total_us: Annotated[float, Us("Device time per step.")]
    unshared_us: Annotated[float, Us("The part per step in which no other kernel ran, as in `operators`.")]
    product_us: Annotated[
        float,
        Us(
            "What matrix multiplications as large would take per step, at the mean rate at which those of the same "
            "data type run on this rank; where none of 20 µs or more did, at a tenth of the peak of its chip; missing "
            "where that is not known."
        ),
    ]
    rated_by: Annotated[str, Key("Whose rate that is, of this `capture`, or of the `chip`.")]
    step_share: Annotated[float, Share("Part of the step.")]


class ExpertLoad(Fact):
    """How much the experts of one rank had to do per step, compared with the other ranks of its pipeline stage."""

    table = "expert_loads"
    called = Text("tokens of the experts of each rank", "各卡专家的 token 数")
    observed = False
    across_ranks = True

    rank: Rank
    stage: Stage
    ranks: Annotated[float, Count("Ranks of the stage with experts, itself counted.")]
    tokens: Annotated[
        float,
        Count("Rows of the first inputs of its grouped multiplications together: a token for each time it is used."),
    ]
    mean_tokens: Annotated[float, Count("Mean of the stage.")]
    expert_us: Annotated[float, Us("Grouped multiplications.")]
    mean_expert_us: Annotated[float, Us("Mean of the stage.")]
    peer_expert_us: Annotated[float, Us("Median of the other ranks of the stage.")]
    comm_us: Annotated[float, Us("Its communication per step.")]
    peer_comm_us: Annotated[float, Us("Median communication of the other ranks of its stage.")]
