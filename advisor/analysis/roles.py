# SPDX-License-Identifier: Apache-2.0
"""What a kernel does to data where it computes nothing: it casts, moves or fills it, whatever its stack calls that.

CANN has operator types for each. PyTorch has one operator on GPUs, `aten::copy_`, that both casts and moves: the data
types of its inputs tell which, and where shapes were not recorded the operator that called it.
"""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.grouping import group_by
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, Texts

CAST, MOVE, FILL, OTHER = "cast", "move", "fill", "other"
ROLES = (CAST, MOVE, FILL, OTHER)
"""Every role there is; most kernels compute, look up or communicate, and are `other`."""

_COPY = "aten::copy_"
_CASTING = frozenset({"aten::to", "aten::_to_copy"})
"""Operators that copy on one device only to change the type (or, rarely, the memory format)."""
_PATTERNS = (
    (CAST, r"Cast|aten::(to|_to_copy)"),
    (
        MOVE,
        r"Transpose(D)?|TensorMove|ViewCopy|AsStrided|(Strided)?Slice(D)?|Split(V)?(D)?|Concat(V2)?(D)?|Pack|Unpack"
        r"|aten::(copy_|clone|contiguous|_?cat|stack)|at::native::CatArrayBatchedCopy\w*",
    ),
    (
        FILL,
        r"(Zeros|Ones)(Like)?|Fill(D|V2)?|Mem[Ss]et|aten::(fill_|(new_)?(zeros|ones|full)|(zeros|ones|full)_like|zero_|_foreach_zero_)",
    ),
)
_ROLES = tuple((role, re.compile(pattern)) for role, pattern in _PATTERNS)


def roles_of_types(types: Texts) -> Texts:
    """Per row the role that its operator type alone tells: a copy moves. Missing types have none."""
    return _coded([_role_of_type(name) for name in types.names]).at(types.codes)


def roles_of_kernels(kernels: Table[Kernel]) -> Texts:
    """Per kernel its role; worked out once for the same table."""
    return kernels.once(_find_roles)


def _find_roles(kernels: Table[Kernel]) -> Texts:
    told = [kernels.texts(name) for name in ("op_type", "input_dtypes", "caller")]
    alike = group_by(*told)
    rows = zip(*(column.take(alike.first).values() for column in told), strict=True)
    return _coded([_role(*row) for row in rows]).at(alike.of)


def _coded(roles: list[str | None]) -> Texts:
    return Texts(np.array([-1 if role is None else ROLES.index(role) for role in roles], np.int32), ROLES)


def _role(op_type: str | None, dtypes: str | None, caller: str | None) -> str | None:
    if op_type is None:
        return None
    return CAST if op_type == _COPY and _casts(dtypes, caller) else _role_of_type(op_type)


def _casts(dtypes: str | None, caller: str | None) -> bool:
    """Whether a copy changes the type; its first input is where it writes, the second what it reads."""
    written, _, others = (dtypes or "").partition(";")
    read = others.partition(";")[0]
    return written != read if written and read else caller in _CASTING


def _role_of_type(op_type: str) -> str:
    return next((role for role, pattern in _ROLES if pattern.fullmatch(op_type)), OTHER)
