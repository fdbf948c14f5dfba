# SPDX-License-Identifier: Apache-2.0
"""Signals that ask a process to end, while there is something to undo or to tell."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from advisor.cli.exit_codes import SIGNALLED
from advisor.machine.private_folders import end_without_folders


@contextmanager
def ended_in_order() -> Iterator[None]:
    """While it lasts these signals raise, so that whatever was begun is undone; at other times they end at once.

    Whoever started the process may have them ignored, as `nohup` does: that stays.
    """
    numbers = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]  # Windows knows no SIGHUP
    ending = (signal.SIG_DFL, end_without_folders)
    plain = {number: signal.getsignal(number) for number in numbers if number is not None}
    plain = {number: before for number, before in plain.items() if before in ending}
    if threading.current_thread() is not threading.main_thread():
        plain = {}  # only there can they be set
    for number in plain:
        signal.signal(number, _end_process)
    try:
        yield
    finally:
        for number, before in plain.items():
            signal.signal(number, before)


def _end_process(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(SIGNALLED + number)
