# SPDX-License-Identifier: Apache-2.0
"""The faults: each a change of a setup that makes it as bad as its strength says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from corpus.links import noise
from corpus.transformer import Transformer
from corpus.workloads import Setup

Fault = Callable[[Setup, float, int], tuple[Setup, dict[str, Any]]]
"""From a setup, a measure of the fault (see `corpus.strengths`) and a seed, which chooses where the fault strikes, to
the setup with the fault and its place."""


def _workload(setup: Setup, **changes: Any) -> Setup:
    return replace(setup, workload=replace(setup.workload, **changes))


def _machine(setup: Setup, **changes: Any) -> Setup:
    return replace(setup, machine=replace(setup.machine, **changes))


def _troubled(setup: Setup, **changes: Any) -> Setup:
    return _workload(setup, troubles=replace(setup.workload.troubles, **changes))


def _chosen(seed: int, what: str, count: int) -> int:
    """One of so many, by the seed; seed 0 takes the last."""
    return int((noise(seed, what) + 1) / 2 * count) % count if seed else count - 1


def _one_rank(setup: Setup, seed: int) -> int:
    return _chosen(seed, "rank", setup.layout.world)


def _transformer(setup: Setup) -> Transformer:
    assert isinstance(setup.workload, Transformer), setup.name  # noqa: S101 - APPLIES says where a fault makes sense
    return setup.workload


def _host_bound(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _slower_hosts(setup, range(setup.layout.world), 2 * strength), {}


def _slower_hosts(setup: Setup, ranks: Iterable[int], by: float) -> Setup:
    """So much is added to what the hosts of these ranks take, in units of a healthy one."""
    scale = dict(setup.machine.host_scale)
    return _machine(setup, host_scale=scale | {rank: scale.get(rank, 1.0) + by for rank in ranks})


def _python(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, python_us=2000 * strength), {}


_TREND_STEPS = 8
"""Enough to tell a trend from chance."""


def _grow(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """Python between the operators has more to do in every step, such as a list that gets longer."""
    return _long_enough(_troubled(setup, growing_us=500 * strength), _TREND_STEPS), {}


def _creep(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """Equal work takes all devices longer by as much in every step, as if they heated up."""
    setup = _long_enough(setup, _TREND_STEPS)
    first, steps = setup.workload.first_step, setup.workload.steps
    return _machine(setup, paces={first + step: 1 + 0.25 * strength * step / steps for step in range(steps)}), {}


def _long_enough(setup: Setup, steps: int) -> Setup:
    return _workload(setup, steps=max(setup.workload.steps, steps))


def _loader(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, loader_stall_us={-1: 25000 * strength}), {}


def _loader_of_one_rank(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    rank = _one_rank(setup, seed)
    return _troubled(setup, loader_stall_us={rank: 25000 * strength}), {"rank": rank}


def _synchronize(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """A read per layer leaves the queue empty; it hurts where the host is not much faster than the device."""
    return _troubled(setup, syncs_per_layer=4 * strength), {"op": "aten::item"}


def _blocking_copies(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, blocking_copies=16 * strength), {"op": "aten::copy_"}


def _wait_twice(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, waits_us=30000 * strength), {}


def _collect(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, collection_us=15000 * strength), {}


def _collect_apart(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, collection_us=60000 * strength, collection_offset=True), {}


def _compile(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, compile_us=2000 * strength), {}


_STRONG = 2.0


def _expose(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """So large a share of the gradients is reduced after the backward pass; strong is all of them, in FP32."""
    setup = _troubled(setup, late_gradients=min(1.0, strength))
    return (_workload(setup, gradient_bytes=4) if strength > _STRONG else setup), {}


def _await_reductions(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """The backward pass waits for the gradients of so large a share of its layers; strong is all of them, in FP32."""
    setup = _troubled(setup, awaited_gradients=min(1.0, strength))
    return (_workload(setup, gradient_bytes=4) if strength > _STRONG else setup), {}


def _gather_late(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """The parameters of so large a share of the layers are gathered only when computation waits for them."""
    return _troubled(setup, late_gathers=min(1.0, strength)), {}


def _slow_compute(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    rank = _one_rank(setup, seed)
    return _machine(setup, compute_scale={rank: 1 + 0.25 * strength}), {"rank": rank}


def _slow_host(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    rank = _one_rank(setup, seed)
    return _slower_hosts(setup, [rank], 2 * strength), {"rank": rank}


def _slow_link(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    """Both directions between two ranks of one group."""
    source = _one_rank(setup, seed)
    kind = next(kind for kind in ("dp", "tp", "pp") if len(setup.layout.group(kind, source)) > 1)
    node = setup.layout.node_of(source)
    others = [r for r in setup.layout.group(kind, source) if r != source and setup.layout.node_of(r) == node]
    link = sorted((source, others[_chosen(seed, "peer", len(others)) if seed else 0]))
    slow = setup.machine.link_gbps / (1 + 2 * strength)
    return _machine(setup, slow_links={(link[0], link[1]): slow, (link[1], link[0]): slow}), {"link": link}


def _contend(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _machine(setup, overlap_cost=0.45 * strength), {}


_COMPARED_STEPS = 6
"""Enough for two steps in which links are slow and two in which they are not, beside the first and the last."""


def _disturb(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    """Others use the network in two of the steps: in the middle, or from then on to the end."""
    setup = _long_enough(setup, _COMPARED_STEPS)
    workload = setup.workload
    first = workload.first_step + workload.steps - 2 - 2 * _chosen(seed, "disturbed steps", 2)
    slower = dict.fromkeys((first, first + 1), 1 + 3 * strength)
    return _machine(setup, disturbed=slower), {}


def _low_bandwidth(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    slower, machine = 1 + 2 * strength, setup.machine
    return _machine(setup, link_gbps=machine.link_gbps / slower, rdma_gbps=machine.rdma_gbps / slower), {}


def _network_pair(setup: Setup, seed: int) -> tuple[int, int]:
    """A rank and the one at its place in the next node."""
    source = _one_rank(setup, seed)
    return source, (source + setup.layout.ranks_per_node) % setup.layout.world


def _slow_network_link(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    """A port between two nodes, in both directions."""
    source, target = _network_pair(setup, seed)
    slow = setup.machine.rdma_gbps / (1 + 3.2 * strength)
    links = {(source, target): slow, (target, source): slow}
    return _machine(setup, slow_links=links), {"link": sorted((source, target))}


_FIRST_COLLECTIVES = 4
"""Every job over several nodes has as many between them; one of these loses a packet."""


def _lost_packets(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    """A packet between two nodes is lost and sent again after the network card's timeout: 4.096 µs x 2^20, the default
    of HCCL_RDMA_TIMEOUT (CANN 8.5), once per strength; below 1 the timeout is shorter, a millisecond at 0.25."""
    source, target = _network_pair(setup, seed)
    timeout_us = 4.096 * 2**20 * round(strength) if strength >= 1 else 4.096 * 2 ** (32 * strength)
    lost = {_chosen(seed, "loss", _FIRST_COLLECTIVES): timeout_us}
    return _machine(setup, losses={(source, target): lost}), {"link": sorted((source, target))}


def _uneven_stages(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    """One stage has layers that another should have; a weak fault moves none."""
    stages = setup.layout.pp
    even = _transformer(setup).layers // stages
    moved = min(even - 1, round(strength))
    heavy = _chosen(seed, "stage", stages)
    layers = [even] * stages
    layers[heavy] += moved
    layers[0 if heavy else stages - 1] -= moved
    return _workload(setup, stage_layers=tuple(layers)), {"stage": heavy}


def _few_micro_batches(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """The same work in fewer and larger pieces; a weak fault leaves them as they are."""
    workload, group = _transformer(setup), setup.layout.pp if _transformer(setup).chunks > 1 else 1
    possible = [n for n in range(1, workload.micro_batches) if workload.micro_batches % (n * group) == 0]
    fewer = max(n for n in possible if n == 1 or n <= 1 + 2 * strength)
    return _workload(setup, micro_batches=workload.micro_batches // fewer, batch=workload.batch * fewer), {}


def _crowded_experts(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    """The router sends the experts of one rank more tokens than the others."""
    rank = _one_rank(setup, seed)
    return _workload(setup, crowded={rank: 0.5 * strength}), {"rank": rank}


def _more_data(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    """One rank gets longer sequences or more samples, hence more work of every kind; the others get so much less."""
    rank, world, more = _one_rank(setup, seed), setup.layout.world, 0.15 * strength
    shares = {one: more if one == rank else -more / (world - 1) for one in range(world)}
    return _troubled(setup, more_data=shares), {"rank": rank}


def _uneven_data(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """Ranks get sequences of other lengths in each step, as many tokens in all."""
    return _troubled(setup, uneven_data=0.15 * strength), {}


def _without_fusion(what: str) -> Fault:
    def fault(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
        return _workload(setup, unfused=_transformer(setup).unfused | {what: strength}), {}

    return fault


def _hide_aicpu(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """An operator on the AI CPU beside the computation: no problem at any strength."""
    return _troubled(setup, aicpu_hidden_us=500 * strength), {"op_type": "Unique2"}


def _casts(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, casts=2 * strength), {"op_type": "Cast"}


def _conversions(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, conversions=6 * strength), {"op_type": "TransData"}


def _ragged(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """Feed-forward networks of some layers are one column wider than whole tiles."""
    return _troubled(setup, ragged=0.3 * strength), {"op_type": "MatMulV3"}


def _aicpu(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, aicpu_us=2000 * strength), {"op_type": "IndexPut"}


def _small_packets(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """Everything travels in packets of 64 KiB (larger if the fault is weak), and each takes longer to set up."""
    overhead = setup.machine.packet_overhead_us * (1 + strength)
    return _machine(setup, packet_bytes=int(65536 / min(1.0, strength)), packet_overhead_us=overhead), {}


def _dynamic(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, dynamic=True, compile_us=5000 * strength), {}


def _churn(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return _troubled(setup, churn_us=1500 * strength), {}


def _frequency(setup: Setup, strength: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    rank = _one_rank(setup, seed)
    slow = round(setup.machine.full_mhz / (1 + 0.25 * strength) / 10) * 10
    return _machine(setup, mhz={rank: slow}), {"rank": rank}


def _low_clock(setup: Setup, strength: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    """All devices, from end to end. What they were built for stands in the raw data alone, which are kept."""
    slow = round(setup.machine.full_mhz / (1 + 0.25 * strength) / 10) * 10
    return replace(_machine(setup, mhz=dict.fromkeys(range(setup.layout.world), slow)), raw=True), {}


def _launch_blocking(setup: Setup, _: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    environment = setup.environment | {"ASCEND_LAUNCH_BLOCKING": "1"}
    return replace(_machine(setup, launch_blocking=True), environment=environment), {}


def _truncate(setup: Setup, _: float, seed: int) -> tuple[Setup, dict[str, Any]]:
    return replace(setup, damage="truncated"), {"rank": _one_rank(setup, seed)}


def _kill(setup: Setup, _: float, _seed: int) -> tuple[Setup, dict[str, Any]]:
    return replace(setup, damage="killed"), {}


FAULTS: dict[str, Fault] = {
    "host-bound": _host_bound,
    "python-busy": _python,
    "growing-python": _grow,
    "data-loader": _loader,
    "data-loader-one-rank": _loader_of_one_rank,
    "synchronise-per-layer": _synchronize,
    "blocking-copies": _blocking_copies,
    "two-waits": _wait_twice,
    "garbage-collection": _collect,
    "garbage-collection-apart": _collect_apart,
    "online-compilation": _compile,
    "exposed-communication": _expose,
    "awaited-reductions": _await_reductions,
    "late-gathers": _gather_late,
    "slow-rank-compute": _slow_compute,
    "slow-rank-host": _slow_host,
    "slow-link": _slow_link,
    "slow-network-link": _slow_network_link,
    "retransmission-stall": _lost_packets,
    "low-bandwidth": _low_bandwidth,
    "disturbed-links": _disturb,
    "contended-compute": _contend,
    "creeping-kernels": _creep,
    "uneven-stages": _uneven_stages,
    "few-micro-batches": _few_micro_batches,
    "cast-excess": _casts,
    "transdata-excess": _conversions,
    "aicpu-exposed": _aicpu,
    "small-packets": _small_packets,
    "dynamic-shapes": _dynamic,
    "memory-churn": _churn,
    "low-frequency": _frequency,
    "constant-low-clock": _low_clock,
    "launch-blocking": _launch_blocking,
    "expert-imbalance": _crowded_experts,
    "slow-rank-data": _more_data,
    "uneven-data": _uneven_data,
    "ragged-products": _ragged,
    "unfused-attention": _without_fusion("attention"),
    "unfused-norm": _without_fusion("norm"),
    "unfused-rotary": _without_fusion("rotary"),
    "unfused-optimizer": _without_fusion("optimizer"),
    "aicpu-hidden": _hide_aicpu,
    "damaged-trace": _truncate,
    "killed-capture": _kill,
}

LASTING = frozenset({"dynamic-shapes", "disturbed-links", "growing-python", "creeping-kernels"})
"""Faults that change how much is computed or recorded, too. That stays so when they are fixed, or their truth would be
that of another job: shapes go on changing, and cost nothing; as many steps are recorded."""
