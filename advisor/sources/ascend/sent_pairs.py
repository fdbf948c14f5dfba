# SPDX-License-Identifier: Apache-2.0
"""Who sends to whom by the keys of a communication matrix, seen in passing: nothing of the file is decoded.

What was moved is decoded where it is read; when captures are opened only the keys `from-to` count, and the
communicators of the entries that hold them.
"""

from __future__ import annotations

import re

from advisor.regular_files import read_regular
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.reading import Folder

MATRIX = "communication_matrix.json"
_PAIR = re.compile(r"(\d{1,7})-(\d{1,7})")
"""More digits than a job has ranks are damage."""
_OBJECT = re.compile(rb'"([^"\\]{1,1000})"\s*:\s*\{')
"""The keys of members that are objects: steps, kinds, operators with their communicator behind `@`, and pairs."""


def pair_of_key(key: str) -> tuple[int, int] | None:
    """The two ranks of a key `from-to`; None of any other text."""
    found = _PAIR.fullmatch(key)
    return (int(found[1]), int(found[2])) if found else None


def pairs_in_matrix(folder: Folder) -> frozenset[tuple[str, int, int]]:
    """Communicator hash, sender and receiver of all that `communication_matrix.json` of a rank lists.

    Nothing where it is not there or cannot be read: whoever reads its facts says what is wrong.
    """
    path = folder.file(MATRIX)
    try:
        content = read_regular(path) if path is not None else b""
    except OSError:
        return frozenset()
    found, group = set(), ""
    for name in _OBJECT.findall(content):
        key = name.decode("utf-8", "replace")
        pair = pair_of_key(key)
        if pair is None:
            group = communicator_hash(key.rpartition("@")[2]) if "@" in key else ""
        else:
            found.add((group, *pair))
    return frozenset(found)
