# SPDX-License-Identifier: Apache-2.0
"""What a kernel of a GPU does to data where it computes nothing: it casts, moves or fills it.

PyTorch has one operator, `aten::copy_`, that both casts and moves: the data types of its inputs tell which, and where
shapes were not recorded the operator that called it.
"""

from __future__ import annotations

import re

import numpy as np

from advisor.facts.observed.device import ROLES
from advisor.facts.table import Texts

_COPY = "aten::copy_"
_CASTING = frozenset({"aten::to", "aten::_to_copy"})
"""Operators that copy on one device only to change the type (or, rarely, the memory format)."""
_ROLES = tuple(
    (role, re.compile(pattern))
    for role, pattern in (
        ("cast", r"aten::(to|_to_copy)"),
        ("move", r"aten::(copy_|clone|contiguous|_?cat|stack)|at::native::CatArrayBatchedCopy\w*"),
        ("fill", r"Mem[Ss]et|aten::(fill_|(new_)?(zeros|ones|full)|(zeros|ones|full)_like|zero_|_foreach_zero_)"),
    )
)


def roles_of_operators(types: Texts, dtypes: Texts, callers: Texts) -> Texts:
    """Per kernel its role, by its type, the data types of its inputs (`;` between them) and who called its operator."""
    told = np.stack([types.codes, dtypes.codes, callers.codes], 1).astype(np.int64)
    _, first, of = np.unique(told, axis=0, return_index=True, return_inverse=True)
    names = [column.take(first).values() for column in (types, dtypes, callers)]
    roles = [-1 if name is None else ROLES.index(_role(name, *rest)) for name, *rest in zip(*names, strict=True)]
    return Texts(np.array(roles, np.int32), ROLES).at(of.reshape(-1))


def _role(op_type: str, dtypes: str | None, caller: str | None) -> str:
    if op_type == _COPY and _casts(dtypes, caller):
        return "cast"
    return next((role for role, pattern in _ROLES if pattern.fullmatch(op_type)), "other")


def _casts(dtypes: str | None, caller: str | None) -> bool:
    """Whether a copy changes the type; its first input is where it writes, the second what it reads."""
    written, _, others = (dtypes or "").partition(";")
    read = others.partition(";")[0]
    return written != read if written and read else caller in _CASTING
