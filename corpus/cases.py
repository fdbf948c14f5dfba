# SPDX-License-Identifier: Apache-2.0
"""The cases: healthy jobs, and the same jobs with one or several faults, each with its truth."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from corpus.accounting import step_us
from corpus.events import Cause, Job, RankTrace
from corpus.experts import MixtureOfExperts
from corpus.faults import FAULTS, LASTING
from corpus.mixtures import MIXTURES, Mixture
from corpus.simulator import simulate
from corpus.strengths import APPLIES, measure
from corpus.transformer import Transformer
from corpus.workloads import WORKLOADS, Setup

__all__ = [
    "APPLIES",
    "FAULTS",
    "MIXTURES",
    "Mixture",
    "Setup",
    "habits",
    "job",
    "names",
    "setup_of",
    "small_setup",
    "with_few_layers",
]


_BUCKET_BYTES = 25 * 2**20
"""The default of DistributedDataParallel."""
_STEP_US: dict[str, float] = {}
"""The step time of what was simulated in this process: the truth of many faults is the same job without them."""
_FEW_LAYERS = {"interleaved": 8, "pipeline": 6}
"""Of the small job of a workload that has many."""
_HEALTHY = {"healthy": "dense", "healthy-light": "light", "healthy-pipeline": "pipeline"}


def names() -> tuple[str, ...]:
    """Every case there is."""
    return (*_HEALTHY, *FAULTS, *MIXTURES)


def setup_of(case: str, workload: str | None = None) -> Setup:
    """The healthy setup of a case: that of the named workload, or the one where the case shows best.

    Raises:
        KeyError: No case or workload has this name.
    """
    return _recipe(case, _named(workload), 1.0)[0]


def small_setup(setup: Setup) -> Setup:
    """The same job with two data parallel ranks, or one for each stage of a pipeline, or as many as share experts: what
    strikes all ranks alike shows in two as in four."""
    layout = setup.layout
    dp = min(layout.dp, max(2 // layout.pp, layout.ep))
    return replace(with_few_layers(setup), layout=replace(layout, dp=dp))


def with_few_layers(setup: Setup) -> Setup:
    """The same job of a model that is less deep, where it has many layers."""
    layers = _FEW_LAYERS.get(setup.name)
    return replace(setup, workload=replace(setup.workload, layers=layers)) if layers else setup  # type: ignore[call-arg]


def job(
    case: str,
    seed: int = 0,
    *,
    workload: str | None = None,
    setup: Setup | None = None,
    strength: float = 1.0,
    without: Collection[str] = (),
    **more_faults: float,
) -> Job:
    """Simulate one case: a fault of FAULTS, a mixture, or `healthy`.

    `workload` names one of WORKLOADS in place of the one where the case shows best, `setup` gives any other.
    `more_faults` adds faults with their strengths, with `_` for `-` in their names; `without` leaves some of the case
    out, as if they had been fixed. The truth of a cause is the step time of the same job without it, by running that
    job.

    Raises:
        KeyError: No case, workload or fault has this name, or the case has no such fault to leave out.
    """
    base, faults = _recipe(case, setup or _named(workload), strength)
    lasting = {fault: 0.0 for fault in without if fault in LASTING}
    for fault in without:
        if faults.pop(fault, None) is None:
            raise KeyError(f"case `{case}` has no fault `{fault}`")
    faults |= {fault.replace("_", "-"): value for fault, value in more_faults.items()}
    broken, places = _apply(base, lasting | faults, seed)
    ranks = _run(broken, seed)
    done = Job(
        case,
        seed,
        broken.layout,
        ranks,
        broken.environment,
        damage=broken.damage,
        raw=broken.raw,
        step_us=_step_us(broken, seed, ranks),
    )
    causes = []
    for fault, value in faults.items():
        others = {other: much for other, much in faults.items() if other != fault}
        others |= lasting | ({fault: 0.0} if fault in LASTING else {})
        causes.append(Cause(fault, value, places[fault], _step_us(_apply(base, others, seed)[0], seed)))
    done.causes = tuple(causes)
    return done


def habits(case: str, seed: int = 0, *, setup: Setup, strength: float = 1.0) -> tuple[Cause, ...]:
    """What the job of a case does whatever strikes it, which costs time nevertheless, by the names of faults of the
    same kind; each with the step time of the job that does not.

    A host that a fault makes slow no longer hides that it waits for the tokens of each expert to be counted, and a
    model of one layer reduces all its gradients at once, with nothing left to compute.

    Raises:
        KeyError: No case has this name.
    """
    base, faults = _recipe(case, setup, strength)
    return tuple(
        Cause(name, 1.0, {}, _step_us(_apply(replace(base, workload=other), faults, seed)[0], seed))
        for name, other in _without_habits(base)
    )


def _without_habits(setup: Setup) -> Iterator[tuple[str, Any]]:
    """Per habit of a workload the fault that is like it, and the workload without."""
    workload = setup.workload
    if isinstance(workload, MixtureOfExperts) and workload.awaits_counts:
        yield "blocking-copies", replace(workload, awaits_counts=False)
    if isinstance(workload, Transformer) and workload.layers == 1 and not workload.bucket_bytes and setup.layout.dp > 1:
        yield "exposed-communication", replace(workload, bucket_bytes=_BUCKET_BYTES)


def _named(workload: str | None) -> Setup | None:
    if workload is not None and workload not in WORKLOADS:
        raise KeyError(f"no workload `{workload}`; there are {', '.join(WORKLOADS)}")
    return WORKLOADS[workload] if workload else None


def _recipe(case: str, setup: Setup | None, strength: float) -> tuple[Setup, dict[str, float]]:
    if case in MIXTURES:
        mixture = MIXTURES[case]
        return setup or mixture.workload, {fault: value * strength for fault, value in mixture.faults.items()}
    if case in _HEALTHY:
        return setup or WORKLOADS[_HEALTHY[case]], {}
    return setup or WORKLOADS[APPLIES[_known(case)][0]], {case: strength}


def _known(fault: str) -> str:
    if fault not in FAULTS:
        raise KeyError(f"no case `{fault}`; there are {', '.join(names())}")
    return fault


def _apply(setup: Setup, faults: dict[str, float], seed: int) -> tuple[Setup, dict[str, dict[str, Any]]]:
    places: dict[str, dict[str, Any]] = {}
    for fault, strength in faults.items():
        setup, places[fault] = FAULTS[_known(fault)](setup, measure(fault, setup.name, strength), seed)
    return setup, places


def _run(setup: Setup, seed: int) -> list[RankTrace]:
    programs = [setup.program(rank) for rank in range(setup.layout.world)]
    return simulate(programs, replace(setup.machine, ranks_per_node=setup.layout.ranks_per_node), seed)


def _step_us(setup: Setup, seed: int, ranks: list[RankTrace] | None = None) -> float:
    """The step time of a job; without its ranks it is simulated, once."""
    key = repr((setup, seed))
    if key not in _STEP_US:
        _STEP_US[key] = step_us(ranks if ranks is not None else _run(setup, seed))
    return _STEP_US[key]
