# SPDX-License-Identifier: Apache-2.0
"""Inspection: what lies at a path, what of it can be read and judged, and how to record the rest; its JSON form."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from advisor.messages.text import Text
from advisor.model.findings import Outcome
from advisor.model.json_text import json_text
from advisor.model.run import Run
from advisor.model.unread import Unread

Recorder = Literal["torch_npu", "mindspore", "msprof", "atb", "vllm", "sglang", "verl", "verl-gpu", "torch.profiler"]
"""What records: the Ascend PyTorch Profiler, that of MindSpore, msprof, the variables of ATB and MindIE, the
profilers that vLLM, SGLang and verl (on NPUs and on GPUs) switch on themselves, and that of PyTorch itself for GPUs."""
Unused = Literal[
    "", "folder", "not looked into", "packed", "left aside", "of no use", "no part", "cannot be opened", "not listed"
]
"""Why nothing is read from a file or folder; empty where it is read."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FoundPart(_Model):
    """A folder in which some family of sources recognised something."""

    family: str
    kind: Literal["capture", "summary", "unparsed", "foreign", "hollow"]
    path: str
    """Relative to the input; empty where it is the input."""
    tool: str = ""
    """Who wrote it, where that is known and is no profiler of a framework."""


class InputFile(_Model):
    """A file of a capture, or a folder in it."""

    path: str
    """Relative to the input."""
    size_bytes: int | None = None
    """None for a folder."""
    unused: Unused = ""
    why: Text | None = None
    """Why a file that is known is of no use."""


class AlikeRanks(_Model):
    """Ranks that were captured in the same way and have the same files."""

    ranks: tuple[int, ...]
    read: tuple[int, ...] = ()
    """Those of them whose tables were read: they stand for the others."""
    path: str = ""
    """The folder of the first of them."""
    source: str
    level: str | None = None
    activities: tuple[str, ...] | None = None
    with_stack: bool | None = None
    profile_memory: bool | None = None
    record_shapes: bool | None = None
    complete: bool | None = None
    size_bytes: int = 0
    """Of all of them together."""
    files: tuple[InputFile, ...] = ()
    """Those of the first of them."""


class InspectedFact(_Model):
    """A table that sources may hold, and how much of it is there in the ranks that were read."""

    table: str
    words: Text
    rows: int | None = None
    """None where no rank that was read holds the table."""
    ranks: tuple[int, ...] = ()
    """Ranks that have rows of it, where its rows tell ranks apart."""
    empty_columns: tuple[str, ...] = ()
    """Columns without a single value."""
    rules: int = 0
    """How many rules rest on it."""
    reason: Text | None = None
    """Why it is missing, and how to have it."""


class Advice(_Model):
    """Something to do so that rules can look which could not, apart from switches of the profiler."""

    do: Text
    rules: tuple[str, ...]


class Addition(_Model):
    """A switch that has more recorded."""

    option: str
    """As the profiler calls it."""
    records: Text
    rules: tuple[str, ...]
    """Rules that ask for it; there may be more that they ask for."""


class Recording(_Model):
    """One configuration of a profiler that keeps what was switched on and records what rules lacked."""

    recorder: Recorder
    language: Literal["python", "sh"]
    code: str
    adds: tuple[Addition, ...] = ()
    care: tuple[Text, ...] = ()
    """What it costs, and what it cannot do."""


class InputRefusal(_Model):
    """Why nothing here can be diagnosed, and what to do."""

    what: Text
    do: Text | None = None


class Inspection(_Model):
    """What was found at a path: sources, ranks, files, tables, rules, and what to record."""

    format: Literal["advisor.inspection/1"] = "advisor.inspection/1"
    version: str
    name: str
    found: tuple[FoundPart, ...] = ()
    files: tuple[InputFile, ...] = ()
    """Where nothing can be diagnosed: the first files and folders of the input."""
    refusal: InputRefusal | None = None
    run: Run | None = None
    """None where nothing can be diagnosed; the same for what follows."""
    ranks: tuple[AlikeRanks, ...] = ()
    facts: tuple[InspectedFact, ...] = ()
    """First those that rules rest on."""
    outcomes: tuple[Outcome, ...] = ()
    """Every rule: `fired` and `quiet` can look, `skipped` and `failed` cannot, the others do not concern the run."""
    recording: Recording | None = None
    """None where nothing more can be switched on."""
    advice: tuple[Advice, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def enabled(self) -> tuple[str, ...]:
        """The rules that can look."""
        return tuple(one.rule for one in self.outcomes if one.outcome in ("fired", "quiet"))

    @property
    def blind(self) -> tuple[str, ...]:
        """The rules that cannot."""
        return tuple(one.rule for one in self.outcomes if one.outcome in ("skipped", "failed"))

    def __repr__(self) -> str:
        if self.run is None:
            return f"<inspection of {self.name!r}: nothing to diagnose>"
        ranks = len(self.run.ranks)
        return (
            f"<inspection of {self.name!r}: {ranks} ranks, {len(self.enabled)} rules can look, {len(self.blind)} not>"
        )

    __str__ = __repr__

    def to_json(self) -> str:
        """The published form: two blanks of indent, keys in declared order, a final line break."""
        return json_text(self.model_dump(mode="json"))
