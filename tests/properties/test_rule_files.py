# SPDX-License-Identifier: Apache-2.0
"""Whatever a rule file holds, its author gets a rule or mistakes with their places; nothing else happens."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rule_texts import CASES, FIX, HEAD, IDLE

from advisor.expr.compile import Scope, compile_expr
from advisor.expr.frame import column_scope
from advisor.facts.observed import Kernel
from advisor.messages.errors import ExprError, Mistake, RuleError
from advisor.rules.bind import Rule, bind_rule
from advisor.rules.schema import cases_of_document
from advisor.yaml_files import source

RULE = HEAD.format(id="host/idle") + IDLE + FIX + CASES
LINES = RULE.splitlines(keepends=True)

PIECES = (
    "- | [ | { | } | : | &a | *a | !!str | null | true | 1e999 | ' | # | >- | {rank} | 矩阵 | 0 | ? | <<: | --- | ..."
)
pieces = st.sampled_from(
    [*PIECES.split(" | "), "|", "\n", "  ", "\t", "\u2028", "\x85", "%YAML 1.2\n", '"\\ud800"', '"']
)
swaps = st.tuples(st.integers(0, len(RULE)), st.integers(0, 30), pieces)


def outcome(text: str) -> Rule | list[Mistake]:
    try:
        document = source.parse_document(text, "rule.yaml")
    except RuleError as error:
        return list(error.mistakes)
    _, mistakes = cases_of_document(document)
    found = bind_rule(document, Path("rule.yaml"))
    return mistakes or found


@settings(max_examples=60)
@given(st.lists(swaps, min_size=1, max_size=3))
def test_a_damaged_rule_is_a_rule_or_a_list_of_mistakes(damages: list[tuple[int, int, str]]) -> None:
    text = RULE
    for place, length, piece in damages:
        text = text[:place] + piece + text[place + length :]
    found = outcome(text)
    if not isinstance(found, Rule):
        assert found
        assert all(mistake.what and str(mistake) for mistake in found)


@settings(max_examples=40)
@given(st.permutations(range(len(LINES))), st.integers(0, len(LINES)))
def test_lines_out_of_order_are_borne(order: list[int], many: int) -> None:
    text = "".join(LINES[number] for number in order[:many])
    assert isinstance(outcome(text), Rule | list)


@settings(max_examples=60)
@given(st.text(max_size=200))
@example("\x00")
@example("")
@example("[" * 150)
def test_any_text_is_borne(text: str) -> None:
    assert isinstance(outcome(text), Rule | list)


SCOPE = Scope(column_scope(Kernel))
TOKENS = """
duration_us op_type rank start_ns sum count mean ( ) ( ) + - * / < == and or not in [ ] , 1 0.5 'x' "y" where= us if
else true . ** lambda : {} f'' __class__ recorded quantile first
"""
tokens = st.sampled_from(sorted(TOKENS.split()))


@settings(max_examples=60)
@given(st.lists(tokens, max_size=14).map(" ".join) | st.text(max_size=60))
def test_any_expression_compiles_or_is_told_what_is_wrong(text: str) -> None:
    try:
        compiled = compile_expr(text, SCOPE)
    except ExprError as error:
        assert error.what
        assert 0 <= error.column <= max(len(text), 1)
    else:
        assert compiled.type.kind in ("number", "text", "bool")
