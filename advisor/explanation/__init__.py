# SPDX-License-Identifier: Apache-2.0
"""The grounds of a rule's word on a run: what it read, measured and held it against, and how a saving came about."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.engine.profile_like import ProfileLike
from advisor.explanation.cases import Cases
from advisor.explanation.logic import logic_of_rule, meaning_of_table, thresholds_in_force
from advisor.messages.text import Text
from advisor.model.explanation import Case, Explanation
from advisor.model.findings import Diagnosis, RuleInfo
from advisor.policy.settings import Settings
from advisor.release import VERSION
from advisor.rules.bind import Rule

__all__ = ["explain", "meaning_of_table"]

ROWS = 10
"""How many rows are shown of a subject where nobody asks for more."""


def explain(
    info: RuleInfo,
    rule: Rule | None = None,
    diagnosis: Diagnosis | None = None,
    *,
    fingerprint: str = "",
    profile: ProfileLike | None = None,
    settings: Settings | None = None,
    rows: int = ROWS,
    off: bool = False,
) -> Explanation:
    """What is known of a rule, and of what it said of a run.

    `info` is the rule as it was evaluated, `rule` the rule itself where it is at hand; `fingerprint` asks for one
    subject only. With the profile of the diagnosis every value is known, and as many rows as asked for; without it,
    those that the diagnosis keeps, and what follows from them. `off` says that the settings switch the rule off.
    """
    outcome = next((one for one in diagnosis.outcomes if one.rule == info.id), None) if diagnosis else None
    cases: tuple[Case, ...] = ()
    if diagnosis is not None:
        made = Cases(info, rule, diagnosis, profile, rows)
        findings = [f for f in diagnosis.findings if f.rule == info.id and fingerprint in ("", f.fingerprint)]
        measures = outcome.measures if outcome is not None else ()
        near = tuple(measure for measure in measures if fingerprint in ("", measure.fingerprint))
        cases = (*made.of_findings(findings), *made.of_measures(near))
    return Explanation(
        version=diagnosis.version if diagnosis is not None else VERSION,
        rule=info,
        logic=logic_of_rule(rule) if rule is not None else None,
        thresholds=thresholds_in_force(info, rule, settings),
        run=diagnosis.run if diagnosis is not None else None,
        outcome=outcome,
        cases=cases,
        notes=tuple(_explanation_notes(info, rule, diagnosis, evaluated=outcome is not None, off=off)),
    )


def _explanation_notes(
    info: RuleInfo, rule: Rule | None, diagnosis: Diagnosis | None, *, evaluated: bool, off: bool
) -> Iterator[Text]:
    if off:
        yield Text(en="The settings of the project switch the rule off.", zh="项目配置已关闭该规则。")
    if rule is None:
        yield Text(
            en="The rule itself is not at hand; `--rules DIR` names the folder of rules of your own.",
            zh="未找到该规则文件；自定义规则请用 `--rules DIR` 指定目录。",
        )
    elif _logic_differs(info, rule.info()):
        yield Text(
            en="The rule has changed since this diagnosis was made: what is shown of its logic is the rule of today.",
            zh="生成该诊断之后规则已有改动，此处显示的逻辑为当前版本。",
        )
    if diagnosis is not None and not evaluated:
        yield Text(
            en="The rule was not among those held against this run.",
            zh="该诊断未执行此规则。",
        )


def _logic_differs(then: RuleInfo, now: RuleInfo) -> bool:
    """Whether more than the values of thresholds is another."""
    names = [{param.name: param.unit for param in info.params} for info in (then, now)]
    words = [(info.title, info.titles, info.why, info.labels) for info in (then, now)]
    return names[0] != names[1] or words[0] != words[1]
