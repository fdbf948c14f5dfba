# SPDX-License-Identifier: Apache-2.0
"""Why a rule could not speak, in both languages, with what to record next time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from advisor.errors import FactMissing
from advisor.facts.base import Fact
from advisor.facts.derived import MemoryPeak
from advisor.facts.observed import Group
from advisor.rules.bind import tables
from advisor.text import Text

_WHOLE = Text(
    en="give the whole *_ascend_pt folder: `profiler_info*.json` in it tells",
    zh="请给出完整的 *_ascend_pt 目录，该信息在其中的 `profiler_info*.json` 里",
)
_CHIP = Text(
    en="text files do not name it: give the *_ascend_pt folder with its `PROF_*` folder, or export a database too "
    "(`export_type` with `ExportType.Db`)",
    zh="文本文件中没有芯片型号：请连同 `PROF_*` 目录一起给出 *_ascend_pt 目录，或同时导出数据库"
    "（`export_type` 中加上 `ExportType.Db`）",
)
OF_RUN: Mapping[str, Text] = {
    "chip": _CHIP,
    "level": _WHOLE,
    "cann_version": _WHOLE,
    "torch_npu_version": _WHOLE,
} | dict.fromkeys(("world_size", "tp", "pp", "dp", "cp", "ep"), Group.record_with)
"""How to have what is known of a run, by its name in rules."""
OF_COLUMN: Mapping[tuple[str, str], Text] = {
    (MemoryPeak.table, "capacity_bytes"): Text(
        en="no capture holds the memory of the device, and names such as `Ascend910B` stand for 32 and 64 GB: compare "
        "the peak in `memory_peaks` with the HBM that `npu-smi info` shows",
        zh="采集数据中没有设备显存容量，而 `Ascend910B` 这类型号既有 32 GB 也有 64 GB：请将 `memory_peaks` 中的峰值与"
        " `npu-smi info` 显示的 HBM 容量对比",
    ),
}
"""How to have a value that nothing recorded gives."""


def of_missing(missing: FactMissing) -> Text:
    """Tables were not recorded, or their files cannot be read."""
    known = tables()
    absent = [name for name in missing.tables if name not in missing.behind]
    said = []
    if missing.unreadable:
        said.append(_unread(missing.unreadable, missing.behind))
    if absent:
        said.append(Text(en=f"not recorded: {_listed(absent).en}", zh=f"未采集：{_listed(absent).zh}"))
    if missing.incomplete:
        lacking = _listed(missing.incomplete)
        said.append(
            Text(
                en=f"rows are missing in {lacking.en}: give the files whole, as the profiler wrote them",
                zh=f"{lacking.zh} 中缺少部分行：请提供 profiler 写出的完整文件",
            )
        )
    said += _once(known[name].record_with for name in absent if name in known)
    return _joined([one.en for one in said], [one.zh for one in said])


def _unread(files: Sequence[str], behind: Sequence[str]) -> Text:
    """Files that cannot be read, and the tables that are kept in them."""
    kept = _listed(behind)
    where = Text(en=f", where {kept.en} would be" if behind else "", zh=f"（{kept.zh} 应在其中）" if behind else "")
    return Text(
        en=f"cannot be read: {', '.join(files)}{where.en}: give the files whole and unpacked, as they were written",
        zh=f"无法读取：{'、'.join(files)}{where.zh}，请提供 profiler 写出的完整文件，不要压缩",
    )


def _listed(names: Iterable[str]) -> Text:
    quoted = [f"`{name}`" for name in names]
    return Text(en=", ".join(quoted), zh="、".join(quoted))


def of_missing_values(fact: type[Fact], columns: Sequence[str], others: Sequence[str]) -> Text:
    """The table is there, but what the condition needs is missing in it: columns, or names that got no value."""
    names = [f"`{fact.table}.{name}`" for name in columns] + [f"`{name}`" for name in others]
    en = [f"values missing: {', '.join(names)}" if names else f"too little in `{fact.table}` to judge"]
    zh = [f"缺少数值：{'、'.join(names)}" if names else f"`{fact.table}` 中的数据不足以判断"]
    if not columns and others:
        en.append(f"not recorded for this run, nor to be told from `{fact.table}`")
        zh.append(f"本次采集未记录，也无法由 `{fact.table}` 得出")
    hints = [OF_COLUMN.get((fact.table, name), fact.record_with) for name in columns] + list(map(OF_RUN.get, others))
    said = _once(hints)
    return _joined(en + [hint.en for hint in said], zh + [hint.zh for hint in said])


def of_unknown_run(names: Sequence[str]) -> Text:
    """It is not known whether the rule concerns this run."""
    listed = [f"`{name}`" for name in names]
    said = _once(map(OF_RUN.get, names))
    return _joined(
        [f"not known for this run: {', '.join(listed)}", *(hint.en for hint in said)],
        [f"本次采集未记录：{'、'.join(listed)}", *(hint.zh for hint in said)],
    )


def of_condition(source: str) -> Text:
    """The rule does not concern this run."""
    return Text(en=f"only concerns runs with `{source}`", zh=f"仅适用于 `{source}` 的场景")


def of_failure(error: Exception, where: str) -> Text:
    """Something broke while the rule was evaluated."""
    what = f"{type(error).__name__}: {error}".strip().replace("\n", " ")[:300]
    place = f" ({where})" if where else ""
    return Text(en=f"evaluation failed{place}: {what}", zh=f"执行出错{place}：{what}")


def _once(hints: Iterable[Text | None]) -> list[Text]:
    return [hint for hint in dict.fromkeys(hints) if hint is not None]


def _joined(en: Sequence[str], zh: Sequence[str]) -> Text:
    return Text(en="; ".join(en) or "not recorded", zh="；".join(zh) or "未采集")
