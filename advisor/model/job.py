# SPDX-License-Identifier: Apache-2.0
"""JobKind: what kind of job was captured, which software drove it, and what told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from advisor.messages.errors import UsageError
from advisor.messages.message import Message

Workload = Literal["", "training", "inference", "RL"]
Phase = Literal["", "prefill", "decode", "mixed"]
Half = Literal["", "rollout", "update"]
ToldWorkload = Literal["training", "inference", "prefill", "decode", "serving", "RL", "rollout", "update"]
Stack = Literal["verl", "Megatron", "DeepSpeed", "FSDP", "vLLM", "SGLang", "MindIE", "PyTorch", "MindSpore", "AscendCL"]
STACKS: tuple[str, ...] = get_args(Stack)
"""Every stack. Where one drives another its own flags count: the first of these that was seen."""


class JobEvidence(BaseModel):
    """One thing that told the kind of job."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: Literal["workload", "stack"]
    seen_as: Literal["operator", "call", "mark", "line", "setting", "forward", "framework", "layout", "told"]
    """`forward`: steps hold several kinds of layers and no backward pass; `layout`: sizes that the stack wrote."""
    name: str = ""


class EnginePhase(BaseModel):
    """The steps of a serving engine that do the same, over all ranks; None where nothing tells."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    phase: Literal["prefill", "decode", "mixed", "unknown"]
    by: Literal["marks", "calls", "repetition"]
    """What told where steps begin: `repetition` is an estimate by what repeats on the device."""
    ranks: int
    """On how many ranks such steps were seen."""
    steps: float
    """Steps of a rank: the median over ranks, as what follows."""
    requests: float | None = None
    tokens: float | None = None
    apart_us: float | None = None
    """From the start of a step to that of the next."""
    idle_us: float | None = None
    """Idle time of the device around its start."""


class JobKind(BaseModel):
    """What kind of job was captured, and which software drove it; empty where nothing tells."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: Workload = ""
    """`RL` trains, and generates with what it trains. Where the capture holds one half of it, that half is what ran: a
    rollout is an inference, an update a training."""
    half: Half = ""
    """Which half of a reinforcement learning the capture holds; empty where it holds both, and of other jobs."""
    phase: Phase = ""
    """What an inference did in the captured time: `mixed` where prompts are read and tokens generated."""
    stack: str = ""
    """Whose flags and settings the job has, such as `Megatron` or `vLLM`."""
    signs: tuple[JobEvidence, ...] = ()
    """What told the workload and the stack."""
    engine: tuple[EnginePhase, ...] = ()
    """The steps of a serving engine by what they do; empty where nothing tells where they begin."""

    @property
    def executes_model(self) -> bool:
        """Whether it executed a model that was loaded as a file. Of a saved job only the name of the call tells it."""
        return any(sign.name.startswith("aclmdlExecute") for sign in self.signs)


TOLD_WORKLOADS: Mapping[str, JobKind] = {
    "training": JobKind(workload="training"),
    "inference": JobKind(workload="inference"),
    "prefill": JobKind(workload="inference", phase="prefill"),
    "decode": JobKind(workload="inference", phase="decode"),
    "serving": JobKind(workload="inference", phase="mixed"),
    "RL": JobKind(workload="RL"),
    "rollout": JobKind(workload="inference", half="rollout"),
    "update": JobKind(workload="training", half="update"),
}
"""The words by which people say what ran."""


def told_job(workload: str, stack: str) -> JobKind:
    """The job that the user names, in words of `TOLD_WORKLOADS` and `STACKS`; nothing where nothing is said.

    Raises:
        UsageError: There is no such word.
    """
    for wrong, name, known in (("unknown_workload", workload, TOLD_WORKLOADS), ("unknown_stack", stack, STACKS)):
        if name and name not in known:
            raise UsageError(Message(wrong, name=name), Message("known_are", names=", ".join(known)))
    kind = TOLD_WORKLOADS[workload] if workload else JobKind()
    said = (("workload", workload), ("stack", stack))
    signs = tuple(JobEvidence(about=about, seen_as="told", name=word) for about, word in said if word)
    return kind.model_copy(update={"stack": stack, "signs": signs})
