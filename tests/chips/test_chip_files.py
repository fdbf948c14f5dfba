# SPDX-License-Identifier: Apache-2.0
"""The files of chips that are shipped: what holds for all of them, how they are read, and what is told of mistakes."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
import yaml

from advisor.chips.chip_files import (
    FOLDER,
    MEMORIES,
    NUMBERS,
    RATES,
    SOURCED,
    Entry,
    chip_files,
    read_chip_files,
    read_own_chips,
    shipped_chips,
)
from advisor.chips.chip_schema import chips_schema
from advisor.chips.known_chips import ChipTable, _chip_key
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import RuleError
from advisor.rank_work import work_keys
from advisor.yaml_files import parsed_files, source
from advisor.yaml_files.mistakes import Faults
from advisor.yaml_files.source import parse_document

SHIPPED = shipped_folder(FOLDER)
ENTRIES = read_chip_files(SHIPPED)
FIELDS = {
    **{key: field for key, (field, _) in NUMBERS.items()},
    **MEMORIES,
    **{key: rates[0] for key, rates in RATES.items()},
}
EVERY = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.chip.name)


def numbers_of(entry: Entry, key: str) -> list[float]:
    """The numbers that stand under a key; none where nothing is known."""
    value = getattr(entry.chip, FIELDS[key])
    return list(value.values()) if isinstance(value, dict) else [] if math.isnan(value) else [value]


def read(folder: Path, **files: str) -> dict[str, Entry]:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    return {entry.chip.name: entry for entry in read_chip_files(folder)}


def told(folder: Path, **files: str) -> list[str]:
    with pytest.raises(RuleError) as caught:
        read(folder, **files)
    return [str(mistake).split("/")[-1] for mistake in caught.value.mistakes]


@EVERY
def test_every_number_has_a_source_and_every_source_a_number(entry: Entry) -> None:
    assert {key for key in SOURCED if numbers_of(entry, key)} == set(entry.sources)
    assert all(entry.sources.values())


@EVERY
def test_numbers_and_peaks_are_above_nothing(entry: Entry) -> None:
    assert all(0 < number < math.inf for key in SOURCED for number in numbers_of(entry, key))
    assert all(0 < peak < math.inf for peak in entry.chip.peaks.values())
    assert not entry.chip.macs or entry.chip.peaks


def test_whatever_names_another_chip_names_a_family_that_has_members() -> None:
    table = shipped_chips()
    families = {chip.family for chip in table.chips if chip.family}
    assert families and all(table.known_of(name).name == name and not table.is_exact(name) for name in families)
    assert all(set(chip.recorded_as) <= families and chip.name in families for chip in table.chips if chip.recorded_as)


def test_no_words_mean_two_chips() -> None:
    meant = [{_chip_key(words) for words in (chip.name, *chip.also_called)} for chip in shipped_chips().chips]
    assert "" not in set.union(*meant)
    assert [key for key, count in Counter(key for keys in meant for key in keys).items() if count > 1] == []


def test_people_mean_a_chip_by_what_they_call_it() -> None:
    table = shipped_chips()
    assert all(table.named(words) == chip for chip in table.chips for words in chip.also_called)


def test_chips_whose_kernels_count_cycles_have_the_same_cores() -> None:
    one, *others = shipped_chips().counting
    assert others and all((chip.macs, chip.lanes) == (one.macs, one.lanes) for chip in others)


def test_the_shipped_files_are_read_without_being_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str, file: str, *, tests: bool = True) -> None:
        raise AssertionError(f"{file} is parsed")

    monkeypatch.setattr(source, "parse_document", refuse)
    assert repr(read_chip_files(SHIPPED)) == repr(ENTRIES)


def test_what_is_written_down_of_chips_is_what_their_files_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parsed_files, "shipped_folder", lambda _: tmp_path)
    assert repr(read_chip_files(SHIPPED)) == repr(ENTRIES)  # NaN is not equal to itself


def test_a_file_that_somebody_edits_counts_as_it_is(tmp_path: Path) -> None:
    for path in chip_files(SHIPPED):
        text = path.read_text("utf-8").replace("clock_mhz: 1060", "clock_mhz: 1061")
        (tmp_path / path.name).write_text(text, "utf-8")
    edited = {entry.chip.name: entry.chip.nominal_mhz for entry in read_chip_files(tmp_path)}
    assert edited["Ascend310P3"] == 1061 and edited["Ascend910B3"] == 1800


def test_what_a_part_has_stands_in_its_chips_with_its_sources_and_the_entry_wins(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        a="parts: {p: {l2: 8MiB, links_gbps: {HCCS: 1, RDMA: 2}, source: a book}}\n"
        "chips: {A: {parts: [p]}, B: {parts: [p], links_gbps: {RDMA: 3}, sources: {links_gbps: a test}}}",
    )
    assert found["A"].chip.links == {"HCCS": 1, "RDMA": 2} and set(found["A"].sources.values()) == {"a book"}
    assert found["B"].chip.links == {"HCCS": 1, "RDMA": 3} and found["B"].chip.l2_bytes == 8 * 1024**2
    assert found["B"].sources == {"l2": "a book", "links_gbps": "a test"}


def test_the_nearest_source_counts(tmp_path: Path) -> None:
    text = "sources: {l2: file, memory: file}\nchips: {A: {l2: 8MiB}, B: {l2: 8MiB, memory: 1GiB, source: entry}}"
    found = read(tmp_path, a=text)
    assert found["A"].sources == {"l2": "file"} and found["B"].sources == {"l2": "entry", "memory": "entry"}


def test_a_family_may_stand_in_another_file(tmp_path: Path) -> None:
    assert read(tmp_path, a="chips: {A: {family: F, source: us}}", b="chips: {F: }")["A"].chip.family == "F"


@pytest.mark.parametrize(
    "entry",
    [
        "{clock_mhz: 1600, memory: 96GiB, memory_gbps: 3200, tflops: {BF16: 400}, source: us}",
        "{cube_cores: 24, vector_cores: 48, l2: 192MiB, vector_tflops: {FLOAT: 11}, also_called: [mine], source: us}",
        "{links_gbps: {HCCS: 28, NVLink: 300}, memory: 64GB, source: us, sources: {memory: npu-smi}}",
        "{family: Ascend910B, clock_mhz: 1800, sources: {clock_mhz: data sheet}}",
    ],
)
def test_an_entry_of_a_project_says_the_same_among_those_that_are_shipped(entry: str, tmp_path: Path) -> None:
    document = parse_document(f"chips: {{Acme-1: {entry}}}", "advisor.yaml")
    own = read_own_chips(document.data["chips"], Faults(document)).known_of("Acme-1")
    for path in chip_files(SHIPPED):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    moved = read(tmp_path, acme=f"chips: {{Acme-1: {entry}}}")["Acme-1"].chip
    assert own.name == "Acme-1" and repr(moved) == repr(own)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chips: {A: {l2: 8MiB}}", "a.yaml:1:9: a chip needs a `source` in words"),
        ("chips: {A: {l2: 8MiB, memory: 1GiB, sources: {l2: us}}}", "a.yaml:1:23: `memory` needs a source in words"),
        ("sources: {l2: us}\nchips: {A: {memory: 1GiB}}", "a.yaml:2:13: `memory` needs a source in words"),
        ("chips: {A: {l2: 8MiB, sources: {l2: ''}}}", "a.yaml:1:37: `l2` needs a source in words"),
        ("parts: {p: {l2: 8MiB}}", "a.yaml:1:9: a chip needs a `source` in words"),
        ("chips: {A: {l2: 8MiB, source: us, sources: {memory: us}}}", "a.yaml:1:45: unknown key `memory`"),
        ("chips: {A: {l2: 8, source: us}}", "a.yaml:1:17: l2: `8` has no unit"),
        ("chips: {A: {parts: [p], source: us}}", "a.yaml:1:21: `p` is none of the names that `parts` may list"),
        ("chips: {A: {parts: p, source: us}}", "a.yaml:1:20: `parts` has to be a list"),
        ("chips: {A: {family: F, source: us}, B: {family: C, source: us}, C: }", "a.yaml:1:21: `family` is one of C"),
        ("chips: {A: {recorded_as: [F], source: us}}", "a.yaml:1:27: `F` is none of the names that `recorded_as`"),
        ("chips: {A: {counts_cycles: 1, source: us}}", "a.yaml:1:28: `counts_cycles` is one of true, false"),
        ("chips: {A: {macs: {BF61: 1}, source: us}}", "a.yaml:1:20: unknown key `BF61`"),
        ("chip: {A: {source: us}}", "a.yaml:1:1: unknown key `chip`"),
        ("- A", "a.yaml:1:1: `a.yaml` has to be a mapping"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_at_its_place(text: str, said: str, tmp_path: Path) -> None:
    (mistake,) = told(tmp_path, a=text)
    assert mistake.startswith(said), mistake


def test_a_chip_that_stands_in_two_files_is_told_with_both(tmp_path: Path) -> None:
    text = "chips: {A: {l2: 8MiB, source: us}}"
    with pytest.raises(RuleError, match=r"b\.yaml:1:9: `A` is defined twice(.|\n)*first in .*a\.yaml"):
        read(tmp_path, a=text, b=text)


def test_the_schema_accepts_the_shipped_files_and_refuses_a_slip() -> None:
    validator = jsonschema.Draft202012Validator(chips_schema())
    for path in chip_files(SHIPPED):
        said = json.loads(json.dumps(yaml.safe_load(path.read_text("utf-8"))))
        assert list(validator.iter_errors(said)) == []
        assert list(validator.iter_errors({**said, "chip": {}}))


def test_facts_that_were_kept_are_not_those_of_other_chips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = work_keys.program_key()
    for path in chip_files(SHIPPED):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(work_keys, "shipped_folder", lambda _: tmp_path)
    assert work_keys.program_key.__wrapped__() == before
    (tmp_path / "acme.yaml").write_text("chips: {A: {l2: 8MiB, source: us}}", "utf-8")
    assert work_keys.program_key.__wrapped__() != before


def test_without_a_file_no_chip_is_known(tmp_path: Path) -> None:
    assert ChipTable(tuple(entry.chip for entry in read_chip_files(tmp_path))).named("910B3") is None
