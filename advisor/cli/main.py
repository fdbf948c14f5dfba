# SPDX-License-Identifier: Apache-2.0
"""The command line: words in, exit code out. Decides nothing.

Exit codes: 0 fine, 1 what fails a run (such as findings at or above `--fail-on`), 2 wrong use or a wrong rule,
3 nothing readable in the input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from advisor.cli.arguments import build_parser
from advisor.cli.commands import COMMANDS
from advisor.cli.encodings import prepare_streams
from advisor.cli.exit_codes import FINE, INTERRUPTED, UNREADABLE, WRONG
from advisor.cli.settings_in_force import language_of
from advisor.cli.slips import Slip, language_asked
from advisor.cli.standard_input import standard_input


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives the exit code."""
    prepare_streams()
    words = sys.argv[1:] if argv is None else list(argv)
    top = build_parser(words[0] if words and words[0] in COMMANDS else "")
    try:
        arguments = top.parse_args(words)
    except Slip as slip:
        print(slip.say(language_of(language_asked(words))), file=sys.stderr)
        raise SystemExit(WRONG) from None
    if not hasattr(arguments, "run"):
        top.print_help()
        return WRONG
    from advisor.messages.errors import AdvisorError, InputError, WorkerLost

    try:
        with standard_input(arguments):
            code: int = arguments.run(arguments)
    except AdvisorError as error:
        print(f"advisor: {error.say(language_of(getattr(arguments, 'lang', None)))}", file=sys.stderr)
        return UNREADABLE if isinstance(error, InputError | WorkerLost) else WRONG
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - so that closing it at exit finds no pipe
        return FINE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code
