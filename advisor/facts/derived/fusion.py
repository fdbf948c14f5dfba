# SPDX-License-Identifier: Apache-2.0
"""Chains of small operators."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Flag, Key, Moment, Ns, Rank, Share, Us
from advisor.messages.text import Text


class FusibleChain(Fact):
    """Runs of small operators that one fused operator would replace, all of one kind on one rank, per step."""

    table = "fusible_chains"
    called = Text("order of kernels", "算子的先后顺序")
    observed = False
    moment = Moment("worst_start_ns", lasts="worst_us", name=("pattern",))

    rank: Rank
    pattern: Annotated[str, Key("What is looked for, a file in `patterns/` of the rules, forward and backward.")]
    operator: Annotated[str, Key("The fused operator as CANN names it, or what runs over all tensors at once.")]
    serves: Annotated[str, Key("`training` or `inference` where that operator serves it alone, else missing.")]
    has_remedy: Annotated[bool, Flag("Whether the pattern itself holds the remedy; otherwise a separate rule does.")]
    chains: Annotated[float, Count("Chains per step.")]
    kernels: Annotated[float, Count("Kernels per chain.")]
    total_us: Annotated[float, Us("Kernels of the chains, conversions between them included, per step.")]
    compiled_us: Annotated[
        float,
        Us(
            "The part per step in chains whose kernels a graph compiler made: it joined some of their operators, and "
            "left more kernels than the fused operator is."
        ),
    ]
    unshared_us: Annotated[float, Us("The part per step in which no other kernel ran, as in `operators`.")]
    removed_us: Annotated[
        float,
        Us(
            "How much sooner a step would end without these kernels and the calls that launch nothing else "
            "(`removals`); kernels without others beside them and pauses, of each chain no more than its kernels take, "
            "where launches were not recorded, and at most that."
        ),
    ]
    longest_us: Annotated[float, Us("The longest kernel of each chain, together per step.")]
    between_us: Annotated[float, Us("Conversions and copies between the members of the chains, per step.")]
    between_type: Annotated[str, Key("The operator type that takes most of that time; missing where there are none.")]
    reordered_us: Annotated[
        float,
        Us(
            "Kernels of chains that run in another order than the fused operator takes, though both compute the same; "
            "per step."
        ),
    ]
    found_order: Annotated[
        str, Key("Operators of the longest of those, in the order in which they run; missing where there are none.")
    ]
    wanted_order: Annotated[
        str, Key("The same operators in the order that the fused operator takes; missing where there are none.")
    ]
    fused_us: Annotated[
        float,
        Us(
            "What fused operators would still need per step: what is bound by memory as many passes over its tensors "
            "as they must make, at the pace of the longest kernel of each chain; attention its matrix products."
        ),
    ]
    gap_us: Annotated[
        float,
        Us(
            "Pauses per step, from the first kernel of each chain to its last: no kernel ran, and no copy on the same "
            "stream; missing where nobody knows which pauses are the job's."
        ),
    ]
    spared_us: Annotated[
        float,
        Us(
            "How much sooner a step would end with fused operators in place of the chains: by a replay with one launch "
            "each (`removals`); what removing the chains wins, less what fused operators need, where launches were not "
            "recorded."
        ),
    ]
    spared_bytes: Annotated[
        float,
        Bytes(
            "What would no longer go through memory per step: the tensors that the kernels read and write, less those "
            "of the passes that fused operators make; missing unless all shapes and data types were recorded."
        ),
    ]
    step_share: Annotated[float, Share("Part of the step the kernels of the chains take.")]
    worst_start_ns: Annotated[int, Ns("Start of the chain that lasted longest.")]
    worst_us: Annotated[float, Us("How long that one lasted, from its first kernel to its last.")]


class ChainedOperator(Fact):
    """The kernels of one type on one rank that belong to chains which one fused operator would replace."""

    table = "chained_operators"
    called = Text("order of kernels", "算子的先后顺序")
    observed = False

    rank: Rank
    op_type: Annotated[str, Key("Operator type.")]
    role: Annotated[str, Key("Role, as in `operators`.")]
    chained_us: Annotated[
        float, Us("Device time per step in `fusible_chains`, but for patterns that serve inference alone.")
    ]
    chained_serving_us: Annotated[float, Us("The same of patterns that serve inference alone.")]


class RepeatedSequence(Fact):
    """Small operators that follow each other in the same order again and again, and that no pattern of a chain knows,
    per step; the few sequences in which one kernel would spare most."""

    table = "repeated_sequences"
    called = Text("order of kernels", "算子的先后顺序")
    observed = False
    moment = Moment("worst_start_ns", lasts="worst_us", name=("sequence",))

    rank: Rank
    sequence: Annotated[str, Key("Operator types in order.")]
    times: Annotated[float, Count("How often per step, none overlapping another.")]
    kernels: Annotated[float, Count("Operators in the sequence.")]
    total_us: Annotated[float, Us("These operators per step.")]
    compiled_us: Annotated[float, Us("The part per step in compiled graphs, where the list of kernels names these.")]
    alone_us: Annotated[float, Us("The part per step in which nothing else ran.")]
    longest_us: Annotated[float, Us("The longest operator of each, per step: about what one kernel would need.")]
    gap_us: Annotated[float, Us("Pauses between them per step; of each sequence no more than its operators take.")]
    step_share: Annotated[float, Share("Part of the step these operators take.")]
    worst_start_ns: Annotated[int, Ns("Start of the sequence that lasted longest.")]
    worst_us: Annotated[float, Us("How long that one lasted.")]
