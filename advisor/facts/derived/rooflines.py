# SPDX-License-Identifier: Apache-2.0
"""What kernels have to do, what the chip can, and how near they come to it."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Flag, Key, Mhz, Number, Rank, Rate, Share, Times, Us
from advisor.messages.text import Text


class AttentionShape(Fact):
    """All kernels of fused attention of one type with the same tensors, where marks tell the arguments of some."""

    table = "attention_shapes"
    called = Text("attention by shape, as marked", "按 shape 统计的带打点注意力算子")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    core: Annotated[str, Key("Core type.")]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]
    input_dtypes: Annotated[str, Key("Data types of the inputs.")]
    input_formats: Annotated[str, Key("Formats of the inputs.")]
    output_shapes: Annotated[str, Key("Shapes of the outputs.")]
    kernels: Annotated[float, Count("How many in the whole capture.")]
    marked: Annotated[float, Count("Those of which marks tell the operations.")]
    mega_flops: Annotated[
        float, Number("Operations of one on average, in millions; missing unless marks tell those of each.")
    ]


class FullMask(Fact):
    """Kernels of fused attention of one type and shape that are given a mask with an element for each query and key."""

    table = "full_masks"
    called = Text("attention with a full mask", "带完整掩码的注意力算子")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]
    queries: Annotated[float, Count("Queries of the mask.")]
    keys: Annotated[float, Count("Keys of the mask.")]
    calls: Annotated[float, Count("How often per step.")]
    mean_us: Annotated[float, Us("Mean duration.")]
    total_us: Annotated[float, Us("Device time per step.")]
    instant_us: Annotated[float, Us("Of `instant_us` in `operator_shapes` theirs.")]
    counted_share: Annotated[
        float,
        Share("Part of all pairs of a query and a key that marks of the program say are computed; missing where none."),
    ]


FAMILY = (
    "Kind of work: `matmul`, `convolution`, `attention`, `elementwise`, `reduction` (norms, softmax, pooling), "
    "`movement` (copies, layout, indexing, casts), `optimizer` (and Foreach), `ai_cpu`, `custom` (not of CANN, such as "
    "Triton kernels) or `other`."
)


class ChipLimit(Fact):
    """What the chip of one rank can do at most, as far as the capture or the name of the chip tells.

    Where a name stands for several chips, the weakest of them counts.
    """

    table = "chip_limits"
    called = Text("what the chip can do", "芯片能力")
    observed = False

    rank: Rank
    chip: Annotated[str, Key("Chip, recorded or told (`--chip`); missing where nothing names it.")]
    told_by: Annotated[
        str,
        Key(
            "What tells its cube cores and their clock: `capture` (info.json), `counters` (of kernels), `name` (of the "
            "chip)."
        ),
    ]
    cube_mhz: Annotated[float, Mhz("Number of cube cores times their clock; missing for GPUs and where not known.")]
    half_tflops: Annotated[float, Number("Peak of products in FLOAT16, 10^12 operations per second.")]
    bf16_tflops: Annotated[float, Number("The same in BF16 alone.")]
    float_tflops: Annotated[float, Number("The same in FLOAT.")]
    hf32_tflops: Annotated[float, Number("The same in HF32, FLOAT that is rounded for speed.")]
    achieved_share: Annotated[
        float,
        Share(
            "The largest share of the BF16 peak that matrix products reach by measurements the maker of the chip "
            "published; missing elsewhere."
        ),
    ]
    int8_tflops: Annotated[float, Number("The same in INT8.")]
    int4_tflops: Annotated[float, Number("The same in INT4.")]
    fp8_tflops: Annotated[float, Number("The same in FP8.")]
    vector_half_tflops: Annotated[
        float, Number("Peak of the vector units in FLOAT16, 10^12 operations per second; missing where not known.")
    ]
    vector_bf16_tflops: Annotated[
        float, Number("The same in BF16: where they know no such values, that of FLOAT, to which these are widened.")
    ]
    vector_float_tflops: Annotated[float, Number("The same in FLOAT.")]
    cube_cores: Annotated[
        float,
        Count(
            "Cores with a cube unit: those of info.json, else of the chip by its name, else the least of all chips "
            "whose cores run at `cube_mhz` together."
        ),
    ]
    vector_cores: Annotated[
        float,
        Count(
            "Cores with vector units alone, told as the cube cores are; missing where they are part of the AI Cores."
        ),
    ]
    certain_cube_cores: Annotated[
        float, Count("Cube cores where they were recorded, or all chips agree that it may be; else missing.")
    ]
    certain_vector_cores: Annotated[float, Count("The same of the vector cores.")]
    memory_gbps: Annotated[float, Rate("Bandwidth of the device memory.")]
    memory_bytes: Annotated[
        float,
        Bytes(
            "Device memory by the name of the chip, or where all chips agree whose cores run at `cube_mhz` together."
        ),
    ]
    l2_bytes: Annotated[float, Bytes("Level-2 cache.")]


class OperatorRoofline(Fact):
    """What the kernels of one type and shape have to compute and move, against what the chip can do: the rows of
    `operator_shapes`.

    A kernel cannot be quicker than the chip multiplies, moves bytes or exponentiates: the largest of `compute_us`,
    `memory_us` and, of attention, `vector_us`. What is already in the level-2 cache needs no bandwidth of the memory,
    so that a share of the bandwidth may exceed 1.
    """

    table = "operator_rooflines"
    called = Text("operators beside what the chip can", "算子与芯片能力的对比")
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
    dtype: Annotated[str, Key("Data type that is multiplied, such as BF16; missing where nothing is.")]
    dense: Annotated[
        bool,
        Flag(
            "One product of two matrices, without batches, groups or quantisation, that waits for no other rank: what "
            "a chip does best. Missing where no shapes were recorded."
        ),
    ]
    cube_work: Annotated[
        str,
        Key(
            "What its cube unit does: `product` (as `dense`), `batched`, `grouped`, `quantised` (those of batches, of "
            "groups, of values in fewer bits), `convolution`, `attention` or `attention backward`; missing of others, "
            "and where weights in fewer bits are widened first."
        ),
    ]
    least_side: Annotated[
        float,
        Count(
            "The smallest of the three sides it multiplies, of groups on average; of attention the keys that a query "
            "meets on average."
        ),
    ]
    head_width: Annotated[float, Count("Of attention: values of each head.")]
    held_against: Annotated[
        str,
        Key(
            "What its time is held against: `roofline` (its operations and bytes) or `bandwidth` (one pass over its "
            "data); else why against nothing: `waits` (for other ranks), `ai_cpu`, `custom` (not of CANN), `short` (no "
            "more than 50 µs), `movement` (copies and layout), `data type` (neither half precision nor quantised to "
            "INT8 or FP8), `unknown attention` (its operations or its head dim), `unknown work`, `few keys` "
            "(attention: fewer than 2048 for a query), `small side` (batched and grouped products, convolutions: below "
            "128), `fused` (products with other work, or weights in fewer bits), `other`. Missing where no shapes were "
            "recorded."
        ),
    ]
    misaligned: Annotated[
        bool, Flag("A row of a factor ends within 512 bytes, on GPUs within 16; missing of others than products.")
    ]
    aligned_shapes: Annotated[
        str,
        Key(
            "Shapes of both factors of a product of which a row ends so, padded to rows that do not; missing of "
            "others, and where padding would add more than a quarter."
        ),
    ]
    calls: Annotated[float, Count("How often per step.")]
    total_us: Annotated[float, Us("Device time per step.")]
    instant_us: Annotated[
        float, Us("How much sooner a step would end if all kernels of this type took no time, as in `operators`.")
    ]
    mean_us: Annotated[float, Us("Mean duration.")]
    steady_mean_us: Annotated[
        float, Us("Mean duration if each took no longer than the fastest quarter of them, as in `operator_shapes`.")
    ]
    blocks: Annotated[float, Count("Blocks, the smallest seen.")]
    cube_cores: Annotated[float, Count("Cores with a cube unit, as in `chip_limits`; missing where none is used.")]
    core_count: Annotated[
        float,
        Count(
            "Cores of the kind its blocks run on, at least: vector cores of AI_VECTOR_CORE and MIX_AIV, cube cores of "
            "AI_CORE and MIX_AIC where it multiplies; missing of others."
        ),
    ]
    waves: Annotated[
        float,
        Count(
            "How often the cores are handed blocks: 1 unless there are more blocks than cores; missing where the "
            "number of cores is not certain, as in `chip_limits`."
        ),
    ]
    unfilled_share: Annotated[
        float,
        Share("Of several waves: part of the time of all cores that passes without a block, as the last is not full."),
    ]
    communicates: Annotated[bool, Flag("It waits for other ranks inside, as in `operator_shapes`.")]
    goes_by_index: Annotated[
        bool,
        Flag(
            "It reads or writes where indices say, as gathering, scattering and embedding do, keeps the indices it "
            "finds, as pooling and sorting do, or adds up along an axis."
        ),
    ]
    row_bytes: Annotated[
        float,
        Bytes(
            "What lies together in memory of what one index of a gather picks; missing where shapes do not tell, and "
            "of what gathers nothing."
        ),
    ]
    picks_last: Annotated[bool, Flag("A Gather along the last axis of its input, as in `operator_shapes`.")]
    step_share: Annotated[float, Share("Part of the step.")]
    mac_share: Annotated[float, Share("Cube busy, weighted by time.")]
    vector_share: Annotated[float, Share("Vector unit busy, weighted by time.")]
    mte2_share: Annotated[float, Share("Loading busy, weighted by time.")]
    scalar_share: Annotated[float, Share("Scalar unit busy, weighted by time.")]
    mte1_share: Annotated[float, Share("Loading operands into L0A and L0B (MTE1) busy, weighted by time.")]
    fixpipe_share: Annotated[float, Share("Writing results out of L0C (FixPipe) busy, weighted by time.")]
    busiest_share: Annotated[float, Share("The busiest pipe of all, as in `operator_shapes`.")]
    mean_mhz: Annotated[float, Mhz("Clock of the AI Cores as they begin, weighted by time; missing when not recorded.")]
    full_mhz: Annotated[float, Mhz("The clock that these cores reach, as in `frequency_uses`.")]
    beside_slowdown: Annotated[
        float,
        Times(
            "How many times as long those take that run during communication, where even the fastest quarter of them "
            "takes longer than the slowest quarter of the others (`overlap_slowdowns`); missing elsewhere."
        ),
    ]
    beside_extra_us: Annotated[float, Us("What they lose by it per step; missing where `beside_slowdown` is.")]
    mega_flops: Annotated[float, Number("Operations of the cube unit in one, in millions, padding included.")]
    moved_bytes: Annotated[
        float,
        Bytes(
            "Inputs and outputs of one: what it must move at least; missing of grouped products where loading the "
            "weights of all groups would decide, and shapes do not tell which have rows."
        ),
    ]
    tflops: Annotated[float, Number("Operations per second, in 10^12.")]
    gbps: Annotated[float, Rate("Inputs and outputs per second.")]
    compute_us: Annotated[float, Us("What its operations take at the peak for this data type; missing where unknown.")]
    achieved_share: Annotated[
        float, Share("The most of the peak that products reach on this chip, as in `chip_limits`.")
    ]
    memory_us: Annotated[float, Us("What its bytes take at the full bandwidth of the device memory.")]
    vector_us: Annotated[
        float,
        Us(
            "Of attention: what its softmax takes the vector units at their peak, four operations for each pair of a "
            "query and a key, the least there can be. Missing of others: bytes take them longer than values."
        ),
    ]
    most_memory_us: Annotated[
        float,
        Us(
            "What all its inputs and outputs take at that bandwidth, at most what it has to move; where outputs were "
            "not recorded, twice the inputs of operators that write no more than they read. Missing of operators that "
            "use the cube unit."
        ),
    ]
    mfu: Annotated[float, Share("Part of the peak that it uses (model FLOPs utilisation).")]
    bandwidth_share: Annotated[float, Share("Part of the bandwidth that it uses.")]
    expected_us: Annotated[
        float,
        Us(
            "The largest of `compute_us`, `memory_us` and, where it is known, `vector_us`; missing unless the first "
            "two are known."
        ),
    ]
    roofline_share: Annotated[float, Share("`expected_us` over its mean duration.")]
    best_share: Annotated[
        float,
        Share(
            "The largest `roofline_share` of kernels of the same family and data type on this rank, the quickest tenth "
            "of their time left aside."
        ),
    ]
    bound: Annotated[
        str, Key("`compute`, `memory` or `vector`: which of them takes longest; missing unless `expected_us` is known.")
    ]


class HeldKernels(Fact):
    """How much of the kernel time of one rank is held against what its chip can do, and why the rest is not."""

    table = "held_kernels"
    called = Text("how much is held against what the chip can do", "与芯片能力对比的时间")
    observed = False

    rank: Rank
    held_against: Annotated[str, Key("As in `operator_rooflines`; missing where no shapes were recorded.")]
    total_us: Annotated[float, Us("Device time of such kernels per step.")]
    kernel_share: Annotated[float, Share("Part of the time of all kernels whose type is known.")]


class StepMfu(Fact):
    """How much of the peak of its chip one rank uses over a step (model FLOPs utilisation)."""

    table = "step_mfus"
    called = Text("how much of the peak a step uses", "单步的算力利用率")
    observed = False
    on_request = True

    rank: Rank
    tera_flops: Annotated[
        float, Number("Operations of its products, convolutions and attention in a step, in 10^12, where known.")
    ]
    counted_share: Annotated[
        float, Share("Part of the time of products, convolutions and attention in kernels whose operations are known.")
    ]
    span_us: Annotated[float, Us("Length of a step, mean over the steps.")]
    mfu: Annotated[
        float,
        Share(
            "What these operations take at the peak for their data types, over the step; missing where less than 95 % "
            "of that time is counted. Recomputed operations count as often as they ran."
        ),
    ]
    least_mfu: Annotated[
        float, Share("The same of what is known, whatever part of the time that is: the least it can be.")
    ]
    bandwidth_share: Annotated[
        float,
        Share(
            "What the inputs and outputs of all kernels take at the bandwidth of the memory, over the step; missing "
            "where less than 95 % of the kernel time is counted."
        ),
    ]
    least_bandwidth_share: Annotated[
        float, Share("The same of the kernels whose tensors are known, however few: the least it can be.")
    ]
