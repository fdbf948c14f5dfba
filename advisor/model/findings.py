# SPDX-License-Identifier: Apache-2.0
"""Finding, Outcome, Diagnosis: what is handed on, and its versioned JSON form. Writers read this and nothing else."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import IntEnum
from statistics import median
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema

from advisor.messages.errors import UsageError
from advisor.messages.message import Message, did_you_mean
from advisor.messages.text import Text
from advisor.model.json_text import json_text
from advisor.model.run import Run
from advisor.model.unread import SavedMessage, Unread, message_column, message_in_cell
from advisor.units import show_value

Scalar = int | float | bool | str | None


def number_or_none(value: Scalar) -> float | None:
    """A value as a number, where it is one."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Severity(IntEnum):
    """How bad it is, apart from how sure we are."""

    info = 0
    low = 1
    medium = 2
    high = 3
    critical = 4


class Confidence(IntEnum):
    """How sure we are that this is the cause and that the saving can be had."""

    low = 0
    medium = 1
    high = 2


def _by_name(kind: type[IntEnum]) -> Any:
    names = [member.name for member in kind]
    return (
        BeforeValidator(lambda value: kind[value] if isinstance(value, str) and value in names else value),
        PlainSerializer(lambda value: value.name, return_type=str),
        WithJsonSchema({"enum": names}),
    )


SeverityName = Annotated[Severity, *_by_name(Severity)]
ConfidenceName = Annotated[Confidence, *_by_name(Confidence)]

ShownUnit = Literal["", "times", "share", "us", "B", "count", "ns", "GB/s", "MHz"]


class Saving(_Model):
    """What fixing it could win per step: an upper estimate, never more than the step."""

    us: float = 0.0
    share: float = 0.0
    """Part of the mean step, 0 to 1; 0 when the step time is unknown."""
    nothing: bool = False
    """Whether it was worked out, and fixing it wins no time as the job is now. False where nothing is estimated."""

    @property
    def told(self) -> tuple[float | None, float | None]:
        """Both as programs are told of them: missing where nothing is estimated, for that is not nothing to win."""
        if self.nothing:
            return 0.0, 0.0
        return (self.us, self.share if self.share > 0 else None) if self.us > 0 else (None, None)


class Evidence(_Model):
    """One measured value behind a finding, and the threshold it was held against."""

    name: str
    value: Scalar
    unit: str = ""
    threshold: float | None = None
    param: str = ""
    """Name of the threshold among those of the rule; empty where the value is held against none."""


class Place(_Model):
    """One place where the problem was seen, with what it costs there."""

    rank: int | None = None
    stage: int | None = None
    step: int | None = None
    saving_us: float = 0.0


class Head(_Model):
    """One column of a small table."""

    name: str
    unit: str = ""


class Rows(_Model):
    """A small typed table: the rows behind a finding, or what a chart draws."""

    columns: tuple[Head, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    total: int = 0
    """How many rows there were; `rows` holds the first of them."""

    @property
    def shown(self) -> tuple[int, ...]:
        """The columns that people are shown: all but messages, which say in any language what stands in another."""
        messages = {message_column(head.name) for head in self.columns}
        return tuple(at for at, head in enumerate(self.columns) if head.name not in messages)

    def messages(self, row: tuple[Scalar, ...]) -> dict[str, SavedMessage]:
        """What cells of a row say, by the names of their columns, as far as that is a message."""
        cells = {head.name: cell for head, cell in zip(self.columns, row, strict=False)}
        said = ((name, message_in_cell(cells.get(message_column(name)))) for name in cells)
        return {name: message for name, message in said if message is not None}


class CodeLine(_Model):
    """A line of the user's program, as the profiler recorded it."""

    file: str
    """Path on the machine that was profiled."""
    line: int
    function: str = ""


WORTH_SHARE = 0.03
"""Below this part of the step a change is not what to fix first: identical runs differ by as much (±100 ms of a step of
3.35 s in published MindFormers profiles), and the FSDP2 tuning guide of MindSpeed-LLM asks no questions below it."""
TOLD_APART = 1.25
"""The ratio from which two savings are told apart: an estimate counts as right within a quarter of the truth."""


class ModulePlace(_Model):
    """A module of the model to which a part of the time of an operator, or of chains of operators, belongs."""

    module: str
    """With the modules around it, `/` between; a star for the numbers of modules that were taken together."""
    share: float


class Occurrence(_Model):
    """One event behind a finding, and where it lies in the timeline: kernel, call, collective, gap or step."""

    table: str = ""
    """The kind of event: the table of facts that holds it, such as `kernels` or `gaps`."""
    rank: int | None = None
    step: int | None = None
    name: str = ""
    """As recorded; empty for what has no name, such as a step."""
    start_ns: int
    """As recorded, on the profiler's clock: `ts` of trace_view.json (µs) times 1000, and the ns of the database."""
    duration_us: float = 0.0
    """0 for an instant."""
    since_step_us: float | None = None
    """From the start of its step, on the host where that was recorded, else on the device."""
    since_mark: bool = False
    """Whether that is from the mark of the step on the host, which may lie before the work its time counts from."""
    since_start_us: float | None = None
    """From the first event in the timeline of its rank."""

    @property
    def end_ns(self) -> int:
        """When it ended, on the same clock."""
        return self.start_ns + round(self.duration_us * 1e3)


class Finding(_Model):
    """One problem of one subject, wherever it was seen."""

    rule: str
    fingerprint: str
    severity: SeverityName
    confidence: ConfidenceName
    saving: Saving = Saving()
    at_most: bool = False
    """Whether the saving is an upper bound and no estimate: its rule says so, rows that bound it were lost, or it is
    time of a host that recording made slower."""
    alone: Saving | None = None
    """What its worst rank wins by itself, where the step wins less, for another rank is then the last. None where the
    two are alike."""
    imposed: Saving | None = None
    """What others lose by it now, where that is more than fixing it wins, as where work is shared out anew: the others
    then have more of it. None where a rule says nothing of that."""
    restated: Saving | None = None
    """Of a symptom: the time it says again without a reason, as the mean of all ranks where all show it, else that of
    the rank which shows it most. None of a cause."""
    subject: dict[str, Scalar] = {}
    """Stable keys only, such as `{"op_type": "TransData"}`; empty for the run as a whole."""
    seen: tuple[Place, ...] = ()
    """Every rank, stage and step, worst first."""
    step_us: float | None = None
    """The mean step of the rank of the worst place, of which its shares are; None where that is about the run's."""
    evidence: tuple[Evidence, ...] = ()
    """Taken at the worst place."""
    excerpt: Rows | None = None
    occurrences: tuple[Occurrence, ...] = ()
    """The worst events behind it, at most twenty: those of the first place first, then by how bad they are. Empty for
    what happens at no moment, or untimed."""
    fix: tuple[int, ...] | None = None
    """Which steps of the rule's remedy apply, counted from 0; None for all of them."""
    causes: tuple[str, ...] = ()
    """Fingerprints of findings that explain this one."""
    symptoms: tuple[str, ...] = ()
    """Fingerprints of findings that this one explains."""
    doubted_by: tuple[str, ...] = ()
    """Fingerprints of findings about the capture that make it one level less certain."""
    source: CodeLine | None = None
    """Where the user's program causes the worst of it; None when no call stacks were recorded."""
    modules: tuple[ModulePlace, ...] = ()
    """Where in the model its operator runs, longest first; empty when calls of modules were not recorded."""

    @property
    def is_symptom(self) -> bool:
        """Whether it says where time goes and not why."""
        return self.restated is not None

    @property
    def worth(self) -> Saving:
        """What it weighs: of a cause what fixing it wins, of a symptom all the time it says again."""
        return self.restated or self.saving

    @property
    def brings_about(self) -> Saving:
        """How much of the time of others it accounts for: at least what it weighs."""
        return max(self.worth, self.imposed or self.worth, key=lambda one: one.us)

    @property
    def us_by_rank(self) -> Mapping[int, float]:
        """What it costs on each rank on which it was seen, its places added up, µs."""
        us: dict[int, float] = {}
        for place in self.seen:
            if place.rank is not None:
                us[place.rank] = us.get(place.rank, 0.0) + place.saving_us
        return us

    def extra_us_on(self, ranks: Collection[int | None]) -> float:
        """How much more the worst of these ranks can win than the one in the middle of the others that have it, µs."""
        won = self._won_us_by_rank()
        others = [us for rank, us in won.items() if rank not in ranks]
        there = max((us for rank, us in won.items() if rank in ranks), default=0.0)
        return max(there - median(others), 0.0) if others else there

    def missing_us_on(self, ranks: Collection[int]) -> float:
        """How much less these ranks can win, in the mean, than the worst one of all: what they wait for it, µs."""
        won = self._won_us_by_rank()
        worst = max(won.values(), default=0.0)
        return sum(worst - won.get(rank, 0.0) for rank in ranks) / max(len(ranks), 1)

    def _won_us_by_rank(self) -> Mapping[int, float]:
        """What each rank on which it was seen can win, per step, µs."""
        us = self.us_by_rank
        worst = max(us.values(), default=0.0)
        return {rank: (self.alone or self.saving).us * one / worst for rank, one in us.items()} if worst > 0 else {}

    @property
    def is_slight(self) -> bool:
        """Whether nothing is estimated of it, and it is not grave either, or nothing is won by fixing it."""
        return self.worth.us <= 0 and (self.worth.nothing or self.severity < Severity.medium)

    @property
    def may_weigh_much(self) -> bool:
        """Whether nothing is estimated of it, though it is grave enough to weigh much."""
        return self.worth.us <= 0 and not self.worth.nothing and self.severity >= Severity.medium

    def __repr__(self) -> str:
        about = "".join(f" {key}={str(value)[:60]!r}" for key, value in self.subject.items())
        bound = "at most" if self.at_most or self.is_symptom else "about"
        wins = f", {bound} {show_value(self.saving.us, 'us')}" if self.saving.us > 0 else ""
        return f"<finding {self.rule}{about}: {self.severity.name}{wins} ({self.fingerprint})>"

    __str__ = __repr__


def wins_at_most(finding: Finding, info: RuleInfo | None) -> bool:
    """Whether a saving is an upper bound and no estimate: of a symptom, and where the finding or its rule says so."""
    return finding.is_symptom or finding.at_most or (info is not None and info.at_most)


def is_grave_doubt(finding: Finding) -> bool:
    """Whether a capture like this one can show no job as healthy, and what is left of it shows causes by chance."""
    return finding.rule.startswith("capture/") and finding.severity >= Severity.medium


def seen_by_chance(findings: Iterable[Finding]) -> frozenset[str]:
    """Fingerprints of the findings that may be of what is left of a capture alone; symptoms stay as seen, unless most
    rows of a table that they are measured by are gone, or nothing of the capture can be trusted.

    What a finding says is taken at its worst place: where that is on a rank whose files are whole, or such a rank has
    at least half as much to win, it is no chance.
    """
    found = tuple(findings)
    grave = {one.fingerprint: one for one in found if is_grave_doubt(one)}
    return frozenset(
        one.fingerprint
        for one in found
        if any(
            _rests_on(one, {place.rank for place in grave[name].seen})
            for name in one.doubted_by
            if name in grave and (not one.is_symptom or _spoils_sums(grave[name]))
        )
    )


def _spoils_sums(doubt: Finding) -> bool:
    """Whether a grave doubt leaves nothing of how time was measured: rows are gone, or all of the capture is odd."""
    return "of" in doubt.subject or doubt.severity >= Severity.high


def _rests_on(finding: Finding, ranks: Collection[int | None]) -> bool:
    """Whether the worst place of a finding is on one of these ranks, and no other rank shows about as much; what has no
    rank was seen on any."""
    worst = finding.seen[0] if finding.seen else None
    if worst is None or worst.rank is None or not ranks or None in ranks:
        return True
    elsewhere = max((place.saving_us for place in finding.seen if place.rank not in ranks), default=0.0)
    return worst.rank in ranks and not 0 < worst.saving_us <= elsewhere * 2


def unexplained_part(symptom: Finding, causes: Iterable[Finding]) -> Saving:
    """What these causes leave of the time of a symptom; a cause that is a symptom itself accounts for all its time."""
    known = [cause.brings_about for cause in causes]
    return Saving(
        us=max(symptom.worth.us - sum(one.us for one in known), 0.0),
        share=max(symptom.worth.share - sum(one.share for one in known), 0.0),
    )


class Measure(_Model):
    """What a rule measured where it did not fire: how near it came."""

    subject: dict[str, Scalar] = {}
    fingerprint: str
    """The name a finding of this subject would have."""
    saving: Saving = Saving()
    at_most: bool = False
    """Whether the saving is an upper bound and no estimate."""
    evidence: tuple[Evidence, ...] = ()
    """Taken at the place that came nearest."""
    short_of: str = ""
    """The value that missed its threshold, by its name; empty where another part of the condition kept it quiet."""


OutcomeName = Literal["fired", "quiet", "not applicable", "skipped", "failed"]


class Outcome(_Model):
    """What became of one rule. Quiet means looked and fine; skipped names what to record."""

    rule: str
    outcome: OutcomeName
    reason: Text | None = None
    needs: tuple[str, ...] = ()
    """Tables that were missing when skipped, or columns without values, such as `overlaps.free_us`."""
    measures: tuple[Measure, ...] = ()
    """Subjects in which it did not fire, nearest first; only the few that came nearest."""
    without_ranks: tuple[int, ...] = ()
    """Of a rule that looked: ranks it could not look at, because a file was not given; `reason` says which file."""


class Param(_Model):
    """A threshold as it was in force, and why it has this value."""

    name: str
    value: float
    unit: str = ""
    basis: Text
    overridden: bool = False


class RemedyStep(_Model):
    """One step of a remedy."""

    do: Text
    run: str = ""
    code: str = ""
    care: Text | None = None
    takes: tuple[str, ...] = ()
    """What it takes more of, by names of resources: steps pull against findings that say that these are scarce."""

    def does_the_same(self, other: RemedyStep) -> bool:
        """Whether both say the same, or have the same command or code to copy."""
        return self.do == other.do or "" != self.run == other.run or "" != self.code == other.code


_READERS: Mapping[str, tuple[tuple[str, re.Pattern[str]], ...]] = {
    "device_family": (
        (
            "npu",
            re.compile(
                r"https?://(?:[\w.-]+\.)?(?:hiascend\.com|ascend\.github\.io|gitcode\.com/ascend|support\.huaweicloud\.com"
                r"|vllm\.ai/projects/(?:vllm-)?ascend[\w-]*)/",
                re.I,
            ),
        ),
    ),
    "framework": (
        ("MindSpore", re.compile(r"https?://(?:[\w.-]+\.)?mindspore\.cn/", re.I)),
        (
            "PyTorch",
            re.compile(
                r"https?://(?:(?:[\w.-]+\.)?(?:pytorch\.org|nvidia\.com/megatron)|\S*(?:/pytorch|mindspeed))"
                r"|\S+ .*torch",
                re.I,
            ),
        ),
    ),
    "workload": (
        (
            "training",
            re.compile(
                r"(?!\S*(?:mindspeed-rl|environment))\S*(?:mindspeed|megatron|deepspeed|fsdp|DistributedDataParallel)"
                r"|\S+ .*(?:megatron-lm|fsdp)",
                re.I,
            ),
        ),
    ),
}
"""Where people read about one family of devices, one framework, or training, and nothing else; by what is known of a
run. A page of MindSpeed-RL is about rollouts too, one on environment variables about any job."""


def steps_for(findings: Iterable[Finding], steps: Sequence[RemedyStep]) -> tuple[RemedyStep, ...]:
    """Those steps of a rule that apply to any of its findings."""
    said = tuple(one.fix for one in findings)
    return tuple(step for number, step in enumerate(steps) if any(fix is None or number in fix for fix in said))


class Reference(_Model):
    """Where to read more."""

    title: str
    title_zh: str = ""
    """What it is called in Chinese; empty where that is the same."""
    url: str

    def say_title(self, language: str) -> str:
        """What the page is called in one language."""
        return self.title_zh if language == "zh" and self.title_zh else self.title

    def concerns(self, device_family: str, framework: str, workload: str) -> bool:
        """Whether it says anything to those with such devices, this framework and this kind of job.

        PyTorch counts where no framework is known, and training where that is a part of the job or nothing tells.
        """
        trains = "inference" if workload == "inference" else "training"
        own = {"device_family": device_family, "framework": framework or "PyTorch", "workload": trains}
        for name, readers in _READERS.items():
            told = [reader for reader, pages in readers if pages.match(f"{self.url} {self.title}")]
            if told and own[name] not in told:
                return False
        return True


class Label(_Model):
    """How an evidence value or excerpt column is called and shown."""

    name: str
    label: Text
    show_as: ShownUnit = ""


class TitleWith(_Model):
    """What is said instead of the title of a rule where this piece of evidence is known."""

    name: str
    title: Text


class RuleInfo(_Model):
    """What a report says about a rule: enough to render without the rule file."""

    id: str
    status: Literal["stable", "preview", "deprecated"] = "stable"
    title: Text
    titles: tuple[TitleWith, ...] = ()
    why: Text
    params: tuple[Param, ...] = ()
    labels: tuple[Label, ...] = ()
    fix: tuple[RemedyStep, ...] = ()
    assumes: Text | None = None
    at_most: bool = False
    """Whether the savings of its findings are upper bounds and no estimates."""
    references: tuple[Reference, ...] = ()
    formerly: tuple[str, ...] = ()
    """Ids it had before: settings and baselines may still use them."""
    includes: tuple[str, ...] = ()
    """Rules whose findings lose a part of what its findings lose: shown under these however small they are."""
    scarce: str | None = None
    """The resource that its findings say there is too little of."""
    symptom: bool = False
    """It says where time goes, not why: its findings never stand above one that explains a part of them."""

    def without_remedy(self) -> RuleInfo:
        """The same without what to do and where to read more, which is half of what there is to say of a rule."""
        return self.model_copy(update={"fix": (), "references": ()})

    def title_of(self, finding: Finding) -> Text:
        """The title of a finding: the first whose evidence is known there, else the one of the rule."""
        known = {item.name for item in finding.evidence if item.value is not None}
        return next((one.title for one in self.titles if one.name in known), self.title)

    def remedy(self, *findings: Finding) -> tuple[RemedyStep, ...]:
        """The steps that apply to any of these findings."""
        return steps_for(findings, self.fix)

    @property
    def category(self) -> str:
        return self.id.split("/", 1)[0]


class TimeSplit(_Model):
    """Where the device time of a mean step goes, averaged over the ranks, µs. None means not recorded."""

    step_us: float
    compute_us: float
    exposed_comm_us: float
    overlapped_us: float
    free_us: float
    copy_us: float | None = None
    event_wait_us: float | None = None
    exchanging_us: float | None = None
    """The part of `compute_us` in kernels that exchange with ranks of which none was captured, and count while they
    wait for them; None where none runs."""
    inside_wait_us: float | None = None
    """The part of `exposed_comm_us` in which kernels that compute and communicate at once wait for other ranks; None
    where none does."""
    slowest_rank: int | None = None
    """The rank with the longest mean step, of those that recorded every step; None with fewer than two of them."""
    slowest_us: float | None = None
    """Its mean step."""
    ranks: int | None = None
    """Of how many ranks it is the mean: those whose times are known."""
    usual_us: float | None = None
    """The middle one of the steps, where the mean is far from it: a few steps take much longer, or are cut."""
    marked_us: float | None = None
    """The middle time from one mark of a step to the next, where that is longer: what passes before the first work of
    a step, or between two iterations, is no part of `step_us`."""


SpentPart = Literal["compute", "communication", "free"]


class Spent(_Model):
    """One entry of the account of a step: what its time went into. Entries add up to the step."""

    part: SpentPart
    name: str = ""
    """Operator type, kind of collective, or cause of idle time; empty for what can be given no name."""
    us: float
    """Per mean step, averaged over the ranks. Time in which several ran counts for the one that began first."""
    spread_us: float | None = None
    """Standard deviation over the steps; None with fewer than two."""
    count: float | None = None
    """How often per step; None when not known."""


class StepSplit(_Model):
    """One step, averaged over the ranks, µs. Its parts are None where only its length was recorded."""

    step: int | None = None
    step_us: float
    compute_us: float | None = None
    exposed_comm_us: float | None = None
    free_us: float | None = None


class HeldTime(_Model):
    """Kernel time by what it was held against."""

    against: str
    """As `operator_rooflines.held_against` says: what it was, or why it was nothing; empty where no shapes were
    recorded."""
    share: float
    """Part of the time of all kernels, averaged over the ranks."""


class Account(_Model):
    """Where the time of a mean step goes, name by name, and how steps differ: what a comparison needs."""

    spent: tuple[Spent, ...] = ()
    """Largest first within each part. Adds up to `TimeSplit.step_us`; empty where only lengths were recorded."""
    steps: tuple[StepSplit, ...] = ()
    """Ascending; the first few hundred."""
    tera_flops: float | None = None
    """Operations of the products and convolutions of a step, in 10^12, averaged over the ranks; None where they are
    known of less than 95 % of the time of these. Attention is left out: its lengths are rarely recorded."""
    held: tuple[HeldTime, ...] = ()
    """How much of the kernel time was held against what the chip can do, and why the rest was not, largest first; empty
    where nothing tells the chip."""


ExhibitKind = Literal[
    "time_split",  # rank, stage, compute_us, exposed_comm_us, free_us
    "step_course",  # rank, step, from_us, to_us, compute_us, exposed_comm_us, free_us, lead_us
    "idle_causes",  # cause, us
    "launch_latency",  # from_us, to_us, launches
    "memory_course",  # rank, component, from_us, to_us, allocated_bytes, reserved_bytes, capacity_bytes
    "operators",  # op_type, core, us, calls
    "rooflines",  # rank, chip, op_type, input_shapes, dtype, intensity, tflops, peak_tflops, memory_gbps, us
    "rank_steps",  # rank, step, span_us
    "links",  # source, target, link, bandwidth_gbps, size_bytes
]


class Exhibit(_Model):
    """One chart's worth of numbers about the run."""

    kind: ExhibitKind
    rows: Rows


class Diagnosis(_Model):
    """Everything a report, a bot or a comparison needs."""

    format: Literal["advisor.diagnosis/1"] = "advisor.diagnosis/1"
    version: str = ""
    """Version of advisor that made it."""
    run: Run
    split: TimeSplit | None = None
    account: Account | None = None
    """None where the time of a step is not known."""
    peak_memory_bytes: float | None = None
    """Most device memory that any rank reserved at any moment; None when not recorded."""
    findings: tuple[Finding, ...] = ()
    """Ranked: what to fix first comes first."""
    outcomes: tuple[Outcome, ...] = ()
    """One for each rule, ordered by id."""
    rules: tuple[RuleInfo, ...] = ()
    """The rules that were evaluated, ordered by id; those that found nothing without their remedies, of which nothing
    is to be done here."""
    exhibits: tuple[Exhibit, ...] = ()
    unread: tuple[Unread, ...] = ()
    asked: tuple[str, ...] = ()
    """Patterns of the rules that were asked for, such as `host/*`; empty where all that the settings leave were."""

    def __repr__(self) -> str:
        step = (
            f" {'step' if self.run.steps else 'window'} {show_value(self.step_us, 'us')}," if self.step_us > 0 else ""
        )
        return f"<diagnosis of {self.run.name!r}:{step} {len(self.findings)} findings>"

    __str__ = __repr__

    @property
    def step_us(self) -> float:
        """The mean step, µs, whether or not its parts are known; 0 where its length is not."""
        return self.split.step_us if self.split is not None else self.run.step_us

    @property
    def by_fingerprint(self) -> Mapping[str, Finding]:
        """Every finding by its fingerprint, in order."""
        return {finding.fingerprint: finding for finding in self.findings}

    def rule(self, rule_id: str) -> RuleInfo:
        """What is known of a rule that was evaluated.

        Raises:
            UsageError: None of this id was.
        """
        found = next((info for info in self.rules if info.id == rule_id), None)
        if found is None:
            near = get_close_matches(rule_id, [info.id for info in self.rules], 1)
            raise UsageError(Message("no_rule", name=rule_id), did_you_mean(near))
        return found

    def to_json(self) -> str:
        """The published form: two blanks of indent, keys in declared order, a final line break."""
        return json_text(self.model_dump(mode="json"))


FINGERPRINT = re.compile(r"[0-9a-f]{16}")
"""What a fingerprint looks like."""


def fingerprint(rule_id: str, subject: Mapping[str, Scalar]) -> str:
    """The same problem has the same name in every run: no numbers, ranks, steps, times, paths or words.

    What of the subject is not known is no part of its name, as if the rule told nothing apart by it.
    """
    known = sorted((key, str(value)) for key, value in subject.items() if value is not None)
    canonical = json.dumps(["1", rule_id, known])
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
