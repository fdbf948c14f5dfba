# SPDX-License-Identifier: Apache-2.0
"""What steps would be without some of their kernels."""

from typing import Annotated

from advisor.facts.base import Fact, Key, Rank, Us
from advisor.messages.text import Text


class Removal(Fact):
    """Kernels of one type, or of the chains of one pattern, or all collectives, taken out of one rank, which is then
    replayed.

    So is a whole program without a marked step: pauses that may be none of the job's count for nothing here, but what
    the host launched only later begins no sooner."""

    table = "removals"
    called = Text("what a step lasts without some kernels", "去掉部分算子后的单步时间")
    observed = False

    rank: Rank
    kind: Annotated[
        str,
        Key(
            "`operator` (all kernels of one type), `chain`, `pace` (kernels of slow steps), or `communication` (all "
            "collectives)."
        ),
    ]
    name: Annotated[
        str, Key("Operator type, or pattern as in `fusible_chains`; missing for `pace` and `communication`.")
    ]
    instant_us: Annotated[
        float,
        Us(
            "How much sooner a step would end if these kernels took no time and were launched as before: what follows "
            "begins earlier as far as its own launch and other work allow."
        ),
    ]
    removed_us: Annotated[
        float,
        Us("The same without the calls that launch nothing but these kernels, and the pauses before the kernels."),
    ]
    steady_us: Annotated[
        float,
        Us(
            "How much sooner a step would end if each kernel of the type took no longer than the fastest quarter of "
            "those with equal inputs; missing for chains and collectives. Of kernels of slow steps: if they were as "
            "quick as in the others, as in `operator_paces`."
        ),
    ]
    fused_us: Annotated[
        float,
        Us(
            "How much sooner a step would end if one kernel took the place of each chain, launched as its first one, "
            "as long as `fusible_chains` says; missing for all others."
        ),
    ]
