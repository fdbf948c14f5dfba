# SPDX-License-Identifier: Apache-2.0
"""What to say about input that no family can open: what it is, and what to do."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from advisor.messages.damage import because
from advisor.messages.errors import InputError
from advisor.messages.text import Text
from advisor.sources.detect import DEPTH
from advisor.sources.family import Family, Found
from advisor.sources.files.heads import head, is_gpu_trace, is_trace
from advisor.sources.listing import first_names, shown

TRACES_TRIED = 40
"""Files that may be traces, and are looked into to say what they are."""


def wanted(families: Sequence[Family]) -> Text:
    """What to give, as a request."""
    asked = [family.wanted for family in families if family.wanted]
    return Text("; ".join(one.en for one in asked), "；".join(one.zh for one in asked))


def check_reachable(path: Path, families: Sequence[Family]) -> None:
    """Refuse what is neither a folder nor a file that can be looked at.

    Raises:
        InputError: It is neither.
    """
    give = wanted(families)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(
            Text(f"{shown(path)} does not exist", f"{shown(path)} 不存在"),
            Text(f"check the path; {give.en}", f"请检查路径；{give.zh}"),
        ) from None
    except (OSError, ValueError) as error:
        why = because(error)
        what = Text(f"{shown(path)} cannot be looked at ({why.en})", f"无法访问 {shown(path)}（{why.zh}）")
        raise InputError(what, give) from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        what = Text(f"{shown(path)} is neither a folder nor a file", f"{shown(path)} 既不是目录也不是文件")
        raise InputError(what, give)


def refused(path: Path, found: Found, families: Sequence[Family]) -> InputError:
    """One sentence about a path without a readable capture, and what to do."""
    known = next((why for family in families if (why := family.refuse(path, found))), None)
    if known:
        return known
    starts = map(head, found.json[:TRACES_TRIED])
    if any(is_trace(start) and is_gpu_trace(start) for start in starts):
        return _gpu(path, wanted(families))
    return InputError(*_folder(path, found, families)) if path.is_dir() else _file(path, wanted(families))


def mixed(path: Path, families: Sequence[Family]) -> InputError:
    """About captures of several profilers in one input."""
    english, chinese = (words.join(family.name for family in families) for words in (" and ", "、"))
    return InputError(
        Text(f"{shown(path)} mixes captures of {english}", f"{shown(path)} 中混有 {chinese} 的采集数据"),
        Text("give one job at a time", "请一次只给出一个任务的数据"),
    )


def _gpu(path: Path, give: Text) -> InputError:
    return InputError(
        Text(
            f"{shown(path)} is a trace of the PyTorch profiler on a GPU or CPU (Kineto), which is not readable yet",
            f"{shown(path)} 是 PyTorch profiler 在 GPU 或 CPU 上采集的 trace（Kineto），暂不支持",
        ),
        Text(
            "give an Ascend profile: " + give.en.removeprefix("give "),
            "请给出昇腾 profiling 数据：" + give.zh.removeprefix("请给出"),
        ),
    )


def _file(path: Path, give: Text) -> InputError:
    if not head(path):
        return InputError(Text(f"{shown(path)} is empty (0 bytes)", f"{shown(path)} 为空（0 字节）"), give)
    return InputError(
        Text(f"{shown(path)} is no file of an Ascend profile", f"{shown(path)} 不是昇腾 profiling 数据文件"), give
    )


def _folder(path: Path, found: Found, families: Sequence[Family]) -> tuple[Text, Text]:
    """What is said of a folder, and what to do."""
    if found.unreadable and not found.files:
        return (
            Text(f"{shown(path)} cannot be listed", f"无法列出 {shown(path)} 的内容"),
            Text("check the permissions of the folder", "请检查目录权限"),
        )
    if not found.files:
        nothing = Text(
            f"{shown(path)} is empty: no file in it or in {DEPTH} levels of folders below",
            f"{shown(path)} 为空：该目录及其下 {DEPTH} 层子目录中没有文件",
        )
        return nothing, wanted(families)
    holds = first_names(path)
    other = Text(
        f"{shown(path)} holds no Ascend profile; it holds {shown(holds.en)}",
        f"{shown(path)} 中没有昇腾 profiling 数据，只有 {shown(holds.zh)}",
    )
    return other, wanted(families)
