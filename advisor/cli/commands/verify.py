# SPDX-License-Identifier: Apache-2.0
"""`advisor verify`: whether a fix won what its finding promised."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from advisor.cli.arguments import language_option, named_path, output_options, reading_options, rule_options
from advisor.cli.exit_codes import FINE, FOUND
from advisor.cli.inputs import given_diagnosis
from advisor.cli.outputs import console_beside
from advisor.cli.settings_in_force import language_of, settings_of

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from advisor.messages.text import Language
    from advisor.model.comparison import Comparison
    from advisor.report.writers import Reported, Writer


def words(one: argparse.ArgumentParser) -> None:
    """What the command understands."""
    one.add_argument("before", type=named_path, help="before the fix: a capture, or a .json written by diagnose")
    one.add_argument("after", type=named_path, help="after the fix: likewise")
    one.add_argument(
        "--finding",
        metavar="ID",
        help="what was fixed: a fingerprint, its first characters, or the rule when it has one finding "
        "(default: all findings of the first capture)",
    )
    output_options(one, ".md or .json")
    language_option(one)
    rule_options(one)
    reading_options(one)
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compares both captures and says what became of findings; ends with 1 unless a fix worked at least in part."""
    from advisor.comparison import DEFAULT, compare
    from advisor.comparison.verification import named
    from advisor.report.writers import Reported, check_outputs, deliver, outside_captures

    settings, language = settings_of(arguments), language_of(arguments.lang)
    outputs = check_outputs(arguments.output, arguments.before, arguments.after, writers=_writers(arguments.finding))
    sides = []
    for path in (arguments.before, arguments.after):
        sides.append(given_diagnosis(path, arguments, settings))
        if arguments.finding is not None:
            named(sides[0], arguments.finding)
        outside_captures(outputs, path, tuple(capture.path for capture in sides[-1].run.captures))
    comparison = compare(sides[0], sides[1], settings.tolerance if settings else DEFAULT)
    for output in outputs:
        deliver(output.writer.text(Reported(sides[1], language, comparison)), output)
    console = None if arguments.quiet else console_beside(outputs)
    return FINE if _worked(comparison, arguments.finding, language, console) else FOUND


def _worked(comparison: Comparison, finding: str | None, language: Language, console: Console | None) -> bool:
    """Whether the fix worked at least in part; what became of what is printed, where somebody reads."""
    from advisor.comparison.verification import verify, verify_all
    from advisor.report.verification.terminal import print_verification, print_verifications

    if finding is None:
        found = verify_all(comparison)
        if console is not None:
            print_verifications(found, comparison, language, console)
        return found.worked
    one = verify(comparison, finding)
    if console is not None:
        print_verification(one, comparison, language, console)
    return one.result in ("kept", "partly")


def _writers(finding: str | None) -> tuple[Writer, ...]:
    from advisor.report.writers import Writer

    return (
        Writer(".md", "markdown", partial(_markdown, finding)),
        Writer(".json", "json", partial(_json, finding)),
    )


def _markdown(finding: str | None, reported: Reported) -> str:
    from advisor.comparison.verification import verify, verify_all
    from advisor.report.verification.markdown import document, document_of_all

    comparison, language = reported.comparison, reported.language
    assert comparison is not None  # noqa: S101 - given above
    if finding is None:
        return document_of_all(verify_all(comparison), comparison, language)
    return document(verify(comparison, finding), comparison, language)


def _json(finding: str | None, reported: Reported) -> str:
    from advisor.comparison.verification import verify, verify_all

    assert reported.comparison is not None  # noqa: S101 - given above
    found = verify_all(reported.comparison) if finding is None else verify(reported.comparison, finding)
    return found.to_json()
