# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of rule files for editors: what each key means, which tables there are, and their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from advisor.facts.base import Fact
from advisor.facts.derived import DERIVED
from advisor.facts.observed import OBSERVED
from advisor.rules.schema import WholeRuleFile

MEANINGS: Mapping[str, Mapping[str, str]] = {
    "WholeRuleFile": {
        "id": "The path of the file without its ending: category/name. It reads well in: allow NAME.",
        "since": "The version in which the rule came.",
        "status": "`preview` while a threshold waits for calibration.",
        "formerly": "Ids it had before; settings and baselines may still use them.",
        "implements": "Statements of guides that the rule implements, such as `mindspore-method/6`.",
        "title": "The state, with its number: `{name}` is filled from the evidence or the subject.",
        "title_with": "By the name of a piece of evidence: the title where that is known.",
        "why": "Why to care; not what to do.",
        "applies_when": "A condition over the run, such as `rank_count > 1`. False gives: not applicable.",
        "requires": "Further tables that must have been recorded.",
        "coverage": "By the name of an observed table behind its own: the share of its rows that must be there for "
        "quiet to count, such as `{launches: 0}`; left out, all but what `capture/lost-rows` tolerates. 0 where no "
        "verdict rests on it.",
        "params": "Thresholds by name, each with its basis.",
        "for_each": "Columns to group by; `[]` is the whole run. One judgement for each group.",
        "in": "The one table it reads.",
        "where": "Keeps the rows for which it is true.",
        "let": "Named values in order; each may use those before it, the columns of the table and the params.",
        "when": "The judgement, once per group. Missing values make the rule skipped, not quiet.",
        "severity": "A level, or level to condition: the first that holds, the last is `otherwise`.",
        "explains": "Ids of findings that this one is a cause of.",
        "includes": "Ids of findings that it explains as well, and whose time is part of what it loses.",
        "own_reason": "The piece of evidence that is reason enough where it is known: nothing else explains it then.",
        "doubts": "`true` where the times of a rank cannot be trusted, or patterns of rules that rest on them: their "
        "findings there are less certain.",
        "inflates": "`host_time` where the host took longer while it was recorded than it usually does: on these ranks "
        "savings that say `host_time` are upper bounds.",
        "scarce": "What its findings say there is too little of: steps of other remedies that take it say so.",
        "symptom": "Whether it only restates where time goes, and so never leads while a cause of it is known.",
        "evidence": "Measured values to show, and the params they were held against.",
        "rows": "An excerpt of the rows behind a finding.",
        "occurrences": "The events behind a finding, to look at in a timeline.",
        "saving": "What fixing it could win per step, at most.",
        "confidence": "How sure it is that this is the cause; written like severity.",
        "fix": "What to do, in order.",
        "pattern_fixes": "`true` where the steps of each pattern in `patterns/` come before those of `fix`, for "
        "chains of that pattern; the rule has `pattern` in `for_each`.",
        "references": "Where to read more.",
        "tests": "The cases of the rule. Rules of your own need one that fires; shipped ones three, one of them quiet.",
    },
    "ParamFile": {
        "value": "The threshold.",
        "unit": "What it is measured in.",
        "basis": "Why it has this value: a source or a measurement.",
    },
    "ShownFile": {
        "show": "A name of `let`, or a key of `for_each`.",
        "en": "What it is called in English.",
        "zh": "What it is called in Chinese.",
        "threshold": "The param it was held against.",
        "as": "How it is shown, where its unit does not say: `times` for a ratio that is no share.",
    },
    "RowsFile": {
        "columns": "Columns of the table, or names of `let` that have one value per row.",
        "where": "Keeps the rows for which it is true.",
        "order": "What to order by; `-` before it for descending.",
        "top": "How many rows.",
    },
    "SavingFile": {
        "us": "Per step, µs; at most the step.",
        "imposes": "What others lose by it now per step, µs, where that is more than fixing it wins.",
        "across": "How the savings of ranks become one; `critical`: side by side, the last one ends the step.",
        "assumes": "Under which assumption it can be had.",
        "frees": "`communication` where the remedy only makes that shorter: it wins no more than if that were free.",
        "at_most": "Whether it is an upper bound and no estimate: then reports say `at most`.",
        "host_time": "Whether it is time that the host takes, or that the device waits for the host.",
    },
    "FixFile": {
        "do": "What to do.",
        "run": "A command.",
        "code": "A piece of code.",
        "care": "What can go wrong.",
        "takes": "What it takes more of: where a finding says that this is scarce, the step says so.",
        "when": "Only where this holds of the finding or of the run.",
    },
    "ReferenceFile": {
        "title": "The name of the page; `en` and `zh` where it is called differently in them.",
        "url": "Its address.",
    },
    "CaseFile": {
        "name": "The promise it keeps.",
        "given": "Tables by name: a header and a row a line; `run:` sets names of the run.",
        "expect": "`quiet`, `skipped`, `not applicable`, or the findings in order with the values that matter.",
    },
    "Text": {"en": "In English.", "zh": "In Chinese."},
}  # fmt: skip
"""What each key means, by the model it belongs to; a description in the model itself wins."""


@cache
def json_schema() -> dict[str, Any]:
    """The JSON schema of rule files."""
    schema = WholeRuleFile.model_json_schema(by_alias=True)
    for name, part in {"WholeRuleFile": schema, **schema["$defs"]}.items():
        for key, one in part.get("properties", {}).items():
            if key in MEANINGS.get(name, {}):
                one.setdefault("description", MEANINGS[name][key])
    schema["$defs"]["Text"] |= {"required": [], "minProperties": 1, "description": "In English, in Chinese or in both."}
    schema["$defs"]["ShownFile"]["required"] = ["show"]
    facts = (*OBSERVED, *DERIVED)
    schema["properties"]["in"] |= _table_choices(facts)
    schema["properties"]["requires"]["items"] = _table_choices(facts)
    schema["properties"]["coverage"]["propertyNames"] = _table_choices(OBSERVED)
    schema["allOf"] = [_schema_for_table(fact) for fact in facts]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _table_choices(facts: tuple[type[Fact], ...]) -> dict[str, Any]:
    about = [_meaning_of_table(fact) for fact in facts]
    return {"enum": [fact.table for fact in facts], "enumDescriptions": about, "markdownEnumDescriptions": about}


def _meaning_of_table(fact: type[Fact]) -> str:
    return " ".join((fact.__doc__ or "").split())


def _schema_for_table(fact: type[Fact]) -> dict[str, Any]:
    """What may stand in a rule that reads this table: its columns to group by, and in words for expressions."""
    columns = fact.columns()
    about = [f"{column.doc} ({column.unit})" if column.unit else column.doc for column in columns.values()]
    keys = {"enum": list(columns), "enumDescriptions": about}
    listed = f"Columns of {fact.table}: {', '.join(_list_columns(fact))}."
    return {
        "if": {"properties": {"in": {"const": fact.table}}, "required": ["in"]},
        "then": {
            "properties": {
                "for_each": {"items": keys},
                "where": {"description": listed},
                "let": {"description": listed},
                "when": {"description": listed},
            }
        },
    }


def _list_columns(fact: type[Fact]) -> Iterator[str]:
    for name, column in fact.columns().items():
        yield f"{name} ({column.unit})" if column.unit else name
