# SPDX-License-Identifier: Apache-2.0
"""`advisor verify`: whether a fix won what its finding promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.arguments import language_option, named_path, output_options, reading_options, rule_options
from advisor.cli.exit_codes import FINE, FOUND
from advisor.cli.inputs import given_diagnosis
from advisor.cli.outputs import write_and_show
from advisor.cli.settings_in_force import language_of, settings_of
from advisor.report.output_formats import DOCUMENT_WRITERS, Told

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser
    from advisor.messages.text import Language
    from advisor.model.comparison import Comparison


def words(one: Parser) -> None:
    """What the command understands."""
    one.add_argument(
        "before",
        type=named_path,
        help=one.say(
            "before the fix: a capture, or a .json written by diagnose", "处理前：采集数据，或 diagnose 写出的 .json"
        ),
    )
    one.add_argument(
        "after",
        type=named_path,
        help=one.say(
            "after the fix: a capture, or a .json written by diagnose", "处理后：采集数据，或 diagnose 写出的 .json"
        ),
    )
    one.add_argument(
        "--finding",
        metavar="ID",
        help=one.say(
            "what was fixed: a fingerprint, its first characters, or the rule when it has one finding "
            "(default: all findings of the first capture)",
            "处理了哪个问题：指纹、指纹开头几位，或只有一条问题的规则 ID（默认为处理前的全部问题）",
        ),
    )
    output_options(one, DOCUMENT_WRITERS, example="json:-")
    language_option(one)
    rule_options(one)
    reading_options(one)


def run(arguments: argparse.Namespace) -> int:
    """Compares both captures and says what became of findings; ends with 1 unless a fix worked at least in part."""
    from advisor.comparison.run_names import runs_told_apart
    from advisor.comparison.verification import finding_named
    from advisor.pipeline import compare
    from advisor.report.writers import check_outputs, outside_captures

    settings = settings_of(arguments)
    outputs = check_outputs(arguments.output, arguments.before, arguments.after, writers=DOCUMENT_WRITERS)
    sides = []
    for path in (arguments.before, arguments.after):
        sides.append(given_diagnosis(path, arguments, settings))
        if arguments.finding is not None:
            finding_named(sides[0], arguments.finding)
        outside_captures(outputs, path, sides[-1].run.capture_paths)
    before, after = runs_told_apart((sides[0], sides[1]), (arguments.before, arguments.after))
    comparison = compare(before, after, settings)
    told, worked = _verify_one_or_all(comparison, arguments.finding, language_of(arguments.lang))
    write_and_show(told, lambda: told.document, arguments, outputs)
    return FINE if worked else FOUND


def _verify_one_or_all(comparison: Comparison, finding: str | None, language: Language) -> tuple[Told, bool]:
    """What became of one finding or of all, and whether the fix worked at least in part."""
    from advisor.pipeline import verify
    from advisor.report.verification.document import verification_document

    found = verify(comparison, finding)
    return Told(verification_document(found, comparison, language), found.to_json), found.worked
