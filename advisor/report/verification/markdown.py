# SPDX-License-Identifier: Apache-2.0
"""A verification as Markdown, for a pull request or an issue."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.comparison.verification import Verification, Verifications
from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.renderers.markdown import bullets, heading, plain, span, table, words
from advisor.report.verification.view import Row, Summary, View, summary, view
from advisor.report.verification.words import say


def document(verification: Verification, comparison: Comparison, language: Language) -> str:
    """The verification as one GitHub-flavoured Markdown document."""
    return "\n".join(_lines(view(verification, comparison, language))).rstrip() + "\n"


def document_of_all(found: Verifications, comparison: Comparison, language: Language) -> str:
    """What became of each finding as one GitHub-flavoured Markdown document."""
    return "\n".join(_all_lines(summary(found, comparison, language))).rstrip() + "\n"


def _all_lines(shown: Summary) -> Iterator[str]:
    language = shown.language
    yield f"# {plain(shown.says)}"
    yield ""
    yield plain(shown.step)
    if shown.rows:
        yield ""
        names = ("became", "finding", "promised_short", "freed_short", "explained_short")
        yield from table(tuple(plain(say(name, language)) for name in names), list(map(_row, shown.rows)))
        yield ""
        yield plain(say("no_sum", language))
    yield from _beside(shown)


def _row(row: Row) -> tuple[str, ...]:
    reason = f" ({words(row.reason, True)})" if row.reason else ""
    about = f"{words(row.title, True)} — {span(row.rule)} {span(row.fingerprint)}{reason}"
    return (plain(row.word), about, plain(row.promised), plain(row.freed), plain(row.explained))


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
    yield from _beside(shown)


def _beside(shown: View | Summary) -> Iterator[str]:
    """What came or grew meanwhile, and what limits the answer."""
    language = shown.language
    if shown.against:
        yield from heading(say("against", language))
        yield from bullets(
            f"{words(one.title)} ({', '.join(filter(None, [plain(one.status), plain(one.saving), span(one.rule)]))})"
            for one in shown.against
        )
    if shown.reasons:
        yield from heading(say("reasons", language))
        yield from bullets(words(reason) for reason in shown.reasons)
