# SPDX-License-Identifier: Apache-2.0
"""`advisor diagnose`: read a profile and say what to fix first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.arguments import (
    finding_options,
    language_option,
    output_options,
    reading_options,
    rule_options,
    source_options,
)
from advisor.cli.inputs import refuse_saved, warn_of_chip, warn_of_rules, ways_to_read
from advisor.cli.outputs import chart_renderer, hand_out
from advisor.cli.settings_in_force import catalog_of, language_of, settings_of
from advisor.cli.several_captures import captures_argument

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser
    from advisor.rules.catalog import Catalog

LARGE_BYTES = 64 << 20
"""From here on reading takes longer than the drawing process takes to wake up, and wants the memory."""
WORKED_OUT = "ranks"
"""The part of the work (see `progress`) after which nothing of a large capture is held but what is told of it."""


def words(one: Parser) -> None:
    """What the command understands."""
    captures_argument(
        one,
        one.say(
            "a capture: *_ascend_pt, *_ascend_ms, PROF_* of msprof, a folder of many ranks, cluster_analysis_output, "
            "GPU traces, or a zip or tar of these",
            "采集数据：*_ascend_pt、*_ascend_ms、msprof 的 PROF_*、含多卡数据的目录、cluster_analysis_output、"
            "GPU trace，或它们的 zip、tar 包",
        ),
    )
    output_options(one)
    source_options(one)
    language_option(one)
    finding_options(one)
    rule_options(one)
    one.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help=one.say(
            "only rules whose id matches, such as host/*; may be repeated",
            "只运行 ID 匹配的规则，如 host/*；可多次给出",
        ),
    )
    reading_options(one)


def run(arguments: argparse.Namespace) -> int:
    """Reads, judges, writes."""
    with chart_renderer(arguments.output) as charts:  # before anything large is imported: it wakes up beside that
        from advisor.report.charts.draw import begin_charts
        from advisor.report.progress_bar import ProgressBar
        from advisor.report.writers import check_outputs, outside_captures

        refuse_saved(arguments.path, arguments.parts, to_write_again=True)
        outputs = check_outputs(arguments.output, arguments.path)
        settings = settings_of(arguments)
        language = language_of(arguments.lang)
        with ProgressBar(language) as bar:
            from advisor.pipeline import diagnose, open_profile

            def told(what: str, done: int, total: int) -> None:
                bar(what, done, total)
                if done >= total and what == WORKED_OUT:
                    charts.wake()

            def rules() -> Catalog:
                catalog = catalog_of(arguments.rules, settings, arguments.only)
                warn_of_rules(arguments)
                return catalog

            profile = open_profile(arguments.path, **{**ways_to_read(arguments, bar), "progress": told})
            warn_of_chip(profile, arguments)
            outside_captures(outputs, arguments.path, profile.run.capture_paths)
            small = profile.size_bytes <= LARGE_BYTES
            if not small:
                charts.rest()
            # drawing takes as long as reading the rules, and they want all that rests on events
            alone = small and profile.single and arguments.cache is None  # tables of events are not kept
            diagnosis = diagnose(
                profile,
                rules,
                bar,
                tell_exhibits=lambda shown: begin_charts(charts, language, shown, profile.run),
                events_first=alone and charts.wanted and settings is None and not arguments.only,
            )
        return hand_out(diagnosis, arguments, outputs, charts)
