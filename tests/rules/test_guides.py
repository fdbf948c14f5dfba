# SPDX-License-Identifier: Apache-2.0
"""Each statement of the guides is covered or explained, and what covers it exists."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_texts import IDLE, made, write

from advisor.cli.main import main
from advisor.cli.top_parser import build_parser
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import RuleError
from advisor.messages.text import Text
from advisor.reference.coverage_page import coverage_page, statement_state
from advisor.reference.pages import _leaf_commands
from advisor.rules import guides, style
from advisor.rules.catalog import Catalog, lint_rules
from advisor.rules.guides import Guide, Statement, known_statements, read_guides, rules_by_statement
from advisor.rules.patterns import shipped_patterns

TOP = Path(__file__).parent.parent.parent
RULES = Catalog.load([shipped_folder("rules")]).rules
STATEMENTS = [(key, one) for guide in read_guides() for key, one in guide.keyed()]


def test_every_statement_is_covered_or_explained() -> None:
    implementing = rules_by_statement(RULES)
    assert [key for key, one in STATEMENTS if statement_state(one, implementing.get(key, ())) is None] == []


def test_every_statement_that_a_rule_names_is_made_by_a_guide() -> None:
    assert rules_by_statement(RULES).keys() <= known_statements()


def test_numbers_of_statements_have_no_holes() -> None:
    for guide in read_guides():
        assert sorted(guide.statements) == list(range(1, len(guide.statements) + 1))


def test_commands_and_pages_that_cover_a_statement_exist() -> None:
    commands = {name.removeprefix("advisor ") for name, _ in _leaf_commands(build_parser())}
    assert {name for _, one in STATEMENTS for name in one.commands} <= commands
    assert [page for _, one in STATEMENTS for page in one.pages if not (TOP / "docs" / page).is_file()] == []


def test_patterns_that_cover_a_statement_exist() -> None:
    known = {pattern.name for pattern in shipped_patterns().patterns}
    named = {name for _, one in STATEMENTS for name in one.patterns}
    assert named and named <= known


MODES = (
    "all communication_time communication_matrix cluster_time_summary cluster_time_compare_summary "
    "cluster_compare_baseline compute_op_sum cann_api_sum hccl_sum mstx_sum communication_group_map "
    "communication_time_sum communication_matrix_sum slow_rank slow_link communication_bottleneck free_analysis "
    "freq_analysis ep_load_balance computational_op_masking operator_mfu module_statistic calibrate_npu_gpu pp_chart "
    "p2p_pairing mstx2commop export_summary"
)
FUSED = (
    "npu_confusion_transpose fast_gelu npu_scaled_masked_softmax clip_grad_norm_fused_ npu_fusion_attention "
    "npu_rotary_mul npu_rms_norm npu_swiglu npu_geglu npu_group_norm_silu torch.addmm npu_add_layer_norm "
    "npu_matmul_add npu_moe_token_permute npu_moe_token_unpermute NpuFusedAdamW NpuFusedAdam NpuFusedSGD "
    "NpuFusedAdadelta NpuFusedLamb NpuFusedAdamP NpuFusedBertAdam NpuFusedRMSprop NpuFusedRMSpropTF"
)


@pytest.mark.parametrize(
    "names", [[f"`{mode}`" for mode in MODES.split()], FUSED.split()], ids=["modes", "fused interfaces"]
)
def test_each_mode_and_each_fused_interface_of_msprof_analyze_has_its_statement(names: list[str]) -> None:
    said = [one.says.en for key, one in STATEMENTS if key.startswith("msprof-analyze/")]
    words = [set(text.split()) for text in said]
    assert [name for name in names if sum(name in one for one in words) != 1] == []


def test_each_mode_of_msprof_analyze_has_its_counterpart_on_the_page_of_statistics() -> None:
    page = (TOP / "docs" / "stats.md").read_text("utf-8").partition("modes of msprof-analyze")[2]
    first_cells = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert [mode for mode in MODES.split() if f"`{mode}`" not in first_cells] == []


def test_a_statement_is_in_part_covered_where_something_is_open() -> None:
    says, why = Text("Queues are long", "队列长"), Text("Not recorded", "未采集")
    states = [
        statement_state(Statement(says=says), ()),
        statement_state(Statement(says=says), RULES[:1]),
        statement_state(Statement(says=says, facts=("kernels",)), ()),
        statement_state(Statement(says=says, patterns=("geglu",)), ()),
        statement_state(Statement(says=says, facts=("kernels",), open=why), ()),
        statement_state(Statement(says=says, open=why), ()),
    ]
    assert states == [None, "covered", "covered", "covered", "in part", "not covered"]


def test_the_page_counts_and_links_what_covers_a_statement() -> None:
    says = Statement(says=Text("a | b", "甲"), facts=("kernels",), open=Text("half of it", "一半"))
    guide = Guide(key="acme", title=Text("Acme", "甲"), about=Text("How.", "如何。"), statements={1: says})
    page = coverage_page([guide], [])
    assert "| [Acme](#acme) · 甲 | 1 | 0 | 1 | 0 |" in page
    assert r"| 1 | a \| b | 甲 | [kernels](reference/facts.md#kernels) | half of it | 一半 |" in page


def test_a_guide_with_an_unknown_table_is_refused_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme.yaml").write_text(
        "title: {en: A, zh: 甲}\nabout: {en: A, zh: 甲}\n"
        "statements:\n  1:\n    says: {en: A, zh: 甲}\n    facts: [kernel]\n",
        "utf-8",
    )
    monkeypatch.setattr(guides, "shipped_folder", lambda _: tmp_path)
    with pytest.raises(RuleError, match=r"acme\.yaml:6:\d+: .*unknown table `kernel`"):
        guides.read_guides.__wrapped__()


def test_a_rule_of_ones_own_may_name_statements_of_guides_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = made(tmp_path, body="implements: [acme-guide/3]\n" + IDLE)
    assert rule.implements == ("acme-guide/3",)
    assert main(["rules", "lint", str(tmp_path)]) == 0, capsys.readouterr()


def test_a_shipped_rule_that_names_a_statement_of_no_guide_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "shipped_folder", lambda _: tmp_path)
    write(tmp_path, body="implements: [tuning-guide/40, tuning-gide/41]\n" + IDLE)
    (mistake,) = lint_rules([tmp_path])
    assert mistake.say("en").splitlines()[0].endswith("host/idle.yaml:5:31: no guide has a statement `tuning-gide/41`")
    assert "tuning-guide/41" in mistake.say("en")
