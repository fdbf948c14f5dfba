# SPDX-License-Identifier: Apache-2.0
"""The small faults that can be put into a file, and the rules by which places are left out where none would tell.

The operators are those of mutmut, tried at every place of a file: in tables, class bodies and decorated functions too,
which mutmut itself leaves out. To them come a few of what readers of reports suffer from: a guard that always or never
holds, a filter that is gone, `max` for `min` or for `sum`, the other side of a search.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_keywords, operator_string, operator_swap_op

from benchmarks.mutation.covering import PACKAGES, functions_by_line

# what is said is held by the catalogue of messages and its tests; which message is raised is mutated with its guard
SAYING = frozenset(
    {"Message", "Text", "_t", "FactMissing", "Mistake", "TypeVar", "NewType", "cast", "ConfigDict", "errstate"}
)
QUIET_KEYWORDS = frozenset({"strict", "encoding", "stacklevel", "maxsize", "slots", "frozen"})
"""Arguments that only make our own mistakes loud, or things faster."""

SWAPPED: Mapping[str, tuple[str, ...]] = {
    "min": ("max",),
    "max": ("min",),
    "sum": ("max",),
    "any": ("all",),
    "all": ("any",),
    "minimum": ("maximum",),
    "maximum": ("minimum",),
}
SIDES = {'"left"': '"right"', '"right"': '"left"'}


class Site(NamedTuple):
    """A place where faults can be put: one node, one kind of change, one or several outcomes."""

    file: str
    line: int
    column: int
    operator: str
    outcomes: int


class Mutant(NamedTuple):
    """One fault: a file as it would be with it."""

    file: str
    function: str
    line: int
    last_line: int
    before: str
    after: str
    source: str

    @property
    def name(self) -> str:
        """What it is known by while code around it moves."""
        return f"{self.file} {self.function}: {self.before} -> {self.after}"


def change_guard(node: cst.If | cst.CompIf | cst.While) -> Iterator[cst.CSTNode]:
    """A guard that never holds, and one that always does."""
    for constant in (
        ("False", "True") if isinstance(node, cst.If) else ("True",) if isinstance(node, cst.CompIf) else ()
    ):
        yield node.with_changes(test=cst.Name(constant))


def swap_function(node: cst.Call) -> Iterator[cst.CSTNode]:
    """The other extreme, or an extreme for a sum."""
    name = name_of_function(node)
    for other in SWAPPED.get(name, ()):
        if isinstance(node.func, cst.Name):
            yield node.with_changes(func=cst.Name(other))
        elif isinstance(node.func, cst.Attribute):
            yield node.with_changes(func=node.func.with_changes(attr=cst.Name(other)))


def change_string(node: cst.SimpleString) -> Iterator[cst.CSTNode]:
    """Another word, but no other case: to SQL and to codecs that is the same."""
    if node.value in SIDES:
        yield node.with_changes(value=SIDES[node.value])
    else:
        yield from list(cast(Iterable[cst.CSTNode], operator_string(node)))[:1]


NARROWED: Mapping[Any, Any] = {
    operator_swap_op: cst.BinaryOperation
    | cst.UnaryOperation
    | cst.BooleanOperation
    | cst.ComparisonTarget
    | cst.AugAssign,
    operator_keywords: cst.BaseCompOp | cst.Break | cst.Continue,
}
"""What operators that look at every node change something of: asking them all takes minutes."""
OPERATORS = (
    *((NARROWED.get(change, kind), change) for kind, change in mutation_operators if change is not operator_string),
    (cst.SimpleString, change_string),
    (cst.If, change_guard),
    (cst.CompIf, change_guard),
    (cst.Call, swap_function),
)


def name_of_function(node: cst.Call) -> str:
    """The last word of what is called."""
    func = node.func
    return func.value if isinstance(func, cst.Name) else func.attr.value if isinstance(func, cst.Attribute) else ""


def is_left_out(node: cst.CSTNode) -> bool:
    """Whether a fault here would change no value: types, words, and what only guards us against ourselves."""
    match node:
        case cst.Annotation() | cst.Import() | cst.ImportFrom() | cst.Raise() | cst.Assert() | cst.Decorator():
            return True
        case cst.BaseParenthesizableWhitespace() | cst.TrailingWhitespace() | cst.EmptyLine() | cst.Comma():
            return True
        case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()):
            return True
        case cst.Call():
            return name_of_function(node) in SAYING
        case cst.Arg(keyword=cst.Name(value=keyword)):
            return keyword in QUIET_KEYWORDS
        case cst.If(test=cst.Name(value="TYPE_CHECKING")):
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            return name.startswith("__") or (
                name[0].isupper() and not name.isupper() and not isinstance(value, cst.Call)
            )
    return False


class _Finder(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file
        self.found: list[tuple[Site, cst.CSTNode, Sequence[cst.CSTNode]]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if is_left_out(node):
            return False
        for kind, change in OPERATORS:
            if isinstance(node, kind) and (outcomes := [new for new in change(node) if _may_stand(node, new)]):
                at = self.get_metadata(PositionProvider, node).start
                site = Site(self.file, at.line, at.column, change.__name__, len(outcomes))
                self.found.append((site, node, outcomes))
        return not isinstance(node, cst.ClassDef) or self._visit_class(node)

    def _visit_class(self, node: cst.ClassDef) -> bool:
        node.body.visit(self)  # neither bases nor options: they are types
        return False


def _may_stand(node: cst.CSTNode, new: cst.CSTNode) -> bool:
    """Whether the change is one of ours: an argument that only makes mistakes loud may not go either."""
    if not isinstance(node, cst.Call) or not isinstance(new, cst.Call):
        return True
    kept = {id(arg) for arg in new.args}
    return not any(is_left_out(arg) for arg in node.args if id(arg) not in kept)


def find_sites(top: Path, package: str) -> list[Site]:
    """Every place of a package, in the order of its files."""
    files = sorted((top / "advisor" / package).rglob("*.py"))
    return [site for path in files for site, _, _ in _find_in_file(top, path.relative_to(top).as_posix())[1]]


@lru_cache(maxsize=1)
def _find_in_file(top: Path, file: str) -> tuple[cst.Module, list[tuple[Site, cst.CSTNode, Sequence[cst.CSTNode]]]]:
    wrapper = MetadataWrapper(cst.parse_module((top / file).read_text("utf-8")), unsafe_skip_copy=True)
    finder = _Finder(file)
    wrapper.visit(finder)
    return wrapper.module, finder.found


def make_mutant(top: Path, site: Site, number: int) -> Mutant:
    """One outcome of a place, written out."""
    module, found = _find_in_file(top, site.file)
    node, outcomes = next((node, outcomes) for at, node, outcomes in found if at == site)
    source = cast(cst.Module, module.deep_replace(node, outcomes[number])).code
    before, after = module.code.splitlines(), source.splitlines()
    start = next(i for i, (old, new) in enumerate(zip([*before, ""], [*after, ""], strict=False)) if old != new)
    tail = next(i for i, (old, new) in enumerate(zip(before[::-1], after[::-1], strict=False)) if old != new)
    last = max(start + 1, len(before) - tail)
    function = functions_by_line(module.code).get(start + 1, "")
    shown = (
        " ".join(line.strip() for line in lines) for lines in (before[start:last], after[start : len(after) - tail])
    )
    return Mutant(site.file, function, start + 1, last, *shown, source)


def draw_sample(top: Path, size: int, seed: int, packages: Sequence[str] = PACKAGES) -> list[Mutant]:
    """Places drawn at random, each package by its share of all places, and one outcome of each."""
    chance = random.Random(seed)  # noqa: S311  not for secrets
    sites = {package: find_sites(top, package) for package in packages}
    total = sum(map(len, sites.values()))
    drawn = [site for own in sites.values() for site in chance.sample(own, max(1, round(size * len(own) / total)))]
    return [make_mutant(top, site, chance.randrange(site.outcomes)) for site in sorted(drawn)]
