# SPDX-License-Identifier: Apache-2.0
"""What a kernel of a GPU does to data where it computes nothing: it casts, moves or fills it.

PyTorch has one operator, `aten::copy_`, that both casts and moves: the data types of its inputs tell which, and where
shapes were not recorded the operator that called it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from advisor.facts.observed.device import ROLES
from advisor.facts.table import Array, Texts

CONVERSION = r"(\w+::)*(nchwTo\w*?Nhwc|nhwcTo\w*?Nchw)\w*"
"""Kernels with which a convolution brings its inputs into the layout that it computes in, and its outputs back."""
_COPY = "aten::copy_"
_CAST = ROLES.index("cast")
_CASTING = ("aten::to", "aten::_to_copy")
"""Operators that copy on one device only to change the type (or, rarely, the memory format)."""
_IN_GRAPH = r"\d+(_post)?"
"""How names of kernels end that copy and fill within a replayed CUDA graph: there a copy is no copy of the driver."""
_ROLES = tuple(
    (role, re.compile(pattern))
    for role, pattern in (
        ("cast", r"aten::(to|_to_copy)"),
        (
            "move",
            r"aten::(copy_|clone|contiguous|_?cat|stack)|at::native::(CatArrayBatchedCopy\w*|direct_copy_kernel_cuda)",
        ),
        ("move", CONVERSION),
        ("move", rf"memcpy{_IN_GRAPH}"),
        ("fill", rf"memset{_IN_GRAPH}"),
        ("fill", r"Mem[Ss]et|aten::(fill_|(new_)?(zeros|ones|full)|(zeros|ones|full)_like|zero_|_foreach_zero_)"),
    )
)


def roles_of_operators(types: Texts, dtypes: Texts, callers: Callable[[Array], Texts]) -> Texts:
    """Per kernel its role, by its type and, of copies, the data types of its inputs (`;` between them).

    `callers` gives who called the operators of these rows; it is asked for copies alone whose types are not known.
    """
    codes = np.array([*(ROLES.index(_role_of_type(name)) for name in types.names), -1], np.int32)[types.codes]
    copies = np.flatnonzero(types.isin([_COPY]))
    told = dtypes.take(copies)
    codes[copies[told.hits(_casts(name) is True for name in told.names)]] = _CAST
    untold = copies[(told.codes < 0) | told.hits(_casts(name) is None for name in told.names)]
    if len(untold):
        codes[untold[callers(untold).isin(_CASTING)]] = _CAST
    return Texts(codes, ROLES)


def _role_of_type(op_type: str) -> str:
    return next((role for role, pattern in _ROLES if pattern.fullmatch(op_type)), "other")


def _casts(dtypes: str) -> bool | None:
    """Whether a copy with these inputs changes the type: the first is where it writes, the second what it reads.

    None where one of them is not known.
    """
    written, _, others = dtypes.partition(";")
    read = others.partition(";")[0]
    return written != read if written and read else None
