# SPDX-License-Identifier: Apache-2.0
"""Device memory over time: by component, by module, by operator."""

from typing import Annotated

from advisor.facts.base import Bytes, Fact, Key, Moment, Ns, Rank
from advisor.facts.observed.recording import MEMORY
from advisor.messages.text import Text


class MemoryUse(Fact):
    """Device memory held by one component at one moment."""

    table = "memory_uses"
    called = Text("use of device memory", "显存使用")
    never_empty = True
    heavy = True
    moment = Moment("time_ns", name=("component",))
    record_with = MEMORY

    rank: Rank
    component: Annotated[str, Key("PTA, GE, PTA+GE (allocators), APP (whole process), WORKSPACE …")]
    time_ns: Annotated[int, Ns("Moment.")]
    allocated_bytes: Annotated[float, Bytes("Handed out by the allocator.")]
    reserved_bytes: Annotated[float, Bytes("Taken from the device.")]
    active_bytes: Annotated[float, Bytes("In use by streams, freed blocks awaiting their stream included.")]


class ModuleMemory(Fact):
    """Device memory reserved by one CANN module at one moment."""

    table = "module_memory"
    called = Text("device memory by component", "各组件显存")
    never_empty = True
    heavy = True
    moment = Moment("time_ns", name=("component",))
    record_with = MEMORY

    rank: Rank
    component: Annotated[str, Key("HCCL, RUNTIME, GE, APP, SLOG …")]
    time_ns: Annotated[int, Ns("Moment.")]
    reserved_bytes: Annotated[float, Bytes("Reserved.")]


class OperatorMemory(Fact):
    """One allocation made by an operator."""

    table = "operator_memory"
    called = Text("device memory by operator", "各算子显存")
    never_empty = True
    heavy = True
    record_with = MEMORY

    rank: Rank
    name: Annotated[str, Key("Operator that allocated.")]
    size_bytes: Annotated[float, Bytes("Size.")]
    allocated_ns: Annotated[int, Ns("Allocation; missing when before the capture.")]
    released_ns: Annotated[int, Ns("Release; missing when still alive at the end.")]
