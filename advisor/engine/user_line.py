# SPDX-License-Identifier: Apache-2.0
"""The line of the user's program behind a finding, where call stacks were recorded.

A finding that names host calls (a column `call` among its rows) is traced to the frames above the worst of them: a
Python frame is its own line; of a framework operator it is the stack in which it takes most host time. A call that
makes up little of what the finding costs, or less than what lies in no call at all, is none to begin with. A finding
about a type of kernels is traced to the framework operators that led to them, and of those to the stacks with most time
on the device, or on the host where that was not recorded. One about chains of kernels is traced alike, but only to
operators that hardly launch anything else: of others nobody recorded which calls the chains are made of. The line is
the innermost frame that belongs to no library.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from advisor.engine.module_places import (
    LEAST_SHARE,
    NO_RULES,
    OPERATOR,
    PATTERN,
    Named,
    named_by_finding,
    rows_of_finding,
)
from advisor.facts.derived import OperatorStack, PatternOperator, TypeOperator
from advisor.facts.table import Array, Table
from advisor.model.findings import CodeLine, Finding

CALL = "call"
"""The column that names host calls, in every fact."""
OWN_SHARE = 0.9
"""An operator belongs to a pattern where so much of what it launches lies in such chains: stacks are known per operator
and not per call, and of one that works elsewhere too the line with most time may be another one's."""

WORTH_NAMING = 0.1
"""The part of what its rows cost that a call has to make up for its line to stand for the finding: the share of time
from which MindStudio's guides look at a cause."""
_COSTS = ("lost_us", "duration_us", "idle_us")
"""The columns that tell what a row costs, the first that tells anything."""
Matrices = tuple[tuple[int, ...], ...]
"""The axes of each matrix that is read, in no order."""
_SPENT = ("host_total_us", "device_self_us")
"""What the calls under one stack took."""
_FRAME = re.compile(r"(?!.*\n)(?P<file>[^;]+?\.pyw?)\((?P<line>\d{1,9})\)(?:: (?P<function>.*))?")
"""As torch writes frames, in one line: `path/train.py(88): train_step`."""
_LIBRARY = re.compile(
    r"""
    (?:^|[/\\]) (?: site-packages | dist-packages | lib(?:64)?[/\\]python\d(?:\.\d+)? ) [/\\]
    | ^ (?: <
        | (?: torch | torch_npu | torchvision | multiprocessing | importlib | concurrent | asyncio ) [/\\]
        | (?: threading | contextlib | runpy | functools | queue | selectors | socket ) \.py ) # paths cut by sys.path
    """,
    re.VERBOSE,
)


def with_lines(
    findings: Sequence[Finding],
    operators: Table[OperatorStack] | None,
    types: Table[TypeOperator] | None = None,
    of_rules: Mapping[str, Named] = NO_RULES,
    patterns: Table[PatternOperator] | None = None,
) -> tuple[Finding, ...]:
    """The findings, those whose line is known with it.

    `operators` is None where no call stacks were recorded, `types` and `patterns` where nothing tells the operators
    behind kernels; `of_rules` names the type of kernels or the pattern of rules that read one alone.
    """
    behind: dict[str, Table[Any]] = {}
    if types is not None:
        behind[OPERATOR] = types
    if patterns is not None:
        behind[PATTERN] = patterns.take(np.flatnonzero(patterns["operator_share"] >= OWN_SHARE))
    stacks = _Stacks(operators, behind)
    return tuple(
        finding
        if (line := _line_of_finding(finding, stacks, of_rules)) is None
        else finding.model_copy(update={"source": line})
        for finding in findings
    )


def user_line(frames: Iterable[str]) -> CodeLine | None:
    """The first of these frames, innermost first, that is no library's; None when all are."""
    for frame in frames:
        found = _FRAME.fullmatch(frame.strip())
        if found and not _LIBRARY.search(found["file"]) and int(found["line"]) > 0:
            return CodeLine(file=found["file"], line=int(found["line"]), function=found["function"] or "")
    return None


def _line_of_finding(finding: Finding, stacks: _Stacks, of_rules: Mapping[str, Named]) -> CodeLine | None:
    rank = finding.seen[0].rank if finding.seen else None
    for name in _calls_worth_naming(finding):
        if line := user_line([name]) or (stacks.line(name, rank) if _is_operator(name) else None):
            return line
    named = named_by_finding(finding, of_rules)
    return None if named is None else stacks.line_of_kernels(named, finding, rank)


def _calls_worth_naming(finding: Finding) -> list[str]:
    """The host calls among the rows of a finding, worst first, each once; without those that make up little of it."""
    heads = [] if finding.excerpt is None else [head.name for head in finding.excerpt.columns]
    if finding.excerpt is None or CALL not in heads:
        return []
    rows = finding.excerpt.rows
    calls = [row[heads.index(CALL)] for row in rows]
    costs = next((cost for name in _COSTS if name in heads and any(cost := _numbers(rows, heads.index(name)))), None)
    names = dict.fromkeys(call for call in calls if isinstance(call, str))
    if costs is None:
        return list(names)
    part = {name: sum(cost for call, cost in zip(calls, costs, strict=True) if call == name) for name in (None, *names)}
    least = max(WORTH_NAMING * sum(costs), part[None])
    return [name for name in names if part[name] >= least]


def _numbers(rows: Sequence[Sequence[object]], column: int) -> list[float]:
    cells = (row[column] for row in rows)
    return [max(float(cell), 0.0) if isinstance(cell, int | float) and isfinite(cell) else 0.0 for cell in cells]


def _is_operator(name: str) -> bool:
    """Framework operators are `aten::item`, `enumerate(DataLoader)#…`, `Optimizer.step#…`; CANN calls are not."""
    return "::" in name or "#" in name


class _Stacks:
    """The call stacks of framework operators, and how much host time is spent under each."""

    def __init__(self, operators: Table[OperatorStack] | None, behind: Mapping[str, Table[Any]]) -> None:
        self._operators, self._behind = operators, behind
        self._known: dict[tuple[str, int | None], CodeLine | None] = {}

    @cached_property
    def _matrices_of_calls(self) -> list[Matrices]:
        """Of each distinct text of shapes of the operators."""
        return [] if self._operators is None else list(map(_matrices, self._operators.texts("input_shapes").names))

    def line(self, name: str, rank: int | None) -> CodeLine | None:
        """The user's line under which this operator takes most host time, on this rank if it was recorded there."""
        if (name, rank) not in self._known:
            self._known[name, rank] = _most_spent(_time_by_line(self._time_by_stack(name, rank, _SPENT[:1])))
        return self._known[name, rank]

    def line_of_kernels(self, named: Named, finding: Finding, rank: int | None) -> CodeLine | None:
        """The user's line from which most of the time of the kernels that a finding is about is launched.

        Each operator counts as much as the time of the kernels it led to, and among its stacks by their time; of a
        finding about some inputs of a type, the stacks under which it was called with such inputs. Where nothing tells
        these, and the others take more than a tenth of the type, a line is known only if there is no second one.
        """
        table = self._behind.get(named.key)
        if table is None or self._operators is None:
            return None
        of_name = table.texts(named.key).isin([named.name])
        here = of_name & (table["rank"] == rank) if rank is not None else of_name
        here = here if here.any() else of_name
        mine = here & rows_of_finding(named, finding, table)
        us = table["total_us"]
        is_whole = us[mine].sum() >= OWN_SHARE * us[here].sum()
        operators, shapes = table.texts("operator"), _shapes_of_rows(table, mine)
        parts = np.bincount(operators.codes[mine] + 1, us[mine], len(operators.names) + 1)[1:]
        least = LEAST_SHARE * us[mine].sum() if named.key == OPERATOR else 0.0
        spent: dict[CodeLine, float] = {}
        for code in np.flatnonzero((parts > 0) & (parts >= least)).tolist():
            lines = self._time_by_line_of(operators.names[code], rank, None if is_whole else shapes)
            whole = sum(lines.values())
            for line, part in lines.items():
                spent[line] = spent.get(line, 0.0) + (parts[code] * part / whole if whole > 0 else 0.0)
        return _most_spent(spent)

    def _time_by_line_of(
        self, name: str, rank: int | None, shapes: Collection[Matrices] | None
    ) -> dict[CodeLine, float]:
        """Time of an operator by the user's line of each call, of those with such matrices alone where these are given;
        where nothing tells which calls have them, nothing unless all are of one line."""
        if shapes and (lines := _time_by_line(self._time_by_stack(name, rank, _SPENT[::-1], shapes))):
            return lines
        every = _time_by_line(self._time_by_stack(name, rank, _SPENT[::-1]))
        return every if shapes is None or len(every) == 1 else {}

    def _time_by_stack(
        self, name: str, rank: int | None, columns: Sequence[str], shapes: Collection[Matrices] | None = None
    ) -> dict[str, float]:
        """Per stack of an operator: its time by the first of these columns that tells any, µs; of calls with such
        matrices alone where these are given."""
        if self._operators is None:
            return {}
        stacks = self._operators.texts("call_stack")
        mine = self._operators.texts("name").isin([name]) & (stacks.codes >= 0)
        if shapes is not None:
            mine &= self._operators.texts("input_shapes").hits(one in shapes for one in self._matrices_of_calls)
        here = mine & (self._operators["rank"] == rank) if rank is not None else mine
        chosen = here if here.any() else mine
        spent = np.zeros(len(stacks.names))
        for column in columns:
            if not spent.any():
                spent = _per_stack(stacks.codes[chosen], self._operators.floats(column)[chosen], len(stacks.names))
        return {stacks.names[code]: float(spent[code]) for code in np.unique(stacks.codes[chosen]).tolist()}


def _shapes_of_rows(table: Table[Any], mine: Array) -> set[Matrices]:
    """The matrices that kernels of these rows read; none where shapes are not told."""
    if "input_shapes" not in table.fact.columns():
        return set()
    shapes = table.texts("input_shapes")
    return {
        one for code in np.unique(shapes.codes[mine]).tolist() if code >= 0 and (one := _matrices(shapes.names[code]))
    }


def _matrices(shapes: str) -> Matrices:
    """What of shapes is the same for a kernel and for the operator behind it: the axes of what has two or more, in no
    order, for a product may read either side transposed. Empty where they are no numbers."""
    tensors = [tensor.split(",") for tensor in shapes.split(";") if "," in tensor]
    if not all(length.strip().isdecimal() for tensor in tensors for length in tensor):
        return ()
    return tuple(sorted(tuple(sorted(map(int, tensor))) for tensor in tensors))


def _per_stack(codes: Array, us: Array, count: int) -> Array:
    return np.bincount(codes, np.nan_to_num(us), count)


def _time_by_line(stacks: Mapping[str, float]) -> dict[CodeLine, float]:
    """Time of stacks by the user's line of each; those without one are left out."""
    spent: dict[CodeLine, float] = {}
    for stack, us in stacks.items():
        line = user_line(stack.split(";"))
        if line is not None:
            spent[line] = spent.get(line, 0.0) + us
    return spent


def _most_spent(spent: Mapping[CodeLine, float]) -> CodeLine | None:
    """The line with most time; equal ones in the order of the alphabet."""
    return min(spent, key=lambda line: (-spent[line], line.file, line.line), default=None)
