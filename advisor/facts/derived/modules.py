# SPDX-License-Identifier: Apache-2.0
"""Modules of the model and what runs in them."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Index, Key, Moment, Name, Ns, Number, Rank, Share, Us
from advisor.messages.text import Text


class ModuleShare(Fact):
    """A module of the model on one rank, with all that it calls, per step; modules that differ by a number are one.

    `layers.0.mlp` and `layers.1.mlp` are `layers.*.mlp`. A kernel belongs to the innermost module around the operator
    that launched it; in the backward pass, to the module of the operator whose gradient is computed.
    """

    table = "modules"
    called = Text("modules of the model", "模型的模块")
    observed = False

    rank: Rank
    module: Annotated[str, Key("The module below those around it, with `/` between; missing for what is in none.")]
    parent: Annotated[str, Key("The module around it; missing at the top.")]
    name: Annotated[str, Key("The last part of `module`.")]
    depth: Annotated[int, Index("How many modules are around it.")]
    instances: Annotated[float, Count("Modules of this name that were told apart by their number or that of another.")]
    kernels: Annotated[float, Count("Kernels per step.")]
    total_us: Annotated[float, Us("Time of its kernels per step.")]
    own_us: Annotated[float, Us("The part that no module inside of it has.")]
    forward_us: Annotated[float, Us("The part in the forward pass.")]
    backward_us: Annotated[float, Us("The part in the backward pass, without what is computed again.")]
    recompute_us: Annotated[float, Us("The part that is computed again inside the backward pass.")]
    comm_us: Annotated[float, Us("Time per step of the collectives it launched, hidden or not.")]
    kernel_share: Annotated[float, Share("Part of the kernel time.")]
    step_share: Annotated[
        float, Share("The same part of the time in which the device computes, as a part of the step.")
    ]
    mfu: Annotated[
        float,
        Share(
            "Part of the peak of the chip that its products, convolutions and attention use in all of its kernel time; "
            "missing where there are none, or the operations of too many or the peak are not known."
        ),
    ]
    bandwidth_share: Annotated[
        float,
        Share(
            "Part of the bandwidth of the memory that the inputs and outputs of its kernels use in all of its kernel "
            "time, each moved once; missing where they are known of less than 95 % of that."
        ),
    ]
    child_share: Annotated[float, Share("Part of its kernel time in the one module inside of it that takes most.")]


class ModuleType(Fact):
    """All kernels of one operator type and inputs in one module on one rank, per step; modules as in `modules`."""

    table = "module_types"
    called = Text("operator types by module", "各模块的算子类型")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    input_shapes: Annotated[
        str, Key("Shapes of the inputs, of the 20 that take longest; missing for all others and where not recorded.")
    ]
    input_dtypes: Annotated[str, Key("Data types of these inputs.")]
    module: Annotated[str, Key("The innermost module they belong to; missing for what is in none.")]
    total_us: Annotated[float, Us("Their time per step.")]
    type_share: Annotated[float, Share("Part of the time of this type on this rank.")]


class TypeOperator(Fact):
    """All kernels of one operator type and inputs that one operator of the framework led to on one rank, whole
    capture."""

    table = "type_operators"
    called = Text("framework operators behind operator types", "各类算子对应的框架算子")
    observed = False
    on_request = True

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    input_shapes: Annotated[
        str, Key("Shapes of the inputs, of the 20 that take longest; missing for all others and where not recorded.")
    ]
    input_dtypes: Annotated[str, Key("Data types of these inputs.")]
    operator: Annotated[str, Key("Operator of the framework; missing for kernels of which nothing tells it.")]
    total_us: Annotated[float, Us("Their time.")]
    type_share: Annotated[float, Share("Part of the time of this type on this rank, operator known or not.")]


class PatternModule(Fact):
    """All chains of one pattern in one module on one rank, per step; chains as in `fusible_chains`."""

    table = "pattern_modules"
    called = Text("fusible chains by module", "各模块的可融合算子串")
    observed = False

    rank: Rank
    pattern: Annotated[str, Key("What the chains are, a file in `patterns/` of the rules.")]
    module: Annotated[str, Key("The innermost module that their kernels belong to; missing for those in none.")]
    total_us: Annotated[float, Us("Time of these kernels per step.")]
    pattern_share: Annotated[float, Share("Part of the time of such chains on this rank.")]


class PatternOperator(Fact):
    """All kernels of chains of one pattern that one operator of the framework led to on one rank, per step."""

    table = "pattern_operators"
    called = Text("framework operators behind fusible chains", "可融合算子串对应的框架算子")
    observed = False
    on_request = True

    rank: Rank
    pattern: Annotated[str, Key("What the chains are, a file in `patterns/` of the rules.")]
    operator: Annotated[str, Key("Operator of the framework.")]
    total_us: Annotated[float, Us("Their time per step.")]
    operator_share: Annotated[float, Share("Part of the time of all kernels that this operator led to.")]


class OperatorStack(Fact):
    """All calls of one operator of the framework with the same inputs under one call stack on one rank, whole
    capture."""

    table = "operator_stacks"
    called = Text("where operators of the framework are called", "框架算子的调用位置")
    observed = False
    on_request = True

    rank: Rank
    name: Annotated[str, Key("Operator, such as aten::item.")]
    input_shapes: Annotated[
        str, Key("Shapes of the inputs, of the 20 that take longest; missing for all others and where not recorded.")
    ]
    call_stack: Annotated[str, Name("Frames, innermost first, `;` between them.")]
    calls: Annotated[float, Count("How often.")]
    host_total_us: Annotated[float, Us("Host time with children.")]
    device_self_us: Annotated[
        float,
        Us(
            "Device time of the kernels that it launches itself, without those of nested operators; 0 where "
            "it was not recorded."
        ),
    ]


class ModuleHolder(Fact):
    """What operators of one name held of the device memory for one module when all operators together held most.

    What the forward pass allocated is kept for the backward pass; what that allocated are gradients for the most part.
    What was allocated before the capture is not known, and not counted.
    """

    table = "module_holders"
    called = Text("device memory by module", "各模块显存")
    observed = False
    on_request = True

    rank: Rank
    module: Annotated[
        str,
        Key(
            "The module as in `modules`; missing for what is in none, and where no operator of the framework is known."
        ),
    ]
    phase: Annotated[
        str, Key("Pass in which it was allocated: `forward`, `backward` or `recompute`; missing outside of modules.")
    ]
    name: Annotated[str, Key("Operator that allocated.")]
    held_bytes: Annotated[float, Bytes("Held at that moment.")]
    allocations: Annotated[float, Count("In so many pieces.")]
    largest_bytes: Annotated[float, Bytes("The largest of them.")]
    held_share: Annotated[float, Share("Part of what all operators held.")]


class ModuleMarks(Fact):
    """How the modules of one rank were marked, and how much of its kernel time can be charged to them."""

    table = "module_marks"
    called = Text("marks of modules", "模块标记")
    observed = False
    on_request = True

    rank: Rank
    source: Annotated[str, Key("`mark` (mstx ranges that the program sets) or `python` (the Python stack).")]
    ranges: Annotated[float, Count("Calls of modules.")]
    crossing: Annotated[float, Count("Calls left out: they begin inside another call and end after it.")]
    backward: Annotated[float, Count("Operators of the backward pass whose forward operator is known.")]
    kernel_us: Annotated[float, Us("Kernel time of the whole capture.")]
    linked_share: Annotated[float, Share("Part of it in kernels whose operator or launching call is known.")]
    inside_share: Annotated[float, Share("Part of it in kernels that belong to a module.")]


class ModuleOperator(Fact):
    """One operator at one place of one module of one rank, over the whole capture, in the order in which they run."""

    table = "module_operators"
    called = Text("operators by module", "各模块的算子")
    observed = False
    on_request = True

    rank: Rank
    parent: Annotated[str, Name("The modules around its module, with `/` between; missing at the top.")]
    module: Annotated[str, Name("The innermost module around the operator.")]
    group: Annotated[str, Key("The module with those around it as `modules` names them, a star for each number.")]
    phase: Annotated[str, Key("`forward`, `backward`, or `recompute` (forward again, inside the backward pass).")]
    variant: Annotated[int, Index("From 0: calls of one module that run other operators count as another variant.")]
    operator: Annotated[
        str, Key("Operator of the framework; missing for kernels that something else launched from the module.")
    ]
    kernels: Annotated[str, Name("Kernels and collectives it led to on the device, in their order.")]
    calls: Annotated[float, Count("How often it ran.")]
    total_us: Annotated[float, Us("Time of these kernels and collectives together.")]
    mean_us: Annotated[float, Us("The same for each time.")]
    mfu: Annotated[
        float, Share("Part of the peak of the chip that its products, convolutions and attention use while they run.")
    ]
    first_start_ns: Annotated[int, Ns("When it ran first, on the host.")]


class Recomputation(Fact):
    """What one rank computes again inside the backward pass, because its activations were not kept, per step."""

    table = "recomputations"
    called = Text("what is computed again", "重计算")
    observed = False
    moment = Moment("worst_start_ns", lasts="worst_us", name=("worst",))

    rank: Rank
    seen_as: Annotated[
        str,
        Key(
            "How most of it shows: `checkpoint` (inside a call of checkpointing), `module` (modules called inside of "
            "backward operators), `name` (MindSpore names the copies), or `layers` (layers of several kinds run again "
            "among backward operators; then what follows the last of them is not counted)."
        ),
    ]
    kernels: Annotated[float, Count("Kernels that are launched again.")]
    total_us: Annotated[float, Us("Their time.")]
    unshared_us: Annotated[float, Us("The part in which no other kernel ran, as in `operators`.")]
    kernel_share: Annotated[float, Share("Part of the kernel time.")]
    taken_share: Annotated[
        float, Share("Part of the device's memory that is taken at the peak; missing where that was not recorded.")
    ]
    worst: Annotated[str, Name("The kernel among them that lasted longest.")]
    worst_start_ns: Annotated[int, Ns("When that one started.")]
    worst_us: Annotated[float, Us("How long it lasted.")]


class UnusedForward(Fact):
    """What one rank computes in forward passes whose gradient autograd records and no backward pass takes, per step.

    Of the last steps only what a backward pass followed that an optimizer ended; none where most steps have none.
    """

    table = "unused_forwards"
    called = Text("forward passes whose gradient nobody takes", "没有反向的前向计算")
    observed = False
    moment = Moment("worst_start_ns", lasts="worst_us", name=("worst",))

    rank: Rank
    module: Annotated[
        str, Key("The innermost module that nearly all of it is in, with `/` between; missing where there is none.")
    ]
    kernels: Annotated[float, Count("Kernels.")]
    total_us: Annotated[float, Us("Their time.")]
    unshared_us: Annotated[float, Us("The part in which no other kernel ran, as in `operators`.")]
    kernel_share: Annotated[float, Share("Part of the kernel time.")]
    repeated_share: Annotated[
        float, Share("Part of their time in kernels that the forward pass that is trained on has as well.")
    ]
    worst: Annotated[str, Name("The kernel among them that lasted longest.")]
    worst_start_ns: Annotated[int, Ns("When that one started.")]
    worst_us: Annotated[float, Us("How long it lasted.")]


class AttentionCall(Fact):
    """One kernel of fused attention, forward or backward, that a mark of the program tells the arguments of.

    The mark belongs to the first operator after it, on its thread, that multiplies; the backward kernel to the call
    whose gradient it computes.
    """

    table = "attention_calls"
    called = Text("kernels of attention with marked arguments", "带打点入参的注意力算子")
    observed = False
    heavy = True

    rank: Rank
    start_ns: Annotated[int, Ns("Start of the kernel.")]
    op_type: Annotated[str, Key("Operator type.")]
    layout: Annotated[str, Key("Layout that the mark names; missing where it names none.")]
    sparse_mode: Annotated[int, Index("Mode of masking that the mark names.")]
    mega_flops: Annotated[
        float,
        Number("Operations of the cube unit, in millions; missing where mark and shapes do not tell, or do not agree."),
    ]
