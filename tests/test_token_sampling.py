# SPDX-License-Identifier: Apache-2.0
"""What a server spends on random numbers for the whole vocabulary is named, and a greedy one is left in peace."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor import load_rules
from advisor.model.findings import Finding
from advisor.model.job import TOLD_WORKLOADS
from advisor.pipeline import diagnose, open_profile
from corpus.gpu_traces import Event, launched, trace, write
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


SORTED_US = 300.0
MODEL = (("aten::mm", 200.0),) * 4


def told_of_passes(folder: Path, *kernels: tuple[str, float]) -> list[Finding]:
    """What is said of ten passes on a GPU that generate with these kernels, back to back, launched well before."""
    events: list[Event] = []
    at = 6000.0
    for number, (operator, took) in enumerate(kernels * 10, 1):
        called = 5000.0 + 35 * number
        events += launched(number, called, at - called - 10, took, operator=operator)
        at += took + 1
    write(folder / "rank0.pt.trace.json", trace(events))
    profile = open_profile(folder, jobs=1, job=TOLD_WORKLOADS["decode"])
    return [one for one in diagnose(profile, load_rules()).findings if one.rule == RULE]


def test_a_vocabulary_that_is_sorted_on_a_gpu_is_told_with_what_filters_it(tmp_path: Path) -> None:
    filters = (("aten::sort", SORTED_US), ("aten::cumsum", 40.0), ("aten::argmax", 20.0))
    (finding,) = told_of_passes(tmp_path, *MODEL, *filters)
    assert finding.saving is not None
    assert finding.saving.us == pytest.approx(10 * (SORTED_US + 40), rel=0.05)


def test_what_sorts_inside_of_the_model_is_no_sampling(tmp_path: Path) -> None:
    assert not told_of_passes(tmp_path, ("aten::sort", SORTED_US), *MODEL, ("aten::argmax", 20.0))
