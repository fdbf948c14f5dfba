# SPDX-License-Identifier: Apache-2.0
"""Memory, traffic and clock of the chip."""

from typing import Annotated

from advisor.facts.base import Bytes, Count, Fact, Key, Mhz, Moment, Ns, Rank, Rate, Share, Us
from advisor.messages.text import Text


class MemoryPeak(Fact):
    """The moment at which one component held most device memory on one rank."""

    table = "memory_peaks"
    called = Text("peaks of device memory", "显存峰值")
    observed = False
    moment = Moment("time_ns", name=("component",))

    rank: Rank
    component: Annotated[str, Key("As in `memory_uses`.")]
    reserved_bytes: Annotated[float, Bytes("Most reserved.")]
    allocated_bytes: Annotated[float, Bytes("Allocated at that moment.")]
    largest_allocated_bytes: Annotated[float, Bytes("Most allocated at any moment.")]
    largest_used_bytes: Annotated[
        float, Bytes("Most in use at any moment: allocated, or freed and awaiting the streams that use it.")
    ]
    capacity_bytes: Annotated[
        float,
        Bytes(
            "Memory of the chip where its name tells, recorded or told (`--chip`), or where all chips agree whose "
            "cores run at the clock that its kernels counted; missing otherwise."
        ),
    ]
    time_ns: Annotated[int, Ns("Moment of the peak.")]


class MemoryCourse(Fact):
    """How much device memory was held while a rank was recorded, in slices of time that are equally long.

    Of each rank the component that reserved most, preferably one whose allocations are known.
    """

    table = "memory_courses"
    called = Text("use of device memory over time", "显存随时间的变化")
    observed = False

    rank: Rank
    component: Annotated[str, Key("As in `memory_uses`.")]
    from_us: Annotated[float, Us("Beginning of the slice, from the first moment recorded.")]
    to_us: Annotated[float, Us("Its end.")]
    allocated_bytes: Annotated[float, Bytes("Most allocated at any moment in it.")]
    reserved_bytes: Annotated[float, Bytes("Most reserved at any moment in it.")]


class ModulePeak(Fact):
    """The most device memory that one CANN module reserved on one rank."""

    table = "module_peaks"
    called = Text("device memory by component", "各组件显存")
    observed = False

    rank: Rank
    component: Annotated[str, Key("As in `module_memory`.")]
    most_bytes: Annotated[float, Bytes("Most reserved at any moment; missing when never recorded.")]


class MemoryHolder(Fact):
    """What the operators of one name held of the device memory when all operators together held most.

    What was allocated before the capture is not known, and not counted.
    """

    table = "memory_holders"
    called = Text("device memory by operator", "各算子显存")
    observed = False

    rank: Rank
    name: Annotated[str, Key("Operator that allocated.")]
    held_bytes: Annotated[float, Bytes("Held at that moment.")]
    allocations: Annotated[float, Count("In so many pieces.")]
    largest_bytes: Annotated[float, Bytes("The largest of them.")]
    held_share: Annotated[float, Share("Part of what all operators held.")]


class TrafficUse(Fact):
    """How much a memory, a cache or a link of one rank's device moved in a second, one way, all units together."""

    table = "traffic_uses"
    called = Text("traffic of memory and links", "显存、缓存与链路的流量")
    observed = False
    on_request = True

    rank: Rank
    place: Annotated[str, Key("As in `traffic_samples`.")]
    way: Annotated[str, Key("As in `traffic_samples`.")]
    samples: Annotated[float, Count("Moments it was looked at; missing where only a mean was recorded.")]
    mean_gbps: Annotated[float, Rate("Mean over the whole recording, idle time included.")]
    peak_gbps: Annotated[float, Rate("The most of one sample.")]
    used_share: Annotated[
        float,
        Share("Mean over what the memory of the chip carries, both ways together; of HBM, where the chip is known."),
    ]
    hit_share: Annotated[float, Share("Of a cache: how much of what was asked for it held.")]


class FrequencyUse(Fact):
    """How fast the AI Cores of one rank ran."""

    table = "frequency_uses"
    called = Text("AI Core frequency", "AI Core 频率")
    observed = False

    rank: Rank
    highest_mhz: Annotated[float, Mhz("Highest recorded.")]
    nominal_mhz: Annotated[
        float,
        Mhz("Clock it was built for: that of info.json, else the least of all chips of its name; missing if unknown."),
    ]
    full_mhz: Annotated[float, Mhz("The larger of highest and nominal.")]
    lowest_mhz: Annotated[float, Mhz("Lowest recorded.")]
    mean_mhz: Annotated[float, Mhz("Mean over time.")]
    low_share: Annotated[float, Share("Part of the time below 95 % of the full clock.")]
    compute_us: Annotated[float, Us("Computation per step during the time counted in `low_share`.")]
    beyond_full_us: Annotated[
        float,
        Us(
            "What kernels of steps take in that time beyond those with equal inputs of the rest, per step; missing "
            "unless more than half of it, by kernel time, has such a like."
        ),
    ]
