# SPDX-License-Identifier: Apache-2.0
"""What covers each statement of the guides, as a page: rules, facts, commands and more, or why nothing does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from advisor.rules.bind import Rule
from advisor.rules.guides import Guide, Statement, rules_by_statement

State = Literal["covered", "in part", "not covered"]
STATES: tuple[State, ...] = ("covered", "in part", "not covered")
_ABOUT = """# What of the guides is covered

Written methods of tuning, the description of what profilers write, and what msprof-analyze looks at, taken apart into
what they state. A statement is *covered* where a rule judges it, a fact holds it, a command does it, a pattern of a
chain finds it or a page says it; *in part* where some of it is; *not covered* where the reason stands beside it. Rules
name the statements they implement (`implements:`), and this page is made of that. Numbers follow the documents.
"""


def coverage_page(guides: Sequence[Guide], rules: Sequence[Rule]) -> str:
    """The page, in Markdown."""
    implementing = rules_by_statement(rules)
    counts = [
        f"| [{guide.title.en}](#{guide.key}) · {guide.title.zh} | {_counts(guide, implementing)} |" for guide in guides
    ]
    head = f"| guide | statements | {' | '.join(STATES)} |\n|---|--:|--:|--:|--:|"
    sections = [line for guide in guides for line in _guide_section(guide, implementing)]
    return "\n".join([_ABOUT, head, *counts, "", *sections])


def statement_state(statement: Statement, rules: Sequence[Rule]) -> State | None:
    """How much of a statement is covered; None where nothing is said of it."""
    covers = bool(rules or statement.facts or statement.commands or statement.pages or statement.patterns)
    if statement.open is None:
        return "covered" if covers else None
    return "in part" if covers else "not covered"


def _counts(guide: Guide, implementing: Mapping[str, Sequence[Rule]]) -> str:
    states = [statement_state(one, implementing.get(key, ())) for key, one in guide.keyed()]
    return " | ".join(map(str, (len(states), *(states.count(state) for state in STATES))))


def _guide_section(guide: Guide, implementing: Mapping[str, Sequence[Rule]]) -> Iterator[str]:
    yield f'<a id="{guide.key}"></a>\n\n## {guide.title.en} · {guide.title.zh}\n'
    yield f"{guide.about.en}\n\n{guide.about.zh}\n"
    yield "| | what it says | 要点 | covered by | what is not, and why | 未覆盖之处及原因 |\n|--:|---|---|---|---|---|"
    for key, one in guide.keyed():
        by = ", ".join((*_rule_links(implementing.get(key, ())), *_other_links(one)))
        missing = (_table_cell(one.open.en), _table_cell(one.open.zh)) if one.open else ("", "")
        cells = (key.split("/")[1], _table_cell(one.says.en), _table_cell(one.says.zh), by, *missing)
        yield f"| {' | '.join(cells)} |"
    yield ""


def _rule_links(rules: Sequence[Rule]) -> Iterator[str]:
    yield from (f"[`{rule.id}`](rules/{rule.id}.md)" for rule in rules)


def _other_links(statement: Statement) -> Iterator[str]:
    yield from (f"[{name}](reference/facts.md#{name})" for name in statement.facts)
    yield from (f"[advisor {name}](reference/cli.md#advisor-{name.replace(' ', '-')})" for name in statement.commands)
    yield from (f"[{page}]({page})" for page in statement.pages)
    yield from (f"[`patterns/{name}`](../rules/patterns/{name}.yaml)" for name in statement.patterns)


def _table_cell(text: str) -> str:
    return text.replace("|", "\\|")
