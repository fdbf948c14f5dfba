# SPDX-License-Identifier: Apache-2.0
"""The chip table, the names people write, and which chip counts: the recorded or the told one."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import advisor
from advisor.analysis.chip.frequency import frequency_uses
from advisor.chips.chip_files import shipped_chips
from advisor.cli.main import main
from advisor.facts.observed import Device, Frequency
from advisor.facts.table import read_table
from advisor.messages.errors import UsageError
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.policy.settings import Settings

TABLE = shipped_chips()
CHIPS = TABLE.chips
CASE = Path(__file__).parent.parent.parent / "corpus" / "host-bound-2-ranks"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Ascend910B3", "Ascend910B3"),
        ("910b3", "Ascend910B3"),
        (" ascend 910B3 ", "Ascend910B3"),
        ("Ascend-910-B3", "Ascend910B3"),
        ("昇腾910B4", "Ascend910B4"),
        ("910B4-1", "Ascend910B4-1"),
        ("910_9392", "Ascend910_9392"),
        ("Ascend9109392", "Ascend910_9392"),
        ("910C", "Ascend910_93"),
        ("Atlas A2", "Ascend910B"),
        ("310p3", "Ascend310P3"),
        ("910A", "Ascend910A"),
        ("H20", "NVIDIA H20"),
        ("nvidia h800", "NVIDIA H800"),
        ("A800", "NVIDIA A800-SXM4-80GB"),
        ("L40S", "NVIDIA L40S"),
        ("A100", "NVIDIA A100-SXM4-40GB"),
        ("H100", "NVIDIA H100 PCIe"),
        ("NVIDIA V100", "Tesla V100-SXM2-16GB"),
        ("RTX 4090", "NVIDIA GeForce RTX 4090"),
        ("T4", "Tesla T4"),
        ("MI300X", "AMD Instinct MI300X"),
    ],
)
def test_a_chip_is_known_however_it_is_written(words: str, name: str) -> None:
    found = TABLE.named(words)
    assert found is not None and found.name == name


@pytest.mark.parametrize("words", ["", "910", "Ascend910", "nvidia", "H1000", "910B9", "910_93xx", "<b>"])
def test_what_is_no_chip_is_none_and_the_message_lists_them_all(words: str) -> None:
    assert TABLE.named(words) is None
    with pytest.raises(UsageError) as caught:
        TABLE.told(words)
    assert all(chip.name in str(caught.value) for chip in CHIPS)


def test_the_nearest_name_is_suggested() -> None:
    assert TABLE.nearest("910B9") == "Ascend910B" or TABLE.nearest("910B9").startswith("Ascend910B")
    assert TABLE.nearest("MI300") == "AMD Instinct MI300X"
    assert not TABLE.nearest("TPU v5e")


@pytest.mark.parametrize("model", ["A100", "H100", "V100"])
def test_of_models_with_one_name_that_with_the_lowest_rates_is_meant(model: str) -> None:
    meant, alike = (
        TABLE.named(model),
        [chip for chip in CHIPS if f"{model}-" in chip.name or f"{model} " in chip.name],
    )
    assert meant is not None and meant in alike and len(alike) > 1
    assert meant.memory_gbps == min(chip.memory_gbps for chip in alike)
    assert meant.tflops["FLOAT16"] == min(chip.tflops["FLOAT16"] for chip in alike)


def test_a_capture_that_names_another_of_that_model_is_not_contradicted_by_the_short_name() -> None:
    named = TABLE.named("A100")
    assert named is not None
    assert TABLE.agree("NVIDIA A100-SXM4-80GB", named.name) == ("NVIDIA A100-SXM4-80GB", "")


def test_every_chip_is_found_by_its_name_and_every_family_is_in_the_table() -> None:
    names = [chip.name for chip in CHIPS]
    assert len(set(names)) == len(names)
    for chip in CHIPS:
        assert TABLE.named(chip.name) == chip
        assert not chip.family or (chip.family in names and not TABLE.is_exact(chip.family))


def test_a_family_has_the_least_clock_of_its_members_and_no_memory_they_do_not_share() -> None:
    for family in [chip for chip in CHIPS if not TABLE.is_exact(chip.name)]:
        members = [chip for chip in CHIPS if chip.family == family.name]
        least = min(chip.nominal_mhz for chip in members)
        assert math.isnan(family.nominal_mhz) or family.nominal_mhz <= least
        assert math.isnan(family.memory_bytes) or {family.memory_bytes} == {chip.memory_bytes for chip in members}


@pytest.mark.parametrize("number", ["cube_cores", "vector_cores", "memory_gbps", "l2_bytes"])
def test_a_family_can_no_more_than_its_least_member(number: str) -> None:
    for family in [chip for chip in CHIPS if not TABLE.is_exact(chip.name)]:
        least = min(getattr(chip, number) for chip in CHIPS if chip.family == family.name)
        own = getattr(family, number)
        assert math.isnan(own) or own == least


def test_of_every_exact_chip_that_has_a_peak_the_bandwidth_is_known_too() -> None:
    """Without it an operator that reads much and computes little seems to be far from what the chip can do."""
    exact = [chip for chip in CHIPS if TABLE.is_exact(chip.name) and chip.peaks]
    assert exact and [chip.name for chip in exact if math.isnan(chip.memory_gbps)] == []


def test_every_chip_has_one_way_to_its_peak() -> None:
    for chip in CHIPS:
        assert not (chip.macs and chip.tflops)
        assert not chip.macs or (chip.cube_cores > 0 and chip.nominal_mhz > 0)


@pytest.mark.parametrize(
    ("cut", "whole", "alike"),
    [
        ("NVIDIA A800-SXM4-80GB", "NVIDIA A100-SXM4-80GB", ("tflops", "memory_gbps", "cube_cores", "l2_bytes")),
        ("NVIDIA H800", "NVIDIA H100 80GB HBM3", ("tflops", "memory_gbps", "cube_cores", "l2_bytes")),
        ("NVIDIA H20", "NVIDIA H100 80GB HBM3", ()),
    ],
)
def test_chips_made_for_export_compute_as_those_they_are_made_of_or_less(
    cut: str, whole: str, alike: tuple[str, ...]
) -> None:
    one, other = TABLE.known_of(cut), TABLE.known_of(whole)
    assert all(getattr(one, name) == getattr(other, name) for name in alike)
    assert all(peak <= other.tflops[dtype] for dtype, peak in one.tflops.items()) and one.tflops
    assert one.cube_cores <= other.cube_cores


@pytest.mark.parametrize(
    ("chip", "links"),
    [
        ("Ascend910A", {"HCCS": 18, "RDMA": 12.5}),
        ("Ascend910B", {"HCCS": 18, "RDMA": 25}),
        ("Ascend910B3", {"HCCS": 18, "RDMA": 25}),
        ("Ascend910_93", {"SIO": 106, "RDMA": 25}),
        ("Ascend910_9392", {"SIO": 106, "RDMA": 25}),
        ("Ascend950", {}),
        ("NVIDIA A100-SXM4-80GB", {"NVLink": 300}),
        ("NVIDIA A100 80GB PCIe", {}),
        ("NVIDIA H100 80GB HBM3", {"NVLink": 450}),
    ],
)
def test_each_kind_of_link_has_a_rate_of_its_own_where_measurements_bear_it_out(
    chip: str, links: dict[str, float]
) -> None:
    assert TABLE.known_of(chip).links == links


def test_what_has_no_source_is_not_guessed() -> None:
    assert (
        TABLE.known_of("Ascend910B4-1").memory_bytes == 2 * TABLE.known_of("Ascend910B4").memory_bytes == 64 * 1024**3
    )
    for name in ("", None, "Ascend910B", "Ascend310P3", "NVIDIA B200"):
        assert math.isnan(TABLE.known_of(name).memory_bytes)
    assert math.isnan(TABLE.known_of("Ascend310").nominal_mhz) and TABLE.known_of("Ascend910B1").nominal_mhz == 1850


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Ascend910B", "Ascend910B3", True),
        ("Ascend910B", "Ascend910_9392", True),
        ("Ascend910_93", "Ascend910_9392", True),
        ("Ascend910B2", "Ascend910B3", False),
        ("Ascend910B3", "Ascend910_9392", False),
        ("NVIDIA A100-PG509-200", "NVIDIA A100-SXM4-40GB", True),
        ("NVIDIA H100 80GB HBM3", "AMD Instinct MI300X", False),
        ("Acme 1", "Acme 1", True),
        ("Acme 1", "Ascend910B", True),
        ("Acme 1", "Ascend910B3", False),
        ("Acme 1", "Acme 2", False),
    ],
)
def test_two_names_are_of_different_chips_unless_one_stands_for_the_other(one: str, other: str, alike: bool) -> None:
    assert TABLE.may_be_same_chip(one, other) is TABLE.may_be_same_chip(other, one) is alike


@pytest.mark.parametrize(
    ("recorded", "told", "counts", "note"),
    [
        ("", "Ascend910B3", "Ascend910B3", "told_chip"),
        ("", "Ascend910B", "Ascend910B", "told_chip"),
        ("Ascend910B", "Ascend910B3", "Ascend910B3", "told_chip"),
        ("Ascend910B", "Ascend910_9392", "Ascend910_9392", "told_chip"),
        ("Ascend910B", "Ascend910_93", "Ascend910_93", "told_chip"),
        ("Ascend910B3", "Ascend910_93", "Ascend910B3", "untold_chip"),
        ("Ascend910_9392", "Ascend910_93", "Ascend910_9392", ""),
        ("Ascend910B", "Ascend910B", "Ascend910B", ""),
        ("Ascend910B3", "Ascend910B", "Ascend910B3", ""),
        ("Ascend910B3", "Ascend910B2", "Ascend910B3", "untold_chip"),
        ("Ascend910B", "Ascend310P3", "Ascend910B", "untold_chip"),
        ("Ascend910X", "Ascend910B3", "Ascend910X", "untold_chip"),
        ("Ascend910B", "", "Ascend910B", ""),
        ("NVIDIA A100-PG509-200", "NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB", "told_chip"),
        ("AMD Instinct MI300X VF", "AMD Instinct MI300X", "AMD Instinct MI300X", "told_chip"),
        ("NVIDIA A100-PG509-200", "NVIDIA H200", "NVIDIA A100-PG509-200", "untold_chip"),
        ("NVIDIA A100-PG509-200", "Ascend910B3", "NVIDIA A100-PG509-200", "untold_chip"),
        ("AMD Radeon Graphics", "AMD Instinct MI300X", "AMD Radeon Graphics", "untold_chip"),
        ("NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA H200", "untold_chip"),
    ],
)
def test_a_recorded_name_counts_where_it_is_exact_and_a_told_one_where_it_says_more(
    recorded: str, told: str, counts: str, note: str
) -> None:
    assert TABLE.agree(recorded, told) == (counts, note)


@pytest.mark.parametrize(
    ("run", "device", "nominal"),
    [
        ("Ascend910B2", "chip nominal_mhz\nAscend910B -", 1800),
        ("Ascend910B2", "chip nominal_mhz\nAscend910B 1650", 1650),
        ("Ascend910B2", "chip nominal_mhz\n- -", 1800),
        ("Ascend910B2", "chip nominal_mhz\nAscend910B4 -", 1500),
        ("Ascend910B2", None, 1800),
        ("", None, None),
    ],
)
def test_the_clock_of_a_told_chip_counts_where_the_device_names_none(
    run: str, device: str | None, nominal: float | None
) -> None:
    samples = read_table(Frequency, "time_ns mhz\n0 1200")
    devices = None if device is None else read_table(Device, device)
    (row,) = frequency_uses(run_of_ranks(Run(chip=run)), TABLE, samples, None, None, None, devices).rows()
    assert row["nominal_mhz"] == nominal


def diagnosed(path: Path, tmp_path: Path, *words: str) -> dict[str, object]:
    out = tmp_path / "out.json"
    assert main(["diagnose", str(path), "-q", "-o", str(out), *words]) == 0
    return json.loads(out.read_text("utf-8"))  # type: ignore[no-any-return]


def test_the_option_names_the_chip_and_wins_over_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    recorded = diagnosed(CASE, tmp_path)["run"]["chip"]  # type: ignore[index]
    assert recorded in ("", "Ascend910B")
    (tmp_path / "advisor.yaml").write_text("chip: 910B4\n", "utf-8")
    assert diagnosed(CASE, tmp_path)["run"]["chip"] == "Ascend910B4"  # type: ignore[index]
    run = diagnosed(CASE, tmp_path, "--chip", "910b3")["run"]
    told = {"about": "told_chip", "count": None, "names": ["Ascend910B3"]}
    assert run["chip"] == "Ascend910B3" and told in run["notes"]  # type: ignore[index]


@pytest.mark.parametrize(("lang", "said"), [("en", "unknown chip `910B9`"), ("zh", "未知的芯片型号 `910B9`")])
@pytest.mark.parametrize("command", ["diagnose", "check", "explain"])
def test_a_chip_that_does_not_exist_ends_in_a_sentence(
    command: str, lang: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["host/free-time", str(CASE)] if command == "explain" else [str(CASE)]
    assert main([command, *words, "--chip", "910B9", "--lang", lang]) == 2
    error = capsys.readouterr().err
    assert said in error and "Ascend910B3" in error and "Traceback" not in error


@pytest.mark.parametrize(("lang", "said"), [("en", "the capture names Ascend910B, which counts"), ("zh", "以其为准")])
def test_a_capture_that_names_another_chip_is_believed_and_that_is_said(
    lang: str, said: str, real_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = real_data / "msinsight_pytorch_matrix" / "db" / "level1", tmp_path / "out.md"
    assert main(["diagnose", str(path), "-o", str(out), "--chip", "310P3", "--lang", lang]) == 0
    assert said in capsys.readouterr().err
    assert "Ascend310P3" in out.read_text("utf-8")
    assert main(["stats", str(path), "--of", "ranks", "--chip", "310P3", "--lang", lang]) == 0
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_the_names_of_chips(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "Ascend910B4-1" in capsys.readouterr().out


def test_from_python_the_chip_is_an_argument_or_a_setting(tmp_path: Path) -> None:
    assert advisor.load_profile(CASE, chip="910b3").run.chip == "Ascend910B3"
    path = tmp_path / "advisor.yaml"
    path.write_text("chip: 910B4-1\n", "utf-8")
    assert Settings.read(path).chip == "Ascend910B4-1"
    assert advisor.diagnose(CASE, settings=path).run.chip == "Ascend910B4-1"
    assert advisor.diagnose(CASE, settings=path, chip="910B2").run.chip == "Ascend910B2"
    with pytest.raises(UsageError):
        advisor.diagnose(CASE, chip="H1000")


def test_with_a_chip_of_known_memory_the_rules_about_memory_can_look(real_data: Path, tmp_path: Path) -> None:
    def outcomes(*words: str) -> dict[str, str]:
        found = diagnosed(real_data / "msinsight_pytorch_matrix" / "text" / "level0", tmp_path, *words)
        return {one["rule"]: one["outcome"] for one in found["outcomes"]}  # type: ignore[attr-defined]

    assert outcomes()["memory/near-capacity"] == "skipped"
    assert outcomes("--chip", "910B3")["memory/near-capacity"] == "quiet"


def test_what_products_are_known_to_reach_lies_below_the_peak() -> None:
    told = [chip for chip in CHIPS if chip.achieved_tflops]
    assert told
    for chip in told:
        assert all(0 < reached < chip.peaks[dtype] for dtype, reached in chip.achieved_tflops.items()), chip.name
