# SPDX-License-Identifier: Apache-2.0
"""Whether a run may pass: what a project demands, held against a diagnosis and what changed since a baseline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.messages.text import Language, Text
from advisor.model.comparison import Comparison, Status
from advisor.model.findings import Diagnosis, Finding, Severity, fingerprint, is_grave_doubt
from advisor.model.run import Run
from advisor.model.verdict import Action, Budget, BudgetName, Ruling, Suppression, Verdict
from advisor.policy.policy import FailCondition, Policy, pattern_matches
from advisor.units import show_value

MOST_NAMES = 5

ALONE: tuple[FailCondition, ...] = (FailCondition(Severity.high),)
CHANGED: tuple[FailCondition, ...] = (FailCondition(Severity.high, "new"),)
"""What fails a run where nothing is said: without a baseline, and against one."""
SLOWDOWN = Budget(name="slowdown", unit="share", limit=0.10)
"""Fails a run too where nothing is said of it: whatever the causes are called, a step that takes a tenth longer than in
the baseline is what a gate is for."""


def judge_by_policy(
    diagnosis: Diagnosis, comparison: Comparison | None, policy: Policy, fail_on: Sequence[FailCondition], today: date
) -> Verdict:
    """What the policy says of each finding and of the run; `comparison` is that of the baseline with this diagnosis.

    A finding fails the run where the policy says `error`, or says nothing and the finding is at or above `fail_on`.
    Suppressed findings fail nothing. A budget fails the run where it is exceeded; one that cannot be measured is said.
    A run that nothing fails does not pass either where nothing is known of it.

    Raises:
        UsageError: `fail_on` asks for what changed, and there is nothing to compare with.
    """
    check_bars(fail_on, compared=comparison is not None)
    case = _Case(
        diagnosis=diagnosis,
        statuses=None if comparison is None else {one.fingerprint: one.status for one in comparison.changes},
        former={info.id: info.formerly for info in diagnosis.rules},
        policy=policy,
        fail_on=tuple(fail_on),
        today=today,
    )
    rulings = tuple(map(case.ruling, diagnosis.findings))
    limits = tuple(budget for budget in policy.budgets if budget.action != "off")
    doubtful = any(map(is_grave_doubt, diagnosis.findings))
    held = tuple(_held_budget(budget, diagnosis, comparison, case.left(rulings)) for budget in limits)
    held = tuple(map(_unless_kept, held)) if doubtful else held
    if fail_on and comparison is not None and all(budget.name != "slowdown" for budget in policy.budgets):
        unasked = _held_slowdown(SLOWDOWN, comparison)
        held += () if unasked.budget.kept else (unasked,)  # kept goes without saying, not looked at does not
    budgets = tuple(one.budget for one in held)
    failing = any(ruling.fails for ruling in rulings)
    exceeded = any(budget.fails for budget in budgets)
    fails, why = failing or exceeded, why_blind(diagnosis) or case.why_unrelated(comparison, rulings)
    return Verdict(
        passed=not fails and why is None,
        blind=not fails and why is not None,
        rulings=rulings,
        budgets=budgets,
        unused=case.unused(),
        expired=tuple(one for one in policy.suppressions if _is_past(one, today)),
        notes=(
            *(one.why for one in held if one.why),
            *([why] if why else case.unseen()),
            *case.uncertain(rulings),
        ),
    )


def why_blind(diagnosis: Diagnosis) -> Text | None:
    """What makes a diagnosis say nothing of whether the run is in order; None where it does.

    What rules say of the capture itself, and that they do not apply, says nothing of the run.
    """
    said = {one.outcome for one in diagnosis.outcomes if not one.rule.startswith("capture/")}
    if said & {"skipped", "failed"} and not said & {"fired", "quiet"}:
        return Text(
            en="No rule could look at this run: nothing is known of it.", zh="没有规则能检查这次运行：对它一无所知。"
        )
    if diagnosis.step_us <= 0 and diagnosis.unread:
        return Text(
            en="What the time of the run goes to could not be read: whether it is in order is not known.",
            zh="无法读取这次运行的耗时去向：不知道它是否正常。",
        )
    return None


def check_bars(fail_on: Sequence[FailCondition], *, compared: bool) -> None:
    """Refuses to ask for what changed where there is nothing to compare with.

    Raises:
        UsageError: It was asked for.
    """
    asks = next((bar for bar in fail_on if bar.since), None)
    if asks is None or compared:
        return
    level = asks.severity.name
    raise UsageError(Message("needs_baseline", asks=str(asks)), Message("give_baseline", level=level))


@dataclass(frozen=True)
class _Case:
    """One diagnosis before the gate."""

    diagnosis: Diagnosis
    statuses: Mapping[str, Status] | None
    """By fingerprint; None without a baseline."""
    former: Mapping[str, tuple[str, ...]]
    """The ids that each rule had before."""
    policy: Policy
    fail_on: tuple[FailCondition, ...]
    today: date

    def ruling(self, finding: Finding) -> Ruling:
        status = self.status(finding)
        action, by = self.action(finding, status)
        return Ruling(
            rule=finding.rule,
            fingerprint=finding.fingerprint,
            severity=finding.severity,
            status=status,
            action=action,
            by=by,
            suppressed=next((one for one in self.holding() if self.meets(one, finding)), None),
        )

    def status(self, finding: Finding) -> Status | None:
        """Against the baseline. What a comparison does not know is new: nothing passes for want of an entry."""
        return None if self.statuses is None else self.statuses.get(finding.fingerprint, "new")

    def action(self, finding: Finding, status: Status | None) -> tuple[Action, str]:
        asked = self.policy.asked(self.names(finding.rule), finding.severity)
        if asked is not None:
            return asked
        bar = next((bar for bar in self.fail_on if bar.fails(finding.severity, status)), None)
        return ("error", f"fail_on {bar}") if bar else ("warn", "")

    def names(self, rule: str) -> tuple[str, ...]:
        """The id of a rule, and those it had before."""
        return (rule, *self.former.get(rule, ()))

    def holding(self) -> Iterator[Suppression]:
        return (one for one in self.policy.suppressions if not _is_past(one, self.today))

    def meets(self, one: Suppression, finding: Finding) -> bool:
        """Whether a suppression means a finding, by any name that this had."""
        names = self.names(finding.rule)
        prints = (finding.fingerprint, *(fingerprint(name, finding.subject) for name in names[1:]))
        return (not one.rule or pattern_matches(one.rule, names)) and (not one.fingerprint or one.fingerprint in prints)

    def unused(self) -> tuple[Suppression, ...]:
        """Suppressions that met no finding although a rule they may mean could look."""
        looked = [self.names(one.rule) for one in self.diagnosis.outcomes if one.outcome in ("fired", "quiet")]
        return tuple(
            one
            for one in self.holding()
            if any(not one.rule or pattern_matches(one.rule, names) for names in looked)
            and not any(self.meets(one, finding) for finding in self.diagnosis.findings)
        )

    def left(self, rulings: Iterable[Ruling]) -> tuple[Finding, ...]:
        """The findings that count: neither suppressed nor turned off."""
        pairs = zip(self.diagnosis.findings, rulings, strict=True)
        return tuple(finding for finding, one in pairs if one.suppressed is None and one.action != "off")

    def unseen(self) -> Iterator[Text]:
        """What the gate could not see, so that passing does not say it is in order."""
        outcomes = self.diagnosis.outcomes
        blind = [outcome.rule for outcome in outcomes if outcome.outcome in ("skipped", "failed")]
        quiet = sum(one.outcome == "quiet" and not one.rule.startswith("capture/") for one in outcomes)
        if self.diagnosis.split is None and len(blind) > quiet:
            yield Text(
                en="The capture does not say where its time goes; rules that could not look: "
                f"{len(blind)}, that found their part in order: {quiet}. Passing says little of the run.",
                zh=f"采集数据不含耗时拆解；未能检查的规则 {len(blind)} 条，检查正常的 {quiet} 条："
                "通过并不代表运行正常。",
            )
        elif self.diagnosis.split is None:
            yield Text(
                en="The capture does not say where its time goes: passing says nothing of that.",
                zh="采集数据不含耗时拆解：通过并不代表耗时正常。",
            )
        demanded = [rule for rule in blind if (self.policy.asked(self.names(rule), None) or ("",))[0] == "error"]
        if demanded:
            yield Text(
                en=f"Set to error, but could not look: {_list_first_names(demanded, 'en')}.",
                zh=f"已设为 error 但未能检查：{_list_first_names(demanded, 'zh')}。",
            )

    def uncertain(self, rulings: Iterable[Ruling]) -> Iterator[Text]:
        """Findings of which nobody can say whether they are new, where that would decide."""
        doubtful = self.doubtful(rulings)
        if doubtful:
            yield Text(
                en=f"Not counted as new, because the baseline cannot tell: {_list_first_names(doubtful, 'en')}.",
                zh=f"以下问题无法与基线比较，因此未计为新增：{_list_first_names(doubtful, 'zh')}。",
            )

    def doubtful(self, rulings: Iterable[Ruling]) -> list[str]:
        """The rules of findings that would decide if it could be told whether they are new."""
        bars = [bar for bar in self.fail_on if bar.since]
        return [
            one.rule
            for one in rulings
            if one.status == "not comparable"
            and not one.by
            and one.suppressed is None
            and any(one.severity >= bar.severity for bar in bars)
        ]

    def why_unrelated(self, comparison: Comparison | None, rulings: Iterable[Ruling]) -> Text | None:
        """That the baseline is of no use where it would decide; None where it is, or nothing hangs on it."""
        if comparison is None or not comparison.unrelated or not self.doubtful(rulings):
            return None
        return Text(
            en="The baseline does not compare with this run, so nobody can say what is new: record a baseline like it.",
            zh="基线与这次运行不可比，无法判断哪些问题是新增的：请按相同条件重新采集基线。",
        )


def _is_past(one: Suppression, today: date) -> bool:
    return bool(one.expires) and today > date.fromisoformat(one.expires)


def _list_first_names(names: Iterable[str], language: Language) -> str:
    """The first of them, and how many there are beyond, to stand before a full stop."""
    found = list(dict.fromkeys(names))
    shown, more = found[:MOST_NAMES], len(found) - MOST_NAMES
    if language == "zh":
        return "、".join(shown) + (f" 等 {len(found)} 条" if more > 0 else "")
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


class _Held(NamedTuple):
    """A budget with what the run shows of it, and what there is to say about that."""

    budget: Budget
    why: Text | None = None


_WHY: Mapping[BudgetName, Text] = {
    "free_share": Text(
        en="Budget free_share: not measured, because the capture does not say where the time of a step goes.",
        zh="预算 free_share 无法测量：采集数据不含 step 时间拆解。",
    ),
    "step_time": Text(
        en="Budget step_time: not measured, because no step is marked.",
        zh="预算 step_time 无法测量：采集数据未标记 step。",
    ),
    "memory": Text(
        en="Budget memory: not measured, because memory was not recorded.",
        zh="预算 memory 无法测量：未采集内存。",
    ),
    "saving_left": Text(
        en="Budget saving_left: not measured, because no rule could look or the step time is not known.",
        zh="预算 saving_left 无法测量：没有规则能够检查，或单步耗时未知。",
    ),
    "slowdown": Text(
        en="Budget slowdown: not measured, because there is no baseline whose step time can be compared.",
        zh="预算 slowdown 无法测量：没有可对比单步耗时的基线。",
    ),
}


_HOW: Mapping[BudgetName, Text] = {
    "step_time": Text(en="Call prof.step() after each.", zh="请在每步之后调用 prof.step()。"),
    "memory": Text(en="profile_memory=True records it.", zh="可设置 profile_memory=True 采集。"),
}
"""How to have what a budget needs, with the profilers of frameworks."""
_HOW_OF_MSPROF: Mapping[BudgetName, Text] = {
    "step_time": Text(
        en="msprof marks steps only where whole graphs are run; the profiler of the framework marks them always.",
        zh="msprof 仅在整图执行时标记 step；框架自带的 profiler 总能标记。",
    ),
    "memory": Text(en="`msprof --task-memory=on` records it.", zh="可用 `msprof --task-memory=on` 采集。"),
}
_WITHOUT_PLACES = Text(
    en="Budget step_time: not measured, because when the recorded steps begin was not given. Give the whole folder, "
    "with its timeline.",
    zh="预算 step_time 无法测量：未提供各步的起止时间。请提供含时间线的完整目录。",
)
_OF_SUMMARY = Text(
    en="A cluster summary does not hold it: diagnose the captures behind it.",
    zh="集群汇总中没有此项：请诊断该汇总所依据的各卡采集数据。",
)


def _why_unmeasured(name: BudgetName, run: Run) -> Text:
    """Why a budget is not held, and how to have what it needs, in the words of who recorded the run."""
    if name == "step_time" and run.unplaced_steps:
        return _WITHOUT_PLACES
    how = _OF_SUMMARY if run.is_summary else _HOW_OF_MSPROF[name] if run.recorder == "msprof" else _HOW[name]
    return Text(en=f"{_WHY[name].en} {how.en}", zh=f"{_WHY[name].zh}{how.zh}")


def _held_budget(budget: Budget, diagnosis: Diagnosis, comparison: Comparison | None, left: Sequence[Finding]) -> _Held:
    """A budget held against the run."""
    if budget.name == "slowdown":
        return _held_slowdown(budget, comparison)
    measured = _measure_budget(budget, diagnosis, left)
    if measured is None or not math.isfinite(measured):
        asks = budget.name in _HOW
        return _Held(budget, _why_unmeasured(budget.name, diagnosis.run) if asks else _WHY[budget.name])
    return _Held(budget.model_copy(update={"measured": measured}))


def _unless_kept(held: _Held) -> _Held:
    """The same, of a capture in grave doubt: what is missing from it may be what exceeds the budget."""
    if held.budget.kept is not True:
        return held
    name, unmeasured = held.budget.name, held.budget.model_copy(update={"measured": None})
    why = Text(
        en=f"Budget {name}: not measured, because the capture is damaged, and more of it may exceed the limit.",
        zh=f"预算 {name} 无法测量：采集数据有损坏，缺失的部分可能使其超限。",
    )
    return _Held(unmeasured, why)


def _held_slowdown(budget: Budget, comparison: Comparison | None) -> _Held:
    """The budget held against the step time of the baseline; below the noise between the two nothing can be held."""
    measured, noise = _slowdown_and_noise(comparison)
    if measured is None or not (math.isfinite(measured) and math.isfinite(noise)):
        return _Held(budget, _WHY[budget.name])
    held = budget.model_copy(update={"limit": max(budget.limit, noise), "measured": measured})
    if noise <= budget.limit:
        return _Held(held)
    share = show_value(noise, "share")
    why = Text(
        en=f"Budget slowdown: held against {share}: less is noise between the two captures; more steps may lower it.",
        zh=f"预算 slowdown 按 {share} 判断，更小的变化属于两份采集之间的波动；增加采集的 step 数可降低该值。",
    )
    return _Held(held, why)


def _slowdown_and_noise(comparison: Comparison | None) -> tuple[float | None, float]:
    """How much longer a step takes than in the baseline, and how much longer it may take within noise, as parts of the
    step then.
    """
    step = comparison.step if comparison else None
    if step is None or step.before_us <= 0 or step.status == "not comparable":
        return None, 0.0
    allowed_us = step.noise_us if step.longest_alike_us is None else step.longest_alike_us - step.before_us
    return step.delta_us / step.before_us, allowed_us / step.before_us


def _measure_budget(budget: Budget, diagnosis: Diagnosis, left: Sequence[Finding]) -> float | None:
    """What the run itself shows of a budget; None when it does not tell."""
    run, split = diagnosis.run, diagnosis.split
    stepped = bool(run.steps) and run.step_us > 0
    if budget.name == "free_share":
        return split.free_us / split.step_us if split and split.step_us > 0 and run.times_of != "work" else None
    if budget.name == "step_time":
        return _slowest_step_us(diagnosis) if stepped else None
    if budget.name == "memory":
        return diagnosis.peak_memory_bytes
    looked = any(outcome.outcome in ("fired", "quiet") for outcome in diagnosis.outcomes)
    known = run.step_us > 0 if budget.unit == "share" else stepped
    return _largest_saving(budget, left) if known and looked else None


def _slowest_step_us(diagnosis: Diagnosis) -> float:
    """The mean step of the slowest rank, µs; that of all where no rank can be told to be slower."""
    mean, slowest = diagnosis.run.step_us, None if diagnosis.split is None else diagnosis.split.slowest_us
    return mean if slowest is None or not math.isfinite(slowest) else max(mean, slowest)


def _largest_saving(budget: Budget, left: Sequence[Finding]) -> float:
    """The largest saving of any one finding: savings are upper estimates and overlap, so they are never added."""
    savings = [one.saving.share if budget.unit == "share" else one.saving.us for one in left]
    return max(savings, default=0.0) if all(map(math.isfinite, savings)) else math.nan
