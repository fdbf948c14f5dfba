# SPDX-License-Identifier: Apache-2.0
"""What every worker process does first."""

from __future__ import annotations


def end_with_parent() -> None:
    """Ends this worker as soon as the process that started it is gone.

    A process that is killed, as for lack of memory, can end nobody; its workers would wait for work for ever.
    """
    import multiprocessing
    from threading import Thread

    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_await_end, args=(parent.sentinel,), daemon=True).start()


def _await_end(sentinel: int) -> None:
    import os
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(1)
