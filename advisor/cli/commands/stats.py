# SPDX-License-Identifier: Apache-2.0
"""`advisor stats`: how often, how long and on which rank, as tables; it judges nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.arguments import language_option, output_options, positive_number, reading_options
from advisor.cli.exit_codes import FINE
from advisor.cli.inputs import refuse_saved, warn_of_chip, ways_to_read
from advisor.cli.outputs import write_and_show
from advisor.cli.settings_in_force import language_of, settings_of
from advisor.cli.several_captures import captures_argument
from advisor.report.output_formats import STATISTICS_WRITERS, CountedTables

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from advisor.cli.slips import Parser
    from advisor.model.statistics import Statistics
    from advisor.report.writers import Output

NAMES = (
    "ranks",
    "kernels",
    "rooflines",
    "operators",
    "apis",
    "collectives",
    "links",
    "p2p",
    "pipeline",
    "gaps",
    "modules",
    "marks",
    "memory",
    "holders",
    "traffic",
    "hosts",
    "steps",
)
"""The tables (see `statistics.tables`), named here so that the help of a command reads nothing."""
_SHOWN = 10


def words(one: Parser) -> None:
    """What the command understands."""
    captures_argument(one, one.say("a capture, or a folder of many ranks", "一份采集数据，或含多卡数据的目录"))
    one.add_argument(
        "--of",
        action="append",
        choices=NAMES,
        default=[],
        metavar="TABLE",
        help=one.say(
            f"which table: {', '.join(NAMES)}; may be repeated (default: all that the capture gives)",
            f"哪些表：{'、'.join(NAMES)}；可多次给出（默认为采集数据能给出的全部）",
        ),
    )
    one.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="KEY",
        help=one.say(
            "what names a row, such as input_shapes of kernels or size_bytes of collectives; may be repeated",
            "按什么分行，如 kernels 的 input_shapes、collectives 的 size_bytes；可多次给出",
        ),
    )
    one.add_argument(
        "--per-rank",
        action="store_true",
        help=one.say("each rank by itself (default: all ranks together)", "每张卡单独统计（默认各卡合并）"),
    )
    one.add_argument(
        "--top",
        type=positive_number,
        default=_SHOWN,
        metavar="N",
        help=one.say(
            f"how many rows of each table are shown (default: {_SHOWN}); files of tables hold all",
            f"每张表显示几行（默认 {_SHOWN}）；写出的表格文件包含全部行",
        ),
    )
    output_options(one, STATISTICS_WRITERS, example="csv:-")
    language_option(one)
    reading_options(one)


def run(arguments: argparse.Namespace) -> int:
    """Reads, counts, writes."""
    from advisor.pipeline import count_profile, losses_of_tables, open_to_count
    from advisor.report.losses import say_losses
    from advisor.report.progress_bar import ProgressBar
    from advisor.report.statistics.document import statistics_summary
    from advisor.report.writers import check_outputs, outside_captures

    refuse_saved(arguments.path, arguments.parts)
    arguments.of = list(dict.fromkeys(arguments.of))
    outputs = check_outputs(arguments.output, arguments.path, writers=STATISTICS_WRITERS)
    _refuse_several_in_one_stream(outputs, arguments)
    settings = settings_of(arguments)
    language = language_of(arguments.lang)
    with ProgressBar(language) as bar:
        profile = open_to_count(arguments.path, **ways_to_read(arguments, bar))
        warn_of_chip(profile, arguments)
        outside_captures(outputs, arguments.path, profile.run.capture_paths)
        found = count_profile(profile, arguments.of, arguments.by, per_rank=arguments.per_rank)
        losses = losses_of_tables(profile, found, settings)
    _refuse_nothing(found, arguments)
    found = found.model_copy(update={"lost": say_losses(losses), "unread": losses.unread})
    counted = CountedTables(found, language, arguments.top)
    write_and_show(counted, lambda: statistics_summary(*counted), arguments, outputs)
    return FINE


def _refuse_several_in_one_stream(outputs: Sequence[Output], arguments: argparse.Namespace) -> None:
    """A format with a file for each table has room for one table on the standard output.

    Raises:
        UsageError: Several are asked for.
    """
    if len(arguments.of) == 1 or not any(one.is_stdout and one.writer.tables is not None for one in outputs):
        return
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message

    name = next(one.writer.name for one in outputs if one.is_stdout)
    raise UsageError(Message("several_tables_in_one_stream", format=name), Message("ask_for_one_table"))


def _refuse_nothing(found: Statistics, arguments: argparse.Namespace) -> None:
    """Ends where no table can be made.

    Raises:
        InputError: So it is; the hint says why.
    """
    if found.tables:
        return
    from advisor.messages.errors import InputError
    from advisor.messages.message import Message

    names = ", ".join(one.name for one in found.absent)
    raise InputError(Message("nothing_counted", path=arguments.path, names=names), found.absent[0].reason)
