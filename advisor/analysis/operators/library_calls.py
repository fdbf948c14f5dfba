# SPDX-License-Identifier: Apache-2.0
"""Which call of the operator library launched a kernel beside its own work.

A call such as `aclnnUpsampleBilinear2d` brings its inputs into the type and layout that it computes in, and its result
back. No program asks for these kernels: only another call, or inputs as it wants them, leaves them out.
"""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.operators.totals import CONVERSIONS
from advisor.analysis.rooflines.roles import roles_of_kernels
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, Texts

_CALL = re.compile(r"(?:.*/)?(aclnn[A-Za-z0-9]+)_")
"""How CANN begins the name of a kernel that a call of its operator library launched, behind a scope if there is one."""


def calls_with_other_work(kernels: Table[Kernel]) -> Texts:
    """Per kernel that casts, moves, fills or rearranges: the call it belongs to, where that computes as well.

    Missing for kernels that compute, for calls that do nothing else, and where names do not tell the call.
    """
    return kernels.once(_find_calls_with_other_work)


def _find_calls_with_other_work(kernels: Table[Kernel]) -> Texts:
    names = kernels.texts("op_name")
    found = [_CALL.match(name) for name in names.names]
    call = Texts.of(one[1] if one else None for one in found).at(names.codes)
    aside = ~roles_of_kernels(kernels).isin(["other"]) | kernels.texts("op_type").isin(CONVERSIONS)
    computing = np.unique(call.codes[~aside & (call.codes >= 0)])
    return Texts(np.where(aside & np.isin(call.codes, computing), call.codes, -1).astype(np.int32), call.names)
