# SPDX-License-Identifier: Apache-2.0
"""A verification as Markdown, for a pull request or an issue."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.comparison import Comparison
from advisor.report.markdown import bullets, heading, plain, span, table, words
from advisor.report.verification.view import View, view
from advisor.report.verification.words import say
from advisor.text import Language
from advisor.verification import Verification


def document(verification: Verification, comparison: Comparison, language: Language) -> str:
    """The verification as one GitHub-flavoured Markdown document."""
    return "\n".join(_lines(view(verification, comparison, language))).rstrip() + "\n"


def _lines(shown: View) -> Iterator[str]:
    language = shown.language
    yield f"# {plain(shown.says)}"
    yield ""
    yield f"{words(shown.title)} — {span(shown.rule)} {span(shown.fingerprint)}"
    yield ""
    heads = tuple(plain(head) for head in ("", say("per_step", language), ""))
    yield from table(heads, [(plain(one.name), plain(one.time), plain(one.note)) for one in shown.amounts])
    if shown.values:
        yield from heading(say("watched", language))
        names = tuple(plain(say(name, language)) for name in ("value", "before", "after", "threshold"))
        yield from table(
            names,
            [
                (words(v.label, True), words(v.before, True), words(v.after, True), plain(v.threshold or "–"))
                for v in shown.values
            ],
        )
    if shown.against:
        yield from heading(say("against", language))
        yield from bullets(
            f"{words(one.title)} ({', '.join(filter(None, [plain(one.status), plain(one.saving), span(one.rule)]))})"
            for one in shown.against
        )
    if shown.reasons:
        yield from heading(say("reasons", language))
        yield from bullets(words(reason) for reason in shown.reasons)
