# SPDX-License-Identifier: Apache-2.0
"""What host time wins is told as *at most* where recording slowed the host, else as *about*, in every format."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest

import advisor
from advisor.bot.comment import render_comment
from advisor.messages.text import LANGUAGES, Language
from advisor.model.findings import Diagnosis
from advisor.report.diagnosis.document import diagnosis_document
from advisor.report.diagnosis.page import diagnosis_page
from advisor.report.notebook import diagnosis_html, finding_html
from advisor.report.output_formats import Reported
from advisor.report.renderers.markdown import document_text
from tests.charts_of_tests import BlankCharts
from tests.report.formats.formats_samples import FORMATS, written

CASE = Path(__file__).parent.parent.parent / "corpus" / "host-bound-2-ranks"
OF_THE_HOST = "host/python-bound"
OF_LINKS = "comm/late-gradient-reduction"
SAID = {"en": ("at most", "about"), "zh": ("至多", "约")}


@pytest.fixture(scope="module")
def with_stacks() -> Diagnosis:
    return advisor.diagnose(CASE)


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """The same capture, as if neither call stacks nor memory had been recorded."""
    capture = Path(shutil.copytree(CASE, tmp_path_factory.mktemp("lean") / "prof"))
    for info in capture.rglob("profiler_info_*.json"):
        said = re.sub(r'("(?:with_stack|profile_memory)": )true', r"\1false", info.read_text("utf-8"))
        info.write_text(said, "utf-8")
    return advisor.diagnose(capture)


def everywhere(diagnosis: Diagnosis, language: Language) -> dict[str, str]:
    """What each format says, as plain text in one line."""
    host = next(one for one in diagnosis.findings if one.rule == OF_THE_HOST)
    told = {
        "terminal and Markdown": document_text(diagnosis_document(diagnosis, language)),
        "page": diagnosis_page(diagnosis, language, BlankCharts()),
        "notebook": diagnosis_html(diagnosis, language),
        "notebook, a finding": finding_html(host, language, diagnosis.rule(OF_THE_HOST)),
        "bot": render_comment(diagnosis, language=language),
        **{name: written(name, Reported(diagnosis, language)) for name in FORMATS if name not in ("jsonl", "csv")},
    }
    return {name: re.sub(r"\s+", " ", html.unescape(re.sub("<[^>]*>", "", text))) for name, text in told.items()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_format_says_at_most_where_recording_slowed_the_host_and_about_where_it_did_not(
    with_stacks: Diagnosis, lean: Diagnosis, language: Language
) -> None:
    bound, about = SAID[language]
    for diagnosis, wanted, other in ((with_stacks, bound, about), (lean, about, bound)):
        for name, text in everywhere(diagnosis, language).items():
            said = re.findall(r"(at most|about|至多|约)(?:可省)? ?6\.06", text.replace("\\u00a0", " "))
            assert said, name
            assert {*said} == {wanted}, (name, other)


def test_what_programs_read_tells_the_same(with_stacks: Diagnosis, lean: Diagnosis) -> None:
    for diagnosis, bound in ((with_stacks, True), (lean, False)):
        told = {
            one["rule"]: one for one in map(json.loads, written("jsonl", Reported(diagnosis, "en")).splitlines()[1:])
        }
        assert told[OF_THE_HOST]["saving_at_most"] is bound
        assert told[OF_LINKS]["saving_at_most"] is False
        host = next(one for one in diagnosis.findings if one.rule == OF_THE_HOST)
        assert host.at_most is bound
        assert (", at most 6.06 ms" in repr(host), ", about 6.06 ms" in repr(host)) == (bound, not bound)


def test_the_order_of_findings_is_the_same_with_and_without_call_stacks(
    with_stacks: Diagnosis, lean: Diagnosis
) -> None:
    orders = [
        [one.fingerprint for one in diagnosis.findings if not one.rule.startswith("capture/")]
        for diagnosis in (with_stacks, lean)
    ]
    assert orders[0] == orders[1]
