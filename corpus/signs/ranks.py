# SPDX-License-Identifier: Apache-2.0
"""Signs of ranks that hold each other up: their devices, the tokens of their experts, what their attention looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from corpus import program as do
from corpus.events import KernelInfo, Layout
from corpus.operators import tensors
from corpus.signs import Sign, Write
from corpus.signs.captures import about
from corpus.signs.instructed import MS, computes, instructed, moves_alone

_RANKS = 4
_ALL = tuple(range(_RANKS))
_STEPS = 2 * _RANKS
"""Each rank has its turn twice."""
_LAYERS = 4
_TOKENS = 4096
"""Of a rank and layer, on average."""
_EXPERTS_US = 1 * MS
"""What one grouped product of so many tokens takes."""
_Doing = Iterator[do.Instruction]


def _longer_in_turn(*, by_shapes: bool) -> Write:
    """In each step the kernels of another rank take a fifth longer: at shapes that are as much larger, or equal."""

    def work(rank: int, step: int) -> _Doing:
        longer = 1.2 if rank == step % _RANKS else 1.0
        rows = round(5000 * longer) if by_shapes else 5000
        yield from (computes(2 * MS * longer, shape=(rows, 4096)) for _ in range(10))
        yield from moves_alone("allReduce", _ALL, 4_000_000, "dp")

    return instructed(work, Layout(dp=_RANKS), steps=_STEPS)


def _experts(of_rank: Callable[[int, int, int], float]) -> Write:
    """Layers with experts; `of_rank` says by rank, step and layer how many tokens these are sent, of the mean."""

    def work(rank: int, step: int) -> _Doing:
        for layer in range(_LAYERS):
            yield computes(2 * MS, "FlashAttentionScore")
            yield from moves_alone("alltoallv", _ALL, 4_000_000, "ep")
            part = of_rank(rank, step, layer)
            for k, n in ((2048, 4096), (2048, 2048)):
                yield _grouped(round(part * _TOKENS), k, n, part * _EXPERTS_US)
            yield from moves_alone("alltoallv", _ALL, 4_000_000, "ep")

    return instructed(work, Layout(dp=_RANKS, ep=_RANKS), steps=_RANKS)


def _grouped(rows: int, k: int, n: int, us: float) -> do.Launch:
    """The products of 8 experts."""
    info = KernelInfo("GroupedMatmul", "MIX_AIC", 20, 40, tensors((rows, k), (8, k, n)), tensors((rows, n)))
    kernel = do.Kernel("aclnnGroupedMatmulV4_GroupedMatmul_GroupedMatmul", us, info)
    return do.Launch("npu::npu_grouped_matmul", "aclnnGroupedMatmulV4", (kernel,), 20)


def _part(crowded: bool, most: float) -> float:
    """Of the mean: the tokens of the rank with most, or of each of the others."""
    return most if crowded else (_RANKS - most) / (_RANKS - 1)


def _crowded_by_step(most: float) -> Write:
    """In all layers of a step one rank is sent most, in the next step another one."""
    return _experts(lambda rank, step, _: _part(rank == step % _RANKS, most))


def _crowded_by_layer(most: float) -> Write:
    """In each layer another rank is sent most, in all steps alike."""
    return _experts(lambda rank, _, layer: _part(rank == layer % _RANKS, most))


def _attention(ms_by_rank: tuple[float, ...], rest_of_last: float = 1.0) -> Write:
    """Attention of equal shapes that takes so long in each layer, beside kernels of 3 ms; those of the last rank may
    take longer."""

    def work(rank: int, _step: int) -> _Doing:
        rest = rest_of_last if rank == _RANKS - 1 else 1.0
        for _ in range(_LAYERS):
            yield computes(ms_by_rank[rank] * MS, "FlashAttentionScore")
            yield computes(3 * MS * rest)
        yield from moves_alone("allReduce", _ALL, 4_000_000, "dp")

    return instructed(work, Layout(dp=_RANKS), steps=_RANKS)


_IN_ORDER = (0.8, 1.6, 2.4, 3.2)
"""Under a causal mask, where ranks hold the pieces of a sequence in order: each looks at its own and all before it."""
_SLOW_LAST = (1.6, 1.6, 1.6, 3.2)

SIGNS: Mapping[str, Sign] = {
    "ranks/devices-in-turn": Sign(
        spoiled=_longer_in_turn(by_shapes=False),
        twin=_longer_in_turn(by_shapes=True),
        shows={
            "in_turn": _RANKS,
            "slow_steps": _STEPS,
            "mean_us": about(10 * 2 * MS * 1.05, 0.001),
            "excess": about(0.15 / 1.05, 0.01),
        },
    ),
    "ranks/experts-in-turn": Sign(
        spoiled=_crowded_by_step(1.6),
        twin=_crowded_by_step(1.15),
        shows={
            "load": about(1.6, 0.001),
            "in_turn": _RANKS,
            "expert_excess_us": about(0.6 * 2 * _LAYERS * _EXPERTS_US, 0.01),
        },
    ),
    "ranks/experts-by-layer": Sign(
        spoiled=_crowded_by_layer(1.6),
        twin=_crowded_by_layer(1.15),
        shows={
            "load": about(1.6, 0.001),
            "heaviest_ranks": _RANKS,
            "own_us": about(2 * _LAYERS * _EXPERTS_US, 0.01),
            "beyond_us": about(0.6 * 2 * _LAYERS * _EXPERTS_US, 0.01),
        },
    ),
    "ranks/uneven-attention": Sign(
        spoiled=_attention(_IN_ORDER),
        twin=_attention(_SLOW_LAST, rest_of_last=1.1),
        shows={
            "rank": _RANKS - 1,
            "load": about(1.6, 0.001),
            "own_us": about(_LAYERS * 3.2 * MS, 0.01),
            "rest_us": about(_LAYERS * 3 * MS, 0.01),
        },
    ),
}
