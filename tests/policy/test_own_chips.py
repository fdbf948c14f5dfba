# SPDX-License-Identifier: Apache-2.0
"""Chips of a project's own: they add to the table or correct it, and what is wrong with them is told at its place."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.analysis.communication.packet_transfers import packet_transfers
from advisor.analysis.rooflines.rooflines import chip_limits
from advisor.chips.chip_files import OWN, shipped_chips
from advisor.chips.known_chips import DTYPES, Chip, ChipTable
from advisor.cli.main import main
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Kernel, Transfer
from advisor.facts.table import read_table
from advisor.messages.errors import RuleError
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.policy.settings import Settings

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"
ACME = "chips: {Acme-1: {clock_mhz: 1600, memory: 96GiB, memory_gbps: 3200, tflops: {BF16: 400}, source: us}}"


def table(tmp_path: Path, text: str) -> ChipTable:
    (tmp_path / "advisor.yaml").write_text(text, "utf-8")
    return Settings.read(tmp_path / "advisor.yaml").chips


def told(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(RuleError) as caught:
        table(tmp_path, text)
    return [str(mistake).split("advisor.yaml:", 1)[1] for mistake in caught.value.mistakes]


def test_without_a_word_the_table_is_the_shipped_one(tmp_path: Path) -> None:
    assert table(tmp_path, "language: en").chips == shipped_chips().chips == table(tmp_path, "chips:").chips


def test_a_chip_is_added_with_what_is_known_of_it(tmp_path: Path) -> None:
    found = table(tmp_path, ACME)
    chip = found.named("acme_1")
    assert chip is not None and (chip.name, chip.nominal_mhz, chip.memory_bytes) == ("Acme-1", 1600, 96 * 1024**3)
    assert chip.tflops == {"BF16": 400} and math.isnan(chip.l2_bytes) and math.isnan(chip.vector_cores)
    assert len(found.chips) == len(shipped_chips().chips) + 1 and found.sources == {"Acme-1": "us"}


def test_what_is_said_of_a_known_chip_takes_the_place_of_what_the_table_says_and_the_rest_stays(tmp_path: Path) -> None:
    before = shipped_chips().known_of("Ascend910B4")
    after = table(tmp_path, "chips: {910b4: {memory: 64GiB, source: npu-smi}}").known_of("Ascend910B4")
    assert after.memory_bytes == 2 * before.memory_bytes
    assert (after.nominal_mhz, after.macs, after.family) == (before.nominal_mhz, before.macs, before.family)


def test_a_peak_that_is_said_stands_beside_those_that_cores_and_clock_give(tmp_path: Path) -> None:
    before = shipped_chips().known_of("Ascend910B3").peaks
    after = table(tmp_path, "chips: {910b3: {tflops: {HF32: 140}, source: measured}}").known_of("Ascend910B3")
    assert after.peaks == {**before, "HF32": 140}
    faster = table(tmp_path, "chips: {910b3: {clock_mhz: 3600, source: measured}}").known_of("Ascend910B3")
    assert faster.peaks == {dtype: 2 * peak for dtype, peak in before.items()}


def test_of_each_number_another_source_may_be_named_and_the_report_names_them_all(tmp_path: Path) -> None:
    said = "chips: {A: {memory: 64GiB, l2: 8MiB, source: data sheet, sources: {memory: npu-smi}}, B: {%s}}"
    found = table(tmp_path, said % "l2: 8MiB, sources: {l2: measured}")
    assert found.sources == {"A": "data sheet; npu-smi", "B": "measured"}
    (mistake,) = told(tmp_path, said % "l2: 8MiB, memory: 1GiB, sources: {l2: measured}")
    assert "`memory` needs a source in words" in mistake


def test_a_chip_is_meant_by_what_the_project_calls_it(tmp_path: Path) -> None:
    found = table(tmp_path, "chips: {Acme-910: {also_called: [the new one], source: us}}")
    assert found.told("The New One").name == "Acme-910"
    ours = table(tmp_path, "chips: {Acme A100: {also_called: [A100], source: us}}")
    assert ours.told("A100").name == "Acme A100" and ours.told("nvidia h100").name == "NVIDIA H100 PCIe"


def test_a_chip_of_a_family_counts_where_captures_name_the_family(tmp_path: Path) -> None:
    found = table(tmp_path, "chips: {Acme-1: {family: 910B, source: us}, Acme-2: {source: us}}")
    assert found.agree("Ascend910B", "Acme-1") == ("Acme-1", "told_chip")
    assert found.agree("Ascend910B", "Acme-2") == ("Ascend910B", "untold_chip")
    assert found.agree("", "Acme-2") == ("Acme-2", "told_chip")


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("chips: [a]", "1:8", "`chips` has to be a mapping of names of chips to their numbers"),
        ("chips: {A: 3}", "1:12", "has to be a mapping of numbers of a chip"),
        ("chips: {A: {memory: 64GiB}}", "1:9", "a chip needs a `source` in words"),
        ("chips: {A: {source: ''}}", "1:21", "a chip needs a `source` in words"),
        ("chips: {A: {source: [a]}}", "1:21", "a chip needs a `source` in words"),
        ("chips: {A: {source: us, memory: 64}}", "1:33", "`64` has no unit"),
        ("chips: {A: {source: us, memory: 0GiB}}", "1:33", "`memory` lies above 0 and below 1PiB"),
        ("chips: {A: {source: us, memory: 9999999TiB}}", "1:33", "`memory` lies above 0"),
        ("chips: {A: {source: us, memory: true}}", "1:33", "memory"),
        ("chips: {A: {source: us, clock_mhz: -5}}", "1:36", "`clock_mhz` lies above 0 and below 100000"),
        ("chips: {A: {source: us, clock_mhz: .nan}}", "1:36", "`clock_mhz` is a number, not `.nan`"),
        ("chips: {A: {source: us, clock_mhz: .inf}}", "1:36", "`clock_mhz` is a number"),
        ("chips: {A: {source: us, clock_mhz: 1.8GHz}}", "1:36", "`clock_mhz` is a number, not `1.8GHz`"),
        ("chips: {A: {source: us, clock_mhz: true}}", "1:36", "`clock_mhz` is a number"),
        ("chips: {A: {source: us, memory_gbps: 1e300}}", "1:38", "`memory_gbps` lies above 0"),
        ("chips: {A: {source: us, tflops: 400}}", "1:33", "`tflops` has to be a mapping of data types"),
        ("chips: {A: {source: us, tflops: {BF61: 4}}}", "1:34", "unknown key `BF61`"),
        ("chips: {A: {source: us, tflops: {BF16: 4e9}}}", "1:40", "`BF16` lies above 0"),
        ("chips: {A: {source: us, vector_tflops: {INT8: 4}}}", "1:41", "unknown key `INT8`"),
        ("chips: {A: {source: us, links_gbps: {HCSS: 28}}}", "1:38", "unknown key `HCSS`"),
        ("chips: {A: {source: us, links_gbps: {HCCS: -1}}}", "1:44", "`HCCS` lies above 0"),
        ("chips: {A: {source: us, family: 910B3}}", "1:33", "`family` is one of Ascend910B, "),
        ("chips: {A: {source: us, family: [1]}}", "1:33", "`family` is one of"),
        ("chips: {A: {source: us, clok_mhz: 5}}", "1:25", "unknown key `clok_mhz`"),
        ("chips: {'': {source: us}}", "1:9", "is no name of a chip"),
        ('chips: {"a\\e[2Jb": {source: us}}', "1:9", "is no name of a chip"),
        (f"chips: {{{'A' * 65}: {{source: us}}}}", "1:9", "is no name of a chip"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(text: str, place: str, said: str, tmp_path: Path) -> None:
    (mistake,) = told(tmp_path, text)
    assert mistake.startswith(place + ":") and said in mistake, mistake


def test_a_mistake_is_told_in_chinese_too(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        table(tmp_path, "chips: {A: {clock_mhz: -5}}")
    said = [mistake.what.say("zh") for mistake in caught.value.mistakes]
    assert any("`clock_mhz` 应大于 0 且小于 100000" in one for one in said)
    assert any("`source`" in one and "芯片" in one for one in said)


numbers = st.floats() | st.integers() | st.text(max_size=8) | st.none() | st.booleans() | st.lists(st.integers())
KEYS = [*OWN, "else"]


@given(chip=st.dictionaries(st.sampled_from(KEYS), numbers | st.dictionaries(st.sampled_from(DTYPES), numbers)))
def test_whatever_is_said_of_a_chip_is_a_chip_with_numbers_or_a_mistake(
    chip: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("chips")
    try:
        found = table(folder, json.dumps({"chips": {"910B3": chip}}))
    except RuleError:
        return
    known = found.known_of("Ascend910B3")
    for name in ("nominal_mhz", "cube_cores", "vector_cores", "memory_bytes", "l2_bytes", "memory_gbps"):
        assert 0 < getattr(known, name) < math.inf
    assert all(0 < peak < math.inf for peak in known.peaks.values())


def test_a_link_is_held_against_what_the_project_says_it_can() -> None:
    chips = shipped_chips().with_own([Chip("Acme-1", links={"HCCS": 40.0})], {})
    calls, transfers = read_table(CollectiveCall, "rank name\n0 a"), read_table(Transfer, "link\nHCCS\nRDMA\n-")
    told = packet_transfers(run_of_ranks(Run(chip="Acme-1")), chips, transfers, calls, None).floats("link_gbps")
    assert told[0] == 40 and np.isnan(told[1:]).all()
    known = packet_transfers(run_of_ranks(Run(chip="Ascend910B3")), chips, transfers, calls, None).floats("link_gbps")
    assert known[0] == 18 and known[1] == 25 and np.isnan(known[2])


def test_the_limits_of_a_rank_are_those_of_the_own_chip() -> None:
    chips = shipped_chips().with_own([Chip("Acme-1", memory_gbps=3200, tflops={"BF16": 400.0, "HF32": 90.0})], {})
    (row,) = chip_limits(run_of_ranks(Run(chip="Acme-1")), chips, read_table(Kernel, "op_type\nMatMulV3"), None).rows()
    assert (row["chip"], row["told_by"], row["memory_gbps"]) == ("Acme-1", "name", 3200)
    assert (row["bf16_tflops"], row["hf32_tflops"], row["half_tflops"]) == (400, 90, None)


def test_what_is_said_of_vector_units_stands_beside_what_their_cores_give(tmp_path: Path) -> None:
    of_known = "910B3: {vector_tflops: {FLOAT: 10}, source: us}"
    of_own = "Acme-1: {tflops: {BF16: 400}, vector_tflops: {FLOAT: 9}, source: us}"
    said = table(tmp_path, f"chips: {{{of_known}, {of_own}}}")
    kernels = read_table(Kernel, "op_type\nMatMulV3")
    names = ("vector_half_tflops", "vector_bf16_tflops", "vector_float_tflops")
    (known,) = chip_limits(run_of_ranks(Run(chip="Ascend910B3")), shipped_chips(), kernels, None).rows()
    (corrected,) = chip_limits(run_of_ranks(Run(chip="Ascend910B3")), said, kernels, None).rows()
    (own,) = chip_limits(run_of_ranks(Run(chip="Acme-1")), said, kernels, None).rows()
    assert [corrected[name] for name in names] == [known["vector_half_tflops"], 10, 10]
    assert [own[name] for name in names] == [None, None, 9]


@pytest.mark.parametrize("command", ["diagnose", "check"])
def test_the_option_names_an_own_chip_and_the_report_says_where_its_numbers_come_from(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "advisor.yaml").write_text(ACME, "utf-8")
    words = ["-q"] if command == "diagnose" else []
    assert main([command, str(CASE), "--chip", "acme1", "-o", "out.json", *words]) in (0, 1)
    if command == "diagnose":
        run = json.loads((tmp_path / "out.json").read_text("utf-8"))["run"]
        assert run["chip"] == "Acme-1" and [note["names"] for note in run["notes"][-2:]] == [["Acme-1"], ["Acme-1: us"]]


def test_from_python_the_settings_know_the_chip(tmp_path: Path) -> None:
    path = tmp_path / "advisor.yaml"
    path.write_text(ACME + "\nchip: acme-1", "utf-8")
    assert advisor.load_profile(CASE, settings=path).run.chip == "Acme-1"
    assert advisor.diagnose(CASE, settings=path, chip="910b3").run.chip == "Ascend910B3"
    assert advisor.inspect(CASE, settings=path).run.chip == "Acme-1"  # type: ignore[union-attr]
