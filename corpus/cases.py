# SPDX-License-Identifier: Apache-2.0
"""The cases: one healthy job, and the same job with one or several faults, each with its truth."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from corpus.accounting import step_us
from corpus.events import Cause, Job, Layout
from corpus.program import Machine
from corpus.simulator import simulate
from corpus.workloads import Transformer, program

_GOOD_ENVIRONMENT = {
    "ASCEND_GLOBAL_LOG_LEVEL": "3",
    "ACLNN_CACHE_LIMIT": "100000",
    "HOST_CACHE_CAPACITY": "20",
    "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True",
}


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything a simulation needs."""

    workload: Transformer = field(default_factory=Transformer)
    layout: Layout = field(default_factory=lambda: Layout(dp=2))
    machine: Machine = field(default_factory=Machine)
    environment: dict[str, str] = field(default_factory=lambda: dict(_GOOD_ENVIRONMENT))
    damage: str = ""


Fault = Callable[[Setup, float], tuple[Setup, dict[str, Any]]]
"""From a setup and a strength (1 is what an expert would call a problem) to the setup with the fault and its place."""


def _workload(setup: Setup, **changes: Any) -> Setup:
    return replace(setup, workload=replace(setup.workload, **changes))


def _machine(setup: Setup, **changes: Any) -> Setup:
    return replace(setup, machine=replace(setup.machine, **changes))


def _last_rank(setup: Setup) -> int:
    return setup.layout.world - 1


def _host_bound(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    slower = {rank: 1 + 2 * strength for rank in range(setup.layout.world)}
    return _machine(setup, host_scale=slower), {}


def _python(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, python_us=2000 * strength), {}


def _loader(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, loader_stall_us={-1: 25000 * strength}), {}


def _loader_of_one_rank(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    rank = _last_rank(setup)
    return _workload(setup, loader_stall_us={rank: 25000 * strength}), {"rank": rank}


def _synchronize(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    """A read per layer leaves the queue empty; it hurts where the host is not much faster than the device."""
    return _workload(setup, syncs_per_layer=max(1, round(4 * strength))), {"op": "aten::item"}


def _blocking_copies(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, blocking_copies=max(1, round(16 * strength))), {"op": "aten::copy_"}


def _collect(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, collection_us=15000 * strength), {}


def _collect_apart(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, collection_us=60000 * strength, collection_offset=True), {}


def _compile(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, compile_us=2000 * strength), {}


def _expose(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    """Gradients are reduced after the backward pass, over slower links the stronger the fault."""
    return _machine(_workload(setup, overlap=False), link_gbps=setup.machine.link_gbps / max(0.5, strength)), {}


def _slow_compute(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    rank = _last_rank(setup)
    return _machine(setup, compute_scale={rank: 1 + 0.25 * strength}), {"rank": rank}


def _slow_host(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    rank = _last_rank(setup)
    return _machine(setup, host_scale={rank: 1 + 2 * strength}), {"rank": rank}


def _slow_link(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    source, target = 0, _last_rank(setup)
    slow = setup.machine.link_gbps / (1 + 2.5 * strength)
    links = {(source, target): slow, (target, source): slow}
    return _machine(setup, slow_links=links), {"link": [source, target]}


def _low_bandwidth(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _machine(setup, link_gbps=setup.machine.link_gbps / (1 + 4 * strength)), {}


def _uneven_stages(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    """The last stage has layers that the first should have."""
    even = setup.workload.layers // setup.layout.pp
    moved = min(even - 1, max(1, round(2 * strength)))
    layers = (even - moved, *[even] * (setup.layout.pp - 2), even + moved)
    return _workload(setup, stage_layers=layers), {"stage": setup.layout.pp - 1}


def _few_micro_batches(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    """The same work in fewer and larger pieces."""
    fewer = max(1, round(3 * strength))
    pieces = max(1, setup.workload.micro_batches // fewer)
    return _workload(setup, micro_batches=pieces, batch=setup.workload.batch * fewer), {}


def _casts(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, casts=max(1, round(2 * strength))), {"op_type": "Cast"}


def _conversions(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, conversions=max(1, round(6 * strength))), {"op_type": "TransData"}


def _aicpu(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, aicpu_us=2000 * strength), {"op_type": "IndexPut"}


def _small_packets(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    size = int(262144 / max(0.1, strength))
    return _workload(_machine(setup, packet_bytes=size), overlap=False), {}


def _dynamic(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, dynamic=True, compile_us=5000 * strength), {}


def _churn(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    return _workload(setup, churn_us=1500 * strength), {}


def _frequency(setup: Setup, strength: float) -> tuple[Setup, dict[str, Any]]:
    rank = _last_rank(setup)
    slow = round(setup.machine.full_mhz / (1 + 0.25 * strength) / 50) * 50
    return _machine(setup, mhz={rank: slow}), {"rank": rank}


def _launch_blocking(setup: Setup, _: float) -> tuple[Setup, dict[str, Any]]:
    environment = setup.environment | {"ASCEND_LAUNCH_BLOCKING": "1"}
    return replace(_machine(setup, launch_blocking=True), environment=environment), {}


def _truncate(setup: Setup, _: float) -> tuple[Setup, dict[str, Any]]:
    return replace(setup, damage="truncated"), {"rank": _last_rank(setup)}


def _kill(setup: Setup, _: float) -> tuple[Setup, dict[str, Any]]:
    return replace(setup, damage="killed"), {}


FAULTS: dict[str, Fault] = {
    "host-bound": _host_bound,
    "python-busy": _python,
    "data-loader": _loader,
    "data-loader-one-rank": _loader_of_one_rank,
    "synchronise-per-layer": _synchronize,
    "blocking-copies": _blocking_copies,
    "garbage-collection": _collect,
    "garbage-collection-apart": _collect_apart,
    "online-compilation": _compile,
    "exposed-communication": _expose,
    "slow-rank-compute": _slow_compute,
    "slow-rank-host": _slow_host,
    "slow-link": _slow_link,
    "low-bandwidth": _low_bandwidth,
    "uneven-stages": _uneven_stages,
    "few-micro-batches": _few_micro_batches,
    "cast-excess": _casts,
    "transdata-excess": _conversions,
    "aicpu-exposed": _aicpu,
    "small-packets": _small_packets,
    "dynamic-shapes": _dynamic,
    "memory-churn": _churn,
    "low-frequency": _frequency,
    "launch-blocking": _launch_blocking,
    "damaged-trace": _truncate,
    "killed-capture": _kill,
}

_DATA_PARALLEL = Setup(layout=Layout(dp=4))
_PIPELINE = Setup(
    layout=Layout(pp=2, dp=2), workload=Transformer(layers=8, batch=2, micro_batches=16, steps=2, vocabulary=1024)
)
_LIGHT = Setup(layout=Layout(dp=4), workload=Transformer(layers=6, hidden=1280, sequence=1024, host_us=60.0))
"""A smaller model, whose host is not far ahead of the device."""
_SMALL = Setup(workload=Transformer(layers=1, batch=2), layout=Layout(dp=2))
_ON_LIGHT = (
    "healthy-light", "host-bound", "python-busy", "synchronise-per-layer", "blocking-copies", "online-compilation",
    "slow-rank-host", "launch-blocking", "memory-churn", "garbage-collection",
)  # fmt: skip
_BASE: dict[str, Setup] = dict.fromkeys(_ON_LIGHT, _LIGHT) | {
    "uneven-stages": _PIPELINE,
    "few-micro-batches": _PIPELINE,
    "healthy-pipeline": _PIPELINE,
}
MIXTURES: dict[str, tuple[Setup, dict[str, float]]] = {
    "host-bound-2-ranks": (
        _SMALL,
        {"python-busy": 3.0, "synchronise-per-layer": 0.25, "slow-rank-compute": 1.0},
    ),
}


def names() -> tuple[str, ...]:
    """Every case there is."""
    return ("healthy", "healthy-light", "healthy-pipeline", *FAULTS, *MIXTURES)


def job(
    name: str,
    seed: int = 0,
    *,
    setup: Setup | None = None,
    strength: float = 1.0,
    without: Collection[str] = (),
    **strengths: float,
) -> Job:
    """Simulate one case: a fault of FAULTS, a mixture, or `healthy`.

    `strengths` adds further faults, with `_` for `-` in their names; `without` leaves some of the case out, as if
    they had been fixed. The truth of a cause is the step time of the same
    job without it, by running that job.

    Raises:
        KeyError: No case or fault has this name, or the case has no such fault to leave out.
    """
    base, faults = _recipe(name, setup, strength)
    for fault in without:
        if faults.pop(fault, None) is None:
            raise KeyError(f"case `{name}` has no fault `{fault}`")
    faults |= {fault.replace("_", "-"): value for fault, value in strengths.items()}
    broken, places = _apply(base, faults)
    ranks = _run(broken, seed)
    done = Job(name, seed, broken.layout, ranks, broken.environment, damage=broken.damage, step_us=step_us(ranks))
    causes = []
    for fault, value in faults.items():
        others = {other: much for other, much in faults.items() if other != fault}
        causes.append(Cause(fault, value, places[fault], step_us(_run(_apply(base, others)[0], seed))))
    done.causes = tuple(causes)
    return done


def _recipe(name: str, setup: Setup | None, strength: float) -> tuple[Setup, dict[str, float]]:
    if name in MIXTURES:
        mixed, faults = MIXTURES[name]
        return setup or mixed, {fault: value * strength for fault, value in faults.items()}
    base = setup or _BASE.get(name, _DATA_PARALLEL)
    return base, {} if name.startswith("healthy") else {_known(name): strength}


def _known(fault: str) -> str:
    if fault not in FAULTS:
        raise KeyError(f"no case `{fault}`; there are {', '.join(names())}")
    return fault


def _apply(setup: Setup, faults: dict[str, float]) -> tuple[Setup, dict[str, dict[str, Any]]]:
    places: dict[str, dict[str, Any]] = {}
    for fault, strength in faults.items():
        setup, places[fault] = FAULTS[_known(fault)](setup, strength)
    return setup, places


def _run(setup: Setup, seed: int) -> list[Any]:
    programs = [program(setup.workload, setup.layout, rank) for rank in range(setup.layout.world)]
    return simulate(programs, setup.machine, seed)
