# SPDX-License-Identifier: Apache-2.0
"""What stands between two captures: other ranks, levels, sources, versions, rules — and what it forbids to conclude.

The more a profiler records, the slower it makes the host. So where the later capture records more, a slower host
proves nothing, while a faster one does; and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from advisor.messages.text import Text
from advisor.model.comparison import Status
from advisor.model.findings import Account, Diagnosis
from advisor.model.run import Run

HOST_SIDE = ("host", "io", "env")
"""Categories of rules whose values the profiler itself changes."""
_LEVELS = ("Level_none", "Level0", "Level1", "Level2")
_SWITCHES = ("with_stack", "profile_memory", "record_shapes")
_LONGEST = 200
_IN_COMMON = 0.5
"""Captures of one program have most of their computing time by operator type in common."""


class Conditions(Struct, frozen=True):
    """How the two captures came about."""

    notes: tuple[Text, ...]
    more_after: bool = False
    """The later capture records something that the earlier one does not."""
    more_before: bool = False
    window: bool = False
    """One of the two marks no steps: its times are of a whole window, and compare with nothing."""
    other_program: bool = False
    other_ranks: bool = False
    """Of one job other ranks were captured: means over ranks differ though none of them changed."""

    @property
    def differ(self) -> bool:
        """Whether the profilers slowed the host by different amounts."""
        return self.more_after or self.more_before

    @property
    def hardly_compare(self) -> bool:
        """Whether what was recorded is not the same, so that no difference is certain."""
        return self.window or self.other_program or self.other_ranks

    def forbid(self, status: Status) -> bool:
        """Whether a change on the side of the host may come from the profiler alone."""
        slower = status in ("new", "worse")
        faster = status in ("gone", "better")
        return (slower and self.more_after) or (faster and self.more_before)


WINDOW = Text(
    en="one of the two captures marks no steps: what it holds is a whole window, not a step",
    zh="其中一份采集没有 step 标记，其时间是整个采集窗口，而不是单步",
)
"""Why times and savings of the two compare with nothing."""
PROFILER = Text(
    en="the profiler recorded more in one of the two captures, which slows the host by itself",
    zh="两次采集的 profiler 开关不同，采集内容更多的一次本身就会拖慢 host",
)
"""Why a change on the side of the host proves nothing."""


def conditions_between(before: Diagnosis, after: Diagnosis, *, single: bool, wide: bool) -> Conditions:
    """What stands between two diagnoses; `single` step of one, or steps of one that differ much, `wide`."""
    one, other = _recording_levels(before.run), _recording_levels(after.run)
    known = [(old, new) for old, new in zip(one, other, strict=True) if old is not None and new is not None]
    other_program = not _one_program(before.account, after.account)
    return Conditions(
        notes=tuple(_condition_notes(before, after, single, wide, other_program)),
        more_after=any(new > old for old, new in known),
        more_before=any(old > new for old, new in known),
        window=_a_window(before, after),
        other_program=other_program,
        other_ranks=_other_ranks(before.run, after.run),
    )


def _a_window(before: Diagnosis, after: Diagnosis) -> bool:
    """Whether one of the two marks its steps and the other does not; of what holds no time nothing is said."""
    timed = before.split is not None and after.split is not None
    return timed and bool(before.run.steps) != bool(after.run.steps)


def _recording_levels(run: Run) -> tuple[int | None, ...]:
    """How much each switch of the profiler records; None where it is not known."""
    level = _LEVELS.index(run.level) if run.level in _LEVELS else None
    return (level, _activity_count(run), *(_switch_state(run, name) for name in _SWITCHES))


def _activity_count(run: Run) -> int | None:
    known = [len(capture.activities) for capture in run.captures if capture.activities is not None]
    return max(known, default=None)


def _switch_state(run: Run, name: str) -> int | None:
    known = [int(value) for capture in run.captures if (value := getattr(capture, name)) is not None]
    return max(known, default=None)


def _condition_notes(
    before: Diagnosis, after: Diagnosis, single: bool, wide: bool, other_program: bool
) -> Iterator[Text]:
    one, other = before.run, after.run
    yield from _of_steps(before, after, single, wide)
    if one.world_size and other.world_size and one.rank_count != other.rank_count:
        yield Text(
            en=f"The job had {one.rank_count} ranks before, {other.rank_count} now: times are means over the ranks.",
            zh=f"rank 数由 {one.rank_count} 变为 {other.rank_count}：各项时间均为 rank 平均值。",
        )
    elif _other_ranks(one, other):
        yield Text(
            en=f"Other ranks were captured: {len(one.ranks)} before, {len(other.ranks)} now. Times are means over "
            "these, which differ though no rank changed.",
            zh=f"两次采集的 rank 不同：之前 {len(one.ranks)} 个，现在 {len(other.ranks)} 个。"
            "各项时间均为所采集 rank 的平均值，即使各 rank 没有变化，均值也会不同。",
        )
    if one.level != other.level and one.level and other.level:
        then, now = one_line(one.level), one_line(other.level)
        yield Text(
            en=f"Recorded with {then} before and {now} now: a higher level slows the host by itself.",
            zh=f"采集级别由 {then} 变为 {now}：级别越高，采集本身对 host 的拖慢越大。",
        )
    changed = [name for name in _SWITCHES if _switch_differs(_switch_state(one, name), _switch_state(other, name))]
    if changed:
        yield Text(
            en=f"Profiler switches differ: {', '.join(changed)}. They slow the host by themselves.",
            zh=f"profiler 开关不同：{'、'.join(changed)}。这些开关本身会拖慢 host。",
        )
    yield from _of_versions(one, other)
    yield from _of_rules(before, after)
    if other_program:
        yield Text(
            en="The two captures have little computation in common: they may not be of the same program.",
            zh="两次采集的算子构成差异很大，可能不是同一个程序。",
        )


def _other_ranks(one: Run, other: Run) -> bool:
    sizes = one.world_size, other.world_size
    of_one_job = not all(sizes) or sizes[0] == sizes[1]
    return of_one_job and bool(one.ranks and other.ranks) and set(one.ranks) != set(other.ranks)


def _switch_differs(old: int | None, new: int | None) -> bool:
    return old is not None and new is not None and old != new


def _of_steps(before: Diagnosis, after: Diagnosis, single: bool, wide: bool) -> Iterator[Text]:
    if before.split is None or after.split is None:
        yield Text(
            en="The step time of one of the two is not known: times are not compared.",
            zh="其中一份采集没有单步耗时，无法比较时间。",
        )
    elif _a_window(before, after):
        yield WINDOW
    elif single:
        yield Text(
            en="One of the two holds a single step: how much steps differ is not known, so confidence is low. "
            "Record ten steps.",
            zh="其中一份采集只有一个 step，无法得知 step 间的波动，因此置信度低。建议采集 10 个 step。",
        )
    elif wide:
        yield Text(
            en="Steps of one of the two differ so much that a tenth of the step could change unnoticed: look at its "
            "longest steps, or record more.",
            zh="其中一份采集的 step 时长波动过大，单步时间变化一成也可能看不出：请查看最长的 step，或多采集几步。",
        )


def _of_versions(one: Run, other: Run) -> Iterator[Text]:
    for name, old, new in (
        ("CANN", one.cann_version, other.cann_version),
        ("torch_npu", one.torch_npu_version, other.torch_npu_version),
        ("chip", one.chip, other.chip),
        ("framework", one.framework, other.framework),
        ("workload", one.job.workload, other.job.workload),
        ("stack", one.job.stack, other.job.stack),
    ):
        if old and new and old != new:
            then, now = one_line(old), one_line(new)
            chinese = {"chip": "芯片", "framework": "框架", "workload": "任务类型", "stack": "软件栈"}.get(name, name)
            yield Text(en=f"{name}: {then} before, {now} now.", zh=f"{chinese}：由 {then} 变为 {now}。")


def _of_rules(before: Diagnosis, after: Diagnosis) -> Iterator[Text]:
    if before.version != after.version:
        old_one, new_one = one_line(before.version) or "?", one_line(after.version) or "?"
        yield Text(
            en=f"Diagnosed by advisor {old_one} before and {new_one} now.",
            zh=f"诊断所用 advisor 版本由 {old_one} 变为 {new_one}。",
        )
    old = {info.id: [(param.name, param.value) for param in info.params] for info in before.rules}
    new = {info.id: [(param.name, param.value) for param in info.params] for info in after.rules}
    tuned = sorted(rule for rule in old.keys() & new.keys() if old[rule] != new[rule])
    if tuned:
        yield Text(
            en=f"Thresholds differ: {_list_first_names(tuned)}.",
            zh=f"阈值不同：{_list_first_names(tuned)}。",
        )


def one_line(name: str) -> str:
    """A name from a capture, fit for a sentence: on one line, and nothing that cannot be encoded."""
    return " ".join(name.encode("utf-8", "replace").decode().split())[:_LONGEST]


def _list_first_names(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(f"`{one_line(name)}`" for name in names[:most]) + (" …" if len(names) > most else "")


def _one_program(before: Account | None, after: Account | None) -> bool:
    """Whether the computing time of both, operator type by operator type, lies mostly on the same names."""
    if before is None or after is None:
        return True
    one, other = _compute_us_by_name(before), _compute_us_by_name(after)
    if not one or not other:
        return True
    shared = one.keys() & other.keys()
    parts = [sum(own[name] for name in shared) / max(sum(own.values()), 1e-9) for own in (one, other)]
    return min(parts) >= _IN_COMMON


def _compute_us_by_name(account: Account) -> dict[str, float]:
    return {entry.name: entry.us for entry in account.spent if entry.part == "compute" and entry.name}
