# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.expr import language
from advisor.expr.compile import Scope, compile_expr
from advisor.model.run import Parallel, Run
from advisor.units import FACTORS, Type

ROW = {name: Type("number", per_row=True) for name in "abx"} | {"name": Type("text", per_row=True)}
SCOPE = Scope({**ROW, "c": Type("bool", per_row=True)})
LOGIC = Scope({name: Type("bool", per_row=True) for name in "abc"})
TEXTS = Scope({"a": Type("text", per_row=True)})


@pytest.mark.parametrize("entry", [*language.FUNCTIONS, *language.UNITS], ids=lambda entry: entry.name)
def test_what_the_documentation_shows_is_an_expression(entry: language.LanguageEntry) -> None:
    assert compile_expr(entry.usage, SCOPE).type
    assert entry.meaning


@pytest.mark.parametrize("entry", language.OPERATORS, ids=lambda entry: entry.name)
def test_every_operator_is_an_expression(entry: language.LanguageEntry) -> None:
    logical = entry.name in ("and", "or", "not")
    assert compile_expr(entry.usage, LOGIC if logical else TEXTS if "in" in entry.name.split() else SCOPE).type


def test_every_function_and_unit_is_documented() -> None:
    page = language.reference_page()
    for name in (*language.FUNCTION_NAMES, *FACTORS, *language.RUN_SCOPE):
        assert f"`{name}" in page or f"* {name}`" in page


def test_what_is_not_known_of_a_run_is_missing_not_zero() -> None:
    values = language.run_values(Run())
    assert {name for name, value in values.items() if value is not None} == {
        "device_family",
        "recorder",
        "step_count",
        "rank_count",
        "captured_ranks",
    }


def test_each_name_of_a_run_is_its_own_property() -> None:
    sizes = {"tp": 2, "pp": 3, "dp": 5, "cp": 7, "ep": 11}
    words = {"chip": "Ascend910B", "cann_version": "8.1", "torch_npu_version": "2.5", "framework": "PyTorch"}
    values = language.run_values(Run(parallel=Parallel(**sizes), ranks=(0, 1, 4), **words))
    assert sizes.items() <= values.items()
    assert words.items() <= values.items()
    assert values["captured_ranks"] == 3


def test_every_hint_leads_to_something_that_exists() -> None:
    assert set(language.INSTEAD.values()) <= language.FUNCTION_NAMES | {"true", "false", "missing"}
