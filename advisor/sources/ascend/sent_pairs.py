# SPDX-License-Identifier: Apache-2.0
"""Who sends to whom by the keys of a communication matrix, seen in passing: nothing of the file is decoded.

What was moved is decoded where it is read; when captures are opened only the keys `from-to` count, and the
communicators of the entries that hold them.
"""

from __future__ import annotations

import re

from advisor.machine.regular_files import read_regular
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import query_rows

MATRIX = "communication_matrix.json"
_PAIR = re.compile(r"(\d{1,7})-(\d{1,7})")
"""More digits than a job has ranks are damage."""
_OBJECT = re.compile(rb'"([^"\\]{1,1000})"\s*:\s*\{')
"""The keys of members that are objects: steps, kinds, operators with their communicator behind `@`, and pairs."""
_PASSED_ON = re.compile(r"(?:hcom_)?(?:send|recv|receive|batchsendrecv)(?![a-z])", re.IGNORECASE)
_MATRIX = "SELECT DISTINCT hccl_op_name, group_name, src_rank, dst_rank FROM CommAnalyzerMatrix"


def pair_of_key(key: str) -> tuple[int, int] | None:
    """The two ranks of a key `from-to`; None of any other text."""
    found = _PAIR.fullmatch(key)
    return (int(found[1]), int(found[2])) if found else None


def pairs_in_matrix(folder: Folder) -> frozenset[tuple[str, int, int]]:
    """Communicator hash, sender and receiver of all that `communication_matrix.json` of a rank lists.

    Nothing where it is not there or cannot be read: whoever reads its facts says what is wrong.
    """
    return frozenset((group, *pair) for _, group, pair in _entries_of_matrix(folder))


def passed_on_pairs(folder: Folder) -> frozenset[tuple[str, int, int]]:
    """The same of what one rank sends to one other, and of the database where there is one."""
    listed = [(str(name), communicator_hash(str(group)), pair_of_key(f"{sender}-{receiver}"))
              for name, group, sender, receiver in query_rows(folder, "analysis", _MATRIX)]  # fmt: skip
    return frozenset(
        (group, *pair)
        for name, group, pair in (listed or _entries_of_matrix(folder))
        if pair is not None and _PASSED_ON.match(name)
    )


def _entries_of_matrix(folder: Folder) -> list[tuple[str, str, tuple[int, int]]]:
    """Name, communicator hash and pair of all that is listed."""
    path = folder.file(MATRIX)
    try:
        content = read_regular(path) if path is not None else b""
    except OSError:
        return []
    found, operator, group = list[tuple[str, str, tuple[int, int]]](), "", ""
    for name in _OBJECT.findall(content):
        key = name.decode("utf-8", "replace")
        pair = pair_of_key(key)
        if pair is None:
            operator, _, members = key.rpartition("@")
            group = communicator_hash(members) if operator else ""
        else:
            found.append((operator, group, pair))
    return found
