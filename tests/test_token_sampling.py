# SPDX-License-Identifier: Apache-2.0
"""What a server spends on random numbers for the whole vocabulary is named, and a greedy one is left in peace."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor import load_rules
from advisor.model.findings import Finding
from advisor.pipeline import diagnose, open_profile
from tests.analysis.job.test_engine_passes import serving

PASSES = 6

RULE = "compute/costly-sampling"
DRAWN_US = 1218.0
"""Per pass, in a published rollout on Ascend 910B."""


def told(folder: Path, **changes: float) -> list[Finding]:
    return [
        one
        for one in diagnose(open_profile(serving(folder, **changes), jobs=1), load_rules()).findings
        if one.rule == RULE
    ]


@pytest.mark.parametrize("drawn_us", [0.0, 100.0])
def test_a_server_that_hardly_draws_is_left_in_peace(drawn_us: float, tmp_path: Path) -> None:
    assert not told(tmp_path, drawn_us=drawn_us)


def test_a_server_that_draws_for_every_word_is_told_what_it_costs(tmp_path: Path) -> None:
    (finding,) = told(tmp_path, drawn_us=DRAWN_US, steps=PASSES)
    assert finding.saving is not None
    assert finding.saving.us == pytest.approx(
        PASSES * DRAWN_US, rel=0.02
    )  # no steps are marked: the whole window counts
