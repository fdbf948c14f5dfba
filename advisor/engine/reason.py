# SPDX-License-Identifier: Apache-2.0
"""Why a rule could not speak, in both languages, with what to record next time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from advisor.engine import mindspore_hints, summary_hints
from advisor.engine.recorder_hints import hints_of
from advisor.engine.vocabulary import (
    FILES,
    OF_TABLES,
    RUN,
    RUN_VALUES,
    VALUES,
    SoughtValue,
    words_for_names,
)
from advisor.expr.language import run_values
from advisor.expr.settings import asked_variables
from advisor.facts import FACTS
from advisor.facts.base import Fact
from advisor.facts.derived import MemoryPeak
from advisor.facts.observed import Group, OperatorCall, Setting
from advisor.facts.observed.recording import BOTH, LEVEL1, LEVEL2, MEMORY, NPU, PIPES_ON, STEPS_ON, TELL_CHIP, TELL_JOB
from advisor.messages.errors import FactMissing
from advisor.messages.text import Text
from advisor.model.run import Capture, Run
from advisor.units import show_value, spell_numbers

_MOST_RUNS = 8


@dataclass(frozen=True, slots=True)
class Reason(Text):
    """Why a rule could not look, and what would have it look next time, each hint as it stands in the sentence."""

    hints: tuple[Text, ...] = ()

    @property
    def text(self) -> Text:
        """The sentence alone, as it is kept."""
        return Text(self.en, self.zh)


_WHOLE = Text(
    en="give the whole *_ascend_pt folder: `profiler_info*.json` in it tells",
    zh="请给出完整的 *_ascend_pt 目录，该信息在其中的 `profiler_info*.json` 里",
)
_CHIP = Text(
    en="text files do not name it: say it with `--chip NAME` or `chip` in advisor.yaml, give the *_ascend_pt folder "
    "with its `PROF_*` folder, or export a database too (`export_type` with `ExportType.Db`)",
    zh="文本文件中没有芯片型号：请用 `--chip 型号` 或 advisor.yaml 中的 `chip` 指明，或连同 `PROF_*` 目录一起给出"
    " *_ascend_pt 目录，也可同时导出数据库（`export_type` 中加上 `ExportType.Db`）",
)
OF_RUN: Mapping[str, Text] = {
    **dict.fromkeys(("workload", "phase", "stack"), TELL_JOB),
    "chip": _CHIP,
    "level": _WHOLE,
    "framework": _WHOLE,
    "step_us": NPU,
    "execution": _WHOLE,
    "cann_version": _WHOLE,
    "torch_npu_version": _WHOLE,
} | dict.fromkeys(("world_size", "tp", "pp", "dp", "cp", "ep"), Group.record_with)
"""How to have what is known of a run, by its name in rules."""
OF_COLUMN: Mapping[tuple[str, str], Text] = {
    (MemoryPeak.table, "capacity_bytes"): Text(
        en="no capture holds how much memory the device has, and names such as `Ascend910B` stand for 32 and 64 GB: "
        "name the chip as `npu-smi info` shows it, with `--chip 910B3` or `chip: 910B3` in advisor.yaml; where that "
        "does not tell, compare the peak with the HBM it shows",
        zh="采集数据中没有设备显存容量，而 `Ascend910B` 这类型号既有 32 GB 也有 64 GB：请按 `npu-smi info` 显示的型号，"
        "用 `--chip 910B3` 或 advisor.yaml 中的 `chip: 910B3` 指明；若仍无法确定，请将峰值与其显示的 HBM 容量对比",
    ),
}
"""How to have a value that nothing recorded gives."""


def of_missing(missing: FactMissing, run: Run | None = None) -> Reason:
    """Tables were not recorded, or their files cannot be read; `run` tells what the captures were to hold."""
    absent = [name for name in missing.tables if name not in missing.behind]
    said = [_say_unreadable(missing.unreadable, missing.behind)] if missing.unreadable else []
    untold = _hints_of_summary(summary_hints.OF_TABLE, absent, run)
    if untold:
        said.append(_say_values(map(_whole_table, untold), _NOT_HERE))
    asked = [_whole_table(name) for name in absent if name not in untold]
    values, hints = _say_missing_values(asked, run or Run())
    hints = [*untold.values(), *hints]
    said += [*values, *hints]
    if missing.incomplete:
        lacking = words_for_names(missing.incomplete)
        said.append(
            Text(
                en=f"incomplete: {lacking.en}; give the files whole, as the profiler wrote them",
                zh=f"数据不完整：{lacking.zh}，请提供 profiler 写出的完整文件",
            )
        )
    if missing.unnamed:
        said.append(_JOINED)
    return _with_hints(said, hints)


_JOINED = Text(
    en="a graph compiler joined most of the small operators, and the names of its kernels do not tell which: look "
    "where the model calls norms, rotary embeddings and activations, and call fused operators there",
    zh="图编译器合并了大部分小算子，而 kernel 名无法说明包含哪些算子："
    "请直接检查模型中归一化、旋转位置编码与激活的写法，改为调用融合算子",
)


def _hints_of_summary(hints: Mapping[str, Text], tables: Iterable[str], run: Run | None) -> dict[str, Text]:
    """Of these tables those that a cluster summary could have told, with where it would; none of other captures."""
    return {name: hints[name] for name in tables if name in hints} if run is not None and run.is_summary else {}


def _with_hints(said: Sequence[Text], hints: Sequence[Text]) -> Reason:
    """Sentences as one reason; the hints are among them."""
    joined = join_reasons(said)
    return Reason(joined.en, joined.zh, tuple(hints))


def _whole_table(name: str) -> SoughtValue:
    """All of an observed table, as what was looked for."""
    fact = FACTS.get(name)
    return SoughtValue(words_for_names([name]), name, fact.record_with if fact is not None else None)


_OTHER_VARIABLES = Text(
    en="environment variables were recorded, but not those that are asked for here",
    zh="采集数据记录了环境变量，但不含此处所需的变量",
)
_NO_VARIABLES = SoughtValue(Text("environment variables", "环境变量"), Setting.table, Setting.record_with)
_NOT, _NOT_HERE = ("not recorded: ", "未采集："), ("not in the files that were given: ", "所给文件中没有：")
_IN_PART = ("known only in part: ", "仅部分已知：")


def _say_missing_values(
    sought: Iterable[SoughtValue], run: Run, *, partly: bool = False
) -> tuple[list[Text], list[Text]]:
    """What is said of values that are not there, and how to have them.

    A file that was not given is told from what was not recorded, and what was switched on is not asked for. `partly`
    is for values that some rows hold.
    """
    left = list(dict.fromkeys(sought))
    lost = _files_not_given(left, run)
    alone = len(run.ranks) == 1 and run.world_size <= 1
    said = [_say_absent(file, ranks, alone=alone) for file, (_, ranks) in lost.items()]
    left = [value for value in left if not any(value in values for values, _ in lost.values())]
    asked = [value for value in left if not _was_recorded(value, run)]
    there = [value for value in left if value not in asked]
    for values, words in ((asked, _NOT), (there, _NOT_HERE)):
        if values:
            said.append(_say_values(values, _IN_PART if partly else words))
    return said, _distinct_hints(how_to_record(value, run) for value in asked)


def _say_values(values: Iterable[SoughtValue], words: tuple[str, str]) -> Text:
    """What these are called, behind what is said of them in both languages."""
    held = _enumerate_texts(value.words for value in values)
    return Text(en=words[0] + held.en, zh=words[1] + held.zh)


def how_to_record(value: SoughtValue, run: Run) -> Text | None:
    """How to have a value next time, with the profiler of this device; None where nothing is known to help."""
    hints = hints_of(run)
    if hints is None:
        return _in_words_of(run, value.record_with)
    column = next((name for name, sought in VALUES.items() if sought is value), "")
    own = hints.of_switch.get(value.record_with) if value.record_with in _OF_VALUES else None
    told = own or hints.of_column.get(column) or hints.of_source.get(value.source)
    if told is not None or value.record_with is None:
        return told
    return hints.of_switch.get(value.record_with, hints.not_recorded)


_OF_VALUES = (PIPES_ON, STEPS_ON)
"""Switches for a value of a table that is recorded with another one."""


def _was_recorded(value: SoughtValue, run: Run) -> bool:
    """Whether every capture says that the profiler was told to record a value, and it is one that it can record."""
    hints = hints_of(run)
    never = hints is not None and how_to_record(value, run) is hints.not_recorded
    return not never and _is_switched_on(value.record_with, run)


def _how_to_know(names: Iterable[str], run: Run) -> list[Text]:
    """How to have what is known of a run, by its name in rules."""
    hints = hints_of(run)
    return _distinct_hints(hints.of_run.get(name) if hints else _in_words_of(run, OF_RUN.get(name)) for name in names)


def _in_words_of(run: Run, hint: Text | None) -> Text | None:
    """A hint for Ascend in the words of the framework that ran."""
    if run.framework != "MindSpore":
        return hint
    told = {**mindspore_hints.OF_HINT, _WHOLE: mindspore_hints.WHOLE, _CHIP: TELL_CHIP}
    sources = {capture.source for capture in run.captures}
    if sources == {"database"}:
        told |= mindspore_hints.OF_HINT_IN_DATABASES
    elif sources == {"insight"}:
        told |= {**mindspore_hints.OF_HINT_IN_OLD_FILES, _WHOLE: mindspore_hints.RECORD_BOTH}
    return told.get(hint, hint)


def _is_switched_on(record_with: Text | None, run: Run) -> bool:
    """Whether every capture says that the profiler was told to record this."""
    return bool(run.captures) and all(_was_switched_on(record_with, capture) for capture in run.captures)


def _say_unreadable(files: Sequence[str], behind: Sequence[str]) -> Text:
    """Files that cannot be read, and what is kept in them."""
    kept = words_for_names(behind)
    where = Text(en=f", which would hold {kept.en}" if behind else "", zh=f"（{kept.zh}应在其中）" if behind else "")
    return Text(
        en=f"cannot be read: {', '.join(files)}{where.en}: give the files whole and unpacked, as they were written",
        zh=f"无法读取：{'、'.join(files)}{where.zh}，请提供 profiler 写出的完整文件，不要压缩",
    )


AbsentFiles = dict[str, tuple[list[SoughtValue], tuple[int, ...]]]


def _files_not_given(sought: Iterable[SoughtValue], run: Run) -> AbsentFiles:
    """By file: what it would hold and the ranks without it, where that was recorded and the file is not here."""
    found: AbsentFiles = {}
    for value in sought:
        file = FILES.get(value.source)
        if file is None or not any(file in capture.absent for capture in run.captures):
            continue
        recorded = [capture for capture in run.captures if _was_switched_on(value.record_with, capture)]
        without = tuple(capture.rank for capture in recorded if file in capture.absent)
        if without:
            called = recorded[0].own_name(file)
            found.setdefault(called, ([], without))[0].append(value)
    return found


def _was_switched_on(record_with: Text | None, capture: Capture) -> bool:
    told = None if record_with is None else _SWITCHED_ON.get(record_with)
    return told is not None and told(capture)


def _records_host(capture: Capture) -> bool:
    return capture.host_recorded or "trace_view.json" in capture.lost


_SWITCHED_ON: Mapping[Text, Callable[[Capture], bool]] = {
    NPU: lambda capture: capture.device_recorded,
    BOTH: lambda capture: _records_host(capture) and capture.device_recorded,
    LEVEL1: lambda capture: capture.at_level1,
    LEVEL2: lambda capture: capture.level == "Level2",
    MEMORY: lambda capture: capture.profile_memory is True,
    OperatorCall.record_with: _records_host,
}
"""By how something is recorded: whether the profiler was told to record it."""


_OF_COLLECTIVES = ("communication.json", "communication_matrix.json")
"""Files that are written only where ranks communicate."""


def _say_absent(file: str, ranks: Sequence[int], *, alone: bool) -> Text:
    """A file that the profiler writes, and that was not given; of one rank `alone` nobody knows whether it had any."""
    if alone and file in _OF_COLLECTIVES:
        return Text(
            en=f"no `{file}`, which is written only where ranks communicate: if they did, give the whole folder, or "
            "parse it again",
            zh=f"没有 `{file}`，该文件仅在有集合通信时写出：若任务有通信，请提供完整目录，或重新解析",
        )
    return Text(
        en=f"`{file}` is absent (rank {spell_numbers(ranks, _MOST_RUNS)}): give the whole folder, or parse it again",
        zh=f"缺少 `{file}`（rank {spell_numbers(ranks, _MOST_RUNS)}）：请提供完整目录，或重新解析",
    )


def of_other_ranks(files: Sequence[str], ranks: Sequence[int], run: Run) -> Text:
    """A rule that looked could not look at some ranks, because these files of theirs were not given."""
    named = _names_of_files(files)
    without = _say_without(named, ranks, run)
    return Text(
        en=f"{without.en} is absent: give the whole folder, or parse it again",
        zh=f"{without.zh}：缺少 {named.zh}，请提供完整目录，或重新解析",
    )


def of_ranks_with_unreadable_files(files: Sequence[str], ranks: Sequence[int], run: Run) -> Text:
    """A rule that looked could not look at some ranks, because these files of theirs cannot be read."""
    named = _names_of_files(files)
    without = _say_without(named, ranks, run)
    return Text(
        en=f"{without.en} cannot be read: give it as the profiler wrote it, or parse it again",
        zh=f"{without.zh}：{named.zh} 无法读取，请提供 profiler 原样写出的文件，或重新解析",
    )


def _names_of_files(files: Sequence[str]) -> Text:
    names = [f"`{file}`" for file in files]
    return Text(en=" and ".join(names), zh="、".join(names))


def of_ranks_with_lost_rows(tables: Sequence[str], ranks: Sequence[int], run: Run) -> Text:
    """A rule that looked could not look at some ranks, because these tables of theirs lost rows."""
    lacking = words_for_names(tables)
    without = _say_without(Text("these", "以下内容"), ranks, run)
    return Text(
        en=f"{without.en} are incomplete: {lacking.en}; give the files whole",
        zh=f"{without.zh}：{lacking.zh}不完整，请提供完整文件",
    )


def _say_without(what: Text, ranks: Sequence[int], run: Run) -> Text:
    """That a rule judged without some ranks for what they lack; where there is one, without what it lacks."""
    if len(run.ranks) == 1:
        return Text(en=f"judged without what {what.en} would tell, which", zh="只检查了其余内容")
    few = spell_numbers(ranks, _MOST_RUNS)
    return Text(en=f"judged without rank {few}, of which {what.en}", zh=f"未检查 rank {few}")


def of_missing_values(  # noqa: PLR0917 - what is missing, and in whose words
    fact: type[Fact],
    columns: Sequence[str],
    others: Sequence[str],
    labels: Mapping[str, Text] | None = None,
    run: Run | None = None,
    variables: Sequence[str] = (),
    *,
    partly: bool = False,
) -> Reason:
    """The table is there, but what the condition needs is missing in it: columns, or names that got no value.

    `labels` are the words a rule shows for values of its own, `variables` the environment variables it looks for;
    `partly` says that some rows hold them.
    """
    if variables:
        return _with_hints([_OTHER_VARIABLES], ())
    values = [_sought_value(fact, name, run) for name in columns if name in VALUES]
    other = hints_of(run)
    if columns and all((fact.table, name) in OF_COLUMN for name in columns):
        how = [other.of_column[name] if other else OF_COLUMN[fact.table, name] for name in columns]
        return _with_hints(hints := _distinct_hints(how), hints)
    known = {**RUN, **(labels or {})}
    named = [name for name in others if name in known]
    settings = other.not_recorded if other else _in_words_of(run or Run(), Setting.record_with)
    asks = [settings] if asked_variables(others) else []
    hints = _distinct_hints([*_how_to_know(others, run or Run()), *asks])
    if values:
        said, own = _say_missing_values(values, run or Run(), partly=partly)
        return _with_hints([*said, *own, *hints], [*own, *hints])
    if not columns and named:
        held = words_for_names(named, known)
        head = Text(en=f"not recorded for this run: {held.en}", zh=f"本次采集未记录：{held.zh}")
    else:
        held = words_for_names([fact.table])
        head = Text(en=f"too little is known of: {held.en}", zh=f"数据不足以判断：{held.zh}")
    asked = columns and not hints and not _is_switched_on(fact.record_with, run or Run())
    own = _distinct_hints([how_to_record(_whole_table(fact.table), run or Run())] if asked else [])
    own += _hints_of_summary(summary_hints.OF_VALUES, [fact.table] if columns else [], run).values()
    return _with_hints([head, *hints, *own], [*hints, *own])


_OF_PAUSES = ("free_us", "copy_us", "to_host_us", "device_copy_us", "event_wait_us", "graph_idle_us")
"""Columns of what lies in pauses: of a program without marked steps nobody knows which pauses are the job's."""


def _sought_value(fact: type[Fact], column: str, run: Run | None) -> SoughtValue:
    unmarked = run is not None and run.times_of == "work"
    return OF_TABLES.get((fact.table, column)) or VALUES["step" if unmarked and column in _OF_PAUSES else column]


def of_no_environment(run: Run) -> Reason:
    """What the profiler was told was recorded, but no environment variable at all."""
    said, hints = _say_missing_values([_NO_VARIABLES], run)
    return _with_hints([*said, *hints], hints)


def of_zero_divisors(written: Sequence[str], labels: Mapping[str, Text]) -> Text:
    """All was recorded, but what the condition divides by is zero: expressions as written, and `labels` for names."""
    zero = words_for_names(written, {**RUN, **labels})
    return Text(en=f"nothing to divide by, zero in this run: {zero.en}", zh=f"除数为 0，无法计算：{zero.zh}")


def of_unknown_run(names: Sequence[str], run: Run) -> Reason:
    """It is not known whether the rule concerns this run."""
    words = words_for_names(names, RUN)
    head = Text(en=f"not known for this run: {words.en}", zh=f"本次采集未记录：{words.zh}")
    hints = _how_to_know(names, run)
    return _with_hints([head, *hints], hints)


def of_condition(names: Iterable[str], run: Run) -> Reason:
    """The rule does not concern this run; `names` are those of the run that its condition asks about."""
    values = run_values(run) | {"level": run.level or None}
    values["device_family"] = None if run.device_family == "npu" else run.device_family  # an npu rules nothing out
    known = [(name, values[name]) for name in sorted(names) if name in RUN]
    here = [(name, _say_run_value(name, value)) for name, value in known if value is not None]
    hints = [LEVEL1] if "level" in names and run.device_family == "npu" else []
    en = ", ".join(f"{RUN[name].en}: {value.en}" for name, value in here)
    zh = "，".join(f"{RUN[name].zh} {value.zh}" for name, value in here)
    head = Text(
        en=f"does not concern this run{en and f' ({en})'}",
        zh=f"不适用于本次运行{zh and f'（{zh}）'}",
    )
    return _with_hints([head, *hints], hints)


def _say_run_value(name: str, value: float | str) -> Text:
    """A value of the run in the words and units of a reader."""
    if isinstance(value, str):
        return RUN_VALUES.get((name, value), Text(en=value, zh=value))
    unit = "share" if name.endswith("_share") else "us" if name.endswith("_us") else "count"
    said = show_value(value, unit)
    return Text(en=said, zh=said)


def of_failure(error: Exception, where: str) -> Text:
    """Something broke while the rule was evaluated."""
    what = f"{type(error).__name__}: {error}".strip().replace("\n", " ")[:300]
    place = f" ({where})" if where else ""
    return Text(en=f"evaluation failed{place}: {what}", zh=f"执行出错{place}：{what}")


_MORE: Mapping[Text, Text] = {NPU: BOTH, mindspore_hints.RECORD_NPU: mindspore_hints.RECORD_BOTH}
"""By a hint, the one that asks for the same and more."""


def _distinct_hints(hints: Iterable[Text | None]) -> list[Text]:
    """Each hint once; what another one asks for as well is not asked for twice."""
    given = dict.fromkeys(hint for hint in hints if hint is not None)
    return [hint for hint in given if _MORE.get(hint) not in given]


def _enumerate_texts(words: Iterable[Text]) -> Text:
    each = list(dict.fromkeys(words))
    return Text(en=", ".join(one.en for one in each), zh="、".join(one.zh for one in each))


def join_reasons(said: Sequence[Text]) -> Text:
    """Reasons behind each other; that nothing was recorded where there are none."""
    return Text(
        en="; ".join(one.en for one in said) or "not recorded", zh="；".join(one.zh for one in said) or "未采集"
    )
