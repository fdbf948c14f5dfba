# SPDX-License-Identifier: Apache-2.0
"""Names out of files, of bounded length: damage can make one of megabytes, which every table and report would carry."""

from __future__ import annotations

from hashlib import blake2b

LONGEST_NAME = 1 << 14
"""Characters; the longest that profilers write are call stacks of some thousands."""
_HEAD, _TAIL = 120, 60


def bounded_name(name: str) -> str:
    """The name; of one that is too long its beginning and its end, around a mark of the whole: names stay distinct."""
    if len(name) <= LONGEST_NAME:
        return name
    mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{name[:_HEAD]}…{mark}…{name[-_TAIL:]}"
