# SPDX-License-Identifier: Apache-2.0
"""Kernel: kernel_details.csv (else the device lane of the timeline, which also tells what ran on the AI CPU where the
list does not); COMPUTE_TASK_INFO with TASK in the database."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import prod

import numpy as np

from advisor.chips.chip_files import shipped_chips
from advisor.facts.base import MISSING, Column, Count, Share
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts, Values, values_at
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.attribution import steps_in_database, steps_in_timeline
from advisor.sources.ascend.counters import Counter, both_cores, counters_of_tasks, merged_counter
from advisor.sources.ascend.device_tasks import HARDWARE, are_kernels, hardware_rows, streams_of_slices, task_columns
from advisor.sources.ascend.exact_moments import DETAILS, STARTS, moments_of_device, note_rounded
from advisor.sources.ascend.host_steps import steps_of_waiting_host, steps_without_strays
from advisor.sources.ascend.iterations import iterations_of
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.database import Database, are_spans, match_keys
from advisor.sources.files.float_times import are_quarters, restore_moments
from advisor.sources.reading import Reading

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "step": ("Step Id",),
    "stream": ("Stream ID",),
    "graph": ("Model ID",),
    "op_name": ("Name", "Op Name"),
    "op_type": ("Type", "OP Type"),
    "core": ("Accelerator Core", "Task Type"),
    "op_state": ("OP State",),
    "start_ns": STARTS,
    "duration_us": ("Duration(us)", "Task Duration(us)"),
    "wait_us": ("Wait Time(us)", "Task Wait Time(us)"),
    "blocks": ("Block Num", "Block Dim"),
    "input_shapes": ("Input Shapes",),
    "input_dtypes": ("Input Data Types",),
    "input_formats": ("Input Formats",),
    "output_shapes": ("Output Shapes",),
    "output_dtypes": ("Output Data Types",),
    "hf32": ("HF32 Eligible",),
    "cube_share": ("cube_utilization(%)",),
}
"""Columns of kernel_details.csv (and op_summary) for the columns of the fact, in every spelling met."""

COUNTERS: Mapping[str, Counter] = {
    "mac_share": Counter((("aic_mac_ratio", "mac_ratio", "mac_exe_ratio"),)),
    "vector_share": Counter((("aiv_vec_ratio", "vec_ratio", "vec_exe_ratio"),)),
    "scalar_share": Counter((*both_cores("scalar_ratio"), ("scalar_exe_ratio",))),
    "mte2_share": Counter((*both_cores("mte2_ratio"), ("mte2_exe_ratio",))),
    "mte3_share": Counter((("aiv_mte3_ratio", "mte3_ratio", "mte3_exe_ratio"),)),
    "mte1_share": Counter((("aic_mte1_ratio", "mte1_ratio", "mte1_exe_ratio"),)),
    "fixpipe_share": Counter((("aic_fixpipe_ratio", "fixpipe_ratio", "fixpipe_exe_ratio"),)),
}
"""Hardware counters behind each share, which is the largest of them: the cube and the vector core count apart.

`*_exe_ratio` is what PipelineExecuteUtilization, the set of Atlas 200I/500 A2, calls the same.
"""

_CCU = "CCU"
COMMUNICATION_CORES = frozenset({"HCCL", "COMMUNICATION", _CCU})
"""What communication runs on. CCU is the unit for collectives of Ascend 950; fused kernels have it work for them."""
_COMMUNICATION = re.compile(r"hcom_|.*(Aicpu|Aiv)Kernel(_\d+)*$", re.IGNORECASE)
_OF_TASK_TYPE = {
    "KERNEL_AIVEC": "AI_VECTOR_CORE",
    "KERNEL_AICORE": "AI_CORE",
    "KERNEL_AICPU": "AI_CPU",
    "STARS_COMMON": "DSA_SQE",
    "KERNEL_MIX_AIC": "MIX_AIC",
    "KERNEL_MIX_AIV": "MIX_AIV",
}
"""Core by the type of the task, for levels at which the kernel itself does not say."""

_OF_NO_GRAPH = 2**32 - 1
"""Model ID of kernels that the host launched one by one."""
_AI_CPU = "AI_CPU"
_NS_PER_US = 1000.0
_ON_AI_CPU = (_AI_CPU, "KERNEL_AICPU", "AICPU_KERNEL")

_SHARE = Share("A hardware counter, as a share.")
_CYCLES = {"cycles": Count("Cycles of the cube cores a kernel ran on.")}
_TELLING_SHARE = 0.01
_REQUIRED = ("op_name", "start_ns", "duration_us")


@lru_cache(maxsize=1 << 12)  # every rank of a job runs the same kernels, and several facts ask of each
def is_communication(name: str) -> bool:
    """Whether a kernel is part of a collective and not of the model, by its name."""
    return bool(_COMMUNICATION.match(name))


def type_of_name(name: str) -> str:
    """The operator type in the name of a kernel, for levels at which it is not recorded.

    Names end in the type (`aclnnMm_MatMulV3Common_MatMulV3`), in the type and a number (`trans_TransData_0`), or are
    the type with a number behind it (`Conv2D4`, `GatherV282`, `Default/network/Mul-op7`). A name in small letters is
    the function of a kernel that somebody wrote, and all of it is the type (`triton_rms_norm_kernel`), apart from
    numbers that differ from call to call; those that a compiler counts its kernels by stay (`triton_poi_fused_add_0`).
    """
    name = _NUMBERED.sub("", name.rpartition("/")[2]) or name  # behind the scope
    parts = [part for part in name.split("_") if part and not part.isdigit()]
    if not parts:
        return name
    if "_" not in name:
        bare = re.sub(r"(?<!\d)\d+$", "", name)
        version = name[len(bare) : len(bare) + 1] if bare.endswith("V") else ""
        return bare + version or name
    if name.startswith(_CLEARS):
        return "MemSet"
    typed = next((part for part in reversed(parts) if _TYPE.match(part)), None)
    return typed or (name if name.startswith("triton_") else "_".join(parts))


_NUMBERED = re.compile(r"-op\d+$")
"""How MindSpore tells the operators of a scope apart."""
_CLEARS = "atomic_memset"
"""What a graph puts before operators that add up in place."""
_TYPE = re.compile(r"[A-Z][A-Z0-9]*[a-z]")


def kernel_details(folder: Folder) -> dict[str, Values]:
    """The columns of kernel_details.csv, communication included, read once for kernels and collectives."""
    return folder.once(DETAILS, lambda: _read_details(folder))


def _read_details(folder: Folder) -> dict[str, Values]:
    counters = {spellings[0]: spellings for counter in COUNTERS.values() for spellings in counter.parts}
    columns: dict[str, Column] = {**dict.fromkeys(counters, _SHARE), **_CYCLES}
    found = folder.columns(
        Kernel, DETAILS, {**HEADINGS, **counters, "cycles": ("aic_total_cycles",)}, _REQUIRED, columns
    )
    found["start_ns"] = _exact_starts(folder, found["start_ns"])
    if folder.by_mindspore:
        found = {**found, "step": _steps_of_mindspore(folder, found)}
    repeated = _repeated_rows(found)
    if not len(repeated):
        return with_plain_names(found)
    whole = len(next(iter(found.values())))
    folder.notes.add(DETAILS, "", Message("rows_repeated"), rows=len(repeated), share=len(repeated) / whole)
    kept = np.delete(np.arange(whole), repeated)
    return with_plain_names(
        {name: one.take(kept) if isinstance(one, Texts) else one[kept] for name, one in found.items()}
    )


def _steps_of_mindspore(folder: Folder, columns: Mapping[str, Values]) -> Array:
    start, lasts, step = columns["start_ns"], columns["duration_us"], columns.get("step")
    assert isinstance(start, np.ndarray) and isinstance(lasts, np.ndarray)  # noqa: S101 - times are numbers
    if not isinstance(step, np.ndarray):
        return steps_of_waiting_host(folder, start, lasts)
    launched = _text_of(columns, "op_name").hits(
        bool(_LAUNCHED_BY.match(n)) for n in _text_of(columns, "op_name").names
    )
    return steps_without_strays(folder, step, start, launched)


def _exact_starts(folder: Folder, start: Values) -> Values:
    """The starts, exact again by the timeline where they were written as floats."""
    if not isinstance(start, np.ndarray) or not are_quarters(start):
        return start
    note_rounded(folder.notes, folder.parts(DETAILS)[0].name)
    try:
        timeline = folder.timeline()
    except (FactMissing, Unreadable):  # there is none, or it is noted as damage: the starts stay as they are
        return start
    return restore_moments(start, moments_of_device(timeline, HARDWARE))


def with_plain_names(columns: dict[str, Values]) -> dict[str, Values]:
    """The same columns with names as the device has them, behind the scope of the operator where that is recorded."""
    name = _text_of(columns, "op_name")
    return {**columns, "op_name": Texts.of(map(_plain_name, name.names)).at(name.codes)}


def _plain_name(name: str) -> str:
    """A name without what MindSpore puts before it: the event that launched it, of collectives its operator too."""
    found = _LAUNCHED_BY.match(name)
    if not found:
        return name
    scoped = name[found.end() :]
    own = scoped.rpartition("/")[2]
    return own if is_communication(own) else scoped


_LAUNCHED_BY = re.compile(r"[A-Za-z]\w*::[A-Za-z]\w*::(?=.*/)")
"""How MindSpore begins the name of a kernel: `Kernel::KernelLaunch::` before the operator of a graph and the name that
the device knows, `PynativeFramework::PyNativeLaunchTask::` before those of PyNative mode."""


def _repeated_rows(columns: Mapping[str, Values]) -> Array:
    """Rows that are there already: a stream runs one kernel at a time, so files were joined twice."""
    start, lasts, stream = columns["start_ns"], columns["duration_us"], columns.get("stream")
    assert isinstance(start, np.ndarray) and isinstance(lasts, np.ndarray)  # noqa: S101 - times are numbers
    rows = np.argsort(start, kind="stable")
    again = np.append(False, np.diff(start[rows]) == 0)[: len(rows)]
    if not isinstance(stream, np.ndarray) or not again.any():
        return rows[:0]
    near = rows[again | np.append(again[1:], False)]  # few begin at once with another one
    keys = (lasts[near], stream[near], _text_of(columns, "op_name").codes[near], start[near])
    order = np.lexsort((near, *keys))
    same: Array = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    found: Array = near[order][1:][same]
    return found


def communication_rows(columns: Mapping[str, Values]) -> Array:
    """Per row of kernel_details.csv: whether it is a collective or belongs to one.

    A kernel that exchanges tokens between its products (DispatchFFNCombine) may be listed as communication as well. It
    is one of the model: collectives are listed without counters, and of it the cores counted some.
    """
    counts = (merged_counter(columns, COUNTERS[share]) for share in _COUNTED_BY_CORES)
    return are_communication(_text_of(columns, "op_name"), _text_of(columns, "core"), counts)


_COUNTED_BY_CORES = ("mac_share", "vector_share")
"""Counters of cube and vector cores: while a collective runs they count nothing."""


def are_communication(name: Texts, core: Texts, counts: Iterable[Array | None]) -> Array:
    """Per kernel: whether it belongs to a collective, by its name, its core and what cube and vector cores counted."""
    counted = np.zeros(len(name), bool)
    for share in counts:
        counted |= False if share is None else share > 0
    listed = core.isin([_CCU]) | (core.isin(COMMUNICATION_CORES) & ~counted)
    return listed | name.hits(is_communication(n) for n in name.names)


def _text_of(columns: Mapping[str, Values], name: str) -> Texts:
    found = columns.get(name)
    return found if isinstance(found, Texts) else Texts.constant(None, len(next(iter(columns.values()))))


def _kernels_from_text(folder: Folder) -> Table[Kernel]:
    try:
        columns = kernel_details(folder)
    except (FactMissing, Unreadable):
        if folder.file("trace_view.json") is None:
            raise
        return _kernels_from_timeline(folder)
    names = Kernel.columns().keys() & columns.keys()
    found: dict[str, Values | None] = {name: columns[name] for name in names}
    found |= {name: merged_counter(columns, counter) for name, counter in COUNTERS.items()}
    found["cube_mhz"] = _clock_of_all_cores(columns)
    if isinstance(graph := found.get("graph"), np.ndarray):
        found["graph"] = _graphs_or_missing(graph)
    keep = ~communication_rows(columns)
    if not (_text_of(columns, "core").codes[keep] >= 0).any():
        found["core"] = _cores_in_timeline(folder, columns["start_ns"])
    if folder.by_msprof and "step" not in found:
        start = columns["start_ns"]
        assert isinstance(start, np.ndarray)  # noqa: S101 - times are numbers
        found["step"] = iterations_of(folder).at(start)
    rank = np.full(len(keep), folder.rank, np.int64)
    return _complete_kernels(Table.build(Kernel, **{**found, "rank": rank}), keep)


def _graphs_or_missing(model: Array) -> Array:
    """The graph of each kernel by the number of its model."""
    return np.where((model < 0) | (model == _OF_NO_GRAPH), MISSING, model)


def _clock_of_all_cores(columns: Mapping[str, Values]) -> Array | None:
    """MHz of all cube cores of the chip together: `cube_utilization` is the cycles of a kernel over those of the chip.

    Both are rounded, and kernels that use next to nothing of it do not tell.
    """
    if not {"cycles", "cube_share"} <= columns.keys():
        return None
    cycles, share, took = (columns[name] for name in ("cycles", "cube_share", "duration_us"))
    assert isinstance(cycles, np.ndarray) and isinstance(share, np.ndarray) and isinstance(took, np.ndarray)  # noqa: S101 - counters are numbers
    found: Array = np.full(len(cycles), np.nan)
    np.divide(cycles, share * took, out=found, where=(share > _TELLING_SHARE) & (cycles > 0) & (took > 0))
    return found


def _complete_kernels(table: Table[Kernel], kept: Array) -> Table[Kernel]:
    """The rows in this mask, by start: types from names where they are missing, shapes without quotes, no blocks
    instead of zero."""
    rows = np.flatnonzero(kept)
    table = table.take(rows[np.lexsort((table["stream"][rows], table["start_ns"][rows]))])
    blocks = table["blocks"]
    return table.having(
        op_type=_or_else(table.texts("op_type"), table.texts("op_name")),
        input_shapes=_unquote_shapes(table.texts("input_shapes")),
        output_shapes=_unquote_shapes(table.texts("output_shapes")),
        blocks=np.where(blocks > 0, blocks, np.nan),
    )


def _or_else(types: Texts, names: Texts) -> Texts:
    if (types.codes >= 0).all():
        return types
    index = {name: code for code, name in enumerate(types.names)}
    derived = np.array([*(index.setdefault(type_of_name(n), len(index)) for n in names.names), -1], np.int32)
    return Texts(np.where(types.codes < 0, derived[names.codes], types.codes).astype(np.int32), tuple(index))


def _unquote_shapes(shapes: Texts) -> Texts:
    """Shapes as both exports mean them: without quotes, and missing when no tensor has one, or they are damaged."""
    index: dict[str, int] = {}
    bare = [shape.strip('" ') for shape in shapes.names]
    codes = [index.setdefault(shape, len(index)) if _may_be_shapes(shape) else -1 for shape in bare]
    return Texts(np.array([*codes, -1], np.int32)[shapes.codes], tuple(index))


_MOST_ELEMENTS = 2**62
"""More than any memory holds."""
_MOST_DIGITS = len(str(_MOST_ELEMENTS))


def _may_be_shapes(shapes: str) -> bool:
    """Whether a text names sides of tensors and nothing else, of none that no memory holds."""
    tensors = [[side for side in one.split(",") if side.strip()] for one in shapes.split(";")]
    digits = [side.strip().removeprefix("-") for sides in tensors for side in sides]
    if not digits or not all(side.isdecimal() and len(side) <= _MOST_DIGITS for side in digits):
        return False
    return all(abs(prod(map(int, sides))) <= _MOST_ELEMENTS for sides in tensors)


def _kernels_from_timeline(folder: Folder) -> Table[Kernel]:
    """Kernels as the timeline shows them: names, times and streams, and which ran on the AI CPU."""
    timeline = folder.timeline()
    slices, rows = timeline.slices, hardware_rows(timeline)
    name, (task_type, _) = slices.name.take(rows), timeline.tasks.of(rows)
    chosen = are_kernels(name, task_type)
    chosen &= ~name.hits(is_communication(n) for n in name.names)
    rows = rows[chosen]
    if not len(rows):
        raise FactMissing([Kernel.table])
    start = slices.start_ns[rows]
    table = Table.build(
        Kernel,
        rank=folder.rank,
        step=steps_in_timeline(folder, start),
        stream=streams_of_slices(timeline, rows),
        op_name=slices.name.take(rows),
        core=_told_core(task_type.take(chosen)),
        start_ns=start,
        duration_us=(slices.end_ns[rows] - start) / 1000,
    )
    return _complete_kernels(table, np.ones(len(table), bool))


def _cores_in_timeline(folder: Folder, start: Values) -> Texts | None:
    """The core of kernels that began at these moments, of which the list tells none, as at Level0."""
    assert isinstance(start, np.ndarray)  # noqa: S101 - times are numbers
    try:
        timeline = folder.timeline()
    except (FactMissing, Unreadable):
        return None
    rows = hardware_rows(timeline)
    core = _told_core(timeline.tasks.of(rows)[0])
    told = np.flatnonzero(core.codes >= 0)
    place = match_keys(timeline.slices.start_ns[rows[told]], start)
    return Texts(values_at(core.codes[told], place, -1).astype(np.int32), core.names)


_INFO = {
    "task": ["globalTaskId"],
    "op_name": ["name"],
    "op_type": ["opType"],
    "core": ["taskType"],
    "op_state": ["opState"],
    "blocks": ["blockNum", "blockDim"],
    "input_shapes": ["inputShapes"],
    "input_dtypes": ["inputDataTypes"],
    "input_formats": ["inputFormats"],
    "output_shapes": ["outputShapes"],
    "output_dtypes": ["outputDataTypes"],
    "hf32": ["hf32Eligible"],
}
_TEXTS = (
    "op_type",
    "core",
    "op_state",
    "input_shapes",
    "input_dtypes",
    "input_formats",
    "output_shapes",
    "output_dtypes",
    "hf32",
)


def _kernels_from_database(folder: Folder) -> Table[Kernel]:
    database = folder.database()
    if not database.has_rows("COMPUTE_TASK_INFO"):
        raise FactMissing([Kernel.table])
    info = database.integers("COMPUTE_TASK_INFO", _INFO)
    if not database.has_rows("TASK"):
        _note_lost_tasks(folder, database, info["task"], len(info["task"]))
        raise FactMissing([Kernel.table])
    task = task_columns(database, folder.rank)
    place = match_keys(task["task"], info["task"])
    _note_lost_tasks(folder, database, info["task"][place < 0], len(place))
    begins, ends = values_at(task["start"], place), values_at(task["end"], place)
    good = are_spans(begins, ends)
    if endless := int(np.count_nonzero((begins != MISSING) & (ends != MISSING) & ~good)):
        what, share = Message("duration_unusable"), endless / len(place)
        folder.notes.add(database.file, "TASK", what, rows=endless, share=share)
    info, place = {name: values[good] for name, values in info.items()}, place[good]
    texts = {name: database.texts(info[name]) for name in _TEXTS}
    name = database.event_names(info["op_name"])
    start = task["start"][place]
    blocks = np.where(info["blocks"] == MISSING, 0, info["blocks"]).astype(np.float64)
    step = steps_in_database(folder, start)  # takes columns of all calls of the host: before counters are there
    counted = counters_of_tasks(database, info["task"], {**COUNTERS, **_CUBE})
    del info
    table = Table.build(
        Kernel,
        rank=folder.rank,
        step=step,
        stream=task["stream"][place],
        graph=_graphs_or_missing(task["graph"][place]),
        start_ns=start,
        duration_us=(task["end"][place] - start) / 1000,
        blocks=blocks,
        cube_mhz=_clock_of_busy_cores(blocks, *(counted.pop(name, None) for name in _CUBE)),
        op_name=name,
        **texts | {"core": _fill_cores(texts["core"], database.texts(task["type"][place]))},
        **counted,
    )
    inner = are_communication(name, texts["core"], (counted.get(share) for share in _COUNTED_BY_CORES))
    return _complete_kernels(table, ~inner & (name.codes >= 0))


_CUBE: Mapping[str, Counter] = {
    "cycles": Counter((("aic_total_cycles",),)),
    "busy_ns": Counter((("aic_total_time",),)),
}


def _clock_of_busy_cores(blocks: Array, cycles: Array | None, busy_ns: Array | None) -> Array | None:
    """MHz of all cube cores together, of kernels with a block for each core of any chip that counts its cycles.

    What the database counts is the cores that a kernel used, all together, and how long they were busy: of others it is
    not known whether the chip has more cores than they used.
    """
    if cycles is None or busy_ns is None:
        return None
    found: Array = np.full(len(blocks), np.nan)
    most_cores = max(chip.cube_cores for chip in shipped_chips().counting)
    of_all = (blocks >= most_cores) & (cycles > 0) & (busy_ns > 0)
    np.divide(cycles * _NS_PER_US, busy_ns, out=found, where=of_all)
    return found


def _note_lost_tasks(folder: Folder, database: Database, missing: Array, count: int) -> None:
    """Tells of kernels whose task is on no device at all: every kernel that is listed ran as one."""
    if not len(missing):
        return
    every = database.integers("TASK", {"task": ["globalTaskId"]})["task"]
    if lost := int(np.count_nonzero(match_keys(every, missing) < 0)):
        what = Message("kernels_without_task")
        folder.notes.add(database.file, "COMPUTE_TASK_INFO", what, rows=lost, share=lost / count)


def _told_core(task_type: Texts) -> Texts:
    """The core where the timeline can be believed: it calls kernels of the vector cores AI_CORE too."""
    return Texts(np.where(task_type.isin(_ON_AI_CPU), 0, -1).astype(np.int32), (_AI_CPU,))


def _fill_cores(core: Texts, task_type: Texts) -> Texts:
    index = {name: code for code, name in enumerate(core.names)}
    other = [index.setdefault(_OF_TASK_TYPE.get(n, n), len(index)) for n in task_type.names]
    codes = np.where(core.codes < 0, np.array([*other, -1], np.int32)[task_type.codes], core.codes)
    return Texts(codes.astype(np.int32), tuple(index))


KERNELS = Reading(Kernel, {"text": _kernels_from_text, "database": _kernels_from_database})
