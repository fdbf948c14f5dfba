# SPDX-License-Identifier: Apache-2.0
"""Signs of an engine that serves requests: what lies between its steps, and what they compute beside the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import corpus
from corpus import program as do
from corpus.cases import setup_of
from corpus.events import KernelInfo, Layout
from corpus.inference import Decoder
from corpus.operators import tensors
from corpus.program import Instruction
from corpus.signs import Sign, Write
from corpus.signs.captures import Altered


def _serving(
    decoder: Decoder, before: Mapping[int, tuple[Instruction, ...]] | None = None, *, marked: bool = False
) -> Write:
    """A server on one device; its steps are told by the profiler where they are marked, else by what repeats.

    It does something else before some of them: by the number of the step, from 0, or before each by -1.
    """

    def step(instructions: Iterator[Instruction], number: int) -> Iterator[Instruction]:
        for of in (-1, number):
            yield from (before or {}).get(of, ())
        yield from instructions

    def written(folder: Path) -> None:
        setup = replace(setup_of("healthy", "inference"), layout=Layout(), workload=Altered(decoder, step))
        corpus.write(corpus.job("healthy", 1, setup=setup), folder, steps=marked)

    return written


def _moved(shape: tuple[int, ...]) -> tuple[Instruction, ...]:
    """Four kernels before each step that transpose a tensor, each in 300 µs."""
    info = KernelInfo("Transpose", "AI_VECTOR_CORE", 40, 0, tensors(shape), tensors(shape))
    kernel = do.Kernel("aclnnPermute_TransposeAiCore_Transpose", 300.0, info)
    return (do.Launch("aten::contiguous", "aclnnPermute", (kernel,), 24.0),) * 4


_CACHE = (32 * 12, 128, 8 * 128)
"""32 requests of 1536 tokens in blocks of 128, eight heads of 128 values each: what attention reads in each layer."""
_PART = (_CACHE[0] // 2, *_CACHE[1:])
_PAUSE = (do.Pause(90_000.0),)

SIGNS: Mapping[str, Sign] = {
    "host/engine-gaps": Sign(
        spoiled=_serving(Decoder(steps=9, schedule_us=30_000.0)),
        twin=_serving(Decoder(steps=9, schedule_us=300.0)),
        shows={"engine_steps_seen": 8},
    ),
    "host/idle-engine": Sign(  # a single pause is no engine without requests
        spoiled=_serving(Decoder(steps=12), {4: _PAUSE, 8: _PAUSE}),
        twin=_serving(Decoder(steps=12), {4: _PAUSE}),
        shows={"pause_count": 2},
    ),
    "compute/costly-sampling": Sign(  # of a published rollout; the twin draws a twelfth of it
        spoiled=_serving(Decoder(drawn_us=1_200.0)),
        twin=_serving(Decoder(drawn_us=100.0)),
    ),
    "compute/blocking-prefill": Sign(
        spoiled=_serving(Decoder(steps=12, prefill_every=4, prompt=4096)),
        twin=_serving(Decoder(steps=12, prefill_every=4, prompt=512)),
        shows={"prompt_tokens": 4096, "reading_steps": 2},
    ),
    "compute/cache-copies": Sign(  # as long for the blocks of half of the requests
        spoiled=_serving(Decoder(), {-1: _moved(_CACHE)}, marked=True),
        twin=_serving(Decoder(), {-1: _moved(_PART)}, marked=True),
        shows={"copy_calls": 4, "usual_kind": "Transpose"},
    ),
}
