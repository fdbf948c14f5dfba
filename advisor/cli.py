# SPDX-License-Identifier: Apache-2.0
"""The command line: words in, exit code out. Decides nothing.

Exit codes: 0 fine, 1 what fails a run (such as findings at or above `--fail-on`), 2 wrong use or a wrong rule,
3 nothing readable in the input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from advisor.arguments import parser
from advisor.commands import COMMANDS
from advisor.commands.exits import FINE, INTERRUPTED, UNREADABLE, WRONG
from advisor.commands.settings import language_of


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    top = parser(words[0] if words and words[0] in COMMANDS else "")
    arguments = top.parse_args(words)
    if not hasattr(arguments, "run"):
        top.print_help()
        return WRONG
    from advisor.errors import AdvisorError, InputError, SpokenError, WorkerLost

    try:
        code: int = arguments.run(arguments)
    except AdvisorError as error:
        said = error.say(language_of(getattr(arguments, "lang", None))) if isinstance(error, SpokenError) else error
        print(f"advisor: {said}", file=sys.stderr)
        return UNREADABLE if isinstance(error, InputError | WorkerLost) else WRONG
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - so that closing it at exit finds no pipe
        return FINE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code
