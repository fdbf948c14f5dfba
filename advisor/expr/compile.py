# SPDX-License-Identifier: Apache-2.0
"""Text, checked and turned into a function over columns.

The grammar is a part of Python's, so the parser is Python's own; the tree is only read, never run. What is not
listed in `language` does not exist. Each part gets a type and a unit once, at load; what remains are numpy calls.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from advisor.expr import language, units
from advisor.expr.evaluate import (
    ARITHMETIC,
    COMPARISONS,
    Evaluate,
    absolute_number,
    aggregate_of_group,
    all_or_any,
    combined_numbers,
    compared_values,
    if_then_else,
    is_among_literals,
    is_recorded,
    least_or_greatest,
    negated_number,
    negated_truth,
    number_of,
    of_column,
    of_constant,
    of_missing,
    of_name,
    spread_over_rows,
    text_test,
)
from advisor.expr.frame import column_scope
from advisor.expr.language import MISSING_WORD, MOMENT, RUN_SCOPE
from advisor.expr.mismatches import LITERALS, say_mismatch, say_type, say_wrong_kind, say_wrong_type
from advisor.expr.parse import SPLIT, parse
from advisor.expr.settings import VARIABLE, of_setting, setting_name
from advisor.facts.base import Fact
from advisor.messages.errors import ExprError
from advisor.messages.message import Message, did_you_mean
from advisor.units import FACTORS, Type, ValueKind

MANY = 30
"""Of more names than this a hint lists those of the rule alone, without those of the run."""


class Scope(Struct, frozen=True):
    """The names an expression may use. `keys` are columns that are one value per group outside of aggregates."""

    names: Mapping[str, Type]
    keys: frozenset[str] = frozenset()

    def having(self, name: str, found: Type) -> Scope:
        """The same with one more name."""
        return Scope({**self.names, name: found}, self.keys)


class Compiled:
    """A checked expression: its type, the names it uses, and the function that gives its value on a frame."""

    __slots__ = ("_scope", "names", "run", "source", "type")

    source: str
    type: Type
    names: frozenset[str]
    run: Evaluate
    _scope: Scope

    def __init__(self, source: str, type_: Type, names: frozenset[str], run: Evaluate) -> None:
        self.source, self.type, self.names, self.run = source, type_, names, run

    @classmethod
    def when_asked(cls, source: str, scope: Scope) -> Compiled:
        """An expression that was checked before, and is compiled when something of it is asked for but its text: most
        of what rules say of a finding is never needed.

        Whatever is asked for raises `ExprError` where the expression does not fit the scope after all.
        """
        later = cls.__new__(cls)
        later.source, later._scope = _in_one_line(source), scope
        return later

    def __getattr__(self, name: str) -> Any:
        if name not in ("names", "run", "type"):
            raise AttributeError(name)
        found = compile_expr(self.source, self._scope)
        self.type, self.names, self.run = found.type, found.names, found.run
        return getattr(found, name)

    def __repr__(self) -> str:
        return f"Compiled({self.source!r})"


def _in_one_line(source: str) -> str:
    return source.replace("\n", " ").replace("\t", " ").replace("\r", " ")


def compile_expr(source: str, scope: Scope) -> Compiled:
    """Checks an expression against the names in scope and makes it runnable. Line breaks count as blanks.

    Raises:
        ExprError: It is not in the language, too long, or names, types or units do not fit.
    """
    text = _in_one_line(source)
    tree = parse(text)
    compiler = _Compiler(text, scope)
    found, run = compiler.visit(tree)
    return Compiled(text, found, frozenset(compiler.used), run)


_OVER_COLUMNS: dict[tuple[str, type[Fact]], Compiled] = {}


def compile_for_columns(source: str, fact: type[Fact]) -> Compiled:
    """The same over the columns of a table alone; what was checked before is not checked again.

    Raises:
        ExprError: As above.
    """
    key = source, fact
    if key not in _OVER_COLUMNS:
        _OVER_COLUMNS[key] = compile_expr(source, Scope(column_scope(fact)))
    return _OVER_COLUMNS[key]


TypedEvaluate = tuple[Type, Evaluate]


class _Compiler:
    """Walks the tree once. `inside` is true within an aggregate, where keys are columns again."""

    def __init__(self, source: str, scope: Scope) -> None:
        self.source, self.scope, self.inside = source, scope, False
        self.used: set[str] = set()
        self.parts = self.depth = 0

    def fail(self, node: ast.AST, what: Message, hint: Message | None = None) -> ExprError:
        offset = getattr(node, "col_offset", 0)
        column = len(self.source.encode()[:offset].decode(errors="ignore"))
        return ExprError(what, self.source, column, hint)

    def foreign(self, node: ast.AST, part: ast.AST) -> ExprError:
        name = type(part).__name__
        sign = f"`{language.SIGNS.get(name, name.lower())}`"
        word = Message(language.WORDS[name]) if name in language.WORDS else sign
        hint = Message(language.INSTEAD_OF_SYNTAX[name]) if name in language.INSTEAD_OF_SYNTAX else None
        return self.fail(node, Message("not_of_language", part=word), hint)

    def visit(self, node: ast.expr) -> TypedEvaluate:
        method = _VISITS.get(type(node))
        if method is None:
            raise self.foreign(node, node)
        self.bounded(node, 1)
        self.depth += 1
        found = method(self, node)
        self.depth -= 1
        return found

    def bounded(self, node: ast.expr, more: int) -> None:
        """Refuses what is too large or too deep, before it is looked at."""
        self.parts += more
        if self.parts > language.MAX_NODES:
            raise self.fail(node, Message("expression_too_large", limit=language.MAX_NODES), SPLIT)
        if self.depth > language.MAX_DEPTH:
            raise self.fail(node, Message("expression_too_deep", limit=language.MAX_DEPTH), SPLIT)

    def number(self, node: ast.expr) -> TypedEvaluate:
        """An operand that must be a number, and not an absolute time."""
        found, run = self.wanted(node, "number")
        if found.unit == MOMENT:
            raise self.fail(node, Message("only_compared"), Message("take_difference"))
        return found, run

    def wanted(self, node: ast.expr, kind: ValueKind) -> TypedEvaluate:
        found, run = self.visit(node)
        if found.kind != kind:
            raise self.fail(node, say_wrong_kind(kind, found))
        return found, run

    def level(self, *parts: TypedEvaluate) -> tuple[bool, list[Evaluate]]:
        """Whether any part has a value per row; then values per group are spread over the rows beside it."""
        per_row = any(found.per_row for found, _ in parts)
        return per_row, [spread_over_rows(run) if per_row and not found.per_row else run for found, run in parts]

    def on_constant(self, node: ast.Constant) -> TypedEvaluate:
        value = node.value
        if isinstance(value, str):
            if len(value) > language.MAX_TEXT:
                raise self.fail(node, Message("text_too_long", limit=language.MAX_TEXT))
            return Type("text"), of_constant(value)
        if isinstance(value, bool) or value is None:
            return self.unknown(node, str(value))
        if not isinstance(value, int | float):
            raise self.fail(node, Message("kind_not_of_language", kind=type(value).__name__))
        if abs(value) > language.MAX_NUMBER:
            raise self.fail(node, Message("number_too_large"))
        return Type("number"), of_constant(float(value))

    def on_name(self, node: ast.Name) -> TypedEvaluate:
        name = node.id
        if name in ("true", "false"):
            return Type("bool"), of_constant(name == "true")
        if name == MISSING_WORD:
            raise self.fail(node, Message("missing_outside_choice"), Message("ask_recorded"))
        if name not in self.scope.names:
            if name in FACTORS:
                factor, unit = FACTORS[name]
                return Type("number", unit), of_constant(factor)
            return self.unknown(node, name)
        self.used.add(name)
        found = self.scope.names[name]
        if name in self.scope.keys and not self.inside:
            return Type(found.kind, found.unit), of_name(name)
        return found, of_column(name) if found.per_row else of_name(name)

    def unknown(self, node: ast.expr, name: str) -> TypedEvaluate:
        known = [*self.scope.names, "true", "false", *FACTORS]
        close = [language.INSTEAD[name]] if name in language.INSTEAD else difflib.get_close_matches(name, known, 1)
        if name in language.FUNCTION_NAMES:
            hint = Message("it_is_a_function", usage=language.USAGE[name])
        else:
            own = [known for known in self.scope.names if known not in RUN_SCOPE]
            listed = own if own and len(self.scope.names) > MANY else self.scope.names
            hint = did_you_mean(close) or Message("known_here", names=", ".join(listed))
        raise self.fail(node, Message("unknown_name", name=name), hint)

    def on_unary(self, node: ast.UnaryOp) -> TypedEvaluate:
        if isinstance(node.op, ast.Not):
            found, run = self.wanted(node.operand, "bool")
            return found, negated_truth(run)
        if isinstance(node.op, ast.Invert):
            raise self.foreign(node, node.op)
        found, run = self.number(node.operand)
        return found, negated_number(run) if isinstance(node.op, ast.USub) else run

    def on_bool(self, node: ast.BoolOp) -> TypedEvaluate:
        parts = [self.wanted(value, "bool") for value in node.values]
        per_row, runs = self.level(*parts)
        return Type("bool", per_row=per_row), all_or_any(isinstance(node.op, ast.And), runs)

    def on_binary(self, node: ast.BinOp) -> TypedEvaluate:
        if type(node.op) not in ARITHMETIC:
            raise self.foreign(node, node.op)
        left = self.wanted(node.left, "number")
        right = self.wanted(node.right, "number")
        per_row, (a, b) = self.level(left, right)
        moments = left[0].unit == right[0].unit == MOMENT and isinstance(node.op, ast.Sub)
        unit = "ns" if moments else self.unit(node, left[0], right[0])
        return Type("number", unit, per_row), combined_numbers(type(node.op), a, b, moments)

    def unit(self, node: ast.BinOp, left: Type, right: Type) -> str:
        if MOMENT in (left.unit, right.unit):
            what = say_mismatch("cannot_combine", left, right)
            raise self.fail(node, what, Message("only_compared"))
        if isinstance(node.op, ast.Mult):
            return units.unit_of_product(left.unit, right.unit)
        if isinstance(node.op, ast.Div):
            return units.unit_of_quotient(left.unit, right.unit)
        return self.common(node, left, right, "cannot_combine")

    def common(self, node: ast.expr, left: Type, right: Type, refusal: str) -> str:
        unit = units.common_unit(left.unit, right.unit)
        if unit is None:
            raise self.fail(node, say_mismatch(refusal, left, right))
        return unit

    def on_compare(self, node: ast.Compare) -> TypedEvaluate:
        if len(node.ops) != 1:
            raise self.fail(node, Message("compare_two"), Message("join_with_and"))
        sign, right_node = node.ops[0], node.comparators[0]
        left = self.compared(node.left, right_node)
        if isinstance(sign, ast.In | ast.NotIn):
            return self.member(left, node.left, right_node, isinstance(sign, ast.NotIn))
        if type(sign) not in COMPARISONS:
            raise self.foreign(node, sign)
        right = self.compared(right_node, node.left)
        self.refuse_no_value(node.left, right_node)
        self.refuse_no_value(right_node, node.left)
        if left[0].kind != right[0].kind:
            raise self.fail(node, say_mismatch("cannot_compare", left[0], right[0]))
        self.common(node, left[0], right[0], "cannot_compare")
        if left[0].kind != "number" and not isinstance(sign, ast.Eq | ast.NotEq):
            raise self.fail(node, Message("text_has_no_order" if left[0].kind == "text" else "truth_has_no_order"))
        per_row, (a, b) = self.level(left, right)
        return Type("bool", per_row=per_row), compared_values(type(sign), left[0].kind, a, b)

    def compared(self, node: ast.expr, other: ast.expr) -> TypedEvaluate:
        """One side of a comparison: a name that nobody knows beside a text may be a text without its quotes."""
        try:
            return self.visit(node)
        except ExprError as error:
            known = language.FUNCTION_NAMES | {MISSING_WORD}
            if not isinstance(node, ast.Name) or node.id in known or not self.is_text(other):
                raise
            quote = Message("quote_a_text", text=f'`"{node.id}"`')
            near = did_you_mean(difflib.get_close_matches(node.id, self.scope.names, 1))
            hint = Message("with_hint", what=quote, hint=near) if near is not None else quote
            raise ExprError(error.what, error.source, error.column, hint) from None

    def is_text(self, node: ast.expr) -> bool:
        """Whether this is known to be a text."""
        try:
            return _Compiler(self.source, self.scope).visit(node)[0].kind == "text"
        except ExprError:
            return False

    def refuse_no_value(self, node: ast.expr, *texts: ast.expr) -> None:
        """Refuses to compare a name of the run with a text that is never its value: it would hold on no run."""
        values = language.RUN_VALUES.get(node.id, ()) if isinstance(node, ast.Name) else ()
        if not values or not isinstance(node, ast.Name) or self.scope.names[node.id] is not RUN_SCOPE[node.id]:
            return
        for text in texts:
            if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value not in values:
                allowed, given = ", ".join(values), text.value
                alike = [value for value in values if value.lower() == given.lower()]
                hint = did_you_mean(alike or difflib.get_close_matches(given, values, 1, 0.5))
                raise self.fail(text, Message("is_one_of", name=node.id, allowed=allowed, given=given), hint)

    def member(self, left: TypedEvaluate, left_node: ast.expr, node: ast.expr, negate: bool) -> TypedEvaluate:
        if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
            raise self.fail(node, *LITERALS)
        self.bounded(node, len(node.elts))
        kind = left[0].kind
        if kind == "bool" or left[0].unit == MOMENT:
            raise self.fail(left_node, say_wrong_type("a_text_or_number", left[0]))
        choices = [self.literal(item, kind) for item in node.elts]
        self.refuse_no_value(left_node, *node.elts)
        return Type("bool", per_row=left[0].per_row), is_among_literals(left[1], choices, negate)

    def literal(self, node: ast.expr, kind: ValueKind) -> str | float:
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
        value = inner.value if isinstance(inner, ast.Constant) else None
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise self.fail(node, *LITERALS)
        found, _ = self.visit(inner)
        if found.kind != kind or (negative and kind == "text"):
            raise self.fail(node, say_wrong_kind(kind, found))
        if isinstance(value, str):
            return value
        return -float(value) if negative else float(value)

    def on_choice(self, node: ast.IfExp) -> TypedEvaluate:
        test = self.wanted(node.test, "bool")
        then, other = self.choices(node)
        if then[0].kind != other[0].kind:
            raise self.fail(node, say_mismatch("cannot_choose", then[0], other[0]))
        unit = self.common(node, then[0], other[0], "cannot_choose")
        per_row, runs = self.level(test, then, other)
        return Type(then[0].kind, unit, per_row), if_then_else(*runs)

    def choices(self, node: ast.IfExp) -> tuple[TypedEvaluate, TypedEvaluate]:
        """The two values of a choice; one that is written as missing is of the kind of the other."""
        nodes = node.body, node.orelse
        parts = [None if _is_missing_word(part) else self.visit(part) for part in nodes]
        told = [part for part in parts if part is not None]
        if not told:
            raise self.fail(node, Message("missing_either_way"))
        for part, found in zip(nodes, parts, strict=True):
            if found is not None and (found[0].kind == "text" or found[0].unit == MOMENT):
                raise self.fail(part, say_wrong_type("a_number_or_condition", found[0]))
        kind, unit = told[0][0].kind, told[0][0].unit
        then, other = (part or (Type(kind, unit), of_missing(kind)) for part in parts)
        return then, other

    def on_call(self, node: ast.Call) -> TypedEvaluate:
        if not isinstance(node.func, ast.Name):
            known = Message("known", names=", ".join(entry.name for entry in language.FUNCTIONS))
            raise self.fail(node, Message("only_listed_functions"), _function_around(node) or known)
        name = node.func.id
        if name not in language.FUNCTION_NAMES:
            raise self.fail(node, Message("unknown_function", name=name), language.nearest_function(name))
        if any(isinstance(part, ast.Starred) for part in node.args) or any(k.arg is None for k in node.keywords):
            raise self.fail(node, Message("no_starred_arguments"))
        if name in language.AGGREGATE_NAMES:
            return self.on_aggregate(name, node)
        if node.keywords:
            raise self.fail(node, Message("takes_no", name=name, keyword=str(node.keywords[0].arg)))
        return self.on_function(name, node)

    def on_function(self, name: str, node: ast.Call) -> TypedEvaluate:
        if name in ("startswith", "endswith", "contains"):
            return self.on_text_test(name, node)
        if name == "setting":
            return self.on_setting(node)
        if name == "as_number":
            self.arguments(name, node, 1)
            found, run = self.wanted(node.args[0], "text")
            return Type("number", per_row=found.per_row), number_of(run)
        if name == "recorded":
            self.arguments(name, node, 1)
            found, run = self.visit(node.args[0])
            return Type("bool", per_row=found.per_row), is_recorded(run)
        if name == "abs":
            self.arguments(name, node, 1)
            found, run = self.number(node.args[0])
            return found, absolute_number(run)
        if len(node.args) <= 1:
            raise self.fail(node, Message("takes_two_or_more", name=name))
        parts = [self.number(part) for part in node.args]
        unit = parts[0][0].unit
        for found, _ in parts[1:]:
            unit = self.common(node, Type("number", unit), found, "cannot_compare")
        per_row, runs = self.level(*parts)
        return Type("number", unit, per_row), least_or_greatest(name == "least", runs)

    def on_text_test(self, name: str, node: ast.Call) -> TypedEvaluate:
        self.arguments(name, node, 2)
        found, run = self.wanted(node.args[0], "text")
        needle = node.args[1]
        if not (isinstance(needle, ast.Constant) and isinstance(needle.value, str)):
            raise self.fail(needle, Message("needs_literal_text", name=name))
        self.on_constant(needle)
        return Type("bool", per_row=found.per_row), text_test(name, run, needle.value)

    def on_setting(self, node: ast.Call) -> TypedEvaluate:
        self.arguments("setting", node, 1)
        name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if not isinstance(name, str) or not VARIABLE.fullmatch(name):
            raise self.fail(node.args[0], Message("needs_variable"), Message("such_as_alone", example='`setting("X")`'))
        self.used.add(setting_name(name))
        return Type("text"), of_setting(name)

    def arguments(self, name: str, node: ast.Call, many: int) -> None:
        if len(node.args) != many:
            raise self.fail(node, Message("is_written", name=name, usage=language.USAGE[name], count=len(node.args)))

    def on_aggregate(self, name: str, node: ast.Call) -> TypedEvaluate:
        if self.inside:
            raise self.fail(node, Message("inside_another", name=name), Message("name_the_inner"))
        part = self.part(node) if name == "quantile" else None
        if name != "quantile":
            self.arguments(name, node, 0 if name == "count" else 1)
        self.inside = True
        try:
            where = self.condition(name, node)
            column = self.column(name, node.args[0]) if name != "count" else None
        finally:
            self.inside = False
        return _aggregate_type(name, column), aggregate_of_group(name, column[1] if column else None, where, part)

    def part(self, node: ast.Call) -> Evaluate:
        self.arguments("quantile", node, 2)
        found, run = self.number(node.args[1])
        literal = isinstance(node.args[1], ast.Constant) and isinstance(node.args[1].value, int | float)
        param = isinstance(node.args[1], ast.Name) and not found.per_row
        if not literal and not param:
            raise self.fail(node.args[1], Message("quantile_or_param"))
        if isinstance(node.args[1], ast.Constant) and not 0 <= float(str(node.args[1].value)) <= 1:
            raise self.fail(node.args[1], Message("quantile_between"))
        return run

    def condition(self, name: str, node: ast.Call) -> Evaluate | None:
        for keyword in node.keywords:
            if keyword.arg != "where" or len(node.keywords) > 1:
                raise self.fail(node, Message("takes_only_where", name=name))
        if not node.keywords:
            return None
        found, run = self.wanted(node.keywords[0].value, "bool")
        return run if found.per_row else spread_over_rows(run)

    def column(self, name: str, node: ast.expr) -> TypedEvaluate:
        found, run = self.visit(node)
        if not found.per_row:
            raise self.fail(node, Message("needs_column", name=name))
        texts = name in ("first", "mode", "distinct")
        what = Message("needs_numbers", name=name, found=say_type(found))
        if found.kind == "bool":
            raise self.fail(node, what, Message("count_with_where"))
        if found.kind == "text" and not texts:
            raise self.fail(node, what)
        if name == "mode" and found.kind != "text":
            raise self.fail(node, Message("needs_texts", name=name, found=say_type(found)))
        if found.unit == MOMENT and name not in ("min", "max", "first", "distinct"):
            raise self.fail(node, Message("absolute_times_mean_nothing", name=name), Message("take_differences"))
        return found, run


def _is_missing_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == MISSING_WORD


def _function_around(node: ast.Call) -> Message | None:
    """How what was written behind a name as its method, `x.sum()`, is written here."""
    method = node.func
    if not (isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name) and not node.args):
        return None
    if node.keywords or method.attr not in language.AGGREGATE_NAMES:
        return None
    return Message("write_it_as", words=f"{method.attr}({method.value.id})")


def _aggregate_type(name: str, column: TypedEvaluate | None) -> Type:
    """What an aggregate of a column gives."""
    if column is None or name == "distinct":
        return Type("number", "count")
    return Type(column[0].kind, column[0].unit)


_VISITS: dict[type[ast.expr], Callable[[_Compiler, Any], TypedEvaluate]] = {
    ast.Constant: _Compiler.on_constant,
    ast.Name: _Compiler.on_name,
    ast.UnaryOp: _Compiler.on_unary,
    ast.BoolOp: _Compiler.on_bool,
    ast.BinOp: _Compiler.on_binary,
    ast.Compare: _Compiler.on_compare,
    ast.IfExp: _Compiler.on_choice,
    ast.Call: _Compiler.on_call,
}
