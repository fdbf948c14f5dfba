# SPDX-License-Identifier: Apache-2.0
"""A share and the threshold beside it are said alike."""

from __future__ import annotations

import pytest

from advisor.messages.text import Text
from advisor.model.findings import Diagnosis, Evidence, RuleInfo
from advisor.model.run import Run
from advisor.report.diagnosis.cards import Maker
from advisor.report.prose import flat_text

RULE = RuleInfo(id="ranks/x", title=Text("It is longer", "更长"), why=Text("So.", "如此。"))


@pytest.mark.parametrize(
    ("value", "threshold", "said"),
    [
        (1.04, 0.05, ("104 %", "5.0 %")),  # an excess of 1.04× reads as 4 %
        (0.5, 0.05, ("50 %", "5.0 %")),
        (2.5, 1.5, ("2.50×", "1.50×")),
        (2.5, None, ("2.50×", "")),
        (None, 0.05, ("–", "5.0 %")),
    ],
)
def test_a_share_beyond_all_is_no_ratio_where_its_threshold_is_a_share(
    value: float | None, threshold: float | None, said: tuple[str, str]
) -> None:
    item = Evidence(name="excess", value=value, unit="share", threshold=threshold)
    measure = Maker(Diagnosis(run=Run(), rules=(RULE,)), "en").measure(item, RULE)
    assert (flat_text(measure.value), measure.threshold) == said
