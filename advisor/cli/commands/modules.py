# SPDX-License-Identifier: Apache-2.0
"""`advisor modules`: where in the model time goes: modules, their operators in call order, and the kernels of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.arguments import language_option, output_options, reading_options
from advisor.cli.exit_codes import FINE, UNREADABLE
from advisor.cli.inputs import refuse_saved, warn_of_chip, ways_to_read
from advisor.cli.outputs import write_and_show
from advisor.cli.settings_in_force import language_of, settings_of
from advisor.cli.several_captures import captures_argument
from advisor.messages.errors import InputError
from advisor.messages.message import Message
from advisor.report.output_formats import MODULE_WRITERS

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser


def words(one: Parser) -> None:
    """What the command understands."""
    captures_argument(
        one,
        one.say(
            "captures of a model whose modules were marked, or of Python stacks", "带模块标记或 Python 调用栈的采集数据"
        ),
    )
    output_options(one, MODULE_WRITERS, example="csv:-")
    language_option(one)
    reading_options(one)


def run(arguments: argparse.Namespace) -> int:
    """Reads, says where the time goes; ends with 3 where no module is known, and shows what to record."""
    from advisor.pipeline import modules, open_profile
    from advisor.report.modules.document import modules_summary
    from advisor.report.progress_bar import ProgressBar
    from advisor.report.writers import check_outputs, outside_captures

    refuse_saved(arguments.path, arguments.parts)
    outputs = check_outputs(arguments.output, arguments.path, writers=MODULE_WRITERS)
    settings = settings_of(arguments)
    language = language_of(arguments.lang)
    with ProgressBar(language) as bar:
        profile = open_profile(arguments.path, **ways_to_read(arguments, bar))
        warn_of_chip(profile, arguments)
        outside_captures(outputs, arguments.path, profile.run.capture_paths)
        report = modules(profile, settings)
    write_and_show((report, language), lambda: modules_summary(report, language), arguments, outputs)
    if arguments.quiet and not report.ranks:
        raise InputError(Message("no_modules_told", path=arguments.path), Message("without_quiet_how_to_record"))
    return FINE if report.ranks else UNREADABLE
