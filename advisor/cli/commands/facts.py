# SPDX-License-Identifier: Apache-2.0
"""`advisor facts`: every table of facts as Parquet, for questions of one's own and for later diagnoses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import language_option, named_path, reading_options
from advisor.cli.exit_codes import FINE
from advisor.cli.inputs import refuse_saved, warn_of_chip, ways_to_read
from advisor.cli.settings_in_force import language_of, settings_of
from advisor.cli.several_captures import captures_argument
from advisor.cli.signals import ended_in_order

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser


def words(one: Parser) -> None:
    """What the command understands."""
    captures_argument(one, one.say("a capture, or a folder of many ranks", "一份采集数据，或含多卡数据的目录"))
    one.add_argument(
        "-o",
        "--output",
        type=named_path,
        required=True,
        metavar="DIR",
        help=one.say(
            "the folder to write; facts that lie there already are replaced", "写入的目录；其中已有的数据会被替换"
        ),
    )
    one.add_argument(
        "-q", "--quiet", action="store_true", help=one.say("print nothing but errors", "除错误外不输出任何内容")
    )
    language_option(one)
    reading_options(one, cached=False)


def run(arguments: argparse.Namespace) -> int:
    """Reads, derives, writes.

    Raises:
        UsageError: Something else lies where the facts are to be written, or nothing can be written there.
    """
    from advisor.machine.input_folders import folder_outside_input
    from advisor.machine.output_files import cannot_be_written
    from advisor.messages.message import Message
    from advisor.messages.shell_words import shell_words
    from advisor.pipeline import open_profile, write_facts
    from advisor.report.progress_bar import ProgressBar
    from advisor.units import show_value

    refuse_saved(arguments.path, arguments.parts)
    target = _check_target(arguments.output, arguments.path)
    settings_of(arguments)
    language = language_of(arguments.lang)
    with ProgressBar(language) as bar:
        events_are_written = {"cache": None}  # where their rank is read, so every rank is
        profile = open_profile(arguments.path, **ways_to_read(arguments, bar) | events_are_written)
        warn_of_chip(profile, arguments)
        folder_outside_input(arguments.output, arguments.path, profile.run.capture_paths)
        try:
            with ended_in_order():
                rows = write_facts(profile, target)
        except OSError as error:
            raise cannot_be_written(target, error) from error
    if not arguments.quiet:
        size = sum(path.stat().st_size for path in target.rglob("*.parquet"))
        count, shown = f"{sum(rows.values()):,}", show_value(size, "B")
        quoted = shell_words(arguments.output)
        done = Message("facts_written", path=arguments.output, quoted=quoted, tables=len(rows), rows=count, size=shown)
        print(done.say(language))
    return FINE


def _check_target(target: Path, source: Path) -> Path:
    """The folder to write to, before the work starts.

    Raises:
        UsageError: It will not do.
    """
    from advisor.fact_store.writing import is_in_the_way
    from advisor.machine.output_files import cannot_be_written
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message
    from advisor.report.writers import check_folder

    check_folder(target, source)
    try:
        real = target.resolve()
        in_the_way = is_in_the_way(real)
    except OSError as error:
        raise cannot_be_written(target, error) from error
    if in_the_way:
        raise UsageError(Message("store_in_the_way", path=target), Message("give_new_folder"))
    return real
