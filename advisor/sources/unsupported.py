# SPDX-License-Identifier: Apache-2.0
"""What to say about input that is no readable capture: what it is, and what to do."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from advisor.messages.damage import told
from advisor.messages.errors import InputError
from advisor.messages.text import Text
from advisor.sources.detect import DEPTH, Found, described
from advisor.sources.files.damage_notes import Note

_HEAD_BYTES = 1 << 16
_TRIES = 40
_GZIP = b"\x1f\x8b"
_GPU = (
    b'"deviceProperties"',
    b'"cuda_runtime"',
    b'"schemaVersion"',
    b'"distributedInfo"',
    b'"gpu_memcpy"',
    b'"Trace name"',
)
_ASCEND = (b"Ascend Hardware", b"Overlap Analysis", b'"cat":"async_npu"', b'"HostToDevice"', b"PTA", b"AscendCL@")

WANTED = Text(
    "give a folder that ends in _ascend_pt, its ASCEND_PROFILER_OUTPUT, or a folder of many ranks",
    "请给出以 _ascend_pt 结尾的目录、其中的 ASCEND_PROFILER_OUTPUT，或包含多个 rank 的目录",
)


def shown(path: Path | str) -> str:
    """A name as text that can be written anywhere, on one line; bytes that are no UTF-8 are shown as such."""
    return " ".join(os.fsencode(path).decode("utf-8", "backslashreplace").splitlines())


def head(path: Path) -> bytes:
    """The first bytes of a file, unpacked when it is gzip; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            raw = file.read(_HEAD_BYTES)
        if not raw.startswith(_GZIP):
            return raw
        with gzip.open(path) as packed:
            return packed.read(_HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return b""


def is_packed(path: Path) -> bool:
    """Whether a file is packed with gzip, whatever its name is."""
    try:
        with path.open("rb") as file:
            return file.read(len(_GZIP)) == _GZIP
    except OSError:
        return False


def is_trace(start: bytes) -> bool:
    """Whether this is the start of a file of trace events."""
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{") and (b'"ph"' in start or b'"traceEvents"' in start)


def is_ascend_trace(start: bytes) -> bool:
    """Whether this is the start of a timeline as torch_npu writes it."""
    return is_trace(start) and (any(mark in start for mark in _ASCEND) or not is_gpu_trace(start))


def is_gpu_trace(start: bytes) -> bool:
    """Whether this is the start of a trace of the PyTorch profiler on another device."""
    return any(mark in start for mark in _GPU) or b'"traceEvents"' in start


def refused(path: Path, found: Found) -> InputError:
    """One sentence about a folder without a readable capture, and what to do."""
    if found.unparsed:
        return _unparsed(found.unparsed[0])
    if found.legacy:
        return InputError(
            Text(
                f"{shown(path)} holds output of the old MindSpore Insight profiler, which is not readable yet",
                f"{shown(path)} 是旧版 MindSpore Insight profiler 的输出，暂不支持",
            ),
            WANTED,
        )
    if found.raw and not any(map(_holds_data, found.raw)):
        return InputError(
            Text(
                f"{shown(path)} holds output of msprof, and every file of it is empty (0 bytes)",
                f"{shown(path)} 是 msprof 的输出，且所有文件都为空（0 字节）",
            ),
            WANTED,
        )
    if found.raw:
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
    return _by_content(path, found)


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


def packed(path: Path) -> InputError:
    """About a timeline packed with gzip: it is read in pieces from where they lie, which packing hides."""
    command = f"gunzip -k {quote(shown(path))}"
    return InputError(
        Text(f"{shown(path)} is a timeline packed with gzip", f"{shown(path)} 是用 gzip 压缩的时间线"),
        Text(f"unpack it first: {command}", f"请先解压：{command}"),
    )


def _by_content(path: Path, found: Found) -> InputError:
    traces = [file for file in found.json[:_TRIES] if is_trace(head(file))]
    ours = next((file for file in traces if is_packed(file) and is_ascend_trace(head(file))), None)
    if ours is not None:
        return packed(ours)
    if found.hollow:
        holds = described(found.hollow[0])
        return InputError(
            Text(
                f"{shown(path)} holds an ASCEND_PROFILER_OUTPUT without any file of results; "
                f"it holds {shown(holds.en)}",
                f"{shown(path)} 的 ASCEND_PROFILER_OUTPUT 中没有任何结果文件，只有 {shown(holds.zh)}",
            ),
            Text(
                "copy the capture again, or parse it again where it was recorded",
                "请重新拷贝采集目录，或在采集机器上重新解析",
            ),
        )
    if any(is_gpu_trace(head(file)) for file in traces):
        return gpu(path)
    if found.unreadable and not found.files:
        return InputError(
            Text(f"{shown(path)} cannot be listed", f"无法列出 {shown(path)} 的内容"),
            Text("check the permissions of the folder", "请检查目录权限"),
        )
    if not found.files:
        return InputError(
            Text(
                f"{shown(path)} is empty: no file in it or in {DEPTH} levels of folders below",
                f"{shown(path)} 为空：该目录及其下 {DEPTH} 层子目录中没有文件",
            ),
            WANTED,
        )
    holds = described(path)
    return InputError(
        Text(
            f"{shown(path)} holds no Ascend profile; it holds {shown(holds.en)}",
            f"{shown(path)} 中没有昇腾 profiling 数据，只有 {shown(holds.zh)}",
        ),
        WANTED,
    )


def gpu(path: Path) -> InputError:
    """About a trace of a GPU."""
    return InputError(
        Text(
            f"{shown(path)} is a trace of the PyTorch profiler on a GPU or CPU (Kineto), which is not readable yet",
            f"{shown(path)} 是 PyTorch profiler 在 GPU 或 CPU 上采集的 trace（Kineto），暂不支持",
        ),
        Text(
            "give an Ascend profile: " + WANTED.en.removeprefix("give "),
            "请给出昇腾 profiling 数据：" + WANTED.zh.removeprefix("请给出"),
        ),
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
