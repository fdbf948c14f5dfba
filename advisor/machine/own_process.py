# SPDX-License-Identifier: Apache-2.0
"""Whether a process is advisor's own, as a command has it, or that of a program that uses advisor: that one decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_commands = [0]
"""How many commands run."""


@contextmanager
def running_command() -> Iterator[None]:
    """While it lasts, the process is advisor's own."""
    _commands[0] += 1
    try:
        yield
    finally:
        _commands[0] -= 1


def is_own_process() -> bool:
    """Whether signals, for one, may be handled as advisor needs it."""
    return _commands[0] > 0
