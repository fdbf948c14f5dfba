# SPDX-License-Identifier: Apache-2.0
"""Explanation: what a rule reads, measured and held it against, and its versioned JSON form."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from advisor.messages.text import Text
from advisor.model.findings import Finding, Measure, Outcome, Rows, RuleInfo, Saving, Scalar
from advisor.model.json_text import json_text
from advisor.model.run import Run


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReadColumn(_Model):
    """A column of the table that the rule reads."""

    name: str
    kind: Literal["number", "text", "bool"]
    unit: str = ""
    means: str
    """In English, as the reference of facts says it."""


class Clause(_Model):
    """One key of the rule file, with the table or expression it holds."""

    key: str
    text: str


class Logic(_Model):
    """What the rule looks at, and when it speaks."""

    table: str
    means: str
    """What one row of the table is, in English."""
    called: Text = Text("", "")
    """What the table holds, in few words; empty where it was saved without."""
    record_with: Text | None = None
    """What to switch on in the profiler to get the table; None where it is derived from others."""
    columns: tuple[ReadColumn, ...] = ()
    """Those the rule names."""
    requires: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()
    """In the order of rule files."""
    explains: tuple[str, ...] = ()
    """Rules whose findings this one may be the cause of."""


class Threshold(_Model):
    """A number of the rule as it was in force, why it has this value, and who set it."""

    name: str
    value: float
    unit: str = ""
    basis: Text
    overridden: bool = False
    shipped: float | None = None
    """The value in the rule file, where it was overridden and the file is at hand."""
    where: str = ""
    """Place in the settings that overrides it, as `file:line:column`; empty where that is not known."""


class Term(_Model):
    """One named value of a condition or a saving."""

    name: str
    value: Scalar = None
    """None where it was not recorded, cannot be told from a saved diagnosis, or differs from row to row."""
    unit: str = ""
    expression: str = ""
    """How it is computed; empty for keys, thresholds and names of the run."""
    per_row: bool = False


class Check(_Model):
    """One comparison of a condition: what stood on both sides, and whether it held."""

    decides: Literal["when", "severity", "confidence"]
    level: str = ""
    """The severity or confidence it gives."""
    text: str
    """As the rule writes it."""
    left: Scalar = None
    sign: str = ""
    """Empty where it is no comparison."""
    right: Scalar = None
    unit: str = ""
    thresholds: tuple[str, ...] = ()
    """Names of the thresholds in it."""
    holds: bool | None = None
    """None where that cannot be told."""


class Worth(_Model):
    """How the saving was computed."""

    expression: str
    terms: tuple[Term, ...] = ()
    at_place_us: float | None = None
    """What the expression gives at the place the values were taken from, between 0 and the step."""
    across: Literal["worst", "mean", "least", "critical", "worst_or_critical"]
    """How the savings of many ranks become one."""
    saving: Saving
    assumes: Text


class Linked(_Model):
    """Another finding of the same diagnosis."""

    rule: str
    fingerprint: str
    title: Text
    subject: dict[str, Scalar] = {}
    saving: Saving = Saving()
    at_most: bool = False
    """Whether the saving is an upper bound and no estimate."""


class Case(_Model):
    """One subject: where the rule fired, or where it looked and came near."""

    fingerprint: str
    number: str = ""
    """What reports number the finding, such as `2`, or `2.1` where it is shown under that; empty where the rule did not
    fire."""
    finding: Finding | None = None
    measure: Measure | None = None
    """What was measured where the rule did not fire."""
    terms: tuple[Term, ...] = ()
    """Every value the rule computes, in its order, at the worst place, or the one that came nearest."""
    checks: tuple[Check, ...] = ()
    worth: Worth | None = None
    rows: Rows | None = None
    causes: tuple[Linked, ...] = ()
    symptoms: tuple[Linked, ...] = ()


class Explanation(_Model):
    """Everything that is known of a rule, and of what it said of a run."""

    format: Literal["advisor.explanation/1"] = "advisor.explanation/1"
    version: str = ""
    """Version of advisor that made the diagnosis."""
    rule: RuleInfo
    logic: Logic | None = None
    """None where the rule itself is not at hand."""
    thresholds: tuple[Threshold, ...] = ()
    run: Run | None = None
    """None without a diagnosis; the same for what follows."""
    outcome: Outcome | None = None
    cases: tuple[Case, ...] = ()
    """Findings in the order of the diagnosis, then subjects that came near."""
    notes: tuple[Text, ...] = ()

    def __repr__(self) -> str:
        said = f" {self.outcome.outcome}," if self.outcome is not None else ""
        return f"<explanation of {self.rule.id}:{said} {len(self.cases)} subjects>"

    __str__ = __repr__

    def to_json(self) -> str:
        """The published form: two blanks of indent, keys in declared order, a final line break."""
        return json_text(self.model_dump(mode="json"))
