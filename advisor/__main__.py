# SPDX-License-Identifier: Apache-2.0
"""`python -m advisor`, and the command `advisor`."""

from __future__ import annotations

import os
import sys

from advisor.cli.exit_codes import FINE, WRONG
from advisor.cli.main import main
from advisor.cli.settings_in_force import language_of
from advisor.cli.slips import language_asked
from advisor.cli.standard_error import tell
from advisor.cli.standard_output import Outlet, open_standard_streams
from advisor.machine.freed_memory import collect_seldom


def run() -> None:
    """Runs the command and ends the process at once.

    Python would first take hundreds of modules and all tables apart (0.1 s), of a process that is about to end, and
    look for garbage every 700 objects (0.04 s), or once in the middle of the rules, which are half a million (0.1 s);
    and pydantic would look through every installed package for plugins (0.01 s). All count where a small capture takes
    0.6 s in all.
    """
    collect_seldom()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each takes 32 MiB of address space, and has nothing to do
    printed = open_standard_streams()
    try:
        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else WRONG
    sys.stdout.flush()
    code = code or _code_of_what_was_lost(printed)
    sys.stderr.flush()
    os._exit(code)


def _code_of_what_was_lost(printed: Outlet) -> int:
    """Whether something was printed that arrived nowhere; a reader who went away has read enough."""
    if printed.refused is None or isinstance(printed.refused, BrokenPipeError):
        return FINE
    from advisor.messages.errors import reason_of_error
    from advisor.messages.message import Message

    said = Message("standard_output_lost", why=reason_of_error(printed.refused))
    tell(said.say(language_of(language_asked(sys.argv))))
    return WRONG


if __name__ == "__main__":
    run()
