# SPDX-License-Identifier: Apache-2.0
"""The line of the user's program behind a finding, where call stacks were recorded.

A finding that names host calls (a column `call` among its rows) is traced to the frames above the worst of them: a
Python frame is its own line; of a framework operator it is the stack in which it takes most host time. The line is the
innermost frame that belongs to no library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from advisor.expr.frame import Frame, group_rows
from advisor.facts.observed import OperatorCall
from advisor.facts.selection import Selected
from advisor.facts.table import Array, Table
from advisor.model.findings import CodeLine, Finding

CALL = "call"
"""The column that names host calls, in every fact."""

_FRAME = re.compile(r"(?P<file>[^\n;]+?\.pyw?)\((?P<line>\d{1,9})\)(?:: (?P<function>.*))?")
"""As torch writes frames: `path/train.py(88): train_step`."""
_LIBRARY = re.compile(
    r"""
    (?:^|[/\\]) (?: site-packages | dist-packages | lib(?:64)?[/\\]python\d(?:\.\d+)? ) [/\\]
    | ^ (?: <
        | (?: torch | torch_npu | torchvision | multiprocessing | importlib | concurrent | asyncio ) [/\\]
        | (?: threading | contextlib | runpy | functools | queue | selectors | socket ) \.py ) # paths cut by sys.path
    """,
    re.VERBOSE,
)


def operators_named(findings: Iterable[Finding]) -> TimeByStack | None:
    """The framework operators to be looked up for these findings; None where none is."""
    names = {name for finding in findings for name in _calls_of_finding(finding) if _is_operator(name)}
    return TimeByStack(tuple(sorted(names))) if names else None


class TimeByStack(Struct, frozen=True):
    """The calls of some framework operators, those of one operator under one stack together."""

    names: tuple[str, ...]

    @property
    def fact(self) -> type[OperatorCall]:
        """Where the stacks are recorded."""
        return OperatorCall

    def select(self, table: Table[OperatorCall]) -> Selected:
        """One row for each rank, operator and stack, with the host time of all these calls."""
        mine = table.texts("name").isin(self.names) & (table.texts("call_stack").codes >= 0)
        table = table.take(np.flatnonzero(mine))
        keys = ("rank", "name", "call_stack")
        codes, _ = group_rows(Frame(table), keys)
        _, first, calls = np.unique(codes, return_index=True, return_counts=True)
        spent = np.bincount(codes, np.nan_to_num(table["host_total_us"]), len(first))
        return Selected(table.take(first).having(host_total_us=spent).only((*keys, "host_total_us")), calls)


def with_lines(findings: Sequence[Finding], operators: Table[OperatorCall] | None) -> tuple[Finding, ...]:
    """The findings, those whose line is known with it; `operators` is None where none are wanted or recorded."""
    stacks = _Stacks(operators)
    return tuple(
        finding if (line := _line_of_finding(finding, stacks)) is None else finding.model_copy(update={"source": line})
        for finding in findings
    )


def user_line(frames: Iterable[str]) -> CodeLine | None:
    """The first of these frames, innermost first, that is no library's; None when all are."""
    for frame in frames:
        found = _FRAME.fullmatch(frame.strip())
        if found and not _LIBRARY.search(found["file"]) and int(found["line"]) > 0:
            return CodeLine(file=found["file"], line=int(found["line"]), function=found["function"] or "")
    return None


def _line_of_finding(finding: Finding, stacks: _Stacks) -> CodeLine | None:
    rank = finding.seen[0].rank if finding.seen else None
    for name in _calls_of_finding(finding):
        if line := user_line([name]) or (stacks.line(name, rank) if _is_operator(name) else None):
            return line
    return None


def _calls_of_finding(finding: Finding) -> Iterable[str]:
    """The host calls among the rows of a finding, worst first, each once."""
    if finding.excerpt is None:
        return ()
    columns = [number for number, head in enumerate(finding.excerpt.columns) if head.name == CALL]
    cells = (row[number] for number in columns for row in finding.excerpt.rows)
    return dict.fromkeys(cell for cell in cells if isinstance(cell, str))


def _is_operator(name: str) -> bool:
    """Framework operators are `aten::item`, `enumerate(DataLoader)#…`, `Optimizer.step#…`; CANN calls are not."""
    return "::" in name or "#" in name


class _Stacks:
    """The call stacks of framework operators, and how much host time is spent under each."""

    def __init__(self, operators: Table[OperatorCall] | None) -> None:
        self._operators = operators
        self._known: dict[tuple[str, int | None], CodeLine | None] = {}

    def line(self, name: str, rank: int | None) -> CodeLine | None:
        """The user's line under which this operator takes most host time, on this rank if it was recorded there."""
        if (name, rank) not in self._known:
            self._known[name, rank] = self._line_of_operator(name, rank)
        return self._known[name, rank]

    def _line_of_operator(self, name: str, rank: int | None) -> CodeLine | None:
        if self._operators is None:
            return None
        stacks = self._operators.texts("call_stack")
        mine = self._operators.texts("name").isin([name]) & (stacks.codes >= 0)
        here = mine & (self._operators["rank"] == rank) if rank is not None else mine
        chosen = here if here.any() else mine
        if not chosen.any():
            return None
        spent = _per_stack(stacks.codes[chosen], self._operators.floats("host_total_us")[chosen], len(stacks.names))
        return _most_spent({stacks.names[code]: spent[code] for code in np.unique(stacks.codes[chosen]).tolist()})


def _per_stack(codes: Array, us: Array, count: int) -> Array:
    return np.bincount(codes, np.nan_to_num(us), count)


def _most_spent(stacks: Mapping[str, float]) -> CodeLine | None:
    """The line with most time among those of these stacks; equal ones in the order of the alphabet."""
    spent: dict[CodeLine, float] = {}
    for stack, us in stacks.items():
        line = user_line(stack.split(";"))
        if line is not None:
            spent[line] = spent.get(line, 0.0) + us
    return min(spent, key=lambda line: (-spent[line], line.file, line.line), default=None)
