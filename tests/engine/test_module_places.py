# SPDX-License-Identifier: Apache-2.0
"""A finding about an operator names the modules that run it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import advisor
import corpus
from advisor.engine.module_places import Named, names_of_rules, with_modules
from advisor.facts.derived import ModuleType, PatternModule
from advisor.facts.table import read_table
from advisor.messages.text import LANGUAGES
from advisor.model.findings import CodeLine, Finding, Head, Place, Rows
from advisor.report.blocks import one_line
from advisor.report.diagnosis.document import diagnosis_document
from tests.shared_captures import SharedCaptures

TYPES = read_table(
    ModuleType,
    """
    rank op_type module             total_us type_share
    0    MatMul  Net/layers.*/mlp   70       0.7
    0    MatMul  -                  20       0.2
    0    MatMul  Net/head           9        0.09
    0    MatMul  Net/embed          1        0.01
    0    Add     Net/layers.*       5        1
    1    MatMul  Net/layers.*/attn  90       1
    """,
)


CHAINS = read_table(
    PatternModule,
    """
    rank pattern module             total_us pattern_share
    0    norm    Net/layers.*/norm  70       0.7
    0    norm    Net/head           30       0.3
    0    swiglu  -                  5        1
    """,
)


def finding(
    subject: dict[str, str] | None = None, rank: int | None = 0, rows: Rows | None = None, rule: str = "a/b"
) -> Finding:
    seen = () if rank is None else (Place(rank=rank),)
    return Finding(
        rule=rule, fingerprint="x", severity="info", confidence="high", subject=subject or {}, seen=seen, excerpt=rows
    )  # fmt: skip


def places(one: Finding) -> list[tuple[str, float]]:
    (found,) = with_modules([one], TYPES)
    return [(place.module, place.share) for place in found.modules]


def test_modules_of_the_operator_on_the_worst_rank_are_named_and_small_parts_are_not() -> None:
    assert places(finding({"op_type": "MatMul"})) == [("Net/layers.*/mlp", 0.7)]
    assert places(finding({"op_type": "MatMul"}, rank=1)) == [("Net/layers.*/attn", 1)]


def test_of_a_finding_about_several_operators_the_worst_row_counts() -> None:
    rows = Rows(columns=(Head(name="op_type"), Head(name="calls")), rows=(("Add", 4), ("MatMul", 2)))
    assert places(finding(rows=rows)) == [("Net/layers.*", 1)]


OF_INPUTS = read_table(
    ModuleType,
    """
    rank op_type input_shapes input_dtypes module           total_us
    0    MatMul  8,8;8,8      BF16;BF16    Net/layers.*/mlp 70
    0    MatMul  8,8;8,9      BF16;BF16    Net/layers.*/mlp 20
    0    MatMul  8,8;8,9      FLOAT;FLOAT  Net/head         6
    0    MatMul  -            -            Net/embed        4
    0    Add     8,8;8,9      FLOAT;FLOAT  Net              9
    """,
)


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        (("input_shapes", "input_dtypes"), [("8,8;8,9", "FLOAT;FLOAT")], [("Net/head", 1)]),
        (("input_shapes",), [("8,8;8,9",)], [("Net/layers.*/mlp", 20 / 26), ("Net/head", 6 / 26)]),
        (("input_shapes",), [("8,8;8,8",), ("8,8;8,9",)], [("Net/layers.*/mlp", 90 / 96)]),
        (("input_shapes",), [("1,1;1,1",)], []),
        (("input_shapes",), [("8,8;8,9",), (None,)], [("Net/layers.*/mlp", 0.9)]),  # one row may be any of them
        (("calls",), [(3,)], [("Net/layers.*/mlp", 0.9)]),
    ],
)
def test_of_a_type_whose_inputs_a_finding_lists_the_modules_are_those_that_run_it_with_these(
    columns: tuple[str, ...], rows: list[tuple[str | int | None, ...]], expected: list[tuple[str, float]]
) -> None:
    heads = tuple(Head(name=name) for name in ("op_type", *columns))
    told = Rows(columns=heads, rows=(*(("MatMul", *row) for row in rows), ("Add", *rows[0])))
    (found,) = with_modules([finding(rows=told)], OF_INPUTS)
    assert [(place.module, place.share) for place in found.modules] == [
        (module, pytest.approx(share)) for module, share in expected
    ]


def test_late_launches_are_about_no_operator_whatever_the_first_of_them_started() -> None:
    rows = Rows(columns=(Head(name="op_type"), Head(name="latency_us")), rows=(("Add", 4.0), ("MatMul", 2.0)))
    assert places(finding(rows=rows, rule="host/late-launches")) == []


def test_what_is_about_no_operator_or_an_unknown_one_has_no_module() -> None:
    assert places(finding()) == places(finding({"op_type": "Cast"})) == places(finding({"call": "MatMul"})) == []
    assert with_modules([finding({"op_type": "MatMul"})], None)[0].modules == ()


def test_a_report_of_a_real_model_names_layers(real_data: Path, shared: SharedCaptures) -> None:
    found = shared.diagnosis(real_data / "gpu_kineto_models/h100_qwen1.5-0.5b.json.gz")
    leading = next(one for one in found.findings if one.rule == "compute/leading-module")
    assert leading.evidence[0].value == "Qwen2Model_0/Qwen2DecoderLayer_*/Qwen2Attention_*"
    top = next(one for one in found.findings if one.rule == "compute/top-operators")
    assert top.modules[0].module == "Qwen2Model_0/Qwen2DecoderLayer_*/Qwen2RMSNorm_*"
    norms = next(one for one in found.findings if one.rule == "compute/unfused-norm")
    assert [place.module for place in norms.modules] == ["Qwen2Model_0/Qwen2DecoderLayer_*/Qwen2RMSNorm_*"]
    said = {"en": ("In the model", "of the step, at 13 % of the chip's peak (MFU)"), "zh": ("所在模块", "MFU 13 %")}
    for language in LANGUAGES:
        whole = one_line(diagnosis_document(found, language).blocks)
        assert [words for words in said[language] if words not in whole] == []


def test_a_rule_that_reads_one_type_alone_is_about_it() -> None:
    of_rules = names_of_rules(advisor.load_rules().rules)
    assert of_rules["compute/transdata-excess"] == Named("op_type", "TransData")
    assert of_rules["compute/unfused-norm"] == Named("pattern", "norm")
    assert "compute/top-operators" not in of_rules
    (found,) = with_modules([finding(rule="compute/x")], TYPES, {"compute/x": Named("op_type", "Add")})
    assert [place.module for place in found.modules] == ["Net/layers.*"]


def test_a_finding_about_chains_names_the_modules_that_hold_them() -> None:
    norms, of_rules = finding(rule="compute/x"), {"compute/x": Named("pattern", "norm")}
    for one in (norms, finding({"pattern": "norm"})):
        (found,) = with_modules([one], TYPES, of_rules, CHAINS)
        assert [(place.module, place.share) for place in found.modules] == [
            ("Net/layers.*/norm", 0.7),
            ("Net/head", 0.3),
        ]
    for tables in ((TYPES, of_rules, None), (None, of_rules, CHAINS.take(np.arange(0)))):
        assert with_modules([norms], *tables)[0].modules == ()
    (found,) = with_modules([finding({"pattern": "swiglu"})], None, of_rules, CHAINS)
    assert found.modules == ()


@pytest.mark.parametrize("export", ["text", "database"])
def test_chains_of_a_whole_capture_name_their_modules_and_the_line_that_calls_them(tmp_path: Path, export: str) -> None:
    found = advisor.diagnose(corpus.write(corpus.job("unfused-norm", 3), tmp_path, export, modules=True))
    (norms,) = (one for one in found.findings if one.rule == "compute/unfused-norm")
    assert [place.module for place in norms.modules] == ["model/layers.*/mlp", "model/layers.*/self_attn"]
    assert norms.source == CodeLine(file="model.py", line=16, function="forward")
