# SPDX-License-Identifier: Apache-2.0
"""What kernels of GPUs are called: functions of C++ without what fills their brackets."""

from __future__ import annotations

import re

_ANONYMOUS = "(anonymous namespace)::"
_MARKS = re.compile(r"\[clone [^\]]*\]|\.kd$")
COMMUNICATION = re.compile(r"(nccl|rccl)\w*Kernel|ncclDev|mscclKernel", re.IGNORECASE)
"""Kernels of NCCL and RCCL, which carry out collectives."""


def function_name(name: str) -> str:
    """A function without return type, parameters and template arguments: `at::native::gather_kernel`."""
    plain = _MARKS.sub("", name).replace(_ANONYMOUS, "").strip()
    kept, depth = [], 0
    for letter in plain:
        if letter == "(" and not depth:
            break
        depth += (letter == "<") - (letter == ">" and depth > 0)
        if not depth and letter != ">":
            kept.append(letter)
    found = "".join(kept).strip()
    return found.rpartition(" ")[2] or plain


def is_communication(name: str) -> bool:
    """Whether a kernel is a collective, by its name."""
    return COMMUNICATION.match(function_name(name)) is not None
