# SPDX-License-Identifier: Apache-2.0
"""Makes the captures of a plan, has them diagnosed and marked."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import advisor
import corpus
from advisor.model.findings import Diagnosis, Finding, Severity
from benchmarks.accuracy.mark import Cause, Claim, Mark, mark
from benchmarks.accuracy.plan import Case, setup_of
from benchmarks.standing import standing_findings
from corpus.answers import TIMELESS
from corpus.cases import Setup
from corpus.cases import setup_of as healthy_setup
from corpus.events import Cause as Injected


def made(case: Case) -> corpus.Job:
    """The job of a case."""
    return corpus.job(case.case, case.seed, setup=_setup_of(case), strength=case.strength)


def causes(job: corpus.Job) -> list[Cause]:
    """What was injected, and what fixing each would win."""
    return _with_shares(job, job.causes)


def habits(case: Case, job: corpus.Job) -> list[Cause]:
    """What the job of a case does anyway, and what doing it otherwise would win."""
    return _with_shares(job, corpus.habits(case.case, case.seed, setup=_setup_of(case), strength=case.strength))


def _with_shares(job: corpus.Job, injected: Iterable[Injected]) -> list[Cause]:
    won = [(one, max(job.step_us - one.step_us_without, 0.0)) for one in injected]
    return [Cause(one.name, one.place, us, us / job.step_us) for one, us in won]


def _setup_of(case: Case) -> Setup:
    return setup_of(case, healthy_setup(case.case, case.workload or None))


def diagnosed(case: Case) -> Mark:
    """One case, marked. Nothing stays on disk."""
    gc.set_threshold(100_000)  # events are many and never garbage
    started = time.monotonic()
    job = made(case)
    with tempfile.TemporaryDirectory() as folder:
        capture = corpus.write(job, Path(folder) / "capture", case.export, case.level, **case.variants)
        making_s = time.monotonic() - started
        diagnosis = advisor.diagnose(capture)
    marked = mark(case, causes(job), claims(diagnosis, job), habits=habits(case, job))
    return replace(marked, making_s=making_s)


def claims(diagnosis: Diagnosis, job: corpus.Job) -> list[Claim]:
    """The findings that count. Those on the capture itself count where the capture is what is broken."""
    broken = any(cause.name in TIMELESS for cause in job.causes)
    of_capture = [one for one in diagnosis.findings if one.rule.startswith("capture/") and one.severity > Severity.info]
    counted = {one.fingerprint for one in (*standing_findings(diagnosis), *(of_capture if broken else ()))}
    return [_claim(finding) for finding in diagnosis.findings if finding.fingerprint in counted]


def _claim(finding: Finding) -> Claim:
    return Claim(
        finding.rule,
        finding.saving.us,
        frozenset(place.rank for place in finding.seen if place.rank is not None),
        frozenset(place.stage for place in finding.seen if place.stage is not None),
        finding.subject | {one.name: one.value for one in finding.evidence if one.name in ("source", "target")},
    )
