# SPDX-License-Identifier: Apache-2.0
"""Which machine a process ran on, by the name that profilers give to what it writes."""

from __future__ import annotations

import re

_PROCESS_ID = re.compile(r"\d{2,10}")
_NO_HOST = re.compile(
    r"(local_?host(\.local_?domain)?|local|(global|local)?[-_]?rank([-_]?\d+)?"
    r"|worker|process|node|host|device|npu|gpu|card|dp|tp|pp)$",
    re.IGNORECASE,
)
"""Names that are the same on all machines, and words before a number that is no process id."""


def host_of_worker(worker: str) -> str:
    """The host in the name of a process, `{host name}_{process id}`; empty where it names none.

    That is what torch, torch_npu and MindSpore call a process that is given no name of its own.
    """
    host, _, process = worker.rpartition("_")
    return named_host(host) if _PROCESS_ID.fullmatch(process) and any(map(str.isalnum, host)) else ""


def named_host(name: str) -> str:
    """The name of a host; empty where it says nothing of which one."""
    return "" if _NO_HOST.match(name) else name
