# SPDX-License-Identifier: Apache-2.0
"""What analysis adds: one class per derivation. Most rules read these tables."""

from __future__ import annotations

from advisor.facts.base import Fact
from advisor.facts.derived.chip import FrequencyUse, MemoryPeak, ModulePeak
from advisor.facts.derived.communication import CollectiveCall, LinkUse, LongestCall, Meeting, Move
from advisor.facts.derived.device import (
    Dispatch,
    Gap,
    IdleCause,
    Interruption,
    LaunchLatency,
    LaunchWait,
    Overlap,
    RecordedSpan,
    Spending,
    Stall,
    StepSpan,
    Witness,
)
from advisor.facts.derived.host import CallTotal, Handover, Holdup, HoldupCall, HostCost, HostKind, LaunchMode
from advisor.facts.derived.operators import (
    FusibleChain,
    KernelLength,
    OperatorShape,
    OperatorShare,
    PatchConvolution,
    Removal,
    ShapeCount,
)
from advisor.facts.derived.ranks import RankTime, StageTime

DERIVED: tuple[type[Fact], ...] = (
    Overlap,
    Witness,
    Spending,
    Dispatch,
    LaunchLatency,
    LaunchWait,
    Gap,
    IdleCause,
    Stall,
    Interruption,
    HostKind,
    CallTotal,
    HostCost,
    Handover,
    Holdup,
    HoldupCall,
    LaunchMode,
    Removal,
    OperatorShare,
    OperatorShape,
    KernelLength,
    ShapeCount,
    FusibleChain,
    PatchConvolution,
    CollectiveCall,
    Move,
    Meeting,
    LongestCall,
    RankTime,
    LinkUse,
    StageTime,
    StepSpan,
    RecordedSpan,
    MemoryPeak,
    ModulePeak,
    FrequencyUse,
)
