# SPDX-License-Identifier: Apache-2.0
"""What stands between two captures: other ranks, levels, sources, versions, rules — and what it forbids to conclude.

The more a profiler records, the slower it makes the host. So where the later capture records more, a slower host
proves nothing, while a faster one does; and the other way round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from advisor.chips.chip_files import shipped_chips
from advisor.messages.text import STEP_WORDS, Text
from advisor.model.comparison import Barrier, Status, is_unrelated
from advisor.model.findings import Account, Diagnosis
from advisor.model.run import LEVELS, Run

HOST_SIDE = ("host", "io", "env")
"""Categories of rules whose values the profiler itself changes."""
_SWITCHES = ("with_stack", "profile_memory", "record_shapes")
_CALLED: Mapping[str, Text] = {"npu": Text(en="an NPU", zh="NPU"), "gpu": Text(en="a GPU", zh="GPU")}
_LONGEST = 200
_IN_COMMON = 0.5
"""Captures of one program have most of their computing time by operator type in common."""
_MORE_WORK = 1.4
"""Full recomputation adds a third to the operations of a step (one forward to a forward and a backward of twice its
operations): what goes beyond is another batch, sequence or model, and not the same work done otherwise."""


class Conditions(Struct, frozen=True):
    """How the two captures came about."""

    notes: tuple[Text, ...]
    more_after: bool = False
    """The later capture records something that the earlier one does not."""
    more_before: bool = False
    barriers: tuple[Barrier, ...] = ()
    """What keeps the two from being compared, gravest first."""
    unrelated: Text | None = None
    """Why not even the findings of the two compare; None where they do."""

    @property
    def differ(self) -> bool:
        """Whether the profilers slowed the host by different amounts."""
        return self.more_after or self.more_before

    @property
    def hardly_compare(self) -> bool:
        """Whether what was recorded is not the same, so that no difference is certain."""
        return bool(self.barriers)

    def forbid(self, status: Status) -> bool:
        """Whether a change on the side of the host may come from the profiler alone."""
        slower = status in ("new", "worse")
        faster = status in ("gone", "better")
        return (slower and self.more_after) or (faster and self.more_before)


PROFILER = Text(
    en="the profiler recorded more in one of the two captures, which slows the host by itself",
    zh="两次采集的 profiler 开关不同，采集内容更多的一次本身就会拖慢 host",
)
"""Why a change on the side of the host proves nothing."""


def conditions_between(before: Diagnosis, after: Diagnosis, *, singles: int, wide: bool) -> Conditions:
    """What stands between two diagnoses; so many of which hold a single step, or steps of one differ much, `wide`."""
    one, other = _recording_levels(before.run), _recording_levels(after.run)
    known = [(old, new) for old, new in zip(one, other, strict=True) if old is not None and new is not None]
    barriers = tuple(_barriers_between(before, after))
    return Conditions(
        notes=tuple(_condition_notes(before, after, barriers, singles=singles, wide=wide)),
        more_after=any(new > old for old, new in known),
        more_before=any(old > new for old, new in known),
        barriers=barriers,
        unrelated=_why_unrelated(before.run, after.run, barriers),
    )


def _barriers_between(before: Diagnosis, after: Diagnosis) -> Iterator[Barrier]:
    """What keeps the two from being compared; of what holds no time nothing is said of times."""
    one, other = before.run, after.run
    if min(before.step_us, after.step_us) > 0 and one.times_of != other.times_of:
        yield "times"
    devices = _device_of(one), _device_of(other)
    on_other_devices = all(devices) and devices[0] != devices[1]
    if on_other_devices:
        yield "device"
    if other_workload := _other_workload(one, other):
        yield "workload"
    if not on_other_devices and _other_chip(one, other):
        yield "chip"
    if _resized(one, other):
        yield "size"
    # what computes has other names on other devices: there these tell nothing of the program
    if not (other_workload or on_other_devices):
        if not _one_program(before.account, after.account):
            yield "program"
        elif _other_work(before, after):
            yield "work"
    if _other_ranks(one, other):
        yield "ranks"


def _device_of(run: Run) -> str:
    """What computed; empty where the captures do not say."""
    recorded = [capture.activities for capture in run.captures]
    says = any(activities is None or set(activities) - {"CPU"} for activities in recorded)
    return run.device_family if says else ""


def _other_workload(one: Run, other: Run) -> bool:
    kinds = one.job.workload, other.job.workload
    return all(kinds) and kinds[0] != kinds[1]


def _other_chip(one: Run, other: Run) -> bool:
    return bool(one.chip and other.chip) and not shipped_chips().may_be_same_chip(one.chip, other.chip)


def _resized(one: Run, other: Run) -> bool:
    """Whether the job is known to have had more ranks or fewer."""
    return bool(one.world_size and other.world_size) and one.rank_count != other.rank_count


def _why_unrelated(one: Run, other: Run, barriers: Collection[Barrier]) -> Text | None:
    if not is_unrelated(barriers):
        return None
    if "times" in barriers:
        then, now = _called_times(one), _called_times(other)
        return Text(
            en=f"its times are of {then.en} before and of {now.en} now",
            zh=f"之前的时间属于{then.zh}，现在的属于{now.zh}",
        )
    return Text(en="one of the two ran on an NPU, the other on a GPU", zh="一份采集来自 NPU，另一份来自 GPU")


def _called_times(run: Run) -> Text:
    """What the times of a run are of."""
    words = STEP_WORDS["the_step"]
    return Text(en=words["en"][run.times_of], zh=words["zh"][run.times_of])


def _recording_levels(run: Run) -> tuple[int | None, ...]:
    """How much each switch of the profiler records; None where it is not known."""
    level = LEVELS.index(run.level) if run.level in LEVELS else None
    return (level, _activity_count(run), *(_switch_state(run, name) for name in _SWITCHES))


def _activity_count(run: Run) -> int | None:
    known = [len(capture.activities) for capture in run.captures if capture.activities is not None]
    return max(known, default=None)


def _switch_state(run: Run, name: str) -> int | None:
    known = [int(value) for capture in run.captures if (value := getattr(capture, name)) is not None]
    return max(known, default=None)


def _condition_notes(
    before: Diagnosis, after: Diagnosis, barriers: Collection[Barrier], *, singles: int, wide: bool
) -> Iterator[Text]:
    one, other = before.run, after.run
    yield from _of_barriers(before, after, barriers)
    if "times" not in barriers:
        yield from _of_steps(before, after, singles, wide)
    yield from _of_ranks(one, other)
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


def _of_barriers(before: Diagnosis, after: Diagnosis, barriers: Collection[Barrier]) -> Iterator[Text]:
    """What keeps the two from being compared, but for other ranks."""
    one, other = before.run, after.run
    if "times" in barriers:
        then, now = _called_times(one), _called_times(other)
        yield Text(
            en=f"Times are of {then.en} before and of {now.en} now: they do not compare.",
            zh=f"之前的时间属于{then.zh}，现在的时间属于{now.zh}，两者不可比。",
        )
    if "device" in barriers:
        then, now = (_CALLED[run.device_family] for run in (one, other))
        yield Text(
            en=f"Ran on {then.en} before and on {now.en} now: times, operators and findings of the two do not compare.",
            zh=f"之前在 {then.zh} 上运行，现在在 {now.zh} 上运行：两者的时间、算子和问题不可比。",
        )
    if "program" in barriers:
        yield Text(
            en="The two captures have little computation in common: they may be different programs.",
            zh="两次采集的算子构成差异很大，可能不是同一个程序。",
        )
    if "work" in barriers:
        work, work_now = (f"{_tera_flops_of(diagnosis):.3g}" for diagnosis in (before, after))
        yield Text(
            en=f"Matrix products of a step: {work} TFLOP per rank before, {work_now} now, as with another batch size, "
            "sequence length or model. Compare the time per sample or token.",
            zh=f"每张卡单步的矩阵乘计算量由 {work} TFLOP 变为 {work_now} TFLOP，batch、序列长度或模型可能不同。"
            "请比较每个样本或 token 的耗时。",
        )


def _of_ranks(one: Run, other: Run) -> Iterator[Text]:
    """How many ranks there were, and which were captured."""
    counts = len(one.ranks), len(other.ranks)
    if _resized(one, other):
        yield Text(
            en=f"The job had {one.rank_count} ranks before, {other.rank_count} now: times are means over the ranks.",
            zh=f"卡数由 {one.rank_count} 变为 {other.rank_count}：各项时间均为各卡平均值。",
        )
    elif _other_ranks(one, other) and one.world_size == other.world_size:
        yield Text(
            en=f"Other ranks were captured: {counts[0]} before, {counts[1]} now. Times are means over these, which "
            "differ though no rank changed.",
            zh=f"两次采集的卡不同：之前 {counts[0]} 张，现在 {counts[1]} 张。"
            "各项时间均为所采集的卡的平均值，即使各卡没有变化，均值也会不同。",
        )
    elif _other_ranks(one, other):
        yield Text(
            en=f"Other ranks were captured: {counts[0]} before, {counts[1]} now, and how many the job had is known of "
            "only one of the two. Times are means over the captured ranks.",
            zh=f"两次采集的卡不同：之前 {counts[0]} 张，现在 {counts[1]} 张，且只有其中一份记录了任务的总卡数。"
            "各项时间均为所采集的卡的平均值。",
        )


def _other_ranks(one: Run, other: Run) -> bool:
    """Whether other ranks were captured, and not because the job is known to have had more or fewer of them."""
    return not _resized(one, other) and bool(one.ranks and other.ranks) and set(one.ranks) != set(other.ranks)


def _switch_differs(old: int | None, new: int | None) -> bool:
    return old is not None and new is not None and old != new


def _of_steps(before: Diagnosis, after: Diagnosis, singles: int, wide: bool) -> Iterator[Text]:
    if min(before.step_us, after.step_us) <= 0:
        yield Text(
            en="The step time of one of the two is not known: times are not compared.",
            zh="其中一份采集没有单步耗时，无法比较时间。",
        )
    elif singles:
        yield _of_single_steps(before.run, singles)
    elif wide:
        yield Text(
            en="Steps of one of the two differ so much that a tenth of the step could change unnoticed: look at its "
            "longest steps, or record more.",
            zh="其中一份采集的 step 时长波动过大，单步时间变化一成也可能看不出：请查看最长的 step，或多采集几步。",
        )


def _of_single_steps(run: Run, singles: int) -> Text:
    """That the spread of so many of the two is not known; they mark steps both or neither."""
    if run.unplaced_steps:
        return Text(
            en="The steps of neither can be told apart, for when they begin was not given: how much one recording "
            "differs from the next is not known, so confidence is low. Give the whole folders, with their timelines.",
            zh="两份采集均未提供各步的起止时间，无法区分各 step，也就无法得知多次采集之间的波动，因此置信度低。"
            "请提供含时间线的完整目录。",
        )
    if not run.steps:
        return Text(
            en="Neither of the two marks steps: how much one recording differs from the next is not known, so "
            "confidence is low. Record ten steps.",
            zh="两份采集均未标记 step，无法得知多次采集之间的波动，因此置信度低。建议采集 10 个 step。",
        )
    both = singles > 1
    who = Text(en="Both hold", zh="两份采集都") if both else Text(en="One of the two holds", zh="其中一份采集")
    return Text(
        en=f"{who.en} a single step: how much steps differ is not known, so confidence is low. Record ten steps.",
        zh=f"{who.zh}只有一个 step，无法得知 step 间的波动，因此置信度低。建议采集 10 个 step。",
    )


def _of_versions(one: Run, other: Run) -> Iterator[Text]:
    for name, old, new in (
        ("CANN", one.cann_version, other.cann_version),
        ("torch_npu", one.torch_npu_version, other.torch_npu_version),
        ("Chip", one.chip, other.chip),
        ("Framework", one.framework, other.framework),
        ("Workload", one.job.workload, other.job.workload),
        ("Stack", one.job.stack, other.job.stack),
    ):
        if old and new and old != new:
            then, now = one_line(old), one_line(new)
            chinese = {"Chip": "芯片", "Framework": "框架", "Workload": "任务类型", "Stack": "软件栈"}.get(name, name)
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


def _other_work(before: Diagnosis, after: Diagnosis) -> bool:
    """Whether a step of one is known to do far more than one of the other, on the same ranks of the same job."""
    one, other = before.run, after.run
    if {one.times_of, other.times_of} != {"step"} or _resized(one, other) or _other_ranks(one, other):
        return False
    counted = [_tera_flops_of(diagnosis) for diagnosis in (before, after)]
    return min(counted) > 0 and max(counted) / min(counted) > _MORE_WORK


def _tera_flops_of(diagnosis: Diagnosis) -> float:
    """Operations of a step, in 10^12; 0 where they are not known."""
    return (diagnosis.account.tera_flops if diagnosis.account else None) or 0.0


def _compute_us_by_name(account: Account) -> dict[str, float]:
    return {entry.name: entry.us for entry in account.spent if entry.part == "compute" and entry.name}
