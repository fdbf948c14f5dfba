# SPDX-License-Identifier: Apache-2.0
"""What to say about data of Ascend profilers that is no readable capture: what it is, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from advisor.messages.damage import told
from advisor.messages.errors import InputError
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.sources.ascend.detect import NAME, Foreign, is_ascend_trace
from advisor.sources.family import Found
from advisor.sources.files.damage_notes import Note
from advisor.sources.files.heads import head, is_packed
from advisor.sources.listing import first_names, shown

_TRIES = 40

WANTED = Text(
    "give a folder that ends in _ascend_pt, its ASCEND_PROFILER_OUTPUT, or a folder of many ranks",
    "请给出以 _ascend_pt 结尾的目录、其中的 ASCEND_PROFILER_OUTPUT，或包含多个 rank 的目录",
)


def refuse(path: Path, found: Found) -> InputError | None:
    """What lies at a path instead of a readable capture, and what to do; None where that is not known here."""
    foreign = [one for one in found.of(NAME, "foreign") if isinstance(one, Foreign)]
    if unparsed := found.of(NAME, "unparsed"):
        return _unparsed(unparsed[0].root)
    if any(one.tool == "insight" for one in foreign):
        return InputError(
            Message("insight_not_readable", path=shown(path)),
            WANTED,
        )
    if foreign:
        return _msprof(path, any(_holds_data(one.root) for one in foreign))
    packed = next((file for file in found.json[:_TRIES] if is_packed(file) and is_ascend_trace(head(file))), None)
    if packed is not None:
        return _packed(packed)
    return next((_hollow_output(path, one.root) for one in found.of(NAME, "hollow")), None)


def _msprof(path: Path, holds_data: bool) -> InputError:
    if not holds_data:
        return InputError(
            Message("msprof_empty", path=shown(path)),
            WANTED,
        )
    return InputError(
        Message("msprof_not_readable", path=shown(path)),
        Message("record_with_profiler"),
    )


def _holds_data(folder: Path) -> bool:
    """Whether any file of a folder is longer than nothing; folders within count as data."""
    try:
        return any(entry.is_dir() or entry.stat().st_size for entry in folder.iterdir())
    except OSError:
        return True


def _unparsed(folder: Path) -> InputError:
    module = "mindspore" if folder.name.endswith("_ascend_ms") else "torch_npu"
    command = (
        f"python -c \"from {module}.profiler.profiler import analyse; analyse(profiler_path='{shown(folder.parent)}')\""
    )
    return InputError(
        Message("not_parsed", path=shown(folder)),
        Message("run_on_cann", command=command),
    )


def _packed(path: Path) -> InputError:
    """About a timeline packed with gzip: it is read in pieces from where they lie, which packing hides."""
    command = f"gunzip -k {quote(shown(path))}"
    return InputError(
        Message("timeline_packed", path=shown(path)),
        Message("unpack_first", command=command),
    )


def _hollow_output(path: Path, output: Path) -> InputError:
    holds = first_names(output)
    return InputError(
        Message("output_without_results", path=shown(path), names=holds),
        Message("copy_or_parse_again"),
    )


def mixes_frameworks(path: Path) -> InputError:
    """About captures of PyTorch and of MindSpore in one input."""
    return InputError(
        Message("mixes_frameworks", path=shown(path)),
        Message("give_one_job"),
    )


def hollow(path: Path, sizes: Sequence[int], notes: Sequence[Note], databases: bool) -> InputError:
    """About captures that hold no measurement at all: the sizes of their files, and the damage met in them."""
    return InputError(
        _what_is_there(shown(path), sizes, notes, databases),
        Message("record_or_copy_again"),
    )


def _what_is_there(name: str, sizes: Sequence[int], notes: Sequence[Note], databases: bool) -> Message:
    if not any(sizes):
        count = len(sizes)
        return Message("one_empty_file", name=name) if count == 1 else Message("empty_files", name=name, count=count)
    if databases and not notes:
        return Message("tables_without_rows", name=name)
    nothing = Message("nothing_measured", name=name)
    if not notes:
        return nothing
    return Message("nothing_and_damage", what=nothing, file=notes[0].file, damage=told(notes[0].what))
