# SPDX-License-Identifier: Apache-2.0
"""Every shipped rule is held against files in which its cause is, and the page says by what."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor import load_rules
from benchmarks.injected.faults import all_faults
from benchmarks.proofs import Proofs, page, proofs, unproved
from corpus.answers import ANSWERS
from corpus.signs import all_signs

PAGE = Path("docs/proofs.md")


@pytest.fixture(scope="module")
def known() -> Proofs:
    return proofs()


def test_every_rule_is_held_against_files(known: Proofs) -> None:
    assert unproved(known) == []


def test_the_page_says_what_each_rule_was_held_against(known: Proofs) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(known), "python -m benchmarks.proofs --output docs/proofs.md"


def test_faults_and_signs_name_rules_that_exist() -> None:
    named = {rule for fault in all_faults().values() for rule in (*fault.named_by, *fault.shown_by)}
    named |= {rule for rules in ANSWERS.values() for rule in rules} | set(all_signs())
    assert named <= {rule.id for rule in load_rules().rules}
