# SPDX-License-Identifier: Apache-2.0
"""The tables of `advisor stats`: what each is made from, what names its rows, and how they are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.analysis.host.host import DEVICE_SOFTWARE
from advisor.facts.base import MISSING, Fact
from advisor.facts.derivation import AnyTable
from advisor.facts.derived import (
    LinkUse,
    MemoryHolder,
    MemoryPeak,
    ModuleHolder,
    ModuleShare,
    OperatorRoofline,
    Overlap,
    PairedCall,
    StepMfu,
    TrafficUse,
)
from advisor.facts.observed import ApiTotal, Collective, HostCall, HostCpu, HostUse, Kernel, OperatorTotal
from advisor.facts.profile import Profile
from advisor.facts.table import Array
from advisor.messages.errors import FactMissing
from advisor.statistics.duration_bins import CallBin, GapBin, KernelBin, MarkBin, OperatorBin
from advisor.statistics.merging import largest_first, merge_rows
from advisor.statistics.micro_batches import MicroBatch
from advisor.statistics.spreads import spread_of_bins, spread_of_durations, spread_of_totals

Keys = Sequence[str]


class StatisticTable(Struct, frozen=True):
    """One table: its keys, the finer ones that it can be split by too, and what makes it of a profile."""

    name: str
    keys: tuple[str, ...]
    make: Callable[[Profile, Keys], pd.DataFrame]
    """Given the keys that were asked for, `rank` first where ranks stand apart.

    Raises:
        FactMissing: What it is made from was not recorded.
    """
    wanted: tuple[type[Fact], ...]
    """Read together, in one pass over the files."""
    finer: tuple[str, ...] = ()
    merges: bool = True
    """Whether ranks are put together unless they are asked for."""
    needed: tuple[str, ...] = ()
    """Keys without which its rows cannot be put together."""
    means: tuple[str, ...] = ()
    """Counts that are means over steps; all others are of whole things."""


def _kernels(profile: Profile, keys: Keys) -> pd.DataFrame:
    """Kernels by type and core, from each of them; where none was listed from what the profiler added up."""
    totals = None if "input_shapes" in keys else profile.table_if_recorded(OperatorTotal)
    if totals is None or profile.table_if_recorded(KernelBin) is not None:
        return spread_of_bins(profile.table(KernelBin), keys)
    return spread_of_totals(_plain_frame(totals), keys)


def _operators(profile: Profile, keys: Keys) -> pd.DataFrame:
    """Operators of the framework: how long the host spends in them, calls inside of them included; where no calls were
    recorded, by the list of operators."""
    listed = None if "kind" in keys else profile.table_if_recorded(OperatorBin)
    if listed is not None and profile.table_if_recorded(CallBin) is None:
        return spread_of_bins(listed, keys)
    return _spread_of_kinds(profile, ("operator", "optimizer", "data_loader"), keys)


def _apis(profile: Profile, keys: Keys) -> pd.DataFrame:
    """Calls into the software of the device, from each of them or from what the profiler added up."""
    calls, totals = profile.table_if_recorded(CallBin), profile.table_if_recorded(ApiTotal)
    if totals is None or (calls is not None and calls.texts("kind").isin(DEVICE_SOFTWARE).any()):
        return _spread_of_kinds(profile, DEVICE_SOFTWARE, keys)
    return spread_of_totals(_plain_frame(totals), keys)


def _spread_of_kinds(profile: Profile, kinds: Keys, keys: Keys) -> pd.DataFrame:
    bins = profile.table(CallBin)
    chosen = bins.take(bins.texts("kind").isin(kinds))
    if not len(chosen):
        raise FactMissing([HostCall.table])
    return spread_of_bins(chosen, keys)


def _spread_of(bins: type[Fact]) -> Callable[[Profile, Keys], pd.DataFrame]:
    """What makes a table of all that these bins hold."""
    return lambda profile, keys: spread_of_bins(profile.table(bins), keys)


def _rooflines(profile: Profile, keys: Keys) -> pd.DataFrame:
    """Operators by shape on each rank: what they do in a second beside what the chip can; per step."""
    frame = _plain_frame(profile.table(OperatorRoofline))
    order = ["rank", "total_us"]
    frame = frame.sort_values(order, ascending=[True, False], kind="stable")
    return frame[[*keys, *_AGAINST_ROOFLINE]].reset_index(drop=True)


_AGAINST_ROOFLINE = (
    "dtype",
    "calls",
    "total_us",
    "mean_us",
    "expected_us",
    "roofline_share",
    "mfu",
    "bandwidth_share",
    "tflops",
    "gbps",
    "bound",
)


def _collectives(profile: Profile, keys: Keys) -> pd.DataFrame:
    """Communication operators: their time as a spread, what it was spent on, and what they moved, all added up."""
    frame = _plain_frame(profile.table(Collective))
    frame = frame[frame["elapse_us"] >= 0].assign(moved_bytes=frame["size_bytes"])
    spent = frame.groupby([*keys], dropna=False)[[*_SPENT]].sum(min_count=1).reset_index()
    return spread_of_durations(frame, keys, "elapse_us").merge(spent, on=[*keys], how="left")


_SPENT = ("transit_us", "wait_us", "idle_us", "moved_bytes")


def _ranks(profile: Profile, keys: Keys) -> pd.DataFrame:
    """The mean step of each rank, where it goes, and how much of the peak of the chip and of the bandwidth of memory
    it uses: at least so much where not all is known."""
    means = _mean_steps(_known_splits(profile), keys)
    used = profile.table_if_recorded(StepMfu) if "rank" in keys else None
    if used is None:
        return means.assign(**dict.fromkeys((*_OF_PEAK, *_AT_LEAST), np.nan))
    known = _plain_frame(used)[["rank", *_OF_PEAK, *_AT_LEAST]]
    bounds = {least: known[least].where(known[whole].isna()) for whole, least in zip(_OF_PEAK, _AT_LEAST, strict=True)}
    return means.merge(known.assign(**bounds), "left", "rank")


_OF_PEAK = ("mfu", "bandwidth_share")
_AT_LEAST = ("least_mfu", "least_bandwidth_share")
"""The same of what is known: shown where the whole is not."""


def _steps(profile: Profile, keys: Keys) -> pd.DataFrame:
    """Each step of each rank, and where it goes; of several put together the mean, and how many they are."""
    frame = _known_splits(profile)
    if not {"rank", "step"} <= {*keys}:
        return _mean_steps(frame, keys)
    return frame[[*keys, *_SPLIT]].sort_values([*keys], kind="stable").reset_index(drop=True)


def _known_splits(profile: Profile) -> pd.DataFrame:
    """Where the time of each step went.

    Raises:
        FactMissing: It is known of none, for the list of kernels lacks rows.
    """
    frame = _plain_frame(profile.table(Overlap))
    if len(frame) and frame["span_us"].isna().all():
        raise FactMissing([], incomplete=[Kernel.table])
    return frame


def _mean_steps(frame: pd.DataFrame, keys: Keys) -> pd.DataFrame:
    """The mean of the rows and how many steps they are; no number of steps where none was marked."""
    marked = frame.assign(steps=frame["step"].notna().map({True: 1.0, False: np.nan}))
    return merge_rows(marked, keys, summed=("steps",), mean=_SPLIT)


_SPLIT = (
    "span_us",
    "compute_us",
    "comm_us",
    "exposed_comm_us",
    "overlapped_us",
    "free_us",
    "copy_us",
    "event_wait_us",
    "bubble_us",
)


def _links(profile: Profile, keys: Keys) -> pd.DataFrame:
    """What went from one rank to another over each kind of link, slowest first.

    Of links that are put together the bandwidth is that of all they moved in bulk; what is usual is told of one alone.
    """
    frame = _plain_frame(profile.table(LinkUse))
    moved = ("size_bytes", "transit_us")
    if {"source", "target", "link"} <= {*keys}:
        found = frame[[*keys, *moved, "bandwidth_gbps", "typical_gbps", "deviation"]]
    else:
        in_bulk = frame.assign(bulk=frame["bandwidth_gbps"] * frame["bulk_us"])
        sums = merge_rows(in_bulk, keys, summed=(*moved, "bulk", "bulk_us"), mean=("bandwidth_gbps",))
        told = sums["bulk"] / sums["bulk_us"].where(sums["bulk_us"] > 0)
        found = sums.assign(bandwidth_gbps=told.fillna(sums["bandwidth_gbps"]))[[*keys, *moved, "bandwidth_gbps"]]
    return found.sort_values("bandwidth_gbps", kind="stable").reset_index(drop=True)


def _memory(profile: Profile, keys: Keys) -> pd.DataFrame:
    """The most memory that each component held on each rank, or on any of those that are put together."""
    columns = ("reserved_bytes", "allocated_bytes", "largest_allocated_bytes", "capacity_bytes")
    return merge_rows(_plain_frame(profile.table(MemoryPeak)), keys, most=columns)


def _holders(profile: Profile, keys: Keys) -> pd.DataFrame:
    """What operators of each name held of the memory when all together held most, on each rank at its own moment."""
    by_module = not {"module", "phase"}.isdisjoint(keys)
    frame = _plain_frame(profile.table(ModuleHolder) if by_module else profile.table(MemoryHolder))
    found = merge_rows(frame, keys, summed=("held_bytes", "allocations"), most=("largest_bytes",))
    held = found["held_bytes"]
    found["held_share"] = held / (
        found.groupby("rank")["held_bytes"].transform("sum") if "rank" in keys else held.sum()
    )
    return largest_first(found, "held_bytes")[[*keys, "held_bytes", "held_share", "allocations", "largest_bytes"]]


def _traffic(profile: Profile, keys: Keys) -> pd.DataFrame:
    """What memory, its cache and the links of each device moved, or devices on the mean and at most."""
    frame = _plain_frame(profile.table(TrafficUse))
    means = ("mean_gbps", "used_share", "hit_share")
    found = merge_rows(frame, keys, summed=("samples",), mean=means, most=("peak_gbps",))
    return found[[*keys, "samples", "mean_gbps", "peak_gbps", "used_share", "hit_share"]]


def _hosts(profile: Profile, keys: Keys) -> pd.DataFrame:
    """What was used of the processors, the memory, the storage and the network of the host of each rank."""
    load, use = (profile.table_if_recorded(fact) for fact in (HostCpu, HostUse))
    found = [_plain_frame(table).set_index("rank") for table in (load, use) if table is not None]
    if not found:
        raise FactMissing([HostCpu.table, HostUse.table])
    frame = pd.concat(found, axis=1).rename(columns=_LOAD).sort_index()
    frame = frame.reindex(columns=[*_LOAD.values(), *(name for name in HostUse.columns() if name != "rank")])
    return frame.rename_axis("rank").reset_index()[[*keys, *frame.columns]]


_LOAD = {"cores": "processors", "busy_share": "processors_share", "waiting_share": "processors_wait_share"}


def _modules(profile: Profile, keys: Keys) -> pd.DataFrame:
    """The modules of the model on each rank, each with all inside of it and behind the one around it; per step."""
    return _plain_frame(profile.table(ModuleShare))[[*keys, *_OF_MODULES]]


_OF_MODULES = (
    "instances",
    "kernels",
    "total_us",
    "own_us",
    "forward_us",
    "backward_us",
    "recompute_us",
    "comm_us",
    "step_share",
    "mfu",
    "bandwidth_share",
)


def _p2p(profile: Profile, keys: Keys) -> pd.DataFrame:
    """Sends with their receives, by pair of ranks: how long moving took at least, and how long either side waited.

    The side that comes last has the shorter operator: what the other one takes longer is waiting.
    """
    frame = _plain_frame(profile.table(PairedCall)).assign(moved_bytes=lambda table: table["size_bytes"])
    summed = frame.groupby([*keys], dropna=False, sort=True)[[*_OF_PAIRS]].sum(min_count=1)
    counted = frame.groupby([*keys], dropna=False, sort=True).size().astype(float).rename("calls")
    found = pd.concat([counted, summed], axis=1).reset_index()
    waited = found["source_wait_us"] + found["target_wait_us"]
    return found.loc[waited.sort_values(ascending=False, kind="stable").index].reset_index(drop=True)


_OF_PAIRS = ("moved_bytes", "together_us", "source_wait_us", "target_wait_us")


def _pipeline(profile: Profile, keys: Keys) -> pd.DataFrame:
    """Marked passes of micro-batches by their begin: of the earliest on any rank in that step, on the device too."""
    passes = profile.table(MicroBatch)
    steps = group_by(passes["step"])
    frame = _plain_frame(passes).assign(
        start_us=_us_since_first(passes["start_ns"], steps),
        device_start_us=_us_since_first(passes["device_start_ns"], steps),
    )
    split = profile.table_if_recorded(Overlap)
    stages = None if split is None else _plain_frame(split)[["rank", "stage"]].drop_duplicates("rank")
    frame = frame.assign(stage=np.nan) if stages is None else frame.merge(stages, "left", "rank")
    frame = frame.sort_values(["step", "stage", "rank", "start_ns"], kind="stable")
    columns = ("start_us", "host_us", "device_start_us", "device_us", "kernel_us", "kernels")
    return frame[[*keys, *columns]].reset_index(drop=True)


def _us_since_first(moments: Array, groups: Groups) -> Array:
    """Per row: from the first moment of its group to its own; whole ns are subtracted, for a float holds no moment."""
    known = moments != MISSING
    of = groups.of[known]
    first = np.full(len(groups), np.iinfo(np.int64).max)
    np.minimum.at(first, of, moments[known])
    found = np.full(len(moments), np.nan)
    found[known] = (moments[known] - first[of]) / 1e3
    return found


def _plain_frame(table: AnyTable) -> pd.DataFrame:
    """A table with texts and numbers as plain columns: groups are then those that occur, and NaN is missing."""
    columns = table.fact.columns().items()
    return pd.DataFrame({name: _plain_column(table, name, column.store) for name, column in columns})


def _plain_column(table: AnyTable, name: str, store: str) -> Any:
    if store == "text":
        return np.array([*table.texts(name).values()], object)
    whole = store == "int" and not (table[name] == MISSING).any()
    return table[name] if whole else table.floats(name)


TABLES: tuple[StatisticTable, ...] = (
    StatisticTable("ranks", ("rank",), _ranks, (Overlap, StepMfu), finer=("stage",), merges=False),
    StatisticTable("kernels", ("op_type", "core"), _kernels, (KernelBin, OperatorTotal), finer=("input_shapes",)),
    StatisticTable(
        "rooflines",
        ("rank", "op_type", "input_shapes"),
        _rooflines,
        (OperatorRoofline,),
        merges=False,
        needed=("rank", "op_type", "input_shapes"),
        means=("calls",),
    ),
    StatisticTable("operators", ("name",), _operators, (CallBin, OperatorBin), finer=("kind",)),
    StatisticTable("apis", ("kind", "name"), _apis, (CallBin, ApiTotal)),
    StatisticTable(
        "collectives",
        ("op", "group_kind"),
        _collectives,
        (Collective,),
        finer=("group", "size_bytes", "dtype", "algorithm", "step"),
    ),
    StatisticTable("links", ("source", "target", "link"), _links, (LinkUse,), merges=False),
    StatisticTable(
        "p2p", ("source", "target"), _p2p, (PairedCall,), finer=("group", "op", "step", "size_bytes"), merges=False
    ),
    StatisticTable(
        "pipeline",
        ("rank", "step", "direction", "number"),
        _pipeline,
        (MicroBatch, Overlap),
        ("stage",),
        merges=False,
        needed=("rank", "step", "direction", "number"),
    ),
    StatisticTable("gaps", ("cause",), _spread_of(GapBin), (GapBin,)),
    StatisticTable(
        "modules",
        ("rank", "module"),
        _modules,
        (ModuleShare,),
        merges=False,
        needed=("rank", "module"),
        means=("kernels",),
    ),
    StatisticTable("marks", ("domain", "name"), _spread_of(MarkBin), (MarkBin,)),
    StatisticTable("memory", ("rank", "component"), _memory, (MemoryPeak,), merges=False, needed=("component",)),
    StatisticTable(
        "holders",
        ("rank", "name"),
        _holders,
        (MemoryHolder, ModuleHolder),
        finer=("module", "phase"),
        merges=False,
    ),
    StatisticTable("traffic", ("rank", "place", "way"), _traffic, (TrafficUse,), merges=False, needed=("place", "way")),
    StatisticTable("hosts", ("rank",), _hosts, (HostCpu, HostUse), merges=False),
    StatisticTable("steps", ("rank", "step"), _steps, (Overlap,), finer=("stage",), merges=False),
)
"""All tables, in the order in which they are shown."""
