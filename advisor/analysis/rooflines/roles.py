# SPDX-License-Identifier: Apache-2.0
"""What a kernel does to data where it computes nothing: it casts, moves or fills it, whatever its stack calls that.

CANN has operator types for each; where one operator does several the source tells the role of each kernel.
"""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.steps.set_up_kernels import DRAWING_CALLS
from advisor.facts.observed import Kernel
from advisor.facts.observed.device import ROLES
from advisor.facts.table import Table, Texts

_ROLES = tuple(
    (role, re.compile(pattern))
    for role, pattern in (
        ("cast", r"Cast"),
        (
            "move",
            r"Transpose(D)?|TensorMove|ViewCopy|AsStrided|(Strided)?Slice(D|V2)?|Split(V)?(D)?|Concat(V2)?(D)?|Pack|Unpack",
        ),
        ("fill", r"(Zeros|Ones)(Like)?|Fill(D|V2)?|Mem[Ss]et"),
    )
)


def roles_of_types(types: Texts) -> Texts:
    """Per row the role that its operator type tells. Missing types have none."""
    known = [-1 if name is None else ROLES.index(_role_of_type(name)) for name in types.names]
    return Texts(np.array(known, np.int32), ROLES).at(types.codes)


def roles_of_kernels(kernels: Table[Kernel]) -> Texts:
    """Per kernel its role, as its source or else its type tells it; worked out once for the same table."""
    return kernels.once(_find_roles)


def _find_roles(kernels: Table[Kernel]) -> Texts:
    told, every = kernels.texts("effect"), np.arange(len(kernels))
    found = Texts.concat([told, roles_of_types(kernels.texts("op_type"))]).take(
        np.where(told.codes >= 0, every, len(kernels) + every)
    )
    casts = np.flatnonzero(found.isin(["cast"]))
    names = kernels.texts("op_name").take(casts)
    codes = np.unique(names.codes[names.codes >= 0])
    # the cast inside of an operator that draws is a part of it, and no choice of the model
    drawing = [code for code in codes.tolist() if DRAWING_CALLS.match(names.names[code])]
    inside = casts[np.isin(names.codes, drawing)]
    return Texts.concat([found, Texts.constant("other", 1)]).take(np.where(np.isin(every, inside), len(every), every))


def _role_of_type(op_type: str) -> str:
    return next((role for role, pattern in _ROLES if pattern.fullmatch(op_type)), "other")
