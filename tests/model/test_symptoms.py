# SPDX-License-Identifier: Apache-2.0
"""Under which of its causes a finding is shown: where both are the same time."""

from __future__ import annotations

import pytest

from advisor.model.findings import (
    Finding,
    Occurrence,
    Place,
    Saving,
)
from advisor.model.run import Parallel
from advisor.model.symptoms import folded_under
from tests.findings_of_tests import diagnosis_of, finding_of


@pytest.mark.parametrize(
    ("own", "of_cause", "won", "folded"),
    [
        ((5, 9), (5, 9), 0.19, True),
        ((5,), (5, 9), 0.17, True),
        ((5,), (5, 9), 0.1, True),
        ((5,), (5, 9), 0.0, False),
        ((5, 7), (5, 9), 0.1, False),
        ((5,), (5, 9), 0.39, True),
        ((5,), (5, 9), 0.41, False),
        ((5, 7), (5, 9), 0.19, False),
        ((5, 9, 13), (5, 9), 0.19, True),
    ],
)
def test_a_finding_about_the_events_of_its_cause_is_the_same_time(
    own: tuple[int, ...], of_cause: tuple[int, ...], won: float, folded: bool
) -> None:
    cause = _with_events(finding_of("host/silent", 0.2, symptoms=("host/stalled",)), of_cause)
    effect = _with_events(finding_of("host/stalled", won, causes=("host/silent",)), own)
    assert folded_under(diagnosis_of(cause, effect)) == ({"host/stalled": "host/silent"} if folded else {})


@pytest.mark.parametrize(
    ("rule", "won", "folded"),
    [("host/python", 0.17, True), ("host/python", 0.07, False), ("compute/cast", 0.17, False)],
)
def test_what_a_host_loses_that_waits_for_its_data_is_the_same_time(rule: str, won: float, folded: bool) -> None:
    cause = finding_of("io/dataset", 0.2, symptoms=(rule,))
    effect = finding_of(rule, won, causes=("io/dataset",))
    assert folded_under(diagnosis_of(cause, effect)) == ({rule: "io/dataset"} if folded else {})


@pytest.mark.parametrize(("steps", "folded"), [((1, 2), True), ((1, 2, 3, 4), True), (tuple(range(9)), False)])
def test_pauses_between_steps_are_one_fewer_than_the_waits_for_data_before_them(
    steps: tuple[int, ...], folded: bool
) -> None:
    cause = finding_of("io/dataset", 0.2, symptoms=("host/python",))
    diagnosis = diagnosis_of(cause, finding_of("host/python", 0.13, causes=("io/dataset",)))
    of_steps = diagnosis.model_copy(update={"run": diagnosis.run.model_copy(update={"steps": steps})})
    assert folded_under(of_steps) == ({"host/python": "io/dataset"} if folded else {})


@pytest.mark.parametrize(("won", "folded"), [(0.17, True), (0.24, True), (0.1, False), (0.3, False)])
def test_copies_that_the_host_waits_for_are_the_time_that_it_loses_to_them(won: float, folded: bool) -> None:
    cause = finding_of("host/blocking", 0.2, symptoms=("io/copies",))
    effect = finding_of("io/copies", won, causes=("host/blocking",))
    assert folded_under(diagnosis_of(cause, effect)) == ({"io/copies": "host/blocking"} if folded else {})


@pytest.mark.parametrize(
    ("won", "ranks", "folded"),
    [(0.01, (0, 1), True), (0.24, (0,), True), (0.26, (0,), False), (0.0, (0,), True), (0.01, (0, 2), False)],
)
def test_what_the_rule_of_a_cause_includes_is_part_of_its_time_however_small(
    won: float, ranks: tuple[int, ...], folded: bool
) -> None:
    cause = finding_of("env/waits", 0.2, symptoms=("host/drained",), ranks=(0, 1))
    diagnosis = diagnosis_of(cause, finding_of("host/drained", won, causes=("env/waits",), ranks=ranks))
    apart = folded_under(diagnosis)
    rules = tuple(
        rule.model_copy(update={"includes": ("host/drained",) if rule.id == "env/waits" else ()})
        for rule in diagnosis.rules
    )
    assert not apart
    assert folded_under(diagnosis.model_copy(update={"rules": rules})) == (
        {"host/drained": "env/waits"} if folded else {}
    )


def _with_events(finding: Finding, starts: tuple[int, ...]) -> Finding:
    events = tuple(Occurrence(table="stalls", rank=0, start_ns=1000 * start, duration_us=2.0) for start in starts)
    return finding.model_copy(update={"occurrences": events})


@pytest.mark.parametrize(
    ("ranks", "won", "folded"), [((), 0.1, True), ((0,), 0.1, False), ((), 0.05, True), ((), 0.26, False)]
)
def test_a_mean_of_all_waits_is_the_time_of_the_rank_they_wait_for(
    ranks: tuple[int, ...], won: float, folded: bool
) -> None:
    """Of two ranks one waits, so that the mean is half of what the late one costs; of its waits some are in kernels."""
    cause = finding_of("ranks/late", 0.2, symptoms=("comm/waits",), ranks=(1,))
    waits = finding_of("comm/waits", won, causes=("ranks/late",), ranks=ranks)
    assert folded_under(diagnosis_of(cause, waits)) == ({"comm/waits": "ranks/late"} if folded else {})


@pytest.mark.parametrize(("late", "won", "folded"), [((1,), 0.1, True), ((1,), 0.07, False), ((0, 1), 0.1, False)])
def test_a_mean_of_all_waits_is_the_time_of_what_makes_some_ranks_late(
    late: tuple[int, ...], won: float, folded: bool
) -> None:
    cause = finding_of("io/loader", 0.2, symptoms=("comm/waits",), ranks=late)
    waits = finding_of("comm/waits", won, causes=("io/loader",), ranks=())
    assert folded_under(diagnosis_of(cause, waits)) == ({"comm/waits": "io/loader"} if folded else {})


@pytest.mark.parametrize(("us", "won", "folded"), [(100, 0.06, True), (100, 0.07, False), (190, 0.05, False)])
def test_a_mean_of_all_waits_is_the_time_that_the_rank_with_most_of_a_cause_takes_longer(
    us: float, won: float, folded: bool
) -> None:
    """All hosts are slow, and one the slowest: of two ranks the other waits, which is half of that in the mean."""
    cause = finding_of("host/python", 0.2, symptoms=("comm/waits",))
    places = (Place(rank=1, saving_us=200), Place(rank=0, saving_us=us))
    waits = finding_of("comm/waits", won, causes=("host/python",)).model_copy(update={"seen": (Place(),)})
    found = folded_under(diagnosis_of(cause.model_copy(update={"seen": places}), waits))
    assert found == ({"comm/waits": "host/python"} if folded else {})


@pytest.mark.parametrize(("ranks", "won", "folded"), [((1,), 0.1, True), ((1,), 0.26, False), ((1, 2), 0.1, False)])
@pytest.mark.parametrize("rule", ["ranks/clock", "io/loader"])
def test_what_is_said_of_the_same_rank_again_is_a_part_of_its_cause(
    rule: str, ranks: tuple[int, ...], won: float, folded: bool
) -> None:
    cause = finding_of(rule, 0.2, symptoms=("ranks/late",), ranks=(1,))
    late = finding_of("ranks/late", won, causes=(rule,), ranks=ranks)
    assert folded_under(diagnosis_of(cause, late)) == ({"ranks/late": rule} if folded else {})


@pytest.mark.parametrize(("elsewhere_us", "won", "folded"), [(80, 0.12, True), (80, 0.155, False), (150, 0.12, False)])
def test_that_a_rank_is_slow_by_what_it_has_more_of_than_the_others_is_that_time(
    elsewhere_us: float, won: float, folded: bool
) -> None:
    cause = finding_of("host/collection", 0.2, symptoms=("ranks/slow",))
    places = tuple(Place(rank=rank, saving_us=us) for rank, us in ((1, 200.0), (2, elsewhere_us), (3, elsewhere_us)))
    slow = finding_of("ranks/slow", won, causes=("host/collection",), ranks=(1,))
    found = folded_under(diagnosis_of(cause.model_copy(update={"seen": places}), slow))
    assert found == ({"ranks/slow": "host/collection"} if folded else {})


@pytest.mark.parametrize(
    ("seen", "won", "folded"), [((1, 6), 0.26, True), ((6, 1), 0.26, False), ((1, 6), 0.41, False)]
)
def test_a_rank_that_comes_last_with_others_that_it_holds_up_is_late_for_its_own_reason(
    seen: tuple[int, ...], won: float, folded: bool
) -> None:
    cause = finding_of("ranks/slow-device", 0.2, symptoms=("ranks/late-rank",), ranks=(1, 5))
    late = finding_of("ranks/late-rank", won, causes=("ranks/slow-device",), ranks=seen)
    assert folded_under(diagnosis_of(cause, late)) == ({"ranks/late-rank": "ranks/slow-device"} if folded else {})


@pytest.mark.parametrize(
    ("rule", "ranks", "won", "folded"),
    [
        ("ranks/late-rank", (1,), 0.36, True),
        ("ranks/late-rank", (1,), 0.38, False),  # something else makes it late, too
        ("ranks/late-rank", (3, 2), 0.36, False),  # no part of it lies there
        ("comm/waits", (), 0.36, True),
        ("ranks/other", (1,), 0.36, False),
    ],
)
def test_what_ranks_wait_for_several_reasons_is_the_time_of_all_of_them(
    rule: str, ranks: tuple[int, ...], won: float, folded: bool
) -> None:
    loader = finding_of("io/loader", 0.2, symptoms=(rule,), ranks=(1,))
    device = finding_of("ranks/slow-device", 0.1, symptoms=(rule,), ranks=(1,))
    waits = finding_of(rule, won, causes=("io/loader", "ranks/slow-device"), ranks=ranks)
    assert folded_under(diagnosis_of(loader, device, waits)) == ({rule: "io/loader"} if folded else {})


@pytest.mark.parametrize(("won", "folded"), [(0.05, True), (0.3, False)])
@pytest.mark.parametrize("rule", ["ranks/slow-host", "host/python"])
def test_what_one_rank_loses_is_a_part_of_what_ranks_lose_in_turn(rule: str, won: float, folded: bool) -> None:
    cause = finding_of("ranks/hosts-in-turn", 0.2, symptoms=(rule,), ranks=())
    part = finding_of(rule, won, causes=("ranks/hosts-in-turn",), ranks=(17,))
    assert folded_under(diagnosis_of(cause, part)) == ({rule: "ranks/hosts-in-turn"} if folded else {})


@pytest.mark.parametrize(("slow", "folded"), [((2,), False), ((2, 3), True)])
def test_a_stage_is_heavy_by_itself_where_one_of_its_ranks_is_slow(slow: tuple[int, ...], folded: bool) -> None:
    """The stage was judged by the rank in the middle: both are to be fixed."""
    heavy = "pipeline/stage-imbalance"
    cause = finding_of("ranks/slow-device", 0.2, symptoms=(heavy,), ranks=slow)
    stage = finding_of(heavy, 0.19, causes=("ranks/slow-device",), ranks=())
    stage = stage.model_copy(update={"seen": (Place(stage=1),)})
    diagnosis = diagnosis_of(cause, stage)
    run = diagnosis.run.model_copy(update={"ranks": (0, 1, 2, 3), "parallel": Parallel(stages=((0, 1), (2, 3)))})
    found = folded_under(diagnosis.model_copy(update={"run": run}))
    assert found == ({heavy: "ranks/slow-device"} if folded else {})


@pytest.mark.parametrize(
    ("ranks", "won", "under"),
    [
        ((0, 1), 0.2, "io/interval"),
        ((0, 1), 0.05, "pipeline/stage-imbalance"),
        ((2, 3), 0.2, "io/interval"),
        ((1, 2), 0.2, "pipeline/stage-imbalance"),
    ],
    ids=["waits for its data", "waits little for them", "waits for them behind the heavy one", "both stages"],
)
def test_a_stage_that_waits_for_its_data_is_idle_for_that_and_not_for_another_one_that_is_heavy(
    ranks: tuple[int, ...], won: float, under: str
) -> None:
    idle, heavy, data = "host/idle", "pipeline/stage-imbalance", "io/interval"
    stage = finding_of(heavy, 0.3, symptoms=(idle,), ranks=())
    stage = stage.model_copy(update={"seen": (Place(stage=0 if ranks == (2, 3) else 1),)})
    waits = finding_of(data, won, symptoms=(idle,), ranks=ranks)
    symptom = finding_of(idle, 0.19, restated=0.19, causes=(heavy, data), ranks=ranks)
    diagnosis = diagnosis_of(stage, waits, symptom)
    run = diagnosis.run.model_copy(update={"ranks": (0, 1, 2, 3), "parallel": Parallel(stages=((0, 1), (2, 3)))})
    assert folded_under(diagnosis.model_copy(update={"run": run}))[idle] == under


@pytest.mark.parametrize(("won", "folded"), [(0.3, True), (0.34, False)])
def test_a_cause_is_the_time_of_all_that_others_lose_by_it_however_little_its_remedy_wins(
    won: float, folded: bool
) -> None:
    cause = finding_of("ranks/experts", 0.2, symptoms=("ranks/late",), ranks=(1,))
    cause = cause.model_copy(update={"imposed": Saving(us=270, share=0.27)})
    late = finding_of("ranks/late", won, causes=("ranks/experts",), ranks=(1,))
    assert folded_under(diagnosis_of(cause, late)) == ({"ranks/late": "ranks/experts"} if folded else {})
