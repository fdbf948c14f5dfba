# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.expr.compile import Scope, compile_expr
from advisor.expr.frame import column_scope
from advisor.expr.language import RUN_SCOPE, RUN_VALUES
from advisor.facts.observed import Kernel
from advisor.messages.errors import ExprError
from advisor.units import Type

SCOPE = Scope({**column_scope(Kernel), **RUN_SCOPE, "tolerated": Type("number"), "total_us": Type("number", "us")})


def mistake(source: str) -> ExprError:
    with pytest.raises(ExprError) as caught:
        compile_expr(source, SCOPE)
    return caught.value


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("sum(duration_us) / step_count", "number[us]"),
        ("duration_us / wait_us", "number[share]"),
        ("count() / count(where=wait_us > 5 * ms)", "number[share]"),
        ("count() / step_count", "number[count]"),
        ("0.1 * step_us", "number[us]"),
        ("start_ns - min(start_ns)", "number[ns]"),
        ("min(start_ns)", "number[moment]"),
        ('op_type in ["Cast", "TransData"]', "bool"),
        ("not recorded(wait_us)", "bool"),
        ("first(op_type)", "text"),
        ("distinct(op_type)", "number[count]"),
        ("quantile(duration_us, 0.9)", "number[us]"),
        ("true if step_us > 1 else false", "bool"),
        ("sum(duration_us) if step_us > 1 else missing", "number[us]"),
        ("missing if step_us > 1 else duration_us / wait_us", "number[share]"),
        ("(true if step_us > 2 else missing) if step_us > 1 else missing", "bool"),
        ("  sum(duration_us)\n  / step_count  ", "number[us]"),
    ],
)
def test_every_expression_has_a_type(source: str, kind: str) -> None:
    assert str(compile_expr(source, SCOPE).type) == kind


def test_a_mistake_shows_its_place_and_what_was_meant() -> None:
    assert str(mistake("mean(wait_us) + mean(duration_uss)")).split("\n", 1)[1] == (
        "    mean(wait_us) + mean(duration_uss)\n                         ^\n    hint: did you mean `duration_us`?"
    )


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("duration_us > blocks", "cannot compare number[us] with number[count]"),
        ("duration_us + start_ns", "cannot combine number[us] with absolute time"),
        ("start_ns + start_ns", "cannot combine absolute time with absolute time"),
        ("start_ns > 5", "cannot compare absolute time with number"),
        ("-start_ns", "absolute times can only be compared with and subtracted from each other"),
        ("mean(start_ns)", "`mean` of absolute times means nothing"),
        ("start_ns - start_ns > duration_us", "cannot compare number[ns] with number[us]"),
        ("sum(total_us)", "`sum` needs a column, and this is one value per group already"),
        ("sum(sum(duration_us))", "`sum` stands inside another aggregate"),
        ("sum(op_type)", "`sum` needs a column of numbers, found text"),
        ("mode(duration_us)", "`mode` needs a column of text, found number[us]"),
        ('op_type > "a"', "a text has no order"),
        ("0 < duration_us < 5", "compare two things at a time"),
        ("duration_us and true", "expected a condition, found number[us]"),
        ("missing", "`missing` is only one of the two values of `a if c else b`"),
        ("duration_us == missing", "`missing` is only one of the two values of `a if c else b`"),
        ("op_type != missing", "`missing` is only one of the two values of `a if c else b`"),
        ("missing + 1", "`missing` is only one of the two values of `a if c else b`"),
        ("1 if missing else 2", "`missing` is only one of the two values of `a if c else b`"),
        ("missing if step_us > 1 else missing", "is `missing` either way"),
        ("op_type if step_us > 1 else missing", "expected a number or a condition, found text"),
        ("not 5", "expected a condition, found number"),
        ("op_type + 1", "expected a number, found text"),
        ("avg(duration_us)", "unknown function `avg`"),
        ("duration_us ** 2", "`**` is not part of the rule language"),
        ("duration_us is 2", "`is` is not part of the rule language"),
        ("quantile(duration_us, 90)", "`quantile` needs a number between 0 and 1"),
        ("count(duration_us)", "`count` is written `count(where=c)`, found 1 argument"),
        ("sum(duration_us, when=true)", "`sum` takes only `where=`"),
        ("abs(x=1)", "`abs` takes no `x=`"),
        ("op_type in names", "`in` needs a list of literals"),
        ("op_type in [1]", "expected a text, found number"),
        ("contains(op_type, op_name)", "`contains` needs a literal text"),
        ("1e19", "number is larger than 1e18"),
        ("True", "unknown name `True`"),
        ("None", "unknown name `None`"),
        ("sum", "unknown name `sum`"),
        ("1j", "a complex is not part of the rule language"),
        ("duration_us = 5", "not an expression"),
        ("a && b", "not an expression"),
        ("", "not an expression"),
    ],
)
def test_what_does_not_fit_is_refused(source: str, what: str) -> None:
    assert str(mistake(source).what) == what


def test_the_place_counts_characters_not_bytes() -> None:
    assert mistake('op_type == "矩阵乘" and nope').column == len('op_type == "矩阵乘" and ')


def test_leading_blanks_and_line_breaks_keep_the_place() -> None:
    assert mistake("  sum(duration_us)\n + nope").column == len("  sum(duration_us)\n + ")


def test_of_many_names_those_of_the_run_are_not_listed() -> None:
    scope = Scope({"op_type": Type("text"), "total_us": Type("number", "us"), **RUN_SCOPE})
    with pytest.raises(ExprError) as caught:
        compile_expr("zzz > 1", scope)
    assert str(caught.value.hint) == "known here: op_type, total_us"


def test_a_value_of_the_run_in_other_letters_is_the_one_that_is_meant() -> None:
    with pytest.raises(ExprError) as caught:
        compile_expr('stack == "vllm"', Scope(RUN_SCOPE))
    assert str(caught.value.hint) == "did you mean `vLLM`?"


def test_what_is_no_function_is_told_with_the_functions_there_are() -> None:
    with pytest.raises(ExprError) as caught:
        compile_expr('__import__("os").system("id")', Scope(RUN_SCOPE))
    assert str(caught.value.hint).startswith("known: ")
    assert "median" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("op_type == GatherV2", 'a text stands in quotes: `"GatherV2"`'),
        ("GatherV2 != op_type", 'a text stands in quotes: `"GatherV2"`'),
        ("mode(op_type) == GatherV2", 'a text stands in quotes: `"GatherV2"`'),
        ("op_type == op_tipe", 'a text stands in quotes: `"op_tipe"`; did you mean `op_type`?'),
        ("duration_us > durations", "did you mean `duration_us`?"),
    ],
)
def test_a_name_beside_a_text_may_be_a_text_without_its_quotes(source: str, hint: str) -> None:
    assert str(mistake(source).hint) == hint


@pytest.mark.parametrize("name", sorted(RUN_VALUES))
def test_a_name_of_the_run_is_held_against_the_texts_it_can_be(name: str) -> None:
    scope = Scope(dict(RUN_SCOPE))
    for text in RUN_VALUES[name]:
        compile_expr(f'{name} == "{text}" or "{text}" != {name} or {name} in ["{text}"]', scope)
    for source in (f'{name} == "nope"', f'"nope" != {name}', f'{name} in ["nope"]', f'{name} not in ["nope"]'):
        with pytest.raises(ExprError, match=f"`{name}` is one of .*, not `nope`"):
            compile_expr(source, scope)


def test_a_column_that_is_called_like_a_name_of_the_run_may_be_any_text() -> None:
    compile_expr('phase == "nope"', Scope({"phase": Type("text", per_row=True)}))


HOSTILE = [
    "().__class__.__base__.__subclasses__()",
    "op_type.__class__",
    "op_type.names[0]",
    "duration_us[0]",
    "(lambda: 1)()",
    "[x for x in [1]]",
    "{x: 1 for x in [1]}",
    "(x for x in [1])",
    'f"{op_type}"',
    "(x := 5)",
    "__import__('os').system('true')",
    "eval('1')",
    "open('/etc/passwd')",
    "exec('1')",
    "sum(*[duration_us])",
    "sum(**{'where': true})",
    "9**9**9**9",
    "1 << 999",
    "'a' * 999999999999",
    "9" * 1900,
    "1e999",
    "b'bytes'",
    "...",
    "(yield 1)",
    "(await x)",
    "__builtins__",
    "__class__",
    "globals()",
    "getattr(op_type, 'x')",
    "sum.__globals__",
    "count().__class__",
    "a;b",
    "import os",
    "1\x00",
    "(" * 150 + "1" + ")" * 150 + " and nope",
    "(" * 900 + "1" + ")" * 900,
    "-" * 1999 + "1",
    "not " * 490 + "true",
    "+".join(["1"] * 500),
    " and ".join(["true"] * 201),
    "[" * 900 + "]" * 900,
    "1 if true else " * 130 + "1",
    "x" * 2001,
    "'" + "x" * 201 + "' == op_type",
    "\ud800",
    "{**{}}",
    "print('x')",
    "duration_us @ duration_us",
    "~duration_us",
    "1 if open('x') else 2",
]


@pytest.mark.parametrize("source", HOSTILE, ids=lambda source: ascii(source)[:40])
def test_hostile_expressions_are_refused_before_anything_runs(source: str) -> None:
    mistake(source)
