# SPDX-License-Identifier: Apache-2.0
"""Private folders for what is unpacked: gone with whoever made them, also where a signal ends a command.

A process that is killed cannot clean up; the next one does, which knows a folder by the number of its process. Signals
to a program that uses advisor stay its own.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import threading
import weakref
from pathlib import Path
from types import FrameType

from advisor.machine.own_process import is_own_process

_NAME = re.compile(r"^advisor-(\d{1,9})-")
_SIGNALS = tuple(number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None)
_open: dict[str, int] = {}
"""The folders of this process, and its number: a forked process has none."""


class PrivateFolder:
    """A folder that nobody else may look into; it goes away when it is closed, let go, or the process ends."""

    def __init__(self) -> None:
        sweep_left_over()
        self.path = Path(tempfile.mkdtemp(prefix=f"advisor-{os.getpid()}-")).resolve()
        _open[str(self.path)] = os.getpid()
        if is_own_process():
            _watch_signals()
        self.close = weakref.finalize(self, _remove_folder, str(self.path))


def _remove_folder(folder: str) -> None:
    """Removes a folder that this very process made: one that was forked off leaves it to the other."""
    if _open.get(folder) == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
        del _open[folder]


def remove_folders() -> None:
    """Removes all folders of this process."""
    for folder in list(_open):
        _remove_folder(folder)


def sweep_left_over() -> None:
    """Removes folders of processes of this user that are gone."""
    top = tempfile.gettempdir()
    try:
        names = [name for name in os.listdir(top) if _NAME.match(name)]
    except OSError:
        return
    for name in names:
        if _is_left_over(os.path.join(top, name), int(name.split("-")[1])):
            shutil.rmtree(os.path.join(top, name), ignore_errors=True)


def _is_left_over(folder: str, process: int) -> bool:
    """Whether a folder is one of this user, and its process is no more."""
    try:
        status = os.lstat(folder)
        if not hasattr(os, "getuid") or status.st_uid != os.getuid() or os.path.islink(folder):
            return False
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _watch_signals() -> None:
    """From now on signals that end the process at once remove the folders first."""
    if threading.current_thread() is threading.main_thread():  # only there can they be set
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, end_without_folders)


def end_without_folders(number: int, _: FrameType | None) -> None:
    """Ends the process as the signal does, without what it unpacked."""
    remove_folders()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
