# SPDX-License-Identifier: Apache-2.0
"""The small operators that do the work of one fused kernel, as PyTorch code that knows no fused kernel launches them.

Operator types are those torch_npu writes on CANN 8: SoftmaxV2, DropOutDoMask, Pow, Rsqrt, ConcatD, Slice and the
like; the AdamW chain is that of PyTorch's single-tensor implementation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from corpus.operators import BF16, batched_matmul, vector
from corpus.program import Launch

_Chain = tuple[tuple[str, str, int], ...]
"""Framework operator, operator type and how many tensors it reads."""
_NORM: _Chain = (
    ("aten::pow", "Pow", 1), ("aten::mean", "ReduceMean", 1), ("aten::add", "Add", 1), ("aten::rsqrt", "Rsqrt", 1),
    ("aten::mul", "Mul", 2), ("aten::mul", "Mul", 2),
)  # fmt: skip
_NORM_BACKWARD: _Chain = (
    ("aten::mul", "Mul", 2), ("aten::sum", "ReduceSum", 1), ("aten::mul", "Mul", 2), ("aten::sum", "ReduceSum", 1),
    ("aten::pow", "Pow", 1), ("aten::mul", "Mul", 2), ("aten::expand", "BroadcastTo", 1), ("aten::mul", "Mul", 2),
    ("aten::add", "Add", 2),
)  # fmt: skip
_ON_ROWS = ("aten::add", "aten::rsqrt")
"""They work on one number per token; the other operators of a norm on all."""
_ROTARY: _Chain = (
    ("aten::slice", "Slice", 1), ("aten::slice", "Slice", 1), ("aten::neg", "Neg", 1), ("aten::cat", "ConcatD", 1),
    ("aten::mul", "Mul", 2), ("aten::mul", "Mul", 2), ("aten::add", "Add", 2),
)  # fmt: skip
_ROTARY_HALVES = ("Slice", "Neg")
_SCORES: _Chain = (("aten::mul", "Mul", 1), ("aten::masked_fill_", "MaskedFill", 1), ("aten::softmax", "SoftmaxV2", 1))
_SCORES_BACKWARD: _Chain = (
    ("aten::_softmax_backward_data", "SoftmaxGrad", 2),
    ("aten::masked_fill", "MaskedFill", 1),
    ("aten::mul", "Mul", 1),
)
_ADAM: _Chain = (
    ("aten::mul_", "Mul", 1), ("aten::lerp_", "Lerp", 2), ("aten::mul_", "Mul", 1), ("aten::addcmul_", "Addcmul", 3),
    ("aten::sqrt", "Sqrt", 1), ("aten::div", "RealDiv", 1), ("aten::add_", "Add", 1), ("aten::addcdiv_", "Addcdiv", 3),
)  # fmt: skip


def norm(
    hidden: tuple[int, int], host_us: float, *, stack: str = "", backward: bool = False, dtype: str = BF16
) -> Iterator[Launch]:
    """In place of RmsNorm or RmsNormGrad; no Python calls the operators of the backward pass."""
    for op, kind, inputs in _NORM_BACKWARD if backward else _NORM:
        alone = not backward and op in _ON_ROWS
        launch = vector(op, kind, (hidden[0], 1) if alone else hidden, host_us, inputs=inputs, dtype=dtype)
        yield launch if backward else replace(launch, stack=stack)


def rotary(hidden: tuple[int, int], host_us: float, *, dtype: str = BF16) -> Iterator[Launch]:
    """In place of RotaryMul or its gradient, for queries and for keys."""
    half = (hidden[0], hidden[1] // 2)
    for _ in ("queries", "keys"):
        for op, kind, inputs in _ROTARY:
            shape = half if kind in _ROTARY_HALVES else hidden
            yield vector(op, kind, shape, host_us, inputs=inputs, dtype=dtype)


def attention(
    batch: int, heads: int, sequence: int, host_us: float, *, backward: bool = False, dtype: str = BF16
) -> Iterator[Launch]:
    """In place of FlashAttentionScore or its gradient, with heads of 128: the score matrix goes to memory and back."""
    scores, depth = (batch, heads, sequence, sequence), 128
    outward = batched_matmul(batch * heads, sequence, depth, sequence, host_us)
    inward = batched_matmul(batch * heads, sequence, sequence, depth, host_us)
    dropout = vector("aten::native_dropout", "DropOutDoMask", scores, host_us, dtype=dtype)
    if backward:
        yield from (inward, outward, dropout)
        yield from (vector(op, kind, scores, host_us, inputs=n, dtype=dtype) for op, kind, n in _SCORES_BACKWARD)
        yield from (inward, inward)
    else:
        yield outward
        yield from (vector(op, kind, scores, host_us, inputs=n, dtype=dtype) for op, kind, n in _SCORES)
        yield from (dropout, inward)


def adam(parameters: int, host_us: float) -> Iterator[Launch]:
    """In place of the fused AdamW, for one parameter tensor in FP32."""
    for op, kind, inputs in _ADAM:
        yield vector(op, kind, (parameters,), host_us, inputs=inputs, dtype="FLOAT")
