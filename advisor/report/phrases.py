# SPDX-License-Identifier: Apache-2.0
"""What makes blocks of fixed words in one language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from advisor.messages.text import Language, TimesOf
from advisor.report.blocks import Blocks, Grid, Heading, Paragraph, bullet_list, grid_of, quiet_line
from advisor.report.prose import BETWEEN_SENTENCES, Prose, Said, TextPiece, Tone, join_prose, plain_prose
from advisor.report.words import Wording


class Phrases:
    """The words of one kind of document in one language; `times_of` is what the times that its tables hold are of."""

    wording: Wording

    def __init__(self, language: Language, times_of: TimesOf = "step") -> None:
        self.language, self.times_of = language, times_of
        self.colon, self.comma, self.semicolon = map(self.say, ("colon", "comma", "semicolon"))

    def say(self, name: str, /, **values: object) -> str:
        """One of the words, with its holes filled."""
        return self.wording(name, self.language, self.times_of, **values)

    def prose_of(self, name: str, /, **values: object) -> Prose:
        """The same as a stretch of text."""
        return plain_prose(self.say(name, **values))

    def heading(self, name: str, level: int = 2, **values: object) -> Heading:
        """The title of a part."""
        return Heading(self.prose_of(name, **values), level)

    def heads(self, *names: str) -> tuple[Prose, ...]:
        """The heads of a table; an empty name is none."""
        return tuple(self.prose_of(name) if name else () for name in names)

    def grid(
        self,
        names: Sequence[str],
        rows: Iterable[Iterable[Said]],
        numeric: Sequence[bool] = (),
        subject: int | None = None,
    ) -> Grid:
        """A table below these heads."""
        return grid_of(self.heads(*names), rows, numeric, subject)

    def listed(self, name: str, items: Iterable[Prose], level: int = 2) -> Blocks:
        """A list below its title; nothing where nothing is in it."""
        made = bullet_list(items)
        return (self.heading(name, level), *made) if made else ()

    def tabled(
        self,
        title: str,
        names: Sequence[str],
        rows: Iterable[Iterable[Said]],
        numeric: Sequence[bool] = (),
    ) -> Blocks:
        """A table below its title; nothing where nothing is in it."""
        made = self.grid(names, rows, numeric)
        return (self.heading(title), made) if made.rows else ()

    def left_over(self, name: str, count: int, *, begins: bool = False) -> Blocks:
        """How many more there are than are shown; nothing where there are none."""
        return (quiet_line(self.prose_of(name, count=f"{count:,}"), begins=begins),) if count > 0 else ()

    def sentence(self, name: str, /, **values: object) -> Paragraph:
        """Fixed words that stand for themselves."""
        return Paragraph(self.prose_of(name, **values))

    def in_a_row(self, *sentences: Prose) -> Prose:
        """Those sentences that say something, behind each other."""
        return join_prose(BETWEEN_SENTENCES[self.language], filter(None, sentences))

    def label(self, name: str, tone: Tone = "label") -> Prose:
        """A word before what it names."""
        return (TextPiece(self.say(name) + self.colon, tone=tone),)
