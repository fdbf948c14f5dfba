# SPDX-License-Identifier: Apache-2.0
"""How files reach the disk: whole or not at all, and nothing but a regular file is ever replaced."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from advisor.messages.errors import UsageError, reason_of_error
from advisor.messages.message import Message

_DESCRIPTORS = ("/dev/fd/", "/dev/stderr", "/proc/")
"""Names of what is open already: replaced, it would be lost to whoever opened it."""
_BESIDE_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS})
"""Why a file cannot be replaced that can be written into, such as one alone that is mounted into a container."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def write_file(path: Path, content: bytes) -> None:
    """Writes a file. One that was there is replaced in one go, and keeps its mode and its owner.

    A link is followed. What is no regular file, such as a device or a pipe, is written into.

    Raises:
        UsageError: It cannot be written.
    """
    try:
        if _is_written_into(path):
            _write_into(path, content)
        else:
            _replace_file(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise cannot_be_written(path, error) from error


def write_new_file(path: Path, content: bytes) -> None:
    """Writes a file that is not there yet; none is left where it cannot be written to its end.

    Raises:
        FileExistsError: It is there.
        UsageError: It cannot be written.
    """
    try:
        with contextlib.suppress(FileExistsError):  # what is no folder is said when the file is opened
            path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file, _removed_unless_done(path):
            file.write(content)
            file.flush()
    except FileExistsError:
        raise
    except OSError as error:
        raise cannot_be_written(path, error) from error


@contextlib.contextmanager
def _removed_unless_done(path: Path) -> Iterator[None]:
    """Removes a file when what is done in between fails, or is interrupted."""
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def put_in_place(part: Path, target: Path) -> Iterator[None]:
    """Puts a file that is written in between where another is or will be, in one go; removes it when that fails.

    Raises:
        OSError: It cannot be put there.
    """
    with _removed_unless_done(part):
        yield
        os.replace(part, target)


def cannot_be_written(path: Path, error: OSError) -> UsageError:
    """What is said of a file that the system refuses."""
    hint = Message("make_room" if error.errno in _NO_ROOM else "give_writable")
    return UsageError(Message("cannot_be_written", path=path, why=reason_of_error(error)), hint)


def _is_written_into(path: Path) -> bool:
    """Whether this is something other than a file that can be replaced.

    Raises:
        OSError: It cannot be looked at: its name is too long, or it is a link to itself.
    """
    if os.path.abspath(path).startswith(_DESCRIPTORS):
        return True
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


def _write_into(path: Path, content: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_TRUNC), "wb") as file:
        file.write(content)


def _replace_file(target: Path, content: bytes) -> None:
    """Puts the new file beside the old one and in its place; where that is refused, writes into the old one."""
    old = target.stat() if target.exists() else None
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    part = target.with_name(f".advisor-{secrets.token_hex(4)}.part")
    try:
        with put_in_place(part, target), part.open("xb") as file:
            if old is not None:
                _take_over(file.fileno(), old)
            file.write(content)
    except OSError as error:
        if old is None or error.errno not in _BESIDE_REFUSED:
            raise
        _write_into(target, content)


def _take_over(file: int, old: os.stat_result) -> None:
    """Gives a file the owner and the mode of another."""
    if hasattr(os, "fchown"):  # not on Windows
        new = os.fstat(file)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(file, old.st_uid, old.st_gid)
        os.fchmod(file, stat.S_IMODE(old.st_mode))
