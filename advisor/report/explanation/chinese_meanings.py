# SPDX-License-Identifier: Apache-2.0
"""What columns and tables hold, in the language of the reader: the reference of facts is in English."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from advisor.messages.text import Language
from advisor.report.columns import COLUMNS
from advisor.report.words import word_for

_FILE = "chinese_meanings.yaml"


@cache
def chinese_meanings(of: Literal["columns", "tables"]) -> Mapping[str, str]:
    """By the English sentence its meaning in Chinese."""
    from importlib.resources import files

    import yaml

    said = yaml.load((files(__package__) / _FILE).read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    return {one["en"]: one["zh"] for one in said[of]}


def meaning_of_column(name: str, doc: str, language: Language) -> str:
    """What a column holds, of which the reference of facts says `doc`; in Chinese its label where that says all."""
    if language == "en":
        return doc
    return chinese_meanings("columns").get(doc) or word_for(COLUMNS, name, language) or doc
