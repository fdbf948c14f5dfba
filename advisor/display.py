# SPDX-License-Identifier: Apache-2.0
"""How what the Python API hands out looks in a notebook: diagnoses, findings, comparisons, tables and so on.

Only that API attaches it: the classes themselves stand below the reports, and the command line never pays for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from advisor.facts.table import Table
from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.model.explanation import Explanation
from advisor.model.findings import Diagnosis, Finding, RuleInfo
from advisor.model.inspection import Inspection

HTML = "_repr_html_"
"""What notebooks call an object for."""


def attach_html() -> None:
    """Gives the classes what notebooks ask for; doing it again changes nothing."""
    shown: dict[type, Callable[[Any], str]] = {
        Diagnosis: _show_diagnosis,
        Finding: _show_finding,
        Comparison: _show_comparison,
        Explanation: _show_explanation,
        Inspection: _show_inspection,
        Table: _show_table,
    }
    for kind, html in shown.items():
        setattr(kind, HTML, html)


def locale_language() -> Language:
    """The language of the locale, as on the command line."""
    said = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if said.lower().startswith("zh") else "en"


def _show_diagnosis(diagnosis: Diagnosis) -> str:
    from advisor.report.notebook import diagnosis_html

    return diagnosis_html(diagnosis, locale_language())


def _show_finding(finding: Finding) -> str:
    from advisor.report.notebook import finding_html

    return finding_html(finding, locale_language(), _shipped_rule(finding.rule))


def _shipped_rule(rule: str) -> RuleInfo | None:
    """What a finding itself does not say: its title and remedy, from the file of the rule where it is a shipped one."""
    from advisor.machine.shipped_files import shipped_folder
    from advisor.rules.bind import Rule
    from advisor.rules.catalog import read_rule
    from advisor.rules.schema import ID

    path = shipped_folder("rules") / f"{rule}.yaml"
    found = read_rule(path) if re.fullmatch(ID, rule) and path.is_file() else None
    return found.info() if isinstance(found, Rule) else None


def _show_comparison(comparison: Comparison) -> str:
    from advisor.report.notebook import comparison_html

    return comparison_html(comparison, locale_language())


def _show_explanation(explanation: Explanation) -> str:
    from advisor.report.explanation.document import explanation_document
    from advisor.report.notebook import document_html

    return document_html(explanation_document(explanation, locale_language()))


def _show_inspection(inspection: Inspection) -> str:
    from advisor.report.inspection.document import inspection_document
    from advisor.report.notebook import document_html

    return document_html(inspection_document(inspection, locale_language()))


def _show_table(table: Table[Any]) -> str:
    from advisor.report.notebook import MOST, table_html

    rows = [tuple(row.values()) for row in table.rows(MOST)]
    return table_html(table.fact.table, table.fact.columns(), rows, len(table), locale_language())
