# SPDX-License-Identifier: Apache-2.0
"""The step and its parts before and after, and which entries of the account moved it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain

from advisor.comparison.conditions import Conditions
from advisor.comparison.noise import Noise, us_of_entry
from advisor.model.comparison import Moved, Shift, ShiftName, ShiftStatus
from advisor.model.findings import Account, Diagnosis, Spent, SpentPart

PARTS: tuple[tuple[ShiftName, str, bool], ...] = (
    ("step", "step_us", True),
    ("compute", "compute_us", False),
    ("communication", "exposed_comm_us", False),
    ("free", "free_us", True),
)
"""Times that are compared: name, column of a split, and whether a slower host shows in it."""


def step_shifts(before: Diagnosis, after: Diagnosis, noise: Noise, found: Conditions) -> Iterator[Shift]:
    """The mean step and its parts, as far as both know them."""
    if min(before.step_us, after.step_us) <= 0:
        return
    for name, column, of_host in PARTS:
        if column == "step_us":
            old, new = before.step_us, after.step_us
        elif before.split is None or after.split is None:
            continue
        else:
            old, new = getattr(before.split, column), getattr(after.split, column)
        limit = noise.of_time(column, old, new)
        status = _moved_by(new - old, limit)
        if found.unrelated is not None or (of_host and found.forbid(status)):
            status = "not comparable"
        longest = noise.longest_step(old) if name == "step" else None
        yield Shift(name=name, before_us=old, after_us=new, noise_us=limit, longest_alike_us=longest, status=status)


def _moved_by(delta: float, limit: float) -> ShiftStatus:
    return "same" if abs(delta) <= limit else "worse" if delta > 0 else "better"


def moved_entries(before: Account | None, after: Account | None, noise: Noise) -> tuple[Moved, ...]:
    """Every entry of both accounts, the largest difference first; the differences add up to that of the step."""
    if before is None or after is None:
        return ()
    shared = _parts_with_names(before) & _parts_with_names(after)
    old, new = _by_name(before, shared), _by_name(after, shared)
    entries = (_moved_entry(key, old.get(key), new.get(key), noise) for key in dict.fromkeys(chain(old, new)))
    return tuple(sorted(entries, key=lambda entry: (-abs(entry.delta_us), entry.part, entry.name)))


def _parts_with_names(account: Account) -> set[SpentPart]:
    """The parts of which names are known; of a capture that holds only sums, none."""
    return {entry.part for entry in account.spent if entry.name}


def _by_name(account: Account, named: set[SpentPart]) -> dict[tuple[SpentPart, str], Spent]:
    """The entries; those of a part that the other account cannot name as one without a name."""
    found = {(entry.part, entry.name): entry for entry in account.spent if entry.part in named}
    for part in dict.fromkeys(entry.part for entry in account.spent if entry.part not in named):
        whole = math.fsum(entry.us for entry in account.spent if entry.part == part)
        found[part, ""] = Spent(part=part, us=whole)
    return found


def _moved_entry(key: tuple[SpentPart, str], before: Spent | None, after: Spent | None, noise: Noise) -> Moved:
    delta = us_of_entry(after) - us_of_entry(before)
    return Moved(
        part=key[0],
        name=key[1],
        before_us=us_of_entry(before),
        after_us=us_of_entry(after),
        count_before=_count_of_entry(before),
        count_after=_count_of_entry(after),
        beyond_noise=abs(delta) > noise.of_entry(before, after),
    )


def _count_of_entry(entry: Spent | None) -> float | None:
    return 0.0 if entry is None else entry.count
