# SPDX-License-Identifier: Apache-2.0
"""Only regular files are opened: a pipe waits for ever, a device never ends, and a link may lead to what is secret."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

from advisor.messages.errors import SpokenError
from advisor.messages.message import Message

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_OF_THE_SYSTEM = ("/proc/", "/sys/", "/dev/")
"""Where files are made up as they are read: settings and memory of other processes, devices."""
_MEMORY_DISK = "/dev/shm/"  # noqa: S108 - holds files as any disk does


class NotRegularError(SpokenError, OSError):
    """What is to be opened is a folder, a pipe, a socket or a device, or what the system makes up as it is read."""

    def __init__(self) -> None:
        super().__init__(Message("no_regular_file"))


def open_regular(path: Path) -> BufferedReader:
    """A regular file, opened to be read. It is looked at before and after: it may be replaced between the two.

    Raises:
        NotRegularError: It is something else.
        OSError: It cannot be opened.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise NotRegularError
    file = os.fdopen(os.open(path, _FLAGS), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode) or _is_of_system(_place_of_opened(file, path)):
        file.close()
        raise NotRegularError
    return file


def _place_of_opened(file: BufferedReader, path: Path) -> str:
    """Where what was opened at a path lies, told by the system where it does: sooner than link by link."""
    try:
        return os.readlink(f"/proc/self/fd/{file.fileno()}")
    except OSError:
        return os.path.realpath(path)


def read_regular(path: Path, most: int = -1) -> bytes:
    """What a regular file holds, or its first bytes.

    Raises:
        OSError: It is something else, or cannot be read.
    """
    with open_regular(path) as file:
        return file.read(most)


def leads_out(path: Path, folder: Path) -> bool:
    """Whether links on the way to a file lead out of a folder."""
    return _may_lead_out(str(path), str(folder)) and not _real_text(path).startswith(_real_text(folder))


def _may_lead_out(path: str, folder: str) -> bool:
    """Whether the way from a folder to a file goes by a link, or up, or cannot be told from the two names."""
    if not path.startswith(folder + os.sep):
        return True
    way = path.removeprefix(folder + os.sep).split(os.sep)
    steps = (os.sep.join((folder, *way[:end])) for end in range(1, len(way) + 1))
    return os.pardir in way or any(map(os.path.islink, steps))


def leads_to_system(path: Path) -> bool:
    """Whether a path leads, by way of links, to what the system makes up, such as the memory of a process."""
    return _is_of_system(_real_text(path))


def _is_of_system(target: str) -> bool:
    return target.startswith(_OF_THE_SYSTEM) and not target.startswith(_MEMORY_DISK)


def _real_text(path: Path) -> str:
    """Where a path leads, ended so that what lies below another begins with it."""
    return os.path.join(os.path.realpath(path), "")
