# SPDX-License-Identifier: Apache-2.0
"""Run: what was captured, and how — ranks, steps, versions, profiler switches, parallel layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from advisor.model.exports import EXPORTS, Export
from advisor.model.job import JobKind
from advisor.units import spell_run

LEVELS = ("Level_none", "Level0", "Level1", "Level2")
"""Levels of the profilers for NPUs, each with more than the one before."""
Sides = Literal["", "both", "device", "summary"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values, from which what is looked up is worked out anew."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


class Parallel(_Model):
    """Sizes of the parallel dimensions and who stands where. 0 means unknown."""

    tp: int = 0
    pp: int = 0
    dp: int = 0
    cp: int = 0
    ep: int = 0
    source: str = ""
    """Where the sizes come from: `distributed_args`, `parallel_group_info`, `cluster`, `p2p` (traffic), or nothing."""
    stages: tuple[tuple[int, ...], ...] = ()
    """Global ranks of each pipeline stage, first stage first; empty when there is no pipeline or it is unknown."""

    def stage_of(self, rank: int) -> int | None:
        """The pipeline stage of a rank, or None when unknown."""
        return self._stage_by_rank.get(rank)

    @cached_property
    def _stage_by_rank(self) -> dict[int, int]:
        """The first stage that each rank is in: thousands of ranks are asked for."""
        return {rank: stage for stage, ranks in reversed([*enumerate(self.stages)]) for rank in ranks}


class Capture(_Model):
    """One rank's capture: where it lies and how it was recorded. None means the capture does not say."""

    rank: int
    path: str
    """Folder name as found, relative to the input."""
    host: str = ""
    """The machine it was recorded on, as profilers name it; empty where they do not. `Run.hosts` tells which count."""
    recorder: str = ""
    """`msprof` where it recorded a program by itself; empty where the profiler of a framework did."""
    source: str
    """`text`, `database`, `text+database`, `trace` (of a GPU), `insight` (files for MindSpore Insight)
    or `cluster` (a cluster_analysis_output)."""
    level: str | None = None
    """`Level_none`, `Level0`, `Level1` or `Level2`."""
    activities: tuple[str, ...] | None = None
    """Any of `CPU`, `NPU`, `GPU`."""
    with_stack: bool | None = None
    profile_memory: bool | None = None
    record_shapes: bool | None = None
    core_metrics: str | None = None
    """What the hardware counted within kernels, such as `PipeUtilization, L2 cache`; empty where nothing."""
    sampled: str | None = None
    """Samplers of the hardware and the host that were on, such as `sys_io, host_sys`; `none` where none was."""
    complete: bool | None = None
    """Whether the profiler was stopped properly (end_info was written)."""
    absent: tuple[str, ...] = ()
    """Files of a text export that are not there, such as `trace_view.json`; empty for other captures."""
    size_bytes: int = 0

    @property
    def export(self) -> Export:
        """What follows from the export it was read from."""
        return EXPORTS.get(self.source, Export())

    @property
    def device_recorded(self) -> bool:
        """Whether the device was recorded: the profiler says so, or it wrote what only the device can tell."""
        if self.activities is not None:
            return "NPU" in self.activities or "GPU" in self.activities
        of_framework = self.recorder != "msprof" and self._has_any("step_trace_time.csv")
        return self._has_any("op_statistic.csv") or of_framework or self.traffic_recorded

    @property
    def host_recorded(self) -> bool:
        """Whether calls of the framework were recorded: the profiler says so, or it wrote what only they can tell."""
        if self.activities is not None:
            return "CPU" in self.activities
        return self.recorder != "msprof" and self._has_any("operator_details.csv", "operator_memory.csv")

    @property
    def traffic_recorded(self) -> bool:
        """Whether what collectives moved was written, which the profilers of frameworks do from Level1 on."""
        return self.recorder != "msprof" and self._has_any("communication.json", "communication_matrix.json")

    @property
    def at_level1(self) -> bool:
        """Whether it was recorded at Level1 or above: the profiler says so, or it wrote what it only then writes."""
        return self.level in ("Level1", "Level2") or (self.level is None and self.traffic_recorded)

    def _has_any(self, *files: str) -> bool:
        """Whether one of these files of a text export is there."""
        return self.source.startswith("text") and any(file not in self.absent for file in files)

    def own_name(self, file: str) -> str:
        """What a text file of the profilers of frameworks is called where msprof recorded: with a time behind it."""
        if self.recorder != "msprof" or "." not in file:
            return file
        stem, _, ending = file.partition(".")
        return f"{_BY_MSPROF.get(file, stem)}_*.{ending}"

    @property
    def lists_kernels(self) -> bool:
        """Whether kernels lie in a list of their own, and not in the timeline alone."""
        return self.source.startswith("text") and "kernel_details.csv" not in self.absent

    @property
    def lost(self) -> tuple[str, ...]:
        """Files with events that are absent although what they hold was recorded, or may have been: no text export of
        a framework is without its timeline."""
        if self.recorder == "msprof":
            return ()
        written = self.host_recorded or self.activities is None
        recorded = {"trace_view.json": written, "kernel_details.csv": self.device_recorded}
        return tuple(name for name in self.absent if recorded.get(name, False))


_BY_MSPROF = {"trace_view.json": "msprof", "kernel_details.csv": "op_summary", "step_trace_time.csv": "step_trace"}


MOST_ON_HOST = 16
"""No server of the supported chips has more devices (Atlas A3: 8 NPUs of two dies; HGX-2: 16 GPUs): a name that more
ranks share, such as `localhost`, is no name of one machine."""

UNEVEN = 0.05
"""From this difference to the mean on, the step of a rank is named and counted by itself: MindStudio's analysis calls
that uneven."""


Readers = tuple[str, str, str]
"""Those with such a family of devices, such a framework and such a kind of job; what is not known is empty."""


class InputNote(_Model):
    """One thing to know of how the input was chosen."""

    about: str
    """Which one, such as `other_captures`."""
    count: NonNegativeInt | None = None
    """How many, where it is of a number."""
    names: tuple[str, ...] = ()
    """Which they are, where it names them."""


class Run(_Model):
    """One profiled run of one job."""

    name: str = ""
    """Name of the input folder."""
    framework: str = ""
    """`PyTorch`, `MindSpore`, or nothing when unknown."""
    execution: str = ""
    """How MindSpore runs the job: `pynative`, `graph` (whose operators are launched one by one) or `whole graph`; empty
    when not recorded."""
    cann_version: str = ""
    torch_npu_version: str = ""
    chip: str = ""
    """For example `Ascend910B`; empty when not recorded."""
    level: str = ""
    """The lowest profiler level among the captures; empty when not recorded."""
    ranks: tuple[int, ...] = ()
    world_size: int = 0
    """How many ranks the job had, at least; 0 when nothing tells. `len(ranks)` is how many were captured."""
    world_source: str = ""
    """What tells: `distributed_args`, `groups`, `cluster`, `communication_matrix`, `tasks` or nothing."""
    steps: tuple[int, ...] = ()
    """Recorded step numbers, ascending; empty when the job never called `step()`."""
    unplaced_steps: tuple[int, ...] = ()
    """Numbers of steps of which only the length is known, ascending: no work can be told to be of one, and none counts
    among `steps`."""
    step_us: float = 0.0
    """Device span of one step, mean over the ranks and steps, µs; 0 when unknown. Savings are shares of it."""
    idle_share: float | None = None
    """Part of the mean step in which the device is idle, 0 to 1; None when unknown."""
    exposed_share: float | None = None
    """Part of the mean step that is communication with no computation beside it, 0 to 1; None when unknown."""
    job: JobKind = JobKind()
    sides: Sides = ""
    """What was recorded: host calls and kernels, kernels or step times alone, or only what a cluster summary holds."""
    start_ns: int = 0
    """The earliest recorded moment, ns since the epoch; 0 when unknown."""
    parallel: Parallel = Parallel()
    captures: tuple[Capture, ...] = ()
    notes: tuple[InputNote, ...] = ()
    """How the input was chosen, for the report to phrase."""

    @cached_property
    def captured(self) -> frozenset[int]:
        """The ranks that were captured, to look one up among thousands."""
        return frozenset(self.ranks)

    @property
    def rank_count(self) -> int:
        """How many ranks the job had, as far as is known."""
        return max(len(self.ranks), self.world_size)

    @property
    def hosts(self) -> dict[str, tuple[int, ...]]:
        """The captured ranks of each host, both ascending; empty where there is one host or a name stands for several.

        Captures that do not say where they ran are on none of them.
        """
        found: dict[str, list[int]] = {}
        for capture in self.captures:
            if capture.host:
                found.setdefault(capture.host, []).append(capture.rank)
        told = len(found) > 1 and max(map(len, found.values())) <= MOST_ON_HOST
        by_rank = sorted(found.items(), key=lambda entry: min(entry[1])) if told else ()
        return {host: tuple(sorted(ranks)) for host, ranks in by_rank}

    @property
    def missing_ranks(self) -> str:
        """The ranks of the job that were not captured, such as `2-7, 9`; empty where none is known to be missing."""
        return _numbers_missing(self.ranks, self.world_size)

    @property
    def missing_stages(self) -> str:
        """The stages of the pipeline of which no rank was captured, such as `1-3`; empty where none is known."""
        captured = {*self.ranks}
        seen = [stage for stage, ranks in enumerate(self.parallel.stages) if captured.intersection(ranks)]
        return _numbers_missing(seen, len(self.parallel.stages))

    @property
    def lost_files(self) -> str:
        """Files with events that were recorded and not given for some rank, such as `trace_view.json`."""
        return ", ".join(sorted({name for capture in self.captures for name in capture.lost}))

    @property
    def kernel_list(self) -> Literal["yes", "no", ""]:
        """Whether the kernels of all ranks lie in lists of their own; empty where no capture is described."""
        if not self.captures:
            return ""
        return "yes" if all(capture.lists_kernels for capture in self.captures) else "no"

    @property
    def export(self) -> str:
        """The one export that all captures were read from, such as `database`; empty where they differ."""
        sources = {capture.source for capture in self.captures}
        return sources.pop() if len(sources) == 1 else ""

    @property
    def capture_paths(self) -> tuple[str, ...]:
        """Where its captures lie in what was given."""
        return tuple(capture.path for capture in self.captures)

    @property
    def device_family(self) -> Literal["npu", "gpu"]:
        """What computed: `gpu` where activities of one were recorded, else `npu`, whose captures may not say."""
        return "gpu" if any("GPU" in (capture.activities or ()) for capture in self.captures) else "npu"

    @property
    def readers(self) -> Readers:
        """Who reads what is said of it; worked out from all captures, so asked for once and not for each rule."""
        return self.device_family, self.framework, self.job.workload

    @property
    def recorder(self) -> str:
        """`msprof` where it recorded the program by itself; empty where the profiler of a framework did."""
        return next((capture.recorder for capture in self.captures), "")

    @property
    def core_metrics(self) -> str | None:
        """What was counted within kernels on the first rank that says so; None where none does."""
        return next((one.core_metrics for one in self.captures if one.core_metrics is not None), None)

    @property
    def sampled(self) -> str | None:
        """Which samplers were on, on the first rank that says so; None where none does."""
        return next((one.sampled for one in self.captures if one.sampled is not None), None)

    @property
    def call_stacks(self) -> Literal["on", "off"] | None:
        """Whether Python call stacks were recorded on some rank; None where no capture says so."""
        known = [one.with_stack for one in self.captures if one.with_stack is not None]
        return ("on" if any(known) else "off") if known else None

    @property
    def recorded_alone(self) -> Literal["host", "device"] | None:
        """The side that profilers were told to record on every rank that says so; None where it is both or not told."""
        told = {("CPU" in on, len({*on} - {"CPU"}) > 0) for one in self.captures if (on := one.activities)}
        return "host" if told == {(True, False)} else "device" if told == {(False, True)} else None

    @property
    def times_of(self) -> Literal["step", "window", "work"]:
        """What its times are of: one step; the window that the user chose to record; or the work of the device alone,
        where a whole program was recorded from its start to its end and nothing in it is marked."""
        return "step" if self.steps else "work" if self.recorder == "msprof" else "window"

    @property
    def is_summary(self) -> bool:
        """Whether all there is to read is a cluster summary."""
        return bool(self.captures) and all(capture.export.of_all_ranks for capture in self.captures)

    @property
    def step_count(self) -> int:
        """How many steps the totals of a rank spread over; a run without steps counts as one."""
        return max(len(self.steps), 1)


def _numbers_missing(seen: Iterable[int], count: int) -> str:
    """The numbers below `count` that are not among these, such as `2-7, 9`."""
    ends = [-1, *sorted({number for number in seen if 0 <= number < count}), count]
    runs = [(before + 1, after - 1) for before, after in pairwise(ends) if after - before > 1]
    return ", ".join(spell_run(*run) for run in runs)
