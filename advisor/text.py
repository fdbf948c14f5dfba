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
HOLE = re.compile(r"\{(\w+)\}")


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
        return tuple(dict.fromkeys(HOLE.findall(self.en) + HOLE.findall(self.zh)))


def fill(words: str, values: Mapping[str, str]) -> str:
    """Words with each `{name}` replaced. A name without a value stays as it is, so that a gap is seen."""
    return HOLE.sub(lambda hole: values.get(hole[1], hole[0]), words)
