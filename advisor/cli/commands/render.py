# SPDX-License-Identifier: Apache-2.0
"""`advisor render`: write a report again from a saved .json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.arguments import finding_options, language_option, named_path, output_options, source_options
from advisor.cli.inputs import saved_diagnosis
from advisor.cli.outputs import chart_renderer, hand_out
from advisor.cli.settings_in_force import settings_of
from advisor.model.saved import is_comparison, saved_comparison

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser


def words(one: Parser) -> None:
    """What the command understands."""
    one.add_argument(
        "path",
        type=named_path,
        help=one.say("a .json written by diagnose or compare", "diagnose 或 compare 写出的 .json"),
    )
    output_options(one)
    source_options(one)
    language_option(one)
    finding_options(one)


def run(arguments: argparse.Namespace) -> int:
    """Reads a diagnosis or a comparison and writes it."""
    from advisor.report.writers import check_outputs

    settings_of(arguments)
    if is_comparison(arguments.path):
        return _render_comparison(arguments)
    outputs = check_outputs(arguments.output, arguments.path)
    with chart_renderer(outputs) as charts:
        return hand_out(saved_diagnosis(arguments.path), arguments, outputs, charts)


def _render_comparison(arguments: argparse.Namespace) -> int:
    from advisor.cli.commands import compare
    from advisor.report.output_formats import COMPARED_WRITERS
    from advisor.report.writers import check_outputs

    outputs = check_outputs(arguments.output, arguments.path, writers=COMPARED_WRITERS)
    with chart_renderer(outputs) as charts:
        return compare.hand_out(saved_comparison(arguments.path), arguments, outputs, charts)
