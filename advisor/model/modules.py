# SPDX-License-Identifier: Apache-2.0
"""Where in the model time goes, rank by rank: modules as a tree, and the operators of each in call order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from advisor.model.findings import Diagnosis
from advisor.model.run import Run

ModelPass = Literal["forward", "backward", "recompute"]


class ModuleNode(Struct, frozen=True):
    """One module, or several that differ by a number; times per step, µs."""

    path: str
    """With the modules around it, `/` between; empty for what lies outside of all."""
    name: str
    depth: int
    instances: int
    kernels: float
    total_us: float
    own_us: float
    forward_us: float
    backward_us: float
    recompute_us: float
    comm_us: float
    kernel_share: float
    step_share: float | None
    """None where the time of a step is unknown."""
    mfu: float | None = None
    """Part of the peak of the chip that it uses in its kernel time; None where that is unknown."""

    @property
    def share(self) -> float:
        """Its part of the step, of the kernel time where no step is known."""
        return self.kernel_share if self.step_share is None else self.step_share


class OperatorRow(Struct, frozen=True):
    """One operator at one place of one module, over the whole capture."""

    parent: str
    """The modules around its module, `/` between."""
    module: str
    group: str
    """`path` of the node it belongs to."""
    phase: ModelPass
    operator: str
    """Empty where something else launched the kernels."""
    kernels: str
    calls: int
    total_us: float
    mean_us: float
    mfu: float | None = None
    """Part of the peak of the chip that its kernels which multiply use; None where that is unknown."""


class MergedOperator(Struct, frozen=True):
    """One operator of modules that were taken together: all its rows with the same kernels in the same pass."""

    row: OperatorRow
    calls: int
    total_us: float
    mfu: float | None
    """Mean over the time of those rows, where it is known of all."""


class RankModules(Struct, frozen=True):
    """The model as one rank ran it."""

    rank: int
    source: Literal["mark", "python"]
    """Marks that the program set, or the Python stack."""
    ranges: int
    crossing: int
    """Calls of modules that were left out, for they begin inside another one and end after it."""
    backward: int
    """Operators of the backward pass whose forward operator is known."""
    linked_share: float
    """Part of the kernel time whose operator or launching call is known."""
    inside_share: float
    """Part of the kernel time that belongs to a module."""
    tree: tuple[ModuleNode, ...] = ()
    """Each module behind the one around it, in the order of their calls."""
    operators: tuple[OperatorRow, ...] = ()

    def operators_of(self, group: str) -> tuple[MergedOperator, ...]:
        """The operators of modules that were taken together, in the order in which each is first met."""
        found: defaultdict[tuple[str, str, str], list[OperatorRow]] = defaultdict(list)
        for row in self.operators:
            if row.group == group:
                found[row.phase, row.operator, row.kernels].append(row)
        return tuple(
            MergedOperator(rows[0], sum(row.calls for row in rows), sum(row.total_us for row in rows), _mean_mfu(rows))
            for rows in found.values()
        )

    @property
    def leading(self) -> ModuleNode | None:
        """The innermost module that still holds most of what the one around it takes; None where there is none."""
        inner: defaultdict[str, list[ModuleNode]] = defaultdict(list)
        for node in self.tree:
            if node.path:
                inner[node.path.rpartition("/")[0] if node.depth else ""].append(node)
        found, nodes = None, inner[""]
        while nodes:
            most = max(nodes, key=lambda node: node.total_us)
            if found is not None and most.total_us < found.total_us / 2:
                break
            found, nodes = most, inner[most.path]
        return found


def _mean_mfu(rows: Sequence[OperatorRow]) -> float | None:
    known = [(row.mfu, row.total_us) for row in rows if row.mfu is not None and row.total_us > 0]
    if len(known) < len(rows):
        return None
    return sum(mfu * us for mfu, us in known) / sum(us for _, us in known)


class ModuleReport(Struct, frozen=True):
    """All that is known of where in the model time goes."""

    version: str
    run: Run
    ranks: tuple[RankModules, ...] = ()
    """Those whose modules were marked; the others say nothing."""
    losses: Diagnosis = Diagnosis(run=Run())
    """What of the capture was damaged or lost of what they rest on; nothing else is judged."""

    @property
    def unmarked(self) -> tuple[int, ...]:
        """Ranks of which no module is known."""
        known = {one.rank for one in self.ranks}
        return tuple(rank for rank in self.run.ranks if rank not in known)
