# SPDX-License-Identifier: Apache-2.0
"""The account of a run: what its mean step is spent on, and how much that differs from step to step."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.derived import Exchange, HeldKernels, OperatorRoofline, RankSplit, Spending
from advisor.facts.observed import StepPhase
from advisor.facts.table import Array, Table, Texts
from advisor.model.findings import Account, HeldTime, Spent, SpentPart, StepSplit

MOST_NAMES = 200
"""Names kept in each part, largest first; the others count as what has no name."""
MOST_STEPS = 400
_PRODUCTS = ("matmul", "convolution")
"""Families of operators whose operations follow from their shapes."""
_COUNTED = 0.95
"""Of their time so much lies in products whose operations are known, where their sum is told."""

_PARTS: tuple[SpentPart, ...] = ("compute", "communication", "free")


def step_account(
    splits: Table[RankSplit],
    spending: Table[Spending],
    exchanged: Table[Exchange] | None = None,
    operators: Table[OperatorRoofline] | None = None,
    held: Table[HeldKernels] | None = None,
) -> Account | None:
    """The entries of the mean step, which add up to it, and the steps; None without any step whose time is known.

    What kernels wait inside for other ranks is communication, as in the split, under the name of the kernel.
    """
    splits = splits.take(np.isfinite(splits["span_us"]))
    if not len(splits):
        return None
    if exchanged is not None:
        spending = _with_waits_inside(spending, exchanged)
    steps, of, ranks = np.unique(splits["step"], return_inverse=True, return_counts=True)
    place = np.searchsorted(steps, spending["step"])
    parts = spending.texts("part")
    spent = [
        entry
        for part in _PARTS
        for entry in _of_part(part, spending, parts.isin([part]), place, ranks.astype(np.float64))
    ]
    return Account(
        spent=tuple(spent),
        steps=_step_splits(splits, steps, of, ranks),
        tera_flops=None if operators is None else _mean_tera_flops(operators),
        held=() if held is None else _held_shares(held),
    )


def _held_shares(held: Table[HeldKernels]) -> tuple[HeldTime, ...]:
    """Parts of the kernel time of all ranks, largest first."""
    against = held.texts("held_against")
    us = np.bincount(against.codes + 1, weights=held["total_us"], minlength=len(against.names) + 1)
    names = ("", *against.names)
    order = np.argsort(-us, kind="stable").tolist()
    return tuple(
        HeldTime(against=names[at] or "", share=_round_digits(us[at] / us.sum())) for at in order if us[at] > 0
    )


def _mean_tera_flops(operators: Table[OperatorRoofline]) -> float | None:
    """Operations of products and convolutions per step, averaged over the ranks that have any; None unless nearly all
    of them are counted."""
    multiplying = operators.take(operators.texts("family").isin(_PRODUCTS))
    flops, us = multiplying["calls"] * multiplying["mega_flops"], multiplying["total_us"]
    known = np.isfinite(flops)
    if not len(multiplying) or us[known].sum() < _COUNTED * us.sum():
        return None
    return _round_digits(float(flops[known].sum()) / len(np.unique(multiplying["rank"])) / 1e6)


def _with_waits_inside(spending: Table[Spending], exchanged: Table[Exchange]) -> Table[Spending]:
    """The entries with what a kernel waits inside moved from computation to communication."""
    exchanged = exchanged.take(exchanged["bare_wait_us"] > 0)
    if not len(exchanged):
        return spending
    computed = spending.texts("part").isin(["compute"])
    names = Texts.concat([spending.texts("name"), exchanged.texts("op_type")])
    places = [np.concatenate([spending[name], exchanged[name]]) for name in ("rank", "step")]
    keys = np.unique(np.stack([*places, names.codes], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    mine, theirs = keys[: len(spending)], keys[len(spending) :]
    waits = np.bincount(theirs, exchanged["bare_wait_us"], int(keys.max(initial=0)) + 1)
    moved = np.where(computed, np.minimum(waits[mine], spending["us"]), 0.0)
    waiting = np.flatnonzero(moved > 0)
    beside = spending.take(waiting).having(
        part=Texts.constant("communication", len(waiting)), us=moved[waiting], calls=np.full(len(waiting), np.nan)
    )
    return Table.concat(Spending, [spending.having(us=spending["us"] - moved), beside])


def account_of_lengths(phases: Table[StepPhase]) -> Account | None:
    """The steps of a capture that recorded their phases and nothing of what they were spent on; None without any.

    A first step of which nobody knows when it began is none of them.
    """
    whole = phases.take(np.isfinite(phases["whole_us"]) & (phases["first"] != 1))
    if not len(whole):
        return None
    steps, of, ranks = np.unique(whole["step"], return_inverse=True, return_counts=True)
    means = np.bincount(of, weights=whole["whole_us"]) / ranks
    pairs = zip(steps.tolist()[:MOST_STEPS], means.tolist(), strict=False)
    return Account(steps=tuple(StepSplit(step=step, step_us=_round_digits(us)) for step, us in pairs))


def _of_part(part: SpentPart, spending: Table[Spending], mine: Array, place: Array, ranks: Array) -> list[Spent]:
    """The entries of one part, largest first, the one without a name last."""
    rows = np.flatnonzero(mine)
    names = _keep_largest(spending.texts("name").take(rows), spending["us"][rows])
    codes, steps = names.codes.astype(np.int64) + 1, len(ranks)
    size = len(names.names) + 1
    cells = codes * steps + place[rows]
    us = np.bincount(cells, weights=spending["us"][rows], minlength=size * steps).reshape(size, steps)
    calls = np.bincount(cells, weights=np.nan_to_num(spending["calls"][rows]), minlength=size * steps)
    mean = us.sum(1) / ranks.sum()
    count = calls.reshape(size, steps).sum(1) / ranks.sum()
    spread = (us / ranks).std(1, ddof=1) if steps > 1 else np.full(size, np.nan)
    there = np.flatnonzero(np.bincount(codes, minlength=size) > 0)
    order = there[np.lexsort((-mean[there], there == 0))]
    return [
        Spent(
            part=part,
            name="" if code == 0 else names.names[code - 1] or "",
            us=_round_digits(mean[code]),
            spread_us=_round_digits(spread[code]) if steps > 1 else None,
            count=_round_digits(count[code]) if code else None,
        )
        for code in order.tolist()
    ]


def _keep_largest(names: Texts, us: Array) -> Texts:
    """The names, those beyond the largest ones missing."""
    total = np.bincount(names.codes + 1, weights=us, minlength=len(names.names) + 1)[1:]
    kept = np.zeros(len(total) + 1, bool)
    kept[np.argsort(-total, kind="stable")[:MOST_NAMES]] = True
    return Texts(np.where(kept[names.codes], names.codes, -1).astype(np.int32), names.names)


def _step_splits(splits: Table[RankSplit], steps: Array, of: Array, ranks: Array) -> tuple[StepSplit, ...]:
    names = ("span_us", "compute_us", "exposed_comm_us", "free_us")
    means = [np.bincount(of, weights=np.nan_to_num(splits[name]), minlength=len(steps)) / ranks for name in names]
    return tuple(
        StepSplit(
            step=None if step == MISSING else step,
            step_us=_round_digits(span),
            compute_us=_round_digits(compute),
            exposed_comm_us=_round_digits(comm),
            free_us=_round_digits(free),
        )
        for step, span, compute, comm, free in zip(
            steps.tolist()[:MOST_STEPS], *(mean.tolist() for mean in means), strict=False
        )
    )


def _round_digits(value: float) -> float:
    return float(f"{value:.9g}")
