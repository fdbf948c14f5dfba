# SPDX-License-Identifier: Apache-2.0
"""Words in both languages, and messages with `{name}` holes and no logic but `{count|form of one|form of many}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Protocol, runtime_checkable

from annotated_types import MinLen

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f"
_BETWEEN_CJK = re.compile(f"(?<=[{CJK}]) +(?=[{CJK}])")
_CJK = re.compile(f"[{CJK}]")
_LETTER = re.compile(r"[^\W\d_]")
HOLE = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")
"""A name in braces, to be filled in."""
_FORMS = re.compile(r"(?<!\{)\{(\w++)\|([^{}|\n]*)\|([^{}|\n]*)\}(?!\})")
"""A name in braces with two forms of a word: the first is said where its value is one, else the second."""
_OPEN = re.compile(r"(?<!\{)\{(\w++)(?!\})")
"""A brace before a name that no brace closes: a hole that nothing would fill."""
_WITH_MORE = re.compile(r"(?<!\{)\{(\w++)(?!\})[^{}\n]*\}")
"""A name in braces with something behind it, such as a format: nothing would fill it."""
_NAMED = re.compile(f"{HOLE.pattern}|{_FORMS.pattern}")
"""Either of what a name fills or chooses."""
_ONE = "1"
"""A number that is said with the form of one."""
_WRITTEN = re.compile(r"\{\{(\w+)\}\}")
"""A name in two pairs of braces: means itself in one pair. All other braces, such as `{}`, stand for themselves."""

TimesOf = Literal["step", "window", "work"]
"""What times of a run are of: one step, the window that was captured, or all work of the device in it."""
STEP_WORDS: Mapping[str, Mapping[Language, Mapping[TimesOf, str]]] = {
    "each_step": {
        "en": {"step": "each step", "window": "the captured window", "work": "the device's work"},
        "zh": {"step": "每步", "window": "整个窗口", "work": "设备工作时间"},
    },
    "the_step": {
        "en": {"step": "the step", "window": "the captured window", "work": "the device's work"},
        "zh": {"step": "单步", "window": "采集窗口", "work": "设备工作时间"},
    },
    "per_step": {
        "en": {"step": "per step", "window": "in the captured window", "work": "in all"},
        "zh": {"step": "每步", "window": "采集窗口内", "work": "合计"},
    },
}
"""What `{each_step}` and its like become."""
_STEP_WORD = re.compile(rf"\{{({'|'.join(STEP_WORDS)})\}}")


@dataclass(frozen=True, slots=True)
class Text:
    """One thing said in English and in Chinese. Both are needed; neither may be empty."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}

    en: Annotated[str, MinLen(1)]
    zh: Annotated[str, MinLen(1)]

    def unfolded(self) -> Text:
        """The words as meant: folded YAML joins lines with a blank, which is wrong between two Chinese characters."""
        en, zh = self.en.strip(), self.zh.strip()
        return Text(en if en.isascii() else _BETWEEN_CJK.sub("", en), _BETWEEN_CJK.sub("", zh))

    def say(self, language: str, *, of: TimesOf = "step") -> str:
        """The words in one language, `{each_step}` and its like as they are called in the run."""
        words = self.zh if language == "zh" else self.en
        if "_step}" not in words:
            return words
        spoken = self._spoken(language)
        said = _STEP_WORD.sub(lambda hole: STEP_WORDS[hole[1]][spoken][of], words)
        return said[0].upper() + said[1:] if words[0] == "{" else said

    def _spoken(self, language: str) -> Language:
        """The language that the words are really in: that of a rule may stand in for the other."""
        if self.en == self.zh and _LETTER.search(HOLE.sub("", self.en)):
            return "zh" if _CJK.search(self.en) else "en"
        return "zh" if language == "zh" else "en"

    def fill(self, language: Language, times_of: TimesOf = "step", /, **values: object) -> str:
        """The words in one language with these holes filled; as they stand where there is nothing to fill in."""
        said = self.say(language, of=times_of)
        return fill_holes(said, values, language) if values else said

    def unfilled(self, language: str) -> str:
        """The words in one language with their holes open, and of words with two forms that of many."""
        return choose_forms(self.say(language), {})

    def holes(self) -> tuple[str, ...]:
        """The names in braces, in either language, in order of appearance."""
        return hole_names(self.en, self.zh)


def hole_names(*texts: str) -> tuple[str, ...]:
    """The names in braces, in order of appearance."""
    found = (one[1] or one[2] for text in texts for one in _NAMED.finditer(text))
    return tuple(dict.fromkeys(name for name in found if name not in STEP_WORDS))


def open_hole_names(words: str) -> tuple[str, ...]:
    """The names behind braces that nothing closes."""
    return tuple(dict.fromkeys(_OPEN.findall(_WITH_MORE.sub("", _FORMS.sub("", words)))))


def holes_with_more(words: str) -> Mapping[str, str]:
    """What is written in braces where there is more than a name, such as `{x:.2f}`, with the name."""
    return {found[0]: found[1] for found in _WITH_MORE.finditer(_FORMS.sub("", words))}


def choose_forms(words: str, values: Mapping[str, object]) -> str:
    """Words in which `{count|form of one|form of many}` has become the form that goes with the number shown."""
    if "|" not in words:
        return words
    return _FORMS.sub(lambda forms: forms[2] if str(values.get(forms[1])) == _ONE else forms[3], words)


def unescape_braces(words: str) -> str:
    """What stands between holes: `{{name}}` means `{name}`."""
    return _WRITTEN.sub(r"{\1}", words)


@runtime_checkable
class Spoken(Protocol):
    """What can be said in either language: a text, or a message with values of its own."""

    def say(self, language: str) -> str: ...


def fill_holes(words: str, values: Mapping[str, object], language: str = "en") -> str:
    """Words with each `{name}` replaced by its value, literally; what has two languages is said in this one.

    A name without a value stays as it is, so that a gap is seen. `{{name}}` becomes `{name}`.
    """
    parts = HOLE.split(choose_forms(words, values))
    return "".join(
        _say_value(values, part, language) if at % 2 else unescape_braces(part) for at, part in enumerate(parts)
    )


def _say_value(values: Mapping[str, object], name: str, language: str) -> str:
    value = values.get(name, f"{{{name}}}")
    return value if isinstance(value, str) else value.say(language) if isinstance(value, Spoken) else str(value)
