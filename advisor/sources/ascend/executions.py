# SPDX-License-Identifier: Apache-2.0
"""Runs of loaded models, by the calls of the host that execute them: the steps of such a program.

A program that loads a model once and executes it for one input after another says by `aclmdlExecute` where each run
begins. They count only where each is followed by as many kernels as any other one until the next: then it is one model,
and the host waits for it before it calls again. Several models that are executed in turn, always in the same order,
make a run together. Of models in no order, or of calls that run ahead of the device, nothing is said.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.observed import DeviceTask, HostCall
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.device_tasks import DEVICE_TASKS
from advisor.sources.ascend.host_calls import HOST_CALLS
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.damage_notes import Unreadable

EXECUTION = "aclmdlExecute"
"""How the calls of AscendCL begin that run a loaded model from its first operator to its last."""
_CALLS = tuple(EXECUTION + form for form in ("", "V2", "Async", "AsyncV2"))
_MOST_IN_TURN = 16
"""Own: a program that executes more models in turn is not looked at."""
_FEWEST_ROUNDS = 3
"""Own: of several models only what comes a third time is taken for their order."""


class Executions(Struct, frozen=True):
    """Calls that execute a model, in order of time, ns; each lasts to the next one, the last to the last task."""

    begin: Array
    end: Array
    kernels: Array
    """How many began before the next call."""

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def equal_runs(self) -> Executions:
        """Runs of as many kernels each, of one model or of several in turn; none where they differ."""
        turn = _models_in_turn(self.kernels)
        if not turn:
            return Executions(self.begin[:0], self.end[:0], self.kernels[:0])
        whole = len(self) // turn * turn
        every = self.kernels[:whole].reshape(-1, turn).sum(axis=1)
        return Executions(self.begin[:whole:turn], self.end[turn - 1 : whole : turn], every)


def executions_of(folder: Folder) -> Executions:
    """The calls that execute a model on this device; one behind which nothing ran is for another device."""
    for way in ("text", "database"):
        try:
            calls = HOST_CALLS.ways[way](folder)
            calls = calls.take(calls.texts("name").isin(_CALLS) & calls.texts("kind").isin(["api"]))
            tasks = DEVICE_TASKS.ways[way](folder) if len(calls) > 1 else None
        except (FactMissing, Unreadable):  # noted where they are read; the other export may hold them
            continue
        if tasks is not None:
            kernels = tasks["start_ns"][tasks.texts("kind").isin(["kernel"])]
            begin = np.unique(_calls_for(tasks, calls)["start_ns"])
            return _followed_by(begin, kernels, int(tasks["end_ns"].max(initial=MISSING)))
    return Executions(*(np.empty(0, np.int64),) * 3)


def _calls_for(tasks: Table[DeviceTask], calls: Table[HostCall]) -> Table[HostCall]:
    """The calls that started a task of this device; all of them where no connection tells: a process may run several
    devices, and its calls are read with each."""
    mine = (calls["connection"] != MISSING) & np.isin(calls["connection"], tasks["connection"])
    return calls.take(mine) if mine.any() else calls


def _followed_by(begin: Array, kernels: Array, last: int) -> Executions:
    run = np.searchsorted(begin, kernels, "right") - 1
    count = np.bincount(run[run >= 0], minlength=len(begin))
    begin, count = begin[count > 0], count[count > 0]
    return Executions(begin, np.append(begin[1:], np.maximum(begin[-1:], last)), count)


def _models_in_turn(count: Array) -> int:
    """How many calls make a run, by the number of kernels of each; 0 where they repeat nothing."""
    lengths = range(1, min(_MOST_IN_TURN, len(count) // 2) + 1)
    alike = (n for n in lengths if (n == 1 or len(count) >= _FEWEST_ROUNDS * n) and (count[n:] == count[:-n]).all())
    return next(alike, 0)
