# SPDX-License-Identifier: Apache-2.0
"""`advisor compare`: what changed from one profile to another, and why."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import (
    language_option,
    named_path,
    output_options,
    positive_number,
    reading_options,
    rule_options,
    source_options,
)
from advisor.cli.exit_codes import FINE
from advisor.cli.inputs import warn_of_chip, ways_to_read
from advisor.cli.outputs import TOP, chart_renderer, show_document, write_all
from advisor.cli.settings_in_force import catalog_of, language_of, settings_of
from advisor.report.output_formats import COMPARED_WRITERS

if TYPE_CHECKING:
    from advisor.cli.slips import Parser
    from advisor.facts.profile import Profile
    from advisor.model.comparison import Comparison, Tolerance
    from advisor.model.findings import Diagnosis
    from advisor.policy.settings import Settings
    from advisor.report.charts.draw import Renderer
    from advisor.report.progress_bar import ProgressBar
    from advisor.report.writers import Output


def words(one: Parser) -> None:
    """What the command understands."""
    for name, what in (
        ("before", one.say("what to compare with", "作为基线")),
        ("after", one.say("what to judge", "要判断")),
    ):
        told = one.say(
            f"{what}: a capture, or a .json written by diagnose", f"{what}的采集数据，或 diagnose 写出的 .json"
        )
        one.add_argument(name, type=named_path, help=told)
    output_options(one, COMPARED_WRITERS, example="json:-")
    source_options(one)
    language_option(one)
    one.add_argument(
        "--top",
        type=positive_number,
        default=5,
        metavar="N",
        help=one.say("how many lines of a kind the terminal shows (default: 5)", "终端每类最多显示几行（默认 5）"),
    )
    for name, kind, what in (
        (
            "floor",
            part_of_whole,
            one.say(
                "part of the step below which a difference does not count, such as 0.01 or 1%%",
                "差异低于单步的这一比例时不计，如 0.01 或 1%%",
            ),
        ),
        (
            "relative",
            part_or_multiple,
            one.say(
                "part of a value below which a difference does not count, such as 0.2 or 20%%",
                "差异低于原值的这一比例时不计，如 0.2 或 20%%",
            ),
        ),
        (
            "spread",
            part_or_multiple,
            one.say(
                "how many times the spread over the steps a difference must exceed, such as 2",
                "差异须超过各 step 波动的倍数，如 2",
            ),
        ),
    ):
        one.add_argument(f"--{name}", type=kind, metavar="X", help=what)
    rule_options(one)
    reading_options(one)


def part_or_multiple(words: str) -> float:
    """A part or a multiple, not negative; per cent are understood."""
    try:
        value = float(words.removesuffix("%")) / (100 if words.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        from advisor.messages.errors import Unclear
        from advisor.messages.message import Message

        raise Unclear(Message("not_from_zero"))
    return value


def run(arguments: argparse.Namespace) -> int:
    """Reads both, compares, writes."""
    with chart_renderer(arguments.output) as charts:
        from advisor.report.writers import check_outputs

        outputs = check_outputs(arguments.output, arguments.before, arguments.after, writers=COMPARED_WRITERS)
        settings = settings_of(arguments)
        return hand_out(_compare_paths(arguments, settings, outputs), arguments, outputs, charts)


def hand_out(comparison: Comparison, arguments: argparse.Namespace, outputs: Sequence[Output], charts: Renderer) -> int:
    """How a comparison leaves a command: files, the terminal, and an exit code that judges nothing."""
    from advisor.report.comparison.document import comparison_summary

    written = write_all(comparison.after, arguments, outputs, charts, comparison=comparison)
    if not arguments.quiet:
        summary = comparison_summary(comparison, language_of(arguments.lang), arguments.top or TOP)
        show_document(summary, outputs, written)
    return FINE


def _compare_paths(arguments: argparse.Namespace, settings: Settings | None, outputs: Sequence[Output]) -> Comparison:
    """The comparison, with the tables of both captures where both are at hand."""
    from advisor.pipeline import compare_opened
    from advisor.report.progress_bar import ProgressBar

    catalog = catalog_of(arguments.rules, settings)
    paths = (arguments.before, arguments.after)
    tolerance = _tolerance_in_force(arguments, settings)
    with ProgressBar(language_of(arguments.lang)) as bar:
        before, after = (_open_side(path, arguments, outputs, bar) for path in paths)  # both, before the work starts
        return compare_opened(before, after, catalog, tolerance, progress=bar, tables=True, paths=paths)


def _open_side(
    path: Path, arguments: argparse.Namespace, outputs: Sequence[Output], bar: ProgressBar
) -> Diagnosis | Profile:
    """The diagnosis in a .json, or a capture that can be diagnosed and has tables."""
    from advisor.facts.profile import Profile
    from advisor.pipeline import open_given
    from advisor.report.writers import outside_captures

    given = open_given(path, tables=True, **ways_to_read(arguments, bar))
    if isinstance(given, Profile):
        warn_of_chip(given, arguments)
        outside_captures(outputs, path, given.run.capture_paths)
    return given


def part_of_whole(words: str) -> float:
    """A part, at most the whole; per cent are understood."""
    value = part_or_multiple(words)
    if value > 1:
        from advisor.messages.errors import Unclear
        from advisor.messages.message import Message, did_you_mean

        near = [f"{words}%"] if value <= 100 and not words.endswith("%") else []  # noqa: PLR2004 - per cent
        raise Unclear(Message("more_than_whole", words=words), did_you_mean(near) or Message("share_between"))
    return value


def _tolerance_in_force(arguments: argparse.Namespace, settings: Settings | None) -> Tolerance:
    """What the project says, and what the command line says above that."""
    from advisor.model.comparison import Tolerance

    asked = {name: getattr(arguments, name) for name in ("floor", "relative", "spread")}
    base = settings.tolerance if settings is not None else Tolerance()
    return base.model_copy(update={name: value for name, value in asked.items() if value is not None})
