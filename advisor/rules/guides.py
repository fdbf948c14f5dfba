# SPDX-License-Identifier: Apache-2.0
"""Guides: what written methods of tuning state, one by one, and what covers each statement or why nothing does.

The statements stand in `guides/*.yaml`, in words of their own and numbered as in the document. Rules say themselves
which they implement (`implements: [mindspore-method/6]`); facts, commands, pages and patterns are named with the
statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from advisor.facts.names import FACTS
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import RuleError, Unclear
from advisor.messages.message import Message
from advisor.rules.bind import Rule
from advisor.rules.schema import Words, slips_in_document
from advisor.yaml_files import source
from advisor.yaml_files.suggestions import suggest_known


def _known_table(name: str) -> str:
    if name not in FACTS:
        raise Unclear(Message("unknown_table", name=name), suggest_known(name, FACTS))
    return name


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Statement(_Entry):
    """One thing that a guide says, and what covers it beside the rules that implement it."""

    says: Words
    facts: tuple[Annotated[str, AfterValidator(_known_table)], ...] = ()
    commands: tuple[str, ...] = ()
    """Commands of advisor, without its name."""
    pages: tuple[str, ...] = ()
    """Below `docs/`."""
    patterns: tuple[str, ...] = ()
    """Patterns of chains by their names."""
    open: Words | None = None
    """What is not covered, and why."""


class Guide(_Entry):
    """A written method of tuning, a description of what profilers write, or what another tool looks at."""

    key: str
    title: Words
    about: Words
    statements: Annotated[dict[int, Statement], Field(min_length=1)]

    def keyed(self) -> tuple[tuple[str, Statement], ...]:
        """Its statements in their order, each with the key by which rules name it."""
        return tuple((f"{self.key}/{number}", one) for number, one in sorted(self.statements.items()))


@cache
def read_guides() -> tuple[Guide, ...]:
    """All guides, ordered by key.

    Raises:
        RuleError: A file is no guide.
    """
    return tuple(_read_guide(name) for name in sorted(shipped_folder("guides").glob("*.yaml")))


def _read_guide(path: Path) -> Guide:
    document = source.read_document(path)
    try:
        return Guide.model_validate({"key": path.stem, **document.data})
    except ValidationError as error:
        raise RuleError(slips_in_document(document, error, Guide)) from None


def known_statements() -> frozenset[str]:
    """The keys of all statements of all guides."""
    return frozenset(key for guide in read_guides() for key, _ in guide.keyed())


def rules_by_statement(rules: Iterable[Rule]) -> Mapping[str, tuple[Rule, ...]]:
    """By the key of a statement: the rules that say they implement it, in their order."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        for key in rule.implements:
            found.setdefault(key, []).append(rule)
    return {key: tuple(those) for key, those in found.items()}
