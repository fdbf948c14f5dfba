# SPDX-License-Identifier: Apache-2.0
"""What sources hold: one class per fact, the same whether it came from the text or the database export."""

from __future__ import annotations

from advisor.facts.base import Fact
from advisor.facts.observed.capture import Damage, Device, RankCapture, Setting
from advisor.facts.observed.communication import Collective, Group, Link, Transfer
from advisor.facts.observed.device import DeviceTask, Frequency, Kernel, L2Cache, OperatorTotal
from advisor.facts.observed.host import ApiTotal, HostCall, Launch, OperatorCall
from advisor.facts.observed.memory import MemoryUse, ModuleMemory, OperatorMemory
from advisor.facts.observed.steps import OverlapTrack, StepTime, StepWindow

OBSERVED: tuple[type[Fact], ...] = (
    StepTime,
    StepWindow,
    OverlapTrack,
    Kernel,
    DeviceTask,
    HostCall,
    Launch,
    Collective,
    Transfer,
    Link,
    MemoryUse,
    ModuleMemory,
    OperatorMemory,
    L2Cache,
    OperatorTotal,
    ApiTotal,
    OperatorCall,
    Frequency,
    Setting,
    Group,
    Device,
    RankCapture,
    Damage,
)
