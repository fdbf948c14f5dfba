# SPDX-License-Identifier: Apache-2.0
"""Words in both languages, and messages with `{name}` holes and no logic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

_CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f"
_BETWEEN_CJK = re.compile(f"(?<=[{_CJK}]) +(?=[{_CJK}])")
HOLE = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")
"""A name in braces, to be filled in."""
_WRITTEN = re.compile(r"\{\{(\w+)\}\}")
"""A name in two pairs of braces: means itself in one pair. All other braces, such as `{}`, stand for themselves."""


class Text(BaseModel):
    """One thing said in English and in Chinese. Both are needed; neither may be empty."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)

    @field_validator("en", "zh")
    @classmethod
    def _one_line(cls, value: str) -> str:
        """Folded YAML joins lines with a blank, which is wrong between two Chinese characters."""
        return _BETWEEN_CJK.sub("", value.strip())

    def say(self, language: Language) -> str:
        """The words in one language."""
        return self.zh if language == "zh" else self.en

    def holes(self) -> tuple[str, ...]:
        """The names in braces, in either language, in order of appearance."""
        return holes(self.en, self.zh)


def holes(*texts: str) -> tuple[str, ...]:
    """The names in braces, in order of appearance."""
    return tuple(dict.fromkeys(name for text in texts for name in HOLE.findall(text)))


def literal(words: str) -> str:
    """What stands between holes: `{{name}}` means `{name}`."""
    return _WRITTEN.sub(r"{\1}", words)


def fill(words: str, values: Mapping[str, str]) -> str:
    """Words with each `{name}` replaced. A name without a value stays as it is, so that a gap is seen.

    `{{name}}` becomes `{name}`.
    """
    parts = HOLE.split(words)
    return "".join(values.get(part, f"{{{part}}}") if at % 2 else literal(part) for at, part in enumerate(parts))
