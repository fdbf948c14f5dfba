# SPDX-License-Identifier: Apache-2.0
"""What makes findings less certain is said once, and marked at each of them."""

from __future__ import annotations

from report_samples import CONVERSION, EXPOSED, finding

from advisor.messages.text import Language, Text
from advisor.model.findings import Diagnosis, RuleInfo, Severity
from advisor.model.run import Run
from advisor.report.diagnosis.document import diagnosis_document, diagnosis_summary
from advisor.report.diagnosis.page import diagnosis_page
from advisor.report.renderers.markdown import document_text

LOST = RuleInfo(
    id="capture/lost-rows", title=Text("Rows of kernels are gone", "kernel 明细缺少数据行"), why=Text("Cut.", "截断。")
)
CUT = RuleInfo(id="capture/cut-timeline", title=Text("The timeline is cut", "时间线被截断"), why=Text("Cut.", "截断。"))


def doubtful() -> Diagnosis:
    """Two findings that rest on a capture of which much is gone; the doubts are named out of order."""
    lost, cut = (finding(info, 0, Severity.low) for info in (LOST, CUT))
    doubts = (cut.fingerprint, lost.fingerprint)
    costly = [finding(info, 9000, Severity.high, doubted_by=doubts) for info in (EXPOSED, CONVERSION)]
    return Diagnosis(run=Run(steps=(1,)), findings=(*costly, lost, cut), rules=(EXPOSED, CONVERSION, LOST, CUT))


def test_each_finding_names_by_number_what_makes_it_less_certain(language: Language) -> None:
    text = document_text(diagnosis_document(doubtful(), language))
    mark = {"en": "Less certain here: see findings 3, 4", "zh": "置信度下调：见问题 3、4"}[language]
    assert text.count(mark) == 2
    assert text.count(LOST.title.say(language)) == 2, "in the list of findings and above its own part"


def test_numbers_on_a_page_lead_to_the_findings_they_name(language: Language) -> None:
    diagnosis, page = doubtful(), diagnosis_page(doubtful(), language)
    for number, one in ((3, diagnosis.findings[2]), (4, diagnosis.findings[3])):
        assert page.count(f'<a href="#f-{one.fingerprint}">{number}</a>') == 2


def test_a_terminal_says_once_what_it_does_not_list(language: Language) -> None:
    listed, short = (document_text(diagnosis_summary(doubtful(), language, top)) for top in (5, 2))
    assert listed.count(LOST.title.say(language)) == 1
    assert short.count(LOST.title.say(language)) == short.count(CUT.title.say(language)) == 1
    numbered = {"en": "Finding 3: ", "zh": "问题 3："}[language] + LOST.title.say(language)
    assert numbered in short, "as the findings above name it"
    assert short.index(LOST.title.say(language)) < short.index(CUT.title.say(language))


def test_what_one_finding_alone_rests_on_is_said_there() -> None:
    (first, second, lost, cut) = doubtful().findings
    single = first.model_copy(update={"doubted_by": (cut.fingerprint,)})
    both = doubtful().model_copy(update={"findings": (single, second, lost, cut)})
    text = document_text(diagnosis_document(both, "en"))
    assert "Less certain here: see finding 4\n" in text
    assert "Less certain here: Rows of kernels are gone; see finding 4\n" in text
    top = document_text(diagnosis_summary(both, "en", top=1))
    assert top.count("The timeline is cut") == 1
    assert "Less certain here: The timeline is cut\n" in top
