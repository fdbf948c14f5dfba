# SPDX-License-Identifier: Apache-2.0
"""Over which communicators a rank sends or receives, by the names of what ran, where no communication file tells it.

At Level0 none is written. Names bear the last digits of the communicator's hash (`hcom_send__271_0_1`), and the
database the communicator too. The list of kernels is not decoded for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from advisor.machine.regular_files import open_regular
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import query_rows

_NAME = re.compile(rb"hcom_(?i:send|recv|receive|batchSendRecv)_{0,4}__(\d{1,20})_\d")
"""It begins with letters that are always the same, by which whole files are searched ten times as fast."""
_LONGEST_NAME = 64
_PART = 1 << 22
_LISTED = ("kernel_details.csv", "trace_view.json")
_OPERATORS = """
    SELECT DISTINCT name.value, members.value FROM COMMUNICATION_OP AS op
    JOIN STRING_IDS AS name ON name.id = op.opName LEFT JOIN STRING_IDS AS members ON members.id = op.groupName
    WHERE name.value LIKE 'hcom_send%' OR name.value LIKE 'hcom_rec%' OR name.value LIKE 'hcom_batchSendRecv%'
"""


def sending_groups(folder: Folder, known: Collection[str]) -> frozenset[str]:
    """Communicator hashes; of one that none of the known ones fits, or several, the last digits."""
    if folder.exports[0] == "database":
        found = query_rows(folder, "profiler", _OPERATORS)
        return frozenset(communicator_hash(str(group)) for _, group in found if group)
    ends = set(_ends_in_names(folder))
    return frozenset(_only(group for group in known if group.endswith(end)) or end for end in ends)


def _only(fitting: Iterator[str]) -> str:
    found = list(fitting)
    return found[0] if len(found) == 1 else ""


def _ends_in_names(folder: Folder) -> Iterator[str]:
    """The last digits of communicators, as names hold them."""
    listed = next((parts for name in _LISTED if (parts := folder.parts(name))), ())
    for path in listed:
        try:
            with open_regular(path) as file:
                rest = b""
                while part := file.read(_PART):
                    yield from (end.decode() for end in set(_NAME.findall(rest + part)))
                    rest = part[-_LONGEST_NAME:]
        except OSError:  # whoever reads its rows says what is wrong
            continue
