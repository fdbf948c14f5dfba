# SPDX-License-Identifier: Apache-2.0
"""A family of sources is a folder and a line: here one that nobody ships, of files that list kernels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.analysis import DERIVATIONS
from advisor.engine.recorder_hints import hints_of
from advisor.facts.base import Fact
from advisor.facts.observed import Kernel, StepTime
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import Source
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, InputError
from advisor.messages.text import Text
from advisor.model.exports import EXPORTS
from advisor.model.run import Capture, Run
from advisor.sources import open_input
from advisor.sources.ascend.reading import Folder
from advisor.sources.families import FAMILIES
from advisor.sources.family import Candidate, Family, Input
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.kineto.gpu_hints import GPU_HINTS
from advisor.sources.listing import Listing
from advisor.sources.reading import Reading, read_best
from advisor.sources.recorder_hints import UNTOLD


@dataclass(frozen=True)
class Listed:
    """Kernels as `kernels.json` lists them."""

    path: Path
    size_bytes: int = 0

    def read(self, fact: type[Any]) -> Table[Any]:
        return read_best(READINGS, fact, self, ("json",))

    def release(self) -> None:
        """Nothing is kept."""


def kernels_listed(capture: Listed) -> Table[Kernel]:
    rows = json.loads(capture.path.read_text())
    columns = {name: [row[name] for row in rows] for name in ("start_ns", "duration_us", "op_type")}
    return Table.build(Kernel, rank=0, step=1, core="SM", **columns)


READINGS: tuple[Reading[Listed, Any], ...] = (Reading(Kernel, {"json": kernels_listed}),)


def detect(listing: Listing) -> Iterator[Candidate]:
    if "kernels.json" in listing.files:
        yield Candidate(listing.folder)


def open_listed(candidates: Sequence[Candidate], given: Input) -> tuple[Run, list[Source]]:
    captures = tuple(Capture(rank=rank, path=one.root.name, source="json") for rank, one in enumerate(candidates))
    run = Run(name=given.path.name, ranks=tuple(range(len(candidates))), steps=(1,), captures=captures)
    return run, [Listed(one.root / "kernels.json") for one in candidates]


PRETEND = Family("Pretend", detect, open_listed, wanted=Text("a folder with kernels.json", "含 kernels.json 的目录"))


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    rows = [{"start_ns": 1000 * n, "duration_us": 0.9, "op_type": "gemm"} for n in range(50)]
    (tmp_path / "kernels.json").write_text(json.dumps(rows))
    return tmp_path


def test_a_family_that_is_one_more_line_of_the_table_is_diagnosed(listed: Path) -> None:
    run, sources = open_input(listed, families=(*FAMILIES, PRETEND))
    diagnosis = advisor.diagnose(Profile(run, sources, DERIVATIONS))
    assert diagnosis.run.captures[0].source == "json"
    assert diagnosis.run.step_us == pytest.approx(49.9)
    statuses = {outcome.outcome for outcome in diagnosis.outcomes}
    assert statuses >= {"quiet", "skipped"}
    assert "failed" not in statuses


def test_who_recorded_with_a_profiler_of_another_family_is_told_no_switches_of_ascend(listed: Path) -> None:
    run, sources = open_input(listed, families=(*FAMILIES, PRETEND))
    skipped = [one for one in advisor.diagnose(Profile(run, sources, DERIVATIONS)).outcomes if one.outcome == "skipped"]
    said = [text for one in skipped if one.reason is not None for text in (one.reason.en, one.reason.zh)]
    assert any("record host and device together" in text for text in said)
    of_ascend = r"NPU|PROF_|_ascend_|profiler_level|aic_metrics|torch_npu|experimental_config|prof\.step|with_stack"
    assert not [text for text in said if re.search(of_ascend, text)]


def test_a_family_says_how_it_is_recorded_with_what_it_calls_its_exports() -> None:
    named = [export for family in FAMILIES for export in family.exports]
    assert len(named) == len(set(named))
    assert EXPORTS.keys() <= set(named)
    run = Run(captures=(Capture(rank=0, path="", source="trace", activities=("CPU", "GPU")),))
    assert hints_of(run) is GPU_HINTS
    assert hints_of(Run(captures=(Capture(rank=0, path="", source="json"),))) is UNTOLD


def test_without_its_line_nobody_knows_it(listed: Path) -> None:
    with pytest.raises(InputError, match=r"holds no profile that can be read; it holds kernels\.json"):
        open_input(listed)


def test_what_to_give_names_every_family(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        open_input(tmp_path, families=(*FAMILIES, PRETEND))
    assert caught.value.hint is not None
    asked = caught.value.hint.en.split("; ")
    assert "_ascend_pt" in asked[0]  # the commonest first
    assert asked[-2] == "a folder with kernels.json"
    assert "old MindSpore profiler" in asked[-1]


def test_captures_of_two_families_are_not_one_job(listed: Path) -> None:
    output = listed / "w_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").touch()
    with pytest.raises(InputError, match="mixes captures of Ascend and Pretend"):
        open_input(listed, families=(*FAMILIES, PRETEND))


def test_a_reading_has_any_number_of_exports_and_the_first_with_rows_counts() -> None:
    one = Table.build(StepTime, rank=0, compute_us=1.0, free_us=0.0)

    def gone(_: object) -> Table[StepTime]:
        raise FactMissing(["step_times"])

    def torn(_: object) -> Table[StepTime]:
        raise Unreadable("a.db", "is torn")

    ways = {"a": gone, "b": torn, "c": lambda _: Table.empty(StepTime), "d": lambda _: one}
    readings = [Reading[object, StepTime](StepTime, ways)]
    assert read_best(readings, StepTime, None, "abcd") is one
    assert len(read_best(readings, StepTime, None, "abc")) == 0
    with pytest.raises(FactMissing) as caught:
        read_best(readings, StepTime, None, "ab")
    assert caught.value.unreadable == ("a.db",)


@pytest.mark.parametrize("fact", [Kernel, StepTime])
def test_a_fact_nobody_reads_is_missing(fact: type[Fact]) -> None:
    with pytest.raises(FactMissing):
        read_best((), fact, None, ("text",))


def test_what_describes_a_capture_stays_as_it_is(tmp_path: Path) -> None:
    folder = Folder(rank=0, root=tmp_path, output=tmp_path)
    with pytest.raises(FrozenInstanceError):
        folder.rank = 1  # type: ignore[misc]
