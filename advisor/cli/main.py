# SPDX-License-Identifier: Apache-2.0
"""The command line: words in, exit code out. Decides nothing.

Exit codes: 0 fine, 1 what fails a run (such as findings at or above `--fail-on`), 2 wrong use or a wrong rule,
3 nothing readable in the input, 4 ended before it was done, for lack of memory or by a mistake in advisor.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from advisor.cli.commands import COMMANDS
from advisor.cli.encodings import prepare_streams
from advisor.cli.endings import tell_ending, tell_notes
from advisor.cli.exit_codes import SIGNALLED, WRONG
from advisor.cli.settings_in_force import language_of
from advisor.cli.slips import Slip, language_asked
from advisor.cli.standard_input import standard_input
from advisor.cli.top_parser import build_parser
from advisor.machine.own_process import running_command
from advisor.messages.hidden import show_hidden_in_lines


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives the exit code."""
    prepare_streams()
    words = sys.argv[1:] if argv is None else list(argv)
    arguments = argparse.Namespace()
    try:
        return _run_command(words, arguments)
    except (KeyboardInterrupt, SystemExit) as end:
        tell_notes(end)
        if isinstance(end, SystemExit):
            raise
        return SIGNALLED + signal.SIGINT
    except Exception as error:  # noqa: BLE001 - here ends what nobody expected, told and with a code of its own
        language = language_of(getattr(arguments, "lang", None) or language_asked(words))
        return tell_ending(error, language, debug="--debug" in words)


def _run_command(words: Sequence[str], arguments: argparse.Namespace) -> int:
    language = language_of(language_asked(words))
    top = build_parser(words[0] if words and words[0] in COMMANDS else "", language)
    try:
        top.parse_args(words, arguments)
    except Slip as slip:
        print(show_hidden_in_lines(slip.say(language)), file=sys.stderr)
        raise SystemExit(WRONG) from None
    if not hasattr(arguments, "run"):
        top.print_help()
        return WRONG
    _check_folder_is_there()
    try:
        with running_command(), standard_input(arguments):
            code: int = arguments.run(arguments)
    finally:
        _remove_what_was_unpacked()
    return code


def _remove_what_was_unpacked() -> None:
    """Archives are unpacked into folders of this process, which ends without taking itself apart."""
    if "advisor.machine.private_folders" in sys.modules:
        from advisor.machine.private_folders import remove_folders

        remove_folders()


def _check_folder_is_there() -> None:
    """Refuses to start where paths mean nothing.

    Raises:
        UsageError: The working folder was removed.
    """
    try:
        os.getcwd()
    except OSError:
        from advisor.messages.errors import UsageError
        from advisor.messages.message import Message

        raise UsageError(Message("folder_gone"), Message("go_elsewhere")) from None
