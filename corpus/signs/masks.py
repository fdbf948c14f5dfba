# SPDX-License-Identifier: Apache-2.0
"""Signs of what is computed although a mask hides it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from corpus import program as do
from corpus.events import KernelInfo, Layout, Tensors
from corpus.operators import BF16, tensors
from corpus.signs import Sign
from corpus.signs.captures import about
from corpus.signs.instructed import MS, computes, instructed

_QUERY = (1, 10, 4096, 128)


def _attention(side: int) -> Callable[[int, int], Iterator[do.Instruction]]:
    """Three times a product and attention of 4096 tokens that takes as long, with a mask of so many by so many."""
    inputs = replace(tensors(_QUERY, _QUERY, _QUERY, (1, 1, side, side)), dtypes=";".join([BF16] * 3 + ["BOOL"]))
    name = "FlashAttentionScore"
    info = KernelInfo(name, "MIX_AIC", 20, 40, inputs, Tensors("1,10,4096,8", "FLOAT", "ND"))
    attends = do.Launch("npu::npu_fusion_attention", f"aclnn{name}", (do.Kernel(f"aclnn{name}", MS, info),), 20.0)

    def work(_rank: int, _step: int) -> Iterator[do.Instruction]:
        for _ in range(3):
            yield computes(MS)
            yield attends

    return work


SIGNS: Mapping[str, Sign] = {
    "compute/full-attention-mask": Sign(  # in the twin the mask may be a compressed one
        spoiled=instructed(_attention(4096), Layout(dp=1, plain=True)),
        twin=instructed(_attention(2048), Layout(dp=1, plain=True)),
        shows={"worst_keys": 4096, "calls_per_step": 3, "lost_share": about(0.25, 0.01)},
    ),
}
