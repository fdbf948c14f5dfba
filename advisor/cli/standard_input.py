# SPDX-License-Identifier: Apache-2.0
"""`-` in place of a path: a saved .json that comes on the standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

DASH = Path("-")
PATHS = ("path", "baseline", "before", "after", "report", "profile", "verdict")
"""The words of commands that may name a saved .json."""


@contextmanager
def standard_input(arguments: argparse.Namespace) -> Iterator[None]:
    """While it lasts `-` names a file with what came on the standard input.

    Raises:
        UsageError: Two words ask for it.
    """
    asking = [name for name in PATHS if getattr(arguments, name, None) == DASH]
    if not asking:
        yield
        return
    from advisor.messages.errors import InputError, UsageError
    from advisor.messages.message import Message, with_name

    if len(asking) > 1:
        raise UsageError(Message("one_standard_input"), Message("give_one_as_file"))
    with _temporary_file(sys.stdin.buffer.read()) as file:
        setattr(arguments, asking[0], file)
        try:
            yield
        except InputError as error:  # nobody knows of a file that is about to go
            called = Message("the_standard_input")
            what, hint = (said and with_name(said, str(file), called) for said in (error.what, error.hint))
            raise InputError(what or error.what, hint) from error


@contextmanager
def _temporary_file(content: bytes) -> Iterator[Path]:
    """A file of its own with this content, which is gone afterwards.

    Raises:
        UsageError: There is no room for it, or nowhere to write to.
    """
    from tempfile import TemporaryDirectory

    from advisor.cli.signals import ended_in_order
    from advisor.messages.errors import UsageError, reason_of_error
    from advisor.messages.message import Message

    with ended_in_order(), ExitStack() as left:
        try:
            file = Path(left.enter_context(TemporaryDirectory(prefix="advisor-")), "stdin.json")
            file.write_bytes(content)
        except OSError as error:
            why = reason_of_error(error)
            raise UsageError(Message("no_temporary_file", why=why), Message("name_temporary_folder")) from error
        yield file
