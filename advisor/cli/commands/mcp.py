# SPDX-License-Identifier: Apache-2.0
"""`advisor mcp`: offer diagnoses, explanations, rules and tables to assistants."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import language_option, rule_options
from advisor.cli.exit_codes import FINE
from advisor.cli.settings_in_force import catalog_of, language_of, settings_of

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser
    from advisor.messages.errors import UsageError


def words(one: Parser) -> None:
    """What the command understands."""
    one.add_argument(
        "--root",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help=one.say(
            "a folder whose captures may be read (default: this one); may be repeated",
            "允许读取其中采集数据的目录（默认为当前目录）；可多次给出",
        ),
    )
    rule_options(one)
    language_option(one)


def run(arguments: argparse.Namespace) -> int:
    """Answers on standard input and output until the assistant hangs up."""
    from advisor.mcp_server.open_captures import Opened
    from advisor.mcp_server.roots import Roots
    from advisor.mcp_server.tools import Tools

    try:
        from advisor.mcp_server.server import build_server
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise _missing_mcp_error() from error
    settings = settings_of(arguments)
    roots, catalog = Roots(arguments.root or [_default_root()]), catalog_of(arguments.rules, settings)
    opened = Opened(roots, catalog, arguments.chip, arguments.job, arguments.cache)
    server = build_server(Tools(opened, settings, language_of(arguments.lang)))
    try:
        server.run("stdio")
    except ExceptionGroup as group:
        _check_hung_up(group)
    return FINE


def _check_hung_up(group: ExceptionGroup) -> None:
    """Takes it for the end when the assistant no longer listens.

    Raises:
        UsageError: What was answered cannot be written.
        ExceptionGroup: It is anything else.
    """
    from advisor.messages.errors import UsageError, reason_of_error
    from advisor.messages.message import Message

    error: Exception = group
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    if not isinstance(error, OSError) or group.split(OSError)[1] is not None:
        raise group
    if not isinstance(error, BrokenPipeError):
        raise UsageError(Message("standard_output_lost", why=reason_of_error(error))) from error


def _default_root() -> Path:
    """The folder the assistant was started in, unless that would open everything to it.

    Raises:
        UsageError: It is the top of the disk or the home folder, as where a desktop starts its programs.
    """
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message

    here = Path.cwd()
    if here in (Path(here.anchor), Path(os.path.expanduser("~"))):
        raise UsageError(Message("too_wide_a_root", folder=here), Message("name_roots"))
    return here


def _missing_mcp_error() -> UsageError:
    from advisor.messages.errors import UsageError
    from advisor.messages.message import Message

    return UsageError(Message("needs_mcp"), Message("install_mcp"))
