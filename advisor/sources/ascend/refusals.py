# SPDX-License-Identifier: Apache-2.0
"""What to say about data of Ascend profilers that is no readable capture: what it is, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from advisor.messages.errors import InputError, hint_beside
from advisor.messages.message import Message
from advisor.messages.shell_words import shell_words
from advisor.messages.text import Text
from advisor.sources.ascend.detect import NAME, RawData
from advisor.sources.ascend.msprof import is_renamed_database
from advisor.sources.ascend.renamed import is_ascend_trace
from advisor.sources.family import Inventory
from advisor.sources.files.damage_notes import Note
from advisor.sources.files.heads import file_head, is_packed
from advisor.sources.listing import first_names, list_folder, show_name, show_relative
from advisor.sources.shared.ascend_names import OUTPUT

_TRIES = 40
_OF_ONE_OPERATOR = "OPPROF_"
"""How folders of `msprof op` begin."""
_OPERATOR_TABLE = re.compile(
    r"(OpBasicInfo|PipeUtilization|ArithmeticUtilization|ResourceConflictRatio|Memory(L0|UB)|L2Cache)(_\d+)?\.csv"
)
"""What it writes below them, one sample beside the other or with the time in each name."""

_OF_REQUESTS = (
    frozenset({"chrome_tracing.json", "profiler.db"}),
    frozenset({"request.csv", "batch.csv", "kvcache.csv", "forward.csv"}),
)
"""What msServiceProfiler writes whatever it was asked for, and by what it was asked: one of each tells it."""

WANTED = Text(
    "a folder that ends in _ascend_pt or _ascend_ms, its ASCEND_PROFILER_OUTPUT, PROF_* of msprof, a folder of many "
    "ranks or their cluster_analysis_output, or a zip or tar of these",
    "以 _ascend_pt 或 _ascend_ms 结尾的目录、其中的 ASCEND_PROFILER_OUTPUT、msprof 的 PROF_* 目录、包含多个 rank 的目录"
    "或其 cluster_analysis_output，或它们的 zip、tar 包",
)


def refusal_of_path(path: Path, found: Inventory) -> InputError | None:
    """What lies at a path instead of a readable capture, and what to do; None where that is not known here."""
    for known in (_renamed_database_error, _operator_tool_error, _serving_tool_error):
        if error := known(path, found):
            return error
    if unparsed := found.of(NAME, "unparsed"):
        raw = isinstance(unparsed[0], RawData)
        return _unexported_error(unparsed[0].root) if raw else _unparsed_error(unparsed[0].root)
    packed = next((file for file in found.json[:_TRIES] if is_packed(file) and is_ascend_trace(file_head(file))), None)
    if packed is not None:
        return _packed_error(packed)
    return next((_hollow_output_error(path, one.root) for one in found.of(NAME, "hollow")), None)


def _renamed_database_error(path: Path, found: Inventory) -> InputError | None:
    """About a database of msprof under another name, which is read when it is given by itself."""
    if not path.is_dir() or found.unreadable:
        return None
    renamed = next(filter(is_renamed_database, sorted(list_folder(path).files)), None)
    if renamed is None:
        return None
    command = shell_words("advisor", "diagnose", show_name(path / renamed))
    return InputError(
        Message("database_renamed", path=show_name(path), name=show_name(renamed)),
        Message("give_the_database", command=command),
    )


def _operator_tool_error(path: Path, found: Inventory) -> InputError | None:
    """About what `msprof op` writes of one operator: counters of its cores, and nothing of a job around it."""
    if found.unreadable:
        return None
    listed = list_folder(path) if path.is_dir() else None
    inside = next((name for name in listed.folders if name.startswith(_OF_ONE_OPERATOR)), "") if listed else ""
    tables = filter(_OPERATOR_TABLE.fullmatch, listed.files if listed else [path.name])
    if not inside and not path.absolute().name.startswith(_OF_ONE_OPERATOR) and not any(tables):
        return None
    return InputError(Message("of_one_operator", path=show_name(path / inside)), Message("record_the_program"))


def _serving_tool_error(path: Path, found: Inventory) -> InputError | None:
    """About what msServiceProfiler writes of a server: latencies of requests and batches."""
    if not path.is_dir() or found.unreadable:
        return None
    files = set(list_folder(path).files)
    if not all(files & some for some in _OF_REQUESTS):
        return None
    return InputError(Message("of_requests", path=show_name(path)), Message("record_the_server"))


def _unexported_error(folder: Path) -> InputError:
    """About what msprof recorded and did not export."""
    return InputError(
        Message("not_exported", path=show_name(folder)),
        Message("run_on_cann", command=shell_words("msprof", "--export=on", f"--output={show_name(folder)}")),
    )


def _unparsed_error(folder: Path) -> InputError:
    module = "mindspore" if folder.name.endswith("_ascend_ms") else "torch_npu"
    where = json.dumps(show_name(folder.parent), ensure_ascii=False)
    code = f"from {module}.profiler.profiler import analyse; analyse(profiler_path={where})"
    command = shell_words("python", "-c", code)
    return InputError(
        Message("not_parsed", path=show_name(folder)),
        Message("run_on_cann", command=command),
    )


def _packed_error(path: Path) -> InputError:
    """About a timeline packed with gzip: it is read in pieces from where they lie, which packing hides."""
    command = shell_words("gunzip", "-k", show_name(path))
    return InputError(
        Message("timeline_packed", path=show_name(path)),
        Message("unpack_first", command=command),
    )


def _hollow_output_error(path: Path, output: Path) -> InputError:
    name = "output_without_results" if output.name == OUTPUT else "capture_without_output"
    return InputError(
        Message(name, path=show_name(path), names=first_names(output)),
        Message("copy_or_parse_again"),
    )


def mixed_frameworks_error(path: Path, pytorch: Path, mindspore: Path) -> InputError:
    """About captures of PyTorch and of MindSpore in one input, and a folder of each."""
    first, second = (show_relative(folder, path) or "." for folder in (pytorch, mindspore))
    return InputError(
        Message("mixes_frameworks", path=show_name(path), first=first, second=second),
        Message("give_one_job"),
    )


def no_measurement_error(path: Path, sizes: Sequence[int], notes: Sequence[Note], databases: bool) -> InputError:
    """About captures that hold no measurement at all: the sizes of their files, and the damage met in them."""
    what = _what_is_there(show_name(path), sizes, notes, databases)
    return InputError(what, hint_beside(what, Message("record_or_copy_again")))


def headings_alone_error(path: Path, files: Sequence[str]) -> InputError:
    """About tables in which no row follows the heading."""
    what = Message("headings_alone", name=show_name(path), files=", ".join(files))
    return InputError(what, Message("record_or_copy_again"))


def nothing_read_error(path: Path, files: Sequence[str]) -> InputError:
    """About captures without a file that anything is read from by itself, though others lie there."""
    names = ", ".join(files) or first_names(path)
    return InputError(Message("no_profile", path=show_name(path), names=names), Message("give_list_of_kernels"))


def details_alone_error(path: Path, files: Sequence[str]) -> InputError:
    """About files that are whole, and from which by themselves nothing can be told."""
    what = Message("details_alone", name=show_name(path), files=", ".join(files))
    return InputError(what, Message("give_whole_capture"))


def _what_is_there(name: str, sizes: Sequence[int], notes: Sequence[Note], databases: bool) -> Message:
    if not any(sizes):
        count = len(sizes)
        return Message("one_empty_file", name=name) if count == 1 else Message("empty_files", name=name, count=count)
    if databases and not notes:
        return Message("tables_without_rows", name=name)
    nothing = Message("nothing_measured", name=name)
    if not notes:
        return nothing
    return Message("nothing_and_damage", what=nothing, file=notes[0].file, damage=notes[0].what)
