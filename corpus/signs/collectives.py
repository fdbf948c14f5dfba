# SPDX-License-Identifier: Apache-2.0
"""Signs of collectives: which are slow, which stand bare between computation, and which recur without need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus import program as do
from corpus.events import KernelInfo, Layout
from corpus.operators import tensors
from corpus.signs import Sign, Write
from corpus.signs.captures import about, edit_json
from corpus.signs.instructed import EVEN, MS, computes, instructed, moves, moves_alone

_PAIR = (0, 1)
_CALLS = 4
_SIZE = 64_000_000
_GBPS = EVEN.link_gbps
_HALF_MS = _SIZE / 2 / _GBPS / 1e6
"""How long half of that takes over one link: the part that each of two ranks gives to the other."""
_STEPS = 4
_Doing = Iterator[do.Instruction]


def _exchanges_slower(slower: float) -> Write:
    """Reductions at the pace of the links, and exchanges that are so many times slower on the same two ranks."""

    def work(_rank: int, _step: int) -> _Doing:
        for kind, group, takes in (("allReduce", "dp", 1.0), ("alltoallv", "ep", slower)):
            for _ in range(_CALLS):
                yield from moves_alone(kind, _PAIR, _SIZE, group, slower=takes)
                yield computes(1 * MS)

    return instructed(work, Layout(dp=2, ep=2))


def _four_pairs(slower: float = 1.0, larger: float = 1.0) -> Write:
    """Four tensor parallel groups of two ranks, of which the second moves this many times as much over a link that is
    so much slower. Hosts and kernels vary, as without that ranks would meet to the nanosecond."""

    def work(rank: int, _step: int) -> _Doing:
        first = rank - rank % 2
        size = round(17_000_000 * (larger if first == _SLOW_PAIR[0] else 1.0))
        for _ in range(_CALLS):
            yield computes(1 * MS)
            yield from moves_alone("allReduce", (first, first + 1), size - size % 512, "tp")

    links = {_SLOW_PAIR: _GBPS / slower, _SLOW_PAIR[::-1]: _GBPS / slower}
    return instructed(work, Layout(tp=2, dp=4), machine=replace(EVEN, noise=0.02, slow_links=links))


_SLOW_PAIR = (2, 3)


def _broadcasts(times_in_step: tuple[int, ...]) -> Write:
    """So many broadcasts of 20 MB in each step, which what follows waits for."""

    def work(_rank: int, step: int) -> _Doing:
        for _ in range(times_in_step[step]):
            yield from moves_alone("broadcast", _PAIR, 20_000_000, "default_group")
        yield from (computes(5 * MS) for _ in range(4))

    return instructed(work, Layout(dp=2, plain=True), steps=len(times_in_step))


def _synchronised_norms(layers: int) -> Write:
    """As many layers of SyncBatchNorm: statistics are gathered forward, and reduced backward."""

    def work(_rank: int, _step: int) -> _Doing:
        for types in (("SyncBatchNormGatherStatsWithCounts",), ("SyncBatchNormBackwardReduce", "SyncBatchNormElemt")):
            for _ in range(layers):
                yield computes(0.4 * MS, "Conv2D")
                yield from moves_alone("allGather", _PAIR, 4096, "default_group")
                for op_type in types:
                    yield computes(0.03 * MS, op_type)

    return instructed(work, Layout(dp=2, plain=True))


def _interleaved(
    kind: str, group: str, layout: Layout, *, hidden: bool, op_type: str = "MatMulV3", **more: Any
) -> Write:
    """Collectives between kernels of 8 ms: which wait for them, or run beside them."""

    def work(_rank: int, _step: int) -> _Doing:
        for _ in range(_CALLS):
            if hidden:
                yield moves(kind, _PAIR, _SIZE, group)
                yield computes(8 * MS, op_type)
                yield do.AwaitCommunication()
            else:
                yield computes(8 * MS, op_type)
                yield from moves_alone(kind, _PAIR, _SIZE, group)

    return instructed(work, layout, **more)


def _exposed_share(moving_ms: float) -> object:
    """The part of a step of `_interleaved` in which nothing computes."""
    return about(moving_ms / (moving_ms + 8), 0.03)


def _in_context_parallel(folder: Path) -> None:
    """The framework's own account: two ranks share each sequence."""

    def change(metadata: dict[str, Any]) -> None:
        metadata["distributed_args"] |= {"context_parallel_size": 2, "data_parallel_size": 1}

    edit_json(folder, "profiler_metadata.json", change)


def _ring(*, hidden: bool) -> Write:
    """Attention on a piece of keys and values, and the next piece from the neighbour: in turn, or at once."""
    return _interleaved(
        "batchSendRecv", "cp", Layout(dp=2), hidden=hidden, op_type="FlashAttentionScore",
        groups=(("cp", _PAIR),), change=_in_context_parallel,
    )  # fmt: skip


def _sums_inside(us: float, late_us: float = 0.0, captured: tuple[int, ...] = ()) -> Write:
    """Products that are summed over two ranks in the same kernel, after 10 ms of other kernels; so much later does the
    second rank come to each."""
    shape = (4096, 4096)
    info = KernelInfo("MatmulAllReduce", "MIX_AIC", 20, 40, tensors(shape, shape), tensors(shape))
    kernel = do.Kernel("aclnnMatmulAllReduce_MatmulAllReduce_MatmulAllReduce", us, info)
    launch = do.Launch("npu::npu_mm_all_reduce_base", "aclnnMatmulAllReduce", (kernel,), 30)

    def work(rank: int, _step: int) -> _Doing:
        for _ in range(_CALLS):
            yield computes(10 * MS + late_us * rank)
            yield do.Exchange(launch, "allReduce", _PAIR, 1_000_000)

    return instructed(work, Layout(tp=2), captured=captured)


SIGNS: Mapping[str, Sign] = {
    "comm/slow-collective": Sign(
        spoiled=_exchanges_slower(4.0),
        twin=_exchanges_slower(2.5),
        shows={"typical_gbps": about(_GBPS / 4, 0.01), "beside_gbps": about(_GBPS, 0.01), "calls_per_step": _CALLS},
    ),
    "ranks/slow-communicator": Sign(
        spoiled=_four_pairs(slower=2.0),
        twin=_four_pairs(larger=1.3),
        shows={"others_like": 3, "times_longer": about(2.0, 0.05), "calls_per_step": _CALLS},
    ),
    "comm/repeated-broadcast": Sign(
        spoiled=_broadcasts((1, 1, 1, 1)),
        twin=_broadcasts((4, 0, 0, 0)),
        shows={
            "calls_per_step": 1,
            "steps_with": 4,
            "bytes_per_call": about(20e6, 1e-6),
            "exposed_us_per_step": about(20e6 / _GBPS / 1e3, 0.03),
        },
    ),
    "comm/synchronised-batch-norm": Sign(
        spoiled=_synchronised_norms(20),
        twin=_synchronised_norms(19),
        shows={"layers": 20, "kernels_us": about(3 * 20 * 30, 1e-6)},
    ),
    "comm/exposed-expert-exchange": Sign(
        spoiled=_interleaved("alltoallv", "ep", Layout(dp=2, ep=2), hidden=False),
        twin=_interleaved("alltoallv", "ep", Layout(dp=2, ep=2), hidden=True),
        shows={"calls": _CALLS, "exposed_share": _exposed_share(_HALF_MS)},
    ),
    "comm/serial-tensor-parallelism": Sign(
        spoiled=_interleaved("allReduce", "tp", Layout(tp=2), hidden=False),
        twin=_interleaved("allReduce", "tp", Layout(tp=2), hidden=True),
        shows={"calls": _CALLS, "exposed_share": _exposed_share(2 * _HALF_MS)},
    ),
    "comm/serial-ring-attention": Sign(
        spoiled=_ring(hidden=False),
        twin=_ring(hidden=True),
        shows={"calls": _CALLS, "moving_share": _exposed_share(2 * _HALF_MS)},
    ),
    "comm/waiting-kernels": Sign(
        spoiled=_sums_inside(2 * MS, captured=(0,)),
        twin=_sums_inside(1 * MS, captured=(0,)),
        shows={"top_type": "MatmulAllReduce", "calls_per_step": _CALLS, "inside_us": about(_CALLS * 2 * MS, 0.01)},
    ),
    "comm/waits-inside-kernels": Sign(
        spoiled=_sums_inside(2 * MS, late_us=2 * MS),
        twin=_sums_inside(2 * MS, late_us=1 * MS),
        shows={"top_type": "MatmulAllReduce", "calls": _CALLS, "waits_us": about(_CALLS * 2 * MS / 2, 0.02)},
    ),
}
