# SPDX-License-Identifier: Apache-2.0
"""`advisor verify`: whether a fix won what its finding promised."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from advisor.arguments import language_option, named_path, output_options, reading_options, rule_options
from advisor.commands.exits import FINE, FOUND
from advisor.commands.given import given_diagnosis
from advisor.commands.handing import console_beside
from advisor.commands.settings import language_of, settings_of

if TYPE_CHECKING:
    import argparse

    from advisor.report.writers import Reported, Writer


def words(one: argparse.ArgumentParser) -> None:
    """What the command understands."""
    one.add_argument("before", type=named_path, help="before the fix: a capture, or a .json written by diagnose")
    one.add_argument("after", type=named_path, help="after the fix: likewise")
    one.add_argument(
        "--finding",
        required=True,
        metavar="ID",
        help="what was fixed: a fingerprint, its first characters, or the rule when it has one finding",
    )
    output_options(one, ".md or .json")
    language_option(one)
    rule_options(one)
    reading_options(one)
    one.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compares both captures and says what became of a finding; ends with 1 unless its fix worked at least in part."""
    from advisor.baseline import DEFAULT, compare
    from advisor.report.verification.terminal import print_verification
    from advisor.report.writers import Reported, check_outputs, deliver, outside_captures
    from advisor.verification import named, verify

    settings, language = settings_of(arguments), language_of(arguments.lang)
    outputs = check_outputs(arguments.output, arguments.before, arguments.after, writers=_writers(arguments.finding))
    sides = []
    for path in (arguments.before, arguments.after):
        sides.append(given_diagnosis(path, arguments, settings))
        named(sides[0], arguments.finding)
        outside_captures(outputs, path, tuple(capture.path for capture in sides[-1].run.captures))
    comparison = compare(sides[0], sides[1], settings.tolerance if settings else DEFAULT)
    verification = verify(comparison, arguments.finding)
    for output in outputs:
        deliver(output.writer.text(Reported(sides[1], language, comparison)), output)
    if not arguments.quiet:
        print_verification(verification, comparison, language, console_beside(outputs))
    return FINE if verification.result in ("kept", "partly") else FOUND


def _writers(finding: str) -> tuple[Writer, ...]:
    from advisor.report.writers import Writer

    return (
        Writer(".md", "markdown", partial(_markdown, finding)),
        Writer(".json", "json", partial(_json, finding)),
    )


def _markdown(finding: str, reported: Reported) -> str:
    from advisor.report.verification.markdown import document
    from advisor.verification import verify

    assert reported.comparison is not None  # noqa: S101 - given above
    return document(verify(reported.comparison, finding), reported.comparison, reported.language)


def _json(finding: str, reported: Reported) -> str:
    from advisor.verification import verify

    assert reported.comparison is not None  # noqa: S101 - given above
    return verify(reported.comparison, finding).to_json()
