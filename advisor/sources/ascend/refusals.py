# SPDX-License-Identifier: Apache-2.0
"""What to say about data of Ascend profilers that is no readable capture: what it is, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from advisor.messages.damage import told
from advisor.messages.errors import InputError
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
            Text(
                f"{shown(path)} holds output of the old MindSpore Insight profiler, which is not readable yet",
                f"{shown(path)} 是旧版 MindSpore Insight profiler 的输出，暂不支持",
            ),
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
            Text(
                f"{shown(path)} holds output of msprof, and every file of it is empty (0 bytes)",
                f"{shown(path)} 是 msprof 的输出，且所有文件都为空（0 字节）",
            ),
            WANTED,
        )
    return InputError(
        Text(
            f"{shown(path)} holds output of msprof, which is not readable yet",
            f"{shown(path)} 是 msprof 的输出，暂不支持",
        ),
        Text(
            "record with torch_npu.profiler instead, or give the *_ascend_pt folder if there is one",
            "请改用 torch_npu.profiler 采集；若已有 *_ascend_pt 目录，请直接给出该目录",
        ),
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
        Text(
            f"{shown(folder)} holds raw profiling data that has not been parsed: it has no ASCEND_PROFILER_OUTPUT",
            f"{shown(folder)} 是尚未解析的原始采集数据，缺少 ASCEND_PROFILER_OUTPUT",
        ),
        Text(f"on a machine with CANN run: {command}", f"请在安装了 CANN 的机器上执行：{command}"),
    )


def _packed(path: Path) -> InputError:
    """About a timeline packed with gzip: it is read in pieces from where they lie, which packing hides."""
    command = f"gunzip -k {quote(shown(path))}"
    return InputError(
        Text(f"{shown(path)} is a timeline packed with gzip", f"{shown(path)} 是用 gzip 压缩的时间线"),
        Text(f"unpack it first: {command}", f"请先解压：{command}"),
    )


def _hollow_output(path: Path, output: Path) -> InputError:
    holds = first_names(output)
    return InputError(
        Text(
            f"{shown(path)} holds an ASCEND_PROFILER_OUTPUT without any file of results; it holds {shown(holds.en)}",
            f"{shown(path)} 的 ASCEND_PROFILER_OUTPUT 中没有任何结果文件，只有 {shown(holds.zh)}",
        ),
        Text(
            "copy the capture again, or parse it again where it was recorded",
            "请重新拷贝采集目录，或在采集机器上重新解析",
        ),
    )


def mixes_frameworks(path: Path) -> InputError:
    """About captures of PyTorch and of MindSpore in one input."""
    return InputError(
        Text(
            f"{shown(path)} mixes captures of PyTorch (_ascend_pt) and of MindSpore (_ascend_ms)",
            f"{shown(path)} 中混有 PyTorch（_ascend_pt）和 MindSpore（_ascend_ms）的采集数据",
        ),
        Text("give one job at a time", "请一次只给出一个任务的数据"),
    )


def hollow(path: Path, sizes: Sequence[int], notes: Sequence[Note], databases: bool) -> InputError:
    """About captures that hold no measurement at all: the sizes of their files, and the damage met in them."""
    return InputError(
        _what_is_there(shown(path), sizes, notes, databases),
        Text(
            "record again, or copy the capture again from the machine where it was recorded",
            "请重新采集，或从采集机器上重新拷贝",
        ),
    )


def _what_is_there(name: str, sizes: Sequence[int], notes: Sequence[Note], databases: bool) -> Text:
    if not any(sizes):
        files = "its one file" if len(sizes) == 1 else f"each of its {len(sizes)} files"
        return Text(
            f"{name} holds nothing: {files} of results is empty (0 bytes)",
            f"{name} 没有数据：{len(sizes)} 个结果文件均为空（0 字节）",
        )
    if databases and not notes:
        return Text(f"{name} holds a database with tables but without rows", f"{name} 中的数据库只有表结构，没有数据行")
    nothing = Text(f"{name} holds no measurement that can be read", f"{name} 中没有可读取的性能数据")
    if not notes:
        return nothing
    why = told(notes[0].what)
    return Text(f"{nothing.en}: {notes[0].file} {why.en}", f"{nothing.zh}：{notes[0].file} {why.zh}")
