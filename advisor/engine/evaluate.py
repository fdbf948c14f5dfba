# SPDX-License-Identifier: Apache-2.0
"""One rule on one profile: fired, quiet, not applicable, skipped or failed.

Nothing a rule or a table holds ends the run.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from advisor.engine import reason
from advisor.engine.excerpt import cells_of, rows_behind, with_excerpts
from advisor.engine.freed_communication import bound_by_free_communication, saving_of_groups, soften_severity
from advisor.engine.hit import Elsewhere, Hit, RuleResult, evidence_of_values
from advisor.engine.merge import saving_with_share
from advisor.engine.near_misses import Subject, first_of_quiet_subjects, measure_of_subject, nearest_groups
from advisor.engine.profile_like import ProfileLike
from advisor.engine.rank_means import RankMeans, means_by_rank
from advisor.engine.savings import most_of_group, time_of_groups, within_step
from advisor.engine.worst_events import with_occurrences
from advisor.engine.zero_divisors import zero_divisors
from advisor.expr.compile import Compiled
from advisor.expr.frame import FALSE, TRUE, UNKNOWN, Frame, Value, group_rows, is_missing, repeated
from advisor.expr.language import HIGHEST_LEVEL, RUN_SCOPE, run_values
from advisor.expr.settings import ENVIRONMENT, Environment, asked_variables, recorded_environment
from advisor.facts.derived import Overlap
from advisor.facts.observed import Setting
from advisor.facts.table import Array, Texts
from advisor.messages.errors import FactMissing
from advisor.messages.text import Text
from advisor.model.findings import Measure, Outcome, OutcomeName, Scalar
from advisor.model.run import UNEVEN, Run
from advisor.rules.bind import Rule


def evaluate(
    rule: Rule, profile: ProfileLike, run: Run, of_run: Mapping[str, float | str | None] | None = None
) -> RuleResult:
    """What a rule says about a profile. Whatever goes wrong becomes the outcome `failed`, with the place.

    `of_run` are the `run_values` of the run, where they are known.
    """
    try:
        with np.errstate(all="ignore"):
            return _evaluate_rule(rule, profile, run, run_values(run) if of_run is None else of_run)
    except FactMissing as missing:
        return _result_of_rule(rule, "skipped", reason.of_missing(missing, run), needs=missing.tables)
    except Exception as error:  # noqa: BLE001 - the one broad one: a rule that breaks must not end the run
        return _result_of_rule(rule, "failed", reason.of_failure(error, _place_of_error(error)))


def _place_of_error(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def _result_of_rule(
    rule: Rule,
    outcome: OutcomeName,
    why: Text | None = None,
    *,
    needs: Iterable[str] = (),
    hits: Iterable[Hit] = (),
    elsewhere: tuple[Elsewhere, ...] = (),
    measures: tuple[Measure, ...] = (),
) -> RuleResult:
    hints = why.hints if isinstance(why, reason.Reason) else ()
    words = why.text if isinstance(why, reason.Reason) else why
    said = Outcome(rule=rule.id, outcome=outcome, reason=words, needs=tuple(needs), measures=measures)
    return RuleResult(said, tuple(hits), elsewhere, hints)


def _evaluate_rule(rule: Rule, profile: ProfileLike, run: Run, of_run: Mapping[str, float | str | None]) -> RuleResult:
    named: dict[str, Any] = {**of_run, **{name: param.value for name, param in rule.params.items()}}
    named[ENVIRONMENT] = _environment_for_rule(rule, profile)
    if rule.applies_when is not None:
        applies = _single_truth(rule.applies_when, _with_names(Frame(None), named))
        if applies == UNKNOWN:
            unknown = [name for name in sorted(rule.applies_when.names) if named.get(name) is None]
            return _result_of_rule(rule, "skipped", reason.of_unknown_run(unknown, run))
        if applies != TRUE:
            names = _deciding_names(rule.applies_when, named)
            return _result_of_rule(rule, "not applicable", reason.of_condition(names, run))
    table, *_ = [profile.table(fact) for fact in rule.facts]
    frame = _with_names(Frame(table), named)
    if rule.where is not None:
        kept = repeated(rule.where.run(frame), frame.length)
        if frame.length and np.any(kept == UNKNOWN) and not np.any(kept == TRUE):
            return _skip_rule(rule, frame, rule.where, run)
        frame = frame.keep(kept == TRUE)
    if rule.for_each and not frame.length:
        return _result_of_rule(rule, "quiet")  # there is nothing of which it could say anything
    steps = _steps_of_ranks(profile, run) if "rank" in rule.for_each else None
    grouped = _group_frame(rule, frame, steps)
    bound_by_free_communication(rule, grouped, profile)
    return _judge_groups(rule, grouped, run, profile)


def _deciding_names(condition: Compiled, named: Mapping[str, Any]) -> Collection[str]:
    """The names a false condition asks about, but `level` where the highest one would make it no truer."""
    highest = _with_names(Frame(None), {**named, "level": HIGHEST_LEVEL})
    return condition.names if _single_truth(condition, highest) == TRUE else condition.names - {"level"}


def _environment_for_rule(rule: Rule, profile: ProfileLike) -> Environment:
    """The environment variables the rule asks for, as far as they were recorded."""
    try:
        return recorded_environment(profile.table(Setting), rule.settings) if rule.settings else {}
    except FactMissing:
        return {}


def _with_names(frame: Frame, named: dict[str, Any]) -> Frame:
    frame.named.update(named)
    return frame


def _single_truth(compiled: Compiled, frame: Frame) -> int:
    return int(np.asarray(compiled.run(frame)).reshape(-1)[0])


def _steps_of_ranks(profile: ProfileLike, run: Run) -> RankMeans | None:
    """The steps of each rank; None where those of the run stand for all."""
    if len(run.ranks) < 2 or run.step_us <= 0:  # noqa: PLR2004 - a single rank has no other step
        return None
    try:
        steps = profile.table(Overlap)
    except FactMissing:
        return None
    found = steps.once(means_by_rank, "span_us")
    return found if len(found.ranks) else None


def _step_of_groups(rank: Array, steps: RankMeans, step_us: float) -> Array:
    """Per group the step that times are held against: that of its rank where it is not about the mean of all."""
    found = steps.of_groups(rank, steps.means, step_us)
    return np.where(np.abs(found - step_us) > UNEVEN * step_us, found, step_us)


def _group_frame(rule: Rule, frame: Frame, steps: RankMeans | None) -> Frame:
    """The same rows in groups, with the keys and every `let` named.

    Where ranks are told apart, what is seen on a rank whose step is another than the mean is a part of its own, and
    what adds up over its steps is averaged over those that were recorded of it.
    """
    codes, keys = group_rows(frame, rule.for_each)
    groups = len(next(iter(keys.values()))) if keys else 1
    grouped = Frame(frame.table, frame.index, codes, groups)
    grouped.named.update(frame.named)
    for name, values in keys.items():
        grouped.named[name] = _key_values(frame, name, values)
    if steps is not None:
        rank, of_run = grouped.named["rank"], grouped.named
        grouped.named["step_us"] = _step_of_groups(rank, steps, of_run["step_us"])
        grouped.named["step_count"] = steps.of_groups(rank, steps.counts.astype(np.float64), of_run["step_count"])
    for name, compiled in rule.let.items():
        grouped.named[name] = compiled.run(grouped)
    return grouped


def _key_values(frame: Frame, name: str, values: list[object]) -> Value:
    store = frame.table.fact.columns()[name].store if frame.table is not None else ""
    if store == "text":
        return Texts.of(value if isinstance(value, str) else None for value in values)
    if store == "flag":
        return np.array([UNKNOWN if value is None else 2 * bool(value) for value in values], np.uint8)
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _judge_groups(rule: Rule, frame: Frame, run: Run, profile: ProfileLike) -> RuleResult:
    verdict = repeated(rule.when.run(frame), frame.groups)
    fired = np.flatnonzero(verdict == TRUE)
    if not len(fired) and frame.length and np.any(verdict == UNKNOWN):
        return _skip_rule(rule, frame, rule.when, run)
    hits = _hits_in_groups(rule, frame, run, fired)
    if hits:
        behind = rows_behind(rule, frame, profile)
        hits = with_excerpts(rule, behind, fired, hits)
        rows = behind.frame if rule.occurrences is not None and rule.occurrences.by else frame
        hits = with_occurrences(rule, rows, fired, hits, profile)
    near = nearest_groups(rule, frame, np.flatnonzero(verdict == FALSE))
    others = _savings_elsewhere(rule, frame, run, np.flatnonzero(verdict != TRUE)) if hits else ()
    measures = _measure_quiet_subjects(rule, frame, run, near, {hit.name[1] for hit in hits})
    return _result_of_rule(rule, "fired" if hits else "quiet", hits=hits, elsewhere=others, measures=measures)


def _measure_quiet_subjects(
    rule: Rule, frame: Frame, run: Run, near: Array, fired: Collection[Subject]
) -> tuple[Measure, ...]:
    """What was measured of each subject that did not fire anywhere, at the place that came nearest."""
    keys = _keys_of_groups(rule, frame, near)
    subjects = [tuple(keys[key][i] for key in rule.identity) for i in range(len(near))]
    chosen = first_of_quiet_subjects(subjects, fired)
    if not chosen:
        return ()
    groups = near[chosen]
    keys = {key: [values[i] for i in chosen] for key, values in keys.items()}
    values = keys | _values_of_groups([e.name for e in rule.evidence if e.name not in keys], frame, groups)
    savings = within_step(saving_of_groups(rule, frame)[groups], rule, run)
    evidence = [evidence_of_values(rule, {name: of[i] for name, of in values.items()}) for i in range(len(chosen))]
    measured = zip(chosen, savings, evidence, strict=True)
    return tuple(
        measure_of_subject(
            rule,
            dict(zip(rule.identity, subjects[place], strict=True)),
            saving_with_share(saving, run.step_us),
            evidence,
        )
        for place, saving, evidence in measured
    )


def _skip_rule(rule: Rule, frame: Frame, condition: Compiled, run: Run) -> RuleResult:
    """Skipped because a condition is missing everywhere: names the columns and run names at its root."""
    names, todo = set[str](), list(condition.names)
    while todo:
        name = todo.pop()
        if name not in names:
            names.add(name)
            todo += rule.let[name].names if name in rule.let else ()
    columns = [n for n in sorted(names) if frame.has(n) and bool(np.any(is_missing(frame.column(n))))]
    empty = [n for n in columns if bool(np.all(is_missing(frame.column(n))))]
    unknown = [n for n in sorted(names) if n in RUN_SCOPE and frame.named.get(n) is None]
    unknown += [n for n in sorted(names) if asked_variables([n])]
    labels = {item.name: item.label for item in rule.evidence}
    variables = _variables_in_sources(rule.let[name].source for name in names if name in rule.let)
    if not columns and not unknown:
        sources = [condition.source, *(rule.let[name].source for name in rule.let if name in names)]
        zeros = zero_divisors(rule, frame, sources, grouped=condition is not rule.where)
        if zeros and not variables:  # of variables, zero is how often one was recorded
            return _result_of_rule(rule, "skipped", reason.of_zero_divisors(zeros, labels))
        unknown = [n for n in rule.let if n in names and bool(np.all(is_missing(frame.named.get(n))))]
    if variables and not _holds_environment(frame):
        why = reason.of_no_environment(run)
    else:
        why = reason.of_missing_values(rule.fact, empty or columns, unknown, labels, run, variables, partly=not empty)
    return _result_of_rule(rule, "skipped", why, needs=[f"{rule.fact.table}.{name}" for name in empty or columns])


def _holds_environment(frame: Frame) -> bool:
    """Whether a rule that reads settings has more to read than what the profiler was told."""
    if frame.table is None or frame.table.fact is not Setting:
        return True
    return not bool(np.all(frame.table.texts("kind").isin(["profiler"])))


_NAMED = re.compile(r'\bname == "([A-Z][A-Z0-9_]+)"')


def _variables_in_sources(sources: Iterable[str]) -> list[str]:
    """The environment variables that these expressions look for among the recorded settings."""
    return sorted({variable for source in sources for variable in _NAMED.findall(source)})


def _hits_in_groups(rule: Rule, frame: Frame, run: Run, fired: Array) -> list[Hit]:
    if not len(fired):
        return []
    keys = _keys_of_groups(rule, frame, fired)
    lets = [name for name, compiled in rule.let.items() if not compiled.type.per_row]
    shown = [evidence.name for evidence in rule.evidence]
    values = keys | _values_of_groups([n for n in dict.fromkeys((*lets, *shown)) if n not in keys], frame, fired)
    severity = soften_severity(rule, frame, fired, _level_by_hit(rule.severity, frame, fired), run.step_us)
    confidence = _level_by_hit(rule.confidence, frame, fired)
    won_us = saving_of_groups(rule, frame)[fired]
    saving = within_step(won_us, rule, run)
    imposes = rule.saving.imposes if rule.saving is not None else None
    imposed = within_step(time_of_groups(imposes, frame)[fired], rule, run)
    restated = within_step(time_of_groups(rule.symptom, frame)[fired], rule, run)
    fix = _fix_steps_by_hit(rule, frame, fired)
    steps, counts = _own_steps(frame, fired, run), _count_steps(frame, fired)
    return [
        Hit(
            rule=rule,
            run=run,
            keys={key: keys[key][i] for key in keys},
            severity=severity[i],
            confidence=confidence[i],
            saving_us=saving[i],
            wins_nothing=bool(np.isfinite(won_us[i])) and saving[i] <= 0,
            restated_us=restated[i],
            imposed_us=imposed[i],
            values={name: values[name][i] for name in values},
            fix=fix[i],
            step_us=steps[i],
            step_count=counts[i],
        )
        for i in range(len(fired))
    ]


def _values_of_groups(names: Iterable[str], frame: Frame, groups: Array) -> dict[str, list[Scalar]]:
    """What goes by these names in each of these groups."""
    return {name: _plain_values(frame.named[name], groups, frame.groups) for name in names}


def _own_steps(frame: Frame, fired: Array, run: Run) -> list[float | None]:
    """The step of the rank of each of these groups, µs; None where the mean of the run stands for it."""
    steps = np.asarray(frame.named["step_us"], np.float64)
    if steps.ndim == 0:
        return [None] * len(fired)
    return [None if us == run.step_us else float(f"{us:.9g}") for us in steps[fired].tolist()]


def _count_steps(frame: Frame, groups: Array) -> list[int]:
    """Over how many recorded steps the times of each of these groups are averaged."""
    counts = repeated(np.asarray(frame.named["step_count"], np.float64), frame.groups)[groups]
    return [int(count) for count in counts.tolist()]


def _savings_elsewhere(rule: Rule, frame: Frame, run: Run, quiet: Array) -> tuple[Elsewhere, ...]:
    """What the remedy would win in these groups, where that decides what it wins as a whole."""
    if rule.saving is None or not rule.saving.asks_quiet_ranks:
        return ()
    keys = _keys_of_groups(rule, frame, quiet)
    us = saving_of_groups(rule, frame)[quiet]
    most = most_of_group(rule, run)
    rows = [dict(zip(keys, values, strict=True)) for values in zip(*keys.values(), strict=True)]
    return tuple(
        Elsewhere(
            (rule.id, tuple(row[key] for key in rule.identity)),
            _whole_number(row.get("rank")),
            _whole_number(row.get("step")),
            one,
            count,
        )
        for row, one, count in zip(rows, np.clip(us, 0.0, most).tolist(), _count_steps(frame, quiet), strict=True)
    )


def _whole_number(value: Scalar) -> int | None:
    return value if isinstance(value, int) else None


def _keys_of_groups(rule: Rule, frame: Frame, groups: Array) -> dict[str, list[Scalar]]:
    """The keys of these groups."""
    found = {key: _plain_values(frame.named[key], groups, frame.groups) for key in rule.for_each}
    return {key: _whole_keys(rule, key, values) for key, values in found.items()}


def _whole_keys(rule: Rule, key: str, values: list[Scalar]) -> list[Scalar]:
    """Keys of whole-number columns as whole numbers."""
    if rule.fact.columns()[key].store != "int":
        return values
    return [int(value) if isinstance(value, float) else value for value in values]


def _plain_values(value: Value, fired: Array, groups: int) -> list[Scalar]:
    """The values of the groups that fired as plain ones; one that is the same for all groups stands for each."""
    if value is None or isinstance(value, str):
        return [value] * len(fired)
    return cells_of(value if isinstance(value, Texts) else repeated(value, groups), fired)


T = TypeVar("T")


def _level_by_hit(levels: Sequence[tuple[T, Compiled | None]], frame: Frame, fired: Array) -> list[T]:
    """Per hit the first level whose condition is true; the last one is unconditional."""
    open_ = np.ones(len(fired), bool)
    chosen = np.full(len(fired), len(levels) - 1)
    for place, (_, test) in enumerate(levels):
        if test is not None:
            holds = repeated(test.run(frame), frame.groups)[fired] == TRUE
            chosen[open_ & holds] = place
            open_ &= ~holds
    return [levels[place][0] for place in chosen.tolist()]


def _fix_steps_by_hit(rule: Rule, frame: Frame, fired: Array) -> list[tuple[int, ...] | None]:
    """Per hit the steps of the remedy that apply: those whose condition is not false, for unknown is not a no."""
    if not any(rule.fix_when):
        return [None] * len(fired)
    conditions = [TRUE if test is None else test.run(frame) for test in rule.fix_when]
    apply = np.stack([repeated(holds, frame.groups)[fired] != FALSE for holds in conditions], axis=1)
    return [None if steps.all() else tuple(np.flatnonzero(steps).tolist()) for steps in apply]
