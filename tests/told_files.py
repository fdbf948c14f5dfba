# SPDX-License-Identifier: Apache-2.0
"""What is said of the files of a capture, and whether it names one."""

from __future__ import annotations

from pathlib import Path

from advisor.model.findings import Diagnosis

TOLD_BY_OTHERS = {"COMPUTE_TASK_INFO", "CONNECTION_IDS", "STRING_IDS"}
"""Tables of a database that only name or join rows of others, whose tables are named then."""
KERNEL_LISTS = ("kernel_details.csv", "COMPUTE_TASK_INFO", "op_summary_20250101000000.csv")
"""What a list of kernels that is not whole is called."""
ONLY_FILE = {"GPU trace": "trace"}
"""Of these exports a rank has one file, which is named by its kind."""


def findings_of(diagnosis: Diagnosis) -> set[str]:
    return {one.rule for one in diagnosis.findings}


def told(diagnosis: Diagnosis) -> set[tuple[str, str]]:
    """What is said of the capture itself: of which file or table, and what."""
    lost = {(str(one.subject["file"]), "lost rows") for one in diagnosis.findings if one.rule == "capture/lost-rows"}
    lists = {(one, "incomplete") for one in KERNEL_LISTS if "capture/incomplete-kernels" in findings_of(diagnosis)}
    return lost | lists | {(one.file, str(one.what)) for one in diagnosis.unread}


def names(said: set[tuple[str, str]], cut: str, export: str = "") -> bool:
    """Whether any of these is of this file, or of this table of a database."""
    if cut in TOLD_BY_OTHERS:
        return bool(said)
    return any(Path(file).name in (cut, ONLY_FILE.get(export)) or cut in what.split() for file, what in said)
