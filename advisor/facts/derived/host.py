# SPDX-License-Identifier: Apache-2.0
"""The host: what its calls cost and were, by kind."""

from typing import Annotated

from advisor.facts.base import Count, Fact, Key, Rank, Step, Us
from advisor.messages.text import Text


class HostKind(Fact):
    """All calls of one kind on the host in one step."""

    table = "host_kinds"
    called = Text("kinds of host calls", "host 侧调用的分类")
    observed = False

    rank: Rank
    step: Step
    kind: Annotated[str, Key("As in `host_calls`.")]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Their durations added up; calls inside calls of the same kind count again.")]


class CallTotal(Fact):
    """Calls of one kind over the whole capture, as the profiler summed them up; of ranks whose calls are not listed."""

    table = "call_totals"
    called = Text("totals of host calls", "host 调用汇总")
    of_pauses = True
    observed = False

    rank: Rank
    activity: Annotated[
        str, Key("`dispatch` (aclopCompileAndExecute, built before or not) or `synchronise` (waits for the device).")
    ]
    name: Annotated[str, Key("The call with the largest total time.")]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Together.")]
    mean_us: Annotated[float, Us("Mean length.")]
    longest_us: Annotated[float, Us("The longest; missing when not recorded.")]
    kernel_us: Annotated[float, Us("All kernels of the rank together, by their totals; missing when not recorded.")]
    inner_operator: Annotated[
        str,
        Key(
            "For `synchronise`: the operator inside of which the host waited longest to learn how large its result is, "
            "as of boolean indexing. Missing where there was none."
        ),
    ]
    inner_calls: Annotated[float, Count("How often operators were called that wait so; 0 where none.")]
    inner_us: Annotated[float, Us("All of them together, at most `total_us`; 0 where none.")]


class HostCost(Fact):
    """All calls of one name on the host in one step, and how much device idle time they cover."""

    table = "host_costs"
    called = Text("costs of host calls", "host 侧调用的开销")
    of_pauses = True
    observed = False
    on_request = True

    rank: Rank
    step: Step
    kind: Annotated[str, Key("As in `host_calls`.")]
    name: Annotated[str, Key("Call.")]
    calls: Annotated[float, Count("How often.")]
    total_us: Annotated[float, Us("Together, nested calls of the same name counted once.")]
    longest_us: Annotated[float, Us("The longest.")]
    idle_us: Annotated[float, Us("The part during which the device was free.")]
