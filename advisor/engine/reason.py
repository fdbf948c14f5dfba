# SPDX-License-Identifier: Apache-2.0
"""Why a rule could not speak, in both languages, with what to record next time."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.errors import FactMissing
from advisor.facts.base import Fact
from advisor.rules.bind import tables
from advisor.text import Text


def of_missing(missing: FactMissing) -> Text:
    """Tables were not recorded, or their files cannot be read."""
    known = tables()
    remedies = [known[name].record_with for name in missing.tables if name in known]
    said = list(dict.fromkeys(remedy for remedy in remedies if remedy is not None))
    names = ", ".join(f"`{name}`" for name in missing.tables)
    en = [f"not recorded: {names}"] if names else []
    zh = [f"未采集：{names.replace(', ', '、')}"] if names else []
    if missing.incomplete:
        lacking = [f"`{name}`" for name in missing.incomplete]
        en.append(f"rows are missing in {', '.join(lacking)}: give the files whole, as the profiler wrote them")
        zh.append(f"{'、'.join(lacking)} 中缺少部分行：请提供 profiler 写出的完整文件")
    if missing.unreadable:
        en.insert(0, f"cannot be read: {', '.join(missing.unreadable)}")
        zh.insert(0, f"无法读取：{'、'.join(missing.unreadable)}")
    return _joined(en + [remedy.en for remedy in said], zh + [remedy.zh for remedy in said])


def of_missing_values(fact: type[Fact], columns: Sequence[str], others: Sequence[str]) -> Text:
    """The table is there, but what the condition needs is missing in it: columns, or names that got no value."""
    names = [f"`{fact.table}.{name}`" for name in columns] + [f"`{name}`" for name in others]
    en = [f"values missing: {', '.join(names)}" if names else f"too little in `{fact.table}` to judge"]
    zh = [f"缺少数值：{'、'.join(names)}" if names else f"`{fact.table}` 中的数据不足以判断"]
    if not columns and others:
        en.append(f"not recorded for this run, nor to be told from `{fact.table}`")
        zh.append(f"本次采集未记录，也无法由 `{fact.table}` 得出")
    if fact.record_with is not None and columns:
        en.append(fact.record_with.en)
        zh.append(fact.record_with.zh)
    return _joined(en, zh)


def of_unknown_run(names: Sequence[str]) -> Text:
    """It is not known whether the rule concerns this run."""
    listed = [f"`{name}`" for name in names]
    return Text(en=f"not known for this run: {', '.join(listed)}", zh=f"本次采集未记录：{'、'.join(listed)}")


def of_condition(source: str) -> Text:
    """The rule does not concern this run."""
    return Text(en=f"only concerns runs with `{source}`", zh=f"仅适用于 `{source}` 的场景")


def of_failure(error: Exception, where: str) -> Text:
    """Something broke while the rule was evaluated."""
    what = f"{type(error).__name__}: {error}".strip().replace("\n", " ")[:300]
    place = f" ({where})" if where else ""
    return Text(en=f"evaluation failed{place}: {what}", zh=f"执行出错{place}：{what}")


def _joined(en: Sequence[str], zh: Sequence[str]) -> Text:
    return Text(en="; ".join(en) or "not recorded", zh="；".join(zh) or "未采集")
