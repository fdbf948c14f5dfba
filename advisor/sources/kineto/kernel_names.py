# SPDX-License-Identifier: Apache-2.0
"""What kernels of GPUs are called: functions of C++ without what fills their brackets."""

from __future__ import annotations

import re

_ANONYMOUS = "(anonymous namespace)::"
_CLONE = re.compile(r"\[clone [^\]]*(?P<end>\]|\Z)")
SINGLE_LAUNCH = re.compile(r"(cuda|cu|hip)\w*Launch(Cooperative)?Kernel")
"""Calls that start one kernel each, but where a graph is captured: there they start none."""
CAPTURE = re.compile(r"(cuda|cu|hip)(GraphLaunch|GraphInstantiate|Stream(Begin|End)Capture)")
"""Calls that show that graphs are used, and may have been captured."""
_WRAPPED = re.compile(r"(?:void )?cutlass::Kernel2?<(\w+)>")
_COPY = "at::native::direct_copy_kernel_cuda"
_COPIES = re.compile(
    r"(?:void )?at::native::(?:vectorized_elementwise_kernel<\d+, "
    r"|elementwise_kernel(?:_manual_unroll)?<\d+, \d+, at::native::gpu_kernel_impl_nocast<)"
    r"at::native::(?:\(anonymous namespace\)::)?direct_copy_kernel_cuda\b"
)
"""Copies of PyTorch that do not cast: the same function runs what is computed element by element."""
_DESCRIPTOR = re.compile(r"\.kd$")
COMMUNICATION = re.compile(r"(nccl|rccl)\w*Kernel|ncclDev|mscclKernel", re.IGNORECASE)
"""Kernels of NCCL and RCCL, which carry out collectives."""
_DIRECT = (
    (
        "allReduce",
        re.compile(
            r"(\w+::)*(cross_device_reduce_[12]stage|allreduce_fusion_kernel_|(one|two)ShotAllReduceKernel"
            r"|(multimem_|one_shot_|two_shot_)+(all_)?reduce_kernel)"
        ),
    ),
    ("allGather", re.compile(r"(\w+::)*multimem_all_gather_kernel")),
    (
        "allToAllV",
        re.compile(
            r"(\w+::)*(deep_ep|dpsk::ep)::"
            r"((legacy::)?int(ra|er)node(_ll)?::((cached_)?notify|dispatch|combine)"
            r"|elastic::(hybrid_)?(dispatch|combine)_impl)"
        ),
    ),
)
"""Kernels that reach into the memory of other GPUs themselves: custom and fused all-reduces of vLLM, SGLang, AITER,
FlashInfer and TensorRT-LLM, those on symmetric memory of PyTorch, and the exchanges of experts of DeepEP: in all its
namespaces, and with the kernels that tell the others how much will come. Its epilogues, which copy or add up on the own
GPU what came, compute."""


def function_name(name: str) -> str:
    """A function without return type, parameters and template arguments: `at::native::gather_kernel`.

    What CUTLASS wraps has the name of what is wrapped: it says what is multiplied, and how. So has a copy of PyTorch:
    within a CUDA graph no operator tells that nothing is computed.
    """
    if wrapped := _WRAPPED.match(name):
        return wrapped[1]
    if _COPIES.match(name):
        return _COPY
    plain = _without_marks(name).replace(_ANONYMOUS, "").strip()
    return _outside_of_brackets(plain).strip().rpartition(" ")[2] or plain


def _outside_of_brackets(name: str) -> str:
    """What stands before the parameters, and not between `<` and `>`.

    Between parentheses a `>` without its `<` compares, as in `std::enable_if<((8)>(0)), void>`.
    """
    kept, opened = [], ""
    for letter in name:
        if letter == "(" and not opened:
            break
        if letter in "<(":
            opened += letter
        elif letter == ")" and "(" in opened:
            opened = opened[: opened.rindex("(")]
        elif letter == ">":
            opened = opened.removesuffix("<")
        elif not opened:
            kept.append(letter)
    return "".join(kept)


def _without_marks(name: str) -> str:
    """The name without what compilers add to it; `[clone` that no bracket closes stays."""
    return _CLONE.sub(lambda clone: "" if clone["end"] else clone[0], _DESCRIPTOR.sub("", name))


def is_communication(name: str) -> bool:
    """Whether a kernel is a collective, by its name."""
    return COMMUNICATION.match(function_name(name)) is not None or direct_collective(name) != ""


def direct_collective(name: str) -> str:
    """The kind of collective a kernel carries out without NCCL or RCCL, by its name; empty for all others."""
    plain = function_name(name)
    return next((op for op, kernels in _DIRECT if kernels.match(plain)), "")
