# SPDX-License-Identifier: Apache-2.0
"""All outputs of one diagnosis say the same numbers: one step, one split, and nothing is more than the whole."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

import advisor
import corpus
from advisor.bot.comment import render_comment
from advisor.messages.text import LANGUAGES, Language
from advisor.model.findings import Diagnosis, Finding, Scalar
from advisor.report.diagnosis.document import DiagnosisBlocks, diagnosis_document, diagnosis_summary
from advisor.report.diagnosis.page import diagnosis_page
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.units import show_value
from tests.charts_of_tests import BlankCharts
from tests.shared_captures import SharedCaptures

CASES = (
    ("healthy", "dense"),
    ("python-busy", "single"),
    ("exposed-communication", "short"),
    ("few-micro-batches", "pipeline"),
    ("uneven-stages", "pipeline"),
    ("aicpu-exposed", "convolution"),
    ("launch-blocking", "inference"),
    ("slow-rank-data", "light"),
    ("garbage-collection", "single"),
    ("unfused-optimizer", "single"),
    ("expert-imbalance", "experts"),
)
PER_CENT = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s?%")
REAL = (
    *(f"msinsight_pytorch_matrix/{export}/level{level}" for export in ("text", "db") for level in range(3)),
    "msinsight_server_testdata/cluster_analysis_output",
    "msinsight_server_testdata/test_rank_0",
    "msinsight_server_testdata/test_rank_1",
    "helix_fixtures/standalone_real_output",
    "msprof_analyze_tests/ut/advisor/advisor_backend/compute_advice",
    "msprof_analyze_tests/ut/advisor/compute_advice",
    "msprof_analyze_tests/ut/advisor/timeline_advice",
    "published_tables/glm_ocr_vllm_decode/stock_fia",
    "published_tables/lgm_950pr",
    "published_tables/mindformers_24l_dp8_ascend_ms",
    "published_tables/tinymlp_910b3",
)


def outputs(diagnosis: Diagnosis, language: Language) -> Iterator[tuple[str, str]]:
    """What each output says, as text."""
    told = io.StringIO()
    print_document(diagnosis_summary(diagnosis, language, 60), Console(file=told, width=500, color_system=None))
    yield "terminal", told.getvalue()
    yield "markdown", document_text(diagnosis_document(diagnosis, language))
    yield "comment", render_comment(diagnosis, language=language)
    page = diagnosis_page(diagnosis, language, BlankCharts())
    yield "html", re.sub(r"<svg.*?</svg>|<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.S)


def assert_one_set_of_numbers(diagnosis: Diagnosis) -> None:
    assert_split_adds_up(diagnosis)
    assert_nothing_is_more_than_the_step(diagnosis)
    assert_shares_are_of_the_step_that_is_named(diagnosis)
    assert_each_call_has_one_spelling(diagnosis)
    for language in LANGUAGES:
        step = step_of(diagnosis)
        head = DiagnosisBlocks(diagnosis, language).headline
        for name, said in outputs(diagnosis, language):
            assert not step or flat(head.time) in flat(said), (name, head.time)
            over = [part[0] for part in PER_CENT.finditer(said) if float(part[1].replace(",", "")) > 100]
            assert not over, (name, over)
        if not diagnosis.run.steps:
            events = [one for finding in diagnosis.findings for one in finding.occurrences]
            assert {spot.step for spot in (*events, *(p for f in diagnosis.findings for p in f.seen))} <= {None}
            for said in told(diagnosis, language):
                assert not re.search(r"per step|each step|of the step\b|每步|单步耗时", said), said


def told(diagnosis: Diagnosis, language: Language) -> Iterator[str]:
    """What a report says of this run, apart from why thresholds are what they are."""
    shown = DiagnosisBlocks(diagnosis, language)
    yield shown.headline.time
    yield shown.headline.says
    for card in shown.made:
        prose = [card.title, card.assumes, *(measure.label for measure in card.measures)]
        yield from ("".join(piece.text for piece in pieces) for pieces in prose)
        yield card.saving


def flat(said: str) -> str:
    """Letters and digits alone: each output breaks and escapes in its own way."""
    return re.sub(r"\W+", "", said)


def step_of(diagnosis: Diagnosis) -> float:
    return diagnosis.split.step_us if diagnosis.split is not None else diagnosis.run.step_us


def assert_split_adds_up(diagnosis: Diagnosis) -> None:
    split = diagnosis.split
    if split is None:
        return
    assert split.step_us == pytest.approx(diagnosis.run.step_us)
    assert split.compute_us + split.exposed_comm_us + split.free_us == pytest.approx(split.step_us, rel=0.01)
    parts = DiagnosisBlocks(diagnosis, "en").parts
    assert sum(part.percent for part in parts) == pytest.approx(100, abs=0.5)
    assert f"{show_value(split.step_us, 'us')}" in DiagnosisBlocks(diagnosis, "en").headline.time
    if diagnosis.account is not None:
        assert sum(spent.us for spent in diagnosis.account.spent) == pytest.approx(split.step_us, rel=0.01)


def assert_nothing_is_more_than_the_step(diagnosis: Diagnosis) -> None:
    labels = {info.id: {label.name: label.show_as for label in info.labels} for info in diagnosis.rules}
    for finding in diagnosis.findings:
        assert 0 <= finding.saving.share <= 1, finding.rule
        if diagnosis.run.step_us > 0:
            assert finding.worth.us <= diagnosis.run.step_us * 1.000001, finding.rule
            assert finding.saving.share == pytest.approx(finding.saving.us / diagnosis.run.step_us, abs=1e-6)
        for item in finding.evidence:
            is_share = item.name.endswith("_share") and (labels[finding.rule].get(item.name) or item.unit) == "share"
            assert not is_share or not isinstance(item.value, float) or item.value <= 1 + 1e-6, (finding.rule, item)


RECORDED_COLLECTIVE = re.compile(r"hcom_(\w+?)__[\d_]+")


def assert_each_call_has_one_spelling(diagnosis: Diagnosis) -> None:
    """A call is never named in two ways that differ in capitals, or by the track it was recorded on."""
    names = [one for finding in diagnosis.findings for one in names_of(finding) if isinstance(one, str)]
    kinds = {RECORDED_COLLECTIVE.sub(r"\1", name) for name in names}
    spelled: dict[str, set[str]] = {}
    for kind in kinds:
        spelled.setdefault(kind.rsplit("@", 1)[-1].casefold(), set()).add(kind)
    assert not [ways for ways in spelled.values() if len(ways) > 1]


def names_of(finding: Finding) -> Iterator[Scalar]:
    yield from finding.subject.values()
    yield from (item.value for item in finding.evidence)
    yield from (event.name for event in finding.occurrences)
    yield from (value for row in (finding.excerpt.rows if finding.excerpt else ()) for value in row)


SHARE_OF_STEP = re.compile(r"\{(\w+_share)\}[^,.{}]*\{(?:each|the)_step\}")
UNEVEN = 0.05


def assert_shares_are_of_the_step_that_is_named(diagnosis: Diagnosis) -> None:
    """A share in a title and its time agree over the step of the rank, and that step is said where it is another."""
    titles = {info.id: info.title.en for info in diagnosis.rules}
    mean = diagnosis.run.step_us
    cards = [{card.finding.fingerprint: card for card in DiagnosisBlocks(diagnosis, one).cards} for one in LANGUAGES]
    for finding in diagnosis.findings:
        shares = SHARE_OF_STEP.findall(titles[finding.rule])
        measured = {item.name: item.value for item in finding.evidence}
        own = finding.step_us or mean
        for share in shares:
            us = measured.get(share.replace("_share", "_us"))
            if us is not None and mean > 0:
                assert measured[share] == pytest.approx(us / own, rel=0.01), (finding.rule, share)
        named = bool(shares) and abs(own - mean) > UNEVEN * mean
        for shown in cards:
            said = "".join(piece.text for piece in shown[finding.fingerprint].title)
            assert (show_value(own, "us") in said) >= named, said


@pytest.mark.parametrize("name", REAL)
def test_every_output_of_a_real_capture_says_one_set_of_numbers(
    real_data: Path, shared: SharedCaptures, name: str
) -> None:
    if not (real_data / name).is_dir():
        pytest.skip("this capture is not in the folder of real data")
    assert_one_set_of_numbers(shared.diagnosis(real_data / name))


@pytest.mark.parametrize(("case", "workload"), CASES)
def test_every_output_of_a_generated_capture_says_one_set_of_numbers(
    shared: SharedCaptures, case: str, workload: str
) -> None:
    assert_one_set_of_numbers(shared.diagnosed(case, workload=workload, small=True))


Rows = list[dict[str, str]]


def _beside_each_other(rows: Rows) -> Rows:
    """Every kernel once more, on another stream at the same time."""
    return [*rows, *({**row, "Stream ID": "77"} for row in rows)]


def _stretched(rows: Rows) -> Rows:
    """Every kernel four times as long, so that they overlap."""
    return [{**row, "Duration(us)": str(4 * float(row["Duration(us)"]))} for row in rows]


def _cut(rows: Rows) -> Rows:
    """The first tenth of the list."""
    return rows[: len(rows) // 10]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("change", [_beside_each_other, _stretched, _cut])
def test_a_capture_whose_kernels_were_changed_still_says_one_set_of_numbers(
    tmp_path: Path, change: Callable[[Rows], Rows], ranks: int
) -> None:
    folder = tmp_path / "job"
    shutil.copytree(Path(corpus.__file__).parent / "host-bound-2-ranks", folder)
    for capture in sorted(folder.glob("*_ascend_pt"))[:ranks]:
        path = capture / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(change(rows))
        (capture / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").unlink()
    assert_one_set_of_numbers(advisor.diagnose(folder))
