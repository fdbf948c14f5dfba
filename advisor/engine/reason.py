# SPDX-License-Identifier: Apache-2.0
"""Why a rule could not speak, in both languages, with what to record next time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from advisor.engine.called import FILES, RUN, listed
from advisor.errors import FactMissing
from advisor.expr.settings import asked
from advisor.facts.base import Fact
from advisor.facts.derived import MemoryPeak
from advisor.facts.observed import Group, OperatorCall, Setting
from advisor.facts.observed.recording import BOTH, LEVEL1, MEMORY, NPU
from advisor.rules.bind import tables
from advisor.run import Capture, Run
from advisor.text import Text

_MOST_RANKS = 8

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
        en="no capture holds how much memory the device has, and names such as `Ascend910B` stand for 32 and 64 GB: "
        "compare the peak with the HBM that `npu-smi info` shows",
        zh="采集数据中没有设备显存容量，而 `Ascend910B` 这类型号既有 32 GB 也有 64 GB：请将峰值与 `npu-smi info` 显示的"
        " HBM 容量对比",
    ),
}
"""How to have a value that nothing recorded gives."""


def of_missing(missing: FactMissing, run: Run | None = None) -> Text:
    """Tables were not recorded, or their files cannot be read; `run` tells what the captures were to hold."""
    absent = [name for name in missing.tables if name not in missing.behind]
    said = []
    if missing.unreadable:
        said.append(_unread(missing.unreadable, missing.behind))
    lost = _files_not_given(absent, run) if run is not None else {}
    said += [_say_absent(file, names, ranks) for file, (names, ranks) in lost.items()]
    absent = [name for name in absent if not any(name in names for names, _ in lost.values())]
    if absent:
        said.append(Text(en=f"not recorded: {listed(absent).en}", zh=f"未采集：{listed(absent).zh}"))
    if missing.incomplete:
        lacking = listed(missing.incomplete)
        said.append(
            Text(
                en=f"incomplete: {lacking.en}; give the files whole, as the profiler wrote them",
                zh=f"数据不完整：{lacking.zh}，请提供 profiler 写出的完整文件",
            )
        )
    said += _once(tables()[name].record_with for name in absent if name in tables())
    return _joined([one.en for one in said], [one.zh for one in said])


def _unread(files: Sequence[str], behind: Sequence[str]) -> Text:
    """Files that cannot be read, and what is kept in them."""
    kept = listed(behind)
    where = Text(en=f", which would hold {kept.en}" if behind else "", zh=f"（{kept.zh}应在其中）" if behind else "")
    return Text(
        en=f"cannot be read: {', '.join(files)}{where.en}: give the files whole and unpacked, as they were written",
        zh=f"无法读取：{'、'.join(files)}{where.zh}，请提供 profiler 写出的完整文件，不要压缩",
    )


Lost = dict[str, tuple[list[str], tuple[int, ...]]]


def _files_not_given(names: Iterable[str], run: Run) -> Lost:
    """By file: the tables in it and the ranks without it, where the profiler recorded them and the file is not here."""
    found: Lost = {}
    for name in names:
        ranks = tuple(capture.rank for capture in run.captures if _was_recorded(name, capture))
        without = tuple(c.rank for c in run.captures if c.rank in ranks and FILES.get(name) in c.absent)
        if without:
            found.setdefault(FILES[name], ([], without))[0].append(name)
    return found


def _was_recorded(table: str, capture: Capture) -> bool:
    """Whether the capture says that what the table needs was switched on."""
    switched = tables()[table].record_with if table in tables() else None
    activities = {*(capture.activities or ())}
    on: Mapping[Text, bool] = {
        NPU: "NPU" in activities,
        BOTH: activities >= {"CPU", "NPU"},
        LEVEL1: capture.level in ("Level1", "Level2"),
        MEMORY: capture.profile_memory is True,
        OperatorCall.record_with: "CPU" in activities,
    }
    return switched is not None and on.get(switched, False)


def _say_absent(file: str, names: Iterable[str], ranks: Sequence[int]) -> Text:
    """A file that the profiler writes, and that was not given."""
    held, few = listed(names), ", ".join(map(str, ranks[:_MOST_RANKS])) + (" …" if len(ranks) > _MOST_RANKS else "")
    return Text(
        en=f"recorded, but `{file}` is absent (rank {few}), which would hold {held.en}: give the whole folder, or "
        "parse it again",
        zh=f"已采集，但缺少 `{file}`（rank {few}），{held.zh}应在其中：请提供完整目录，或重新解析",
    )


def of_missing_values(
    fact: type[Fact], columns: Sequence[str], others: Sequence[str], labels: Mapping[str, Text] | None = None
) -> Text:
    """The table is there, but what the condition needs is missing in it: columns, or names that got no value.

    `labels` are the words a rule shows for values of its own.
    """
    held, known = listed([fact.table]), {**RUN, **(labels or {})}
    hints = [OF_COLUMN.get((fact.table, name), fact.record_with) for name in columns] + list(map(OF_RUN.get, others))
    named = listed([name for name in others if name in known], known) if any(n in known for n in others) else None
    said = _once(hints)
    if not columns and named is not None:
        head = Text(en=f"not recorded for this run: {named.en}", zh=f"本次采集未记录：{named.zh}")
    else:
        head = Text(en=f"too little is known of: {held.en}", zh=f"数据不足以判断：{held.zh}")
    asks = [name for name in others if asked([name])]
    said = [*said, *([Setting.record_with] if asks and Setting.record_with else [])]
    return _joined([head.en, *(hint.en for hint in said)], [head.zh, *(hint.zh for hint in said)])


def of_unknown_run(names: Sequence[str]) -> Text:
    """It is not known whether the rule concerns this run."""
    words = listed(names, RUN)
    said = _once(map(OF_RUN.get, names))
    return _joined(
        [f"not known for this run: {words.en}", *(hint.en for hint in said)],
        [f"本次采集未记录：{words.zh}", *(hint.zh for hint in said)],
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
