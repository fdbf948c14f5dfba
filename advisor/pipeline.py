# SPDX-License-Identifier: Apache-2.0
"""The one place where the parts meet: files to facts, facts and rules to a Diagnosis, diagnoses to what follows.

The command line, the Python API, the bot and the server for assistants all put together here what they show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from advisor.analysis.steps.step_marks import MARKS, marked_step_us
from advisor.chips.chip_files import shipped_chips
from advisor.chips.known_chips import ToldChip
from advisor.facts.base import MISSING, Fact
from advisor.facts.derivation import Derivation
from advisor.facts.derived import (
    Coverage,
    EngineStep,
    Exchange,
    HeldKernels,
    HostKind,
    JobSign,
    MemoryPeak,
    ModuleType,
    OperatorRoofline,
    OperatorStack,
    Overlap,
    PatternModule,
    PatternOperator,
    RankPhase,
    RankSplit,
    RecordedSpan,
    SeenPeer,
    Spending,
    StageTime,
    TypeOperator,
)
from advisor.facts.observed import OBSERVED, Damage, Kernel, Setting, StepPhase, StepWindow
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import Gather, WantedFact, fact_of_wanted
from advisor.facts.selection import FirstRow
from advisor.facts.table import Table
from advisor.machine.input_folders import folder_outside_input
from advisor.messages.errors import FactMissing, InputError
from advisor.messages.text import Text
from advisor.model.findings import Account, Diagnosis, Exhibit, Finding, Outcome, RuleInfo, TimeSplit
from advisor.model.job import JobKind
from advisor.model.progress import Progress, silent
from advisor.model.run import InputNote, Run, Sides
from advisor.model.saved import is_saved, saved_diagnosis
from advisor.rank_work.local import LocalProcesses, worker_count
from advisor.release import VERSION
from advisor.summary.account import account_of_lengths, step_account
from advisor.summary.chart_data import CHARTED, make_exhibits, slack_by_rank, step_us, time_split, worth_by_stage
from advisor.summary.job_kind import infer_framework, infer_job
from advisor.summary.unread_input import unread_input

if TYPE_CHECKING:
    import pandas as pd

    from advisor.comparison.verification import Verification, Verifications
    from advisor.engine.module_places import Named
    from advisor.fact_store.cache_folder import CacheFolder
    from advisor.inspection import Ranks
    from advisor.model.comparison import Comparison, Tolerance
    from advisor.model.explanation import Explanation
    from advisor.model.inspection import Inspection
    from advisor.model.modules import ModuleReport
    from advisor.model.statistics import Statistics
    from advisor.model.verdict import Verdict
    from advisor.policy.policy import FailCondition
    from advisor.policy.settings import Settings
    from advisor.rank_work.cluster_asked import ClusterAsked
    from advisor.rules.bind import Rule
    from advisor.rules.catalog import Catalog
    from advisor.sources import UnpackedInput

F = TypeVar("F", bound=Fact)

ALWAYS: tuple[type[Fact], ...] = (
    Coverage,
    Spending,
    MemoryPeak,
    StepWindow,
    StepPhase,
    RankPhase,
    RecordedSpan,
    Damage,
    Setting,
    JobSign,
    EngineStep,
    ModuleType,
    PatternModule,
    OperatorRoofline,
    HeldKernels,
    RankSplit,
    StageTime,
    SeenPeer,
)
"""What a diagnosis says of every run, whatever tables the rules read."""

LINES = (OperatorStack, TypeOperator, PatternOperator)
"""What tells the line of the user's program behind a finding, where call stacks were recorded."""

HOST_CALLS = FirstRow(HostKind)
"""Whether any call of the host was recorded."""


def open_profile(
    path: Path,
    *,
    jobs: int | None = None,
    progress: Progress = silent,
    also: Sequence[Derivation] = (),
    chip: ToldChip | None = None,
    job: JobKind | None = None,
    cache: CacheFolder | None = None,
    on: ClusterAsked | None = None,
    parts: Sequence[Path] = (),
) -> Profile:
    """What lies at this path, as a profile; with `also`, more can be derived from it than rules read.

    Of a folder only the `parts` are read, paths in it, where any are named.
    Little is read before a table is asked for. `chip` is what the user says of the chip, and `job` what of the job;
    `on` is the cluster whose workers read the ranks, where it is not this machine. What lies in the `cache` of
    ranks that did not change is not read again; archives are, for they are unpacked anew.

    Raises:
        InputError: Nothing there can be read; the message says what was found and what to do.
        UsageError: The cache would lie in the input.
    """
    from advisor.analysis import DERIVATIONS
    from advisor.rules.patterns import shipped_patterns
    from advisor.sources import UnpackedInput, open_unpacked

    chip = chip or shipped_chips().told(None)
    unpacked = UnpackedInput(path if on is None else path.absolute(), parts)
    run, sources = open_unpacked(unpacked, jobs=jobs, progress=progress)
    gather: Gather = LocalProcesses(worker_count(jobs, sources), progress) if on is None else on.gather(progress)
    return Profile(
        _as_told(run, chip, job),
        sources,
        (*DERIVATIONS, *also),
        gather=gather if cache is None else _with_cache(cache, gather, unpacked, run, progress),
        keeps=unpacked,
        usual_patterns=lambda: shipped_patterns().chains,
        chips=chip.table,
        say_missing=_say_missing,
    )


def _say_missing(missing: FactMissing, run: Run) -> Text:
    """What was not recorded, and how to have it next time."""
    from advisor.engine.reason import of_missing

    return of_missing(missing, run).text


def _with_cache(cache: CacheFolder, gather: Gather, unpacked: UnpackedInput, run: Run, progress: Progress) -> Gather:
    """Takes from the cache what is there, and has the rest done; what was unpacked goes away, and is not kept.

    Raises:
        UsageError: The cache would lie in the input.
    """
    from advisor.rank_work.stored_work import StoredWork

    folder_outside_input(cache.folder, unpacked.input_path, run.capture_paths)
    return gather if unpacked.packed else StoredWork(cache, gather, progress, run.name)


def _as_told(run: Run, chip: ToldChip, job: JobKind | None) -> Run:
    """The run with the chip that counts, notes of what the user told, and what the user says of the job."""
    name, about = chip.table.agree(run.chip, chip.name)
    notes = [InputNote(about=about, names=(chip.name,))] if about else []
    if name in chip.table.sources:
        notes.append(InputNote(about="own_chip", names=(f"{name}: {chip.table.sources[name]}",)))
    run = run.model_copy(update={"chip": name, "notes": (*run.notes, *notes)})
    return run if job is None else run.model_copy(update={"job": job})


def diagnose(
    profile: Profile,
    rules: Catalog | Callable[[], Catalog],
    progress: Progress = silent,
    *,
    tell_exhibits: Callable[[tuple[Exhibit, ...]], None] | None = None,
    events_first: bool = False,
) -> Diagnosis:
    """Every rule held against the profile; ranked findings, and what became of each rule.

    `tell_exhibits` is told what charts will show as soon as that is known, so that they can be drawn beside the rest.
    With `events_first`, for a capture that is small in memory, rules are read after that: they want what rests on
    events, which is read without asking them.
    """
    given = rules if callable(rules) else lambda: rules
    catalog = None if events_first else given()
    shown = prepare_exhibits(profile, catalog)
    if tell_exhibits is not None:
        tell_exhibits(shown)
    return judge_profile(profile, catalog or given(), shown, progress)


def prepare_exhibits(
    profile: Profile, catalog: Catalog | None = None, also: Iterable[type[Fact]] = ()
) -> tuple[Exhibit, ...]:
    """What charts will show; reads with it what the rules want, and `also` what somebody else will want.

    Without the rules, for a capture that is small in memory: everything that rests on events.
    """
    if catalog is None:
        profile.prepare_events([*_behind_lines(profile), *(fact for fact in OBSERVED if fact.among_events)])
    else:
        _look_for_chains(profile, catalog)
        profile.prepare([*_wanted_of(catalog), *CHARTED, *MARKS, *_behind_lines(profile), *also])
    return make_exhibits(profile)


def _tables_required(rule: Rule, profile: Profile) -> frozenset[str]:
    """The recorded tables that a rule cannot do without."""
    return frozenset(root.table for fact in rule.facts for root in profile.observed_required(fact))


def _ranks_timed_by_kernels(profile: Profile) -> frozenset[int]:
    """The ranks of whose steps none is told by the profiler's own sums alone."""
    overlaps = profile.table_if_recorded(Overlap)
    if overlaps is None:
        return frozenset()
    by_events = overlaps.texts("source").isin(["intervals"])
    return frozenset(overlaps["rank"][by_events].tolist()).difference(overlaps["rank"][~by_events].tolist())


def judge_profile(
    profile: Profile, catalog: Catalog, shown: tuple[Exhibit, ...], progress: Progress = silent
) -> Diagnosis:
    """Every rule held against a profile of which is known what charts will show."""
    from advisor.engine.doubt import with_doubts, with_inflated_measures, with_inflated_savings
    from advisor.engine.evaluate import evaluate
    from advisor.engine.implausible_times import without_implausible
    from advisor.engine.merge import merge
    from advisor.engine.rank import rank_findings
    from advisor.engine.unseen_ranks import with_ranks_left_out, with_unseen_last, with_upper_bounds
    from advisor.expr.language import run_values

    _look_for_chains(profile, catalog)
    profile.prepare([*_wanted_of(catalog), *MARKS, *_behind_lines(profile)])
    run = measured_run(profile)
    waited = slack_by_rank(splits) if (splits := profile.table_if_recorded(RankSplit)) is not None else {}
    worth = worth_by_stage(stages) if (stages := profile.table_if_recorded(StageTime)) is not None else {}
    of_run = run_values(run)
    findings: list[Finding] = []
    outcomes: list[Outcome] = []
    for done, rule in enumerate(catalog.rules, 1):
        result = evaluate(rule, profile, run, of_run)
        outcome = with_ranks_left_out(result.outcome, rule, profile, run, catalog.tolerated_loss)
        outcomes.append(outcome)
        unseen = frozenset(outcome.without_ranks)
        seen = {rank: us for rank, us in waited.items() if rank not in unseen}
        bounded = with_upper_bounds(merge(result, seen, worth), rule, profile, catalog.tolerated_loss)
        by_last = rule.saving is not None and rule.saving.across == "critical"
        findings += with_unseen_last(bounded, waited, unseen) if by_last else bounded
        progress("rules", done, len(catalog.rules))
    needed = {rule.id: _tables_required(rule, profile) for rule in catalog.rules}
    doubted = with_doubts(findings, catalog.rules, needed, _ranks_timed_by_kernels(profile))
    told, judged = without_implausible(with_inflated_savings(doubted, catalog.rules), outcomes, needed)
    undoubted = {one.fingerprint: one.confidence for one in findings}
    readers, found = run.readers, {one.rule for one in told}
    return Diagnosis(
        version=VERSION,
        run=run,
        split=None if splits is None else _split_of_profile(profile, splits),
        account=_account_of_profile(profile),
        peak_memory_bytes=_peak_memory(profile),
        findings=_with_places(profile, run, catalog, rank_findings(told, catalog, run.ranks, undoubted)),
        outcomes=with_inflated_measures(judged, told, catalog.rules),
        rules=tuple(_told_of_rule(rule.info(readers), found) for rule in catalog.rules),
        exhibits=shown,
        unread=unread_input(profile.table_if_recorded(Damage)),
        asked=catalog.asked,
    )


def _told_of_rule(info: RuleInfo, found: Collection[str]) -> RuleInfo:
    """What a diagnosis keeps of a rule: its remedy only where it is among those that found something."""
    return info if info.id in found else info.without_remedy()


def _wanted_of(catalog: Catalog) -> tuple[WantedFact, ...]:
    """What these rules read, and what is said of a run whatever they read."""
    from advisor.engine.needed_tables import wanted_by

    return *wanted_by(catalog.rules), *ALWAYS, HOST_CALLS


def _look_for_chains(profile: Profile, catalog: Catalog) -> None:
    """Looks for the chains of kernels that the folders of rules tell of."""
    if catalog.patterns is not None:
        profile.look_for(catalog.patterns.chains)


def open_given(
    path: Path,
    *,
    jobs: int | None = None,
    progress: Progress = silent,
    chip: ToldChip | None = None,
    job: JobKind | None = None,
    tables: bool = False,
    cache: CacheFolder | None = None,
    on: ClusterAsked | None = None,
) -> Diagnosis | Profile:
    """What lies at this path: the diagnosis in a .json, or a capture; with `tables` it can be set beside another.

    Raises:
        InputError: Nothing there can be read.
    """
    if is_saved(path):
        return saved_diagnosis(path)
    if not tables:
        return open_profile(path, jobs=jobs, progress=progress, chip=chip, job=job, cache=cache, on=on)
    from advisor.comparison.tables import ALSO

    return open_profile(path, jobs=jobs, progress=progress, also=ALSO, chip=chip, job=job, cache=cache, on=on)


def diagnose_if_needed(
    given: Diagnosis | Profile, catalog: Catalog, progress: Progress = silent, *, tables: bool = False
) -> Diagnosis:
    """The diagnosis of what was opened; with `tables` what a comparison wants is read on the way."""
    if isinstance(given, Diagnosis):
        return given
    if not tables:
        return diagnose(given, catalog, progress)
    from advisor.comparison.tables import WANTED

    return judge_profile(given, catalog, prepare_exhibits(given, catalog, WANTED), progress)


def compare(
    before: Diagnosis, after: Diagnosis, settings: Settings | None = None, tolerance: Tolerance | None = None
) -> Comparison:
    """What changed beyond the noise that is said here, else by the settings, else what is usual."""
    from advisor.comparison import compare as compare_diagnoses
    from advisor.model.comparison import Tolerance

    return compare_diagnoses(before, after, tolerance or (settings.tolerance if settings else Tolerance()))


def compare_opened(
    before: Diagnosis | Profile,
    after: Diagnosis | Profile,
    catalog: Catalog,
    tolerance: Tolerance | None = None,
    *,
    settings: Settings | None = None,
    progress: Progress = silent,
    tables: bool = False,
    paths: tuple[Path, Path] | None = None,
) -> Comparison:
    """What changed between what was opened, diagnosed where it is not yet; with `tables`, kernels, operators, calls,
    collectives and memory side by side, which only two captures hold. Runs of one name are called by their `paths`.
    """
    from advisor.comparison.run_names import runs_told_apart
    from advisor.comparison.tables import CAPTURES_NEEDED, table_differences

    old = diagnose_if_needed(before, catalog, progress, tables=tables)
    new = diagnose_if_needed(after, catalog, progress, tables=tables)
    found = compare(*(runs_told_apart((old, new), paths) if paths else (old, new)), settings, tolerance)
    if not tables:
        return found
    if isinstance(before, Diagnosis) or isinstance(after, Diagnosis):
        return found.model_copy(update={"notes": (*found.notes, CAPTURES_NEEDED)})
    beside = table_differences(before, after)
    return found.model_copy(update={"tables": beside.tables, "notes": (*found.notes, *beside.notes)})


def open_to_count(
    path: Path,
    *,
    jobs: int | None = None,
    progress: Progress = silent,
    chip: ToldChip | None = None,
    job: JobKind | None = None,
    cache: CacheFolder | None = None,
    on: ClusterAsked | None = None,
    parts: Sequence[Path] = (),
) -> Profile:
    """What lies at this path, as a profile that can be counted too. The arguments are those of `open_profile`.

    Raises:
        InputError: Nothing there can be read.
    """
    from advisor.statistics.duration_bins import DERIVATIONS
    from advisor.statistics.micro_batches import micro_batches

    also = (*DERIVATIONS, micro_batches)
    return open_profile(
        path, jobs=jobs, progress=progress, also=also, chip=chip, job=job, cache=cache, on=on, parts=parts
    )


def _losses_behind(profile: Profile, facts: Iterable[type[Fact]], settings: Settings | None) -> Diagnosis:
    """What of the capture was damaged, and what is lost of the tables that these facts rest on.

    Which rows are gone is known by others that need them, which are read for it.
    """
    from advisor.engine.evaluate import evaluate
    from advisor.engine.merge import merge

    tables = _tables_behind(profile, facts)
    rules = _rules_of_losses(profile, tables, settings)
    profile.prepare(_wanted_of_losses(rules))
    overlaps = profile.table_if_recorded(Overlap) if rules else None
    run = profile.run if overlaps is None else profile.run.model_copy(update={"step_us": step_us(overlaps)})
    found = (finding for rule in rules for finding in merge(evaluate(rule, profile, run)))
    readers = run.readers
    return Diagnosis(
        version=VERSION,
        run=run,
        findings=tuple(one for one in found if one.subject.get("of", Kernel.table) in tables),
        rules=tuple(rule.info(readers) for rule in rules),
        unread=unread_input(profile.table_if_recorded(Damage)),
    )


def _tables_behind(profile: Profile, facts: Iterable[type[Fact]]) -> frozenset[str]:
    return frozenset(root.table for fact in facts for root in profile.observed_behind(fact))


def _rules_of_losses(profile: Profile, tables: frozenset[str], settings: Settings | None) -> tuple[Rule, ...]:
    """The rules that tell which rows are gone; none where nothing tells of these tables."""
    from advisor.rules.catalog import LOSSES, shipped_rules

    told = _tables_behind(profile, (Coverage,))
    return shipped_rules(LOSSES, settings) if tables & told else ()


def _wanted_of_losses(rules: Sequence[Rule]) -> tuple[WantedFact, ...]:
    from advisor.engine.needed_tables import wanted_by

    return (*wanted_by(rules), *((Overlap,) if rules else ()), Damage)


def count_profile(
    profile: Profile, names: Sequence[str] = (), by: Sequence[str] = (), *, per_rank: bool = False
) -> Statistics:
    """These tables of a profile that was opened to be counted, or every one it gives.

    What `losses_of_tables` will want is read on the way.

    Raises:
        UsageError: There is no such table, it has no such key, or its rows cannot be put together by these.
    """
    from advisor.statistics.counting import facts_behind, make_statistics

    facts = facts_behind(names)
    rules = _rules_of_losses(profile, _tables_behind(profile, facts), None)
    counted = make_statistics(profile, names, by, per_rank=per_rank, also=_wanted_of_losses(rules))
    if Overlap not in facts:
        return counted
    steps = _steps_with_work(profile.run, profile.table_if_recorded(Overlap))
    return counted.model_copy(update={"times_of": profile.run.model_copy(update={"steps": steps}).times_of})


def losses_of_tables(profile: Profile, counted: Statistics, settings: Settings | None = None) -> Diagnosis:
    """What of the capture was damaged, and what is lost of what these tables are made from; nothing else is judged."""
    from advisor.statistics.counting import facts_behind

    names = [table.name for table in counted.tables]
    return _losses_behind(profile, facts_behind(names) if names else (), settings)


def count_as_frame(profile: Profile, name: str, by: Sequence[str] = (), *, per_rank: bool = False) -> pd.DataFrame:
    """One of these tables as a DataFrame.

    Raises:
        FactMissing: What it is made from was not recorded.
        UsageError: There is no such table, it has no such key, or its rows cannot be put together by these.
    """
    from advisor.statistics.counting import statistic_frame

    return statistic_frame(profile, name, by, per_rank=per_rank)


def verify(comparison: Comparison, finding: str | None = None) -> Verification | Verifications:
    """Whether fixing one finding won what it promised, or what became of every finding where none is named.

    Raises:
        UsageError: There is no such finding; the message names those that come near.
    """
    from advisor.comparison.verification import verify_all, verify_finding

    return verify_all(comparison) if finding is None else verify_finding(comparison, finding)


def bars_in_force(
    asked: Sequence[FailCondition] | None, settings: Settings | None, *, compared: bool
) -> Sequence[FailCondition]:
    """From where on findings fail a run: as asked, else by the settings, else what fits."""
    from advisor.policy.gate import ALONE, CHANGED

    said = asked if asked is not None else settings.fail_on if settings else None
    return said if said is not None else CHANGED if compared else ALONE


def verdict_by_settings(
    diagnosis: Diagnosis, comparison: Comparison | None, settings: Settings | None, bars: Sequence[FailCondition]
) -> Verdict:
    """Whether the run may pass, by the policy of the settings."""
    from advisor.policy.gate import judge_by_policy as hold_against
    from advisor.policy.policy import Policy

    return hold_against(diagnosis, comparison, settings.policy if settings else Policy(), bars, utc_today())


def utc_today() -> date:
    """The day by which suppressions end: the same everywhere, whatever the time zone of a machine."""
    return datetime.now(UTC).date()


def explain(
    rule: str,
    fingerprint: str,
    diagnosis: Diagnosis | None,
    catalog: Catalog,
    *,
    profile: Profile | None = None,
    settings: Settings | None = None,
    rows: int | None = None,
    in_force: Catalog | None = None,
) -> Explanation:
    """Why a rule spoke or did not; `in_force` are the rules that the settings leave, where `catalog` has more.

    Raises:
        UsageError: There is no such finding or rule; the message names those that come near.
    """
    from advisor.explanation import ROWS
    from advisor.explanation import explain as give_grounds
    from advisor.explanation import subject as asked

    wanted = asked.find_rule_and_finding(rule, fingerprint, diagnosis, catalog)
    off = in_force is not None and wanted.rule is not None and wanted.rule.id not in in_force.by_id
    return give_grounds(
        wanted.info,
        wanted.rule,
        diagnosis,
        fingerprint=wanted.fingerprint,
        profile=profile,
        settings=settings,
        rows=ROWS if rows is None else rows,
        off=off,
    )


def inspect(
    path: Path,
    catalog: Catalog,
    *,
    jobs: int | None = None,
    progress: Progress = silent,
    chip: ToldChip | None = None,
    job: JobKind | None = None,
    cache: CacheFolder | None = None,
    parts: Sequence[Path] = (),
) -> Inspection:
    """What lies at a path: sources, ranks, files, tables, which rules can look, and how to record the rest.

    Of a folder only the `parts` are looked into, paths in it, where any are named. Of ranks that were captured alike
    two are read, which stand for the others. What cannot be diagnosed is described.

    Raises:
        InputError: Nothing lies at the path.
        UsageError: The cache would lie in the input.
    """
    from advisor.analysis import DERIVATIONS
    from advisor.inspection import Ranks, inspect_what_is_refused
    from advisor.sources import UnpackedInput, check_reachable, open_unpacked

    check_reachable(path)
    chip = chip or shipped_chips().told(None)
    with closing(UnpackedInput(path, parts)) as unpacked:
        try:
            run, sources = open_unpacked(unpacked, jobs=jobs, progress=progress)
        except InputError as refused:
            return inspect_what_is_refused(unpacked, refused)
        run = _as_told(run, chip, job)
        ranks = Ranks(run, sources)
        gather: Gather = LocalProcesses(worker_count(jobs, ranks.to_read), progress)
        if cache is not None:
            gather = _with_cache(cache, gather, unpacked, run, progress)
        profile = Profile(run, ranks.to_read, DERIVATIONS, gather=gather, chips=chip.table)
        return _inspect_profile(unpacked, ranks, profile, catalog)


def modules(profile: Profile, settings: Settings | None = None) -> ModuleReport:
    """Where in the model the time goes; without ranks where modules were not marked."""
    from advisor.facts.derived import ModuleMarks, ModuleOperator, ModuleShare
    from advisor.summary.module_report import module_report

    facts = (ModuleMarks, ModuleShare, ModuleOperator)
    rules = _rules_of_losses(profile, _tables_behind(profile, facts), None)
    profile.prepare([*facts, JobSign, *_wanted_of_losses(rules)])
    run = profile.run.model_copy(update={"job": infer_job(profile.run, profile.table(JobSign))})
    return module_report(
        run,
        profile.table_if_recorded(ModuleMarks),
        profile.table_if_recorded(ModuleShare),
        profile.table_if_recorded(ModuleOperator),
        _losses_behind(profile, facts, settings),
    )


def write_facts(profile: Profile, target: Path) -> Mapping[str, int]:
    """Writes every table of a profile that was just opened into a store of facts; gives how many rows each has.

    Raises:
        OSError: The store cannot be written.
    """
    from advisor.fact_store.writing import StoredEvents, StoreWriter
    from advisor.facts.names import FACTS

    with StoreWriter(target) as writer:
        folder = str(writer.folder)
        asked: dict[type[Fact], WantedFact] = {
            fact: StoredEvents(fact, folder) if fact.heavy else fact for fact in FACTS.values()
        }
        further = _not_read_by_diagnoses(profile)
        for part in profile.read_ranks(one for fact, one in asked.items() if fact not in further):
            writer.add_source(part)
        for number, part in enumerate(profile.anew().read_ranks([*(asked[fact] for fact in further), Damage])):
            writer.add_further(number, part)
        for fact in (fact for fact in asked if fact.across_ranks):
            if (table := profile.table_if_recorded(fact)) is not None:
                writer.add_table(table)
        writer.finish(profile.run, further)
    return writer.rows


def _not_read_by_diagnoses(profile: Profile) -> list[type[Fact]]:
    """Observed facts that nothing rests on that the shipped rules and every report read."""
    from advisor.machine.shipped_files import shipped_folder
    from advisor.rules.catalog import Catalog

    wanted = [*_wanted_of(Catalog.load([shipped_folder("rules")])), *CHARTED, *LINES]
    read = frozenset[type[Fact]]().union(*(profile.observed_behind(fact_of_wanted(one)) for one in wanted))
    return [fact for fact in OBSERVED if fact not in read]


def _inspect_profile(unpacked: UnpackedInput, ranks: Ranks, profile: Profile, catalog: Catalog) -> Inspection:
    """What is known of the ranks that are read, and which rules can look at them."""
    from advisor.engine.evaluate import evaluate
    from advisor.engine.unseen_ranks import with_ranks_left_out
    from advisor.inspection import OUTLINES, inspect_run

    _look_for_chains(profile, catalog)
    profile.prepare([*_wanted_of(catalog), *OUTLINES])
    run = measured_run(profile)
    results = [evaluate(rule, profile, run) for rule in catalog.rules]
    outcomes = [
        with_ranks_left_out(result.outcome, rule, profile, run, catalog.tolerated_loss)
        for result, rule in zip(results, catalog.rules, strict=True)
    ]
    unread = unread_input(profile.table_if_recorded(Damage))
    return inspect_run(
        unpacked, ranks, profile, run=run, rules=catalog.rules, results=results, outcomes=outcomes, unread=unread
    )


def _with_places(profile: Profile, run: Run, catalog: Catalog, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings with where they lie: in time, in the model, and in the user's program."""
    from advisor.engine.module_places import names_of_rules, with_modules

    of_rules = names_of_rules(catalog.rules)
    types, patterns = profile.table_if_recorded(ModuleType), profile.table_if_recorded(PatternModule)
    placed = with_modules(_with_times(profile, run, findings), types, of_rules, patterns)
    return _with_lines(profile, placed, of_rules)


def _with_times(profile: Profile, run: Run, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings, their events with where they lie in the step and in the timeline."""
    from advisor.engine.event_places import place_occurrences, without_steps

    findings = findings if run.steps else without_steps(findings)
    return place_occurrences(
        findings,
        profile.table_if_recorded(StepWindow),
        profile.table_if_recorded(Overlap),
        profile.table_if_recorded(RecordedSpan),
    )


def _with_lines(profile: Profile, findings: tuple[Finding, ...], of_rules: Mapping[str, Named]) -> tuple[Finding, ...]:
    """The findings with the lines of the user's program; reads operators only where their stacks were recorded."""
    from advisor.engine.user_line import with_lines

    if profile.run.call_stacks != "on":
        return with_lines(findings, None)
    stacks, types = profile.table_if_recorded(OperatorStack), profile.table_if_recorded(TypeOperator)
    return with_lines(findings, stacks, types, of_rules, profile.table_if_recorded(PatternOperator))


def _behind_lines(profile: Profile) -> tuple[type[Fact], ...]:
    """What the user's line of a finding about kernels rests on: nothing where no line is known."""
    return LINES if profile.run.call_stacks == "on" else ()


def _has_host_calls(profile: Profile) -> bool:
    try:
        return len(profile.selected(HOST_CALLS).rows) > 0
    except FactMissing:
        return False


def _split_of_profile(profile: Profile, splits: Table[RankSplit]) -> TimeSplit | None:
    """Where the time of a mean step goes."""
    return time_split(splits, _marked_us(profile, profile.table(Overlap)))


def _account_of_profile(profile: Profile) -> Account | None:
    splits, spending = profile.table_if_recorded(RankSplit), profile.table_if_recorded(Spending)
    if splits is not None and spending is not None:
        return step_account(
            splits,
            spending,
            profile.table_if_recorded(Exchange),
            profile.table_if_recorded(OperatorRoofline),
            profile.table_if_recorded(HeldKernels),
        )
    phases = profile.table_if_recorded(StepPhase)
    return None if phases is None else account_of_lengths(phases)


def _marked_us(profile: Profile, overlaps: Table[Overlap]) -> float:
    return marked_step_us(overlaps, profile.table_if_recorded(StepWindow), profile.table_if_recorded(RankPhase))


def _peak_memory(profile: Profile) -> float | None:
    """The most that any rank reserved. What is merely allocated would be too little to hold a limit against."""
    peaks = profile.table_if_recorded(MemoryPeak)
    reserved = (
        [] if peaks is None else [most for most in peaks.floats("reserved_bytes").tolist() if math.isfinite(most)]
    )
    return max(reserved, default=None)


MEASURED = (
    *("step_us", "step_count", "device_idle_share", "exposed_comm_share", "sides"),
    *("framework", "workload", "phase", "stack"),
)
"""Names of the run that are known only when its facts have been read."""


def measured_run(profile: Profile) -> Run:
    """The run with what only its facts can tell: the mean step and what is lost of it, what was recorded, what ran."""
    run, overlaps = profile.run, profile.table_if_recorded(Overlap)
    sides: Sides = "summary" if run.is_summary else "both" if _has_host_calls(profile) else "device"
    us = run.step_us if overlaps is None else step_us(overlaps)
    split = None if overlaps is None else time_split(profile.table(RankSplit))
    known = split is not None and split.step_us > 0
    idle = split.free_us / split.step_us if split is not None and known and run.times_of != "work" else None
    exposed = split.exposed_comm_us / split.step_us if split is not None and known else None
    signs = profile.table(JobSign)
    job = infer_job(run, signs, profile.table_if_recorded(EngineStep))
    measured = {"step_us": us, "idle_share": idle, "exposed_share": exposed, "sides": sides, "job": job}
    framework = infer_framework(run, signs, job)
    found = {**measured, **_world_by_peers(run, profile.table_if_recorded(SeenPeer))}
    steps = _steps_with_work(run, overlaps)
    placed = {"steps": steps, "unplaced_steps": () if steps else run.steps}
    return run.model_copy(update={**found, **placed, "framework": framework})


def _world_by_peers(run: Run, peers: Table[SeenPeer] | None) -> dict[str, Any]:
    """The size of the job by whom collectives waited for, where neither framework nor groups tell it and that is more
    than is known."""
    most = int(peers["least_ranks"].max(initial=0)) if peers is not None else 0
    told = run.world_source in ("distributed_args", "groups", "cluster")
    return {} if told or most <= run.rank_count else {"world_size": most, "world_source": "tasks"}


def _steps_with_work(run: Run, overlaps: Table[Overlap] | None) -> tuple[int, ...]:
    """The recorded steps without those in which no device worked, where some did: what is summed up is of the others.

    A trace may mark one more step than it holds work of. Where it marks steps and no work can be told to be of one,
    times are those of the whole window, and no step is counted.
    """
    if overlaps is None or not len(overlaps):
        return run.steps
    worked = frozenset(overlaps["step"].tolist())
    return tuple(step for step in run.steps if step in worked) or (() if worked == {MISSING} else run.steps)
