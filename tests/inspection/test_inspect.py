# SPDX-License-Identifier: Apache-2.0
"""What an inspection says holds: of rules, of ranks that are alike, of files, and of what cannot be diagnosed."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

import advisor
import corpus
from advisor import pipeline
from advisor.cli.main import main
from advisor.inspection.recorders import CARE
from advisor.mcp_server.open_captures import Opened
from advisor.mcp_server.roots import Roots
from advisor.mcp_server.tools import Tools
from advisor.messages.errors import InputError
from advisor.messages.text import LANGUAGES, Language, Text
from advisor.model.findings import Outcome
from advisor.model.inspection import Inspection, Recording
from advisor.report.inspection.document import inspection_document, inspection_summary
from advisor.report.pages import document_page
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.report.words import say
from advisor.rules.catalog import Catalog
from advisor.sources.ascend import msprof
from advisor.sources.ascend.detect import FURTHER_FILES
from advisor.sources.ascend.unused_files import why_unused
from advisor.sources.shared.ascend_names import TEXT_FILES
from corpus.gpu_traces import host, trace
from corpus.msprof import write_msprof

TOP = Path(__file__).parent.parent.parent
CASE = TOP / "corpus" / "host-bound-2-ranks"
CAPTURES = sorted(folder.name for folder in CASE.iterdir() if folder.is_dir())


@pytest.fixture(scope="module")
def rules() -> Catalog:
    return advisor.load_rules()


@pytest.fixture(scope="module")
def found(rules: Catalog) -> Inspection:
    return pipeline.inspect(CASE, rules)


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(file): (file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(folder.rglob("*"))}


def write_capture(folder: Path, rank: int) -> Path:
    """A capture of one rank, whatever it was recorded on."""
    source = CASE / CAPTURES[0]
    output = folder / f"node0_{3178000 + rank}_20250109084754000_ascend_pt"
    shutil.copytree(source, output)
    info = json.loads((output / "profiler_info_0.json").read_text())
    (output / "profiler_info_0.json").unlink()
    (output / f"profiler_info_{rank}.json").write_text(json.dumps({**info, "rank_id": rank}))
    return output


def without_measures(outcomes: tuple[Outcome, ...]) -> list[Outcome]:
    """What became of rules, without what they measured, which no inspection shows."""
    return [one.model_copy(update={"measures": ()}) for one in outcomes]


def test_rules_that_can_look_are_those_that_a_diagnosis_checks(found: Inspection, rules: Catalog) -> None:
    outcomes = pipeline.diagnose(pipeline.open_profile(CASE), rules).outcomes
    assert without_measures(found.outcomes) == without_measures(outcomes)


@pytest.mark.parametrize(
    "name",
    [
        "msinsight_pytorch_matrix/text/level0",
        "msinsight_pytorch_matrix/db/level1",
        "msprof_analyze_tests",
        "mindinsight_legacy/profiler",
    ],
)
def test_they_are_on_real_captures_too(real_data: Path, name: str, rules: Catalog) -> None:
    there = pipeline.diagnose(pipeline.open_profile(real_data / name), rules)
    seen = pipeline.inspect(real_data / name, rules)
    assert without_measures(seen.outcomes) == without_measures(there.outcomes)
    assert seen.run == there.run
    assert seen.unread == there.unread


def test_ranks_that_are_alike_are_one_row_and_two_of_them_are_read(tmp_path: Path, rules: Catalog) -> None:
    for rank in range(5):
        write_capture(tmp_path, rank)
    os.remove(next(tmp_path.glob("*3178003*")) / "ASCEND_PROFILER_OUTPUT" / "l2_cache.csv")
    seen = pipeline.inspect(tmp_path, rules)
    assert [(one.ranks, one.read) for one in seen.ranks] == [((0, 1, 2, 4), (0, 1)), ((3,), (3,))]
    kernels = next(one for one in seen.facts if one.table == "kernels")
    caches = next(one for one in seen.facts if one.table == "l2_cache")
    assert (kernels.ranks, caches.ranks) == ((0, 1, 3), (0, 1))
    assert kernels.rows == 3 * (
        len((CASE / CAPTURES[0]).joinpath("ASCEND_PROFILER_OUTPUT", "kernel_details.csv").read_text().splitlines())
        - 1
        - communication_rows()
    )


def communication_rows() -> int:
    """Rows of kernel_details.csv that are collectives, which are no kernels."""
    text = (CASE / CAPTURES[0] / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").read_text()
    return sum("hcom_" in line for line in text.splitlines())


def test_every_file_is_read_or_it_is_said_why_not(tmp_path: Path, rules: Catalog) -> None:
    output = write_capture(tmp_path, 0)
    (output / "PROF_000001_20250109084754000_ABC").mkdir()
    (output / "FRAMEWORK").mkdir(exist_ok=True)
    (output / "ASCEND_PROFILER_OUTPUT" / "notes.txt").write_text("mine")
    (output / "ASCEND_PROFILER_OUTPUT" / "old.zip").write_bytes(b"PK")
    (group,) = pipeline.inspect(tmp_path, rules).ranks
    told = {file.path.partition("ascend_pt/")[2]: file.unused for file in group.files}
    assert told["ASCEND_PROFILER_OUTPUT/notes.txt"] == "no part"
    assert told["ASCEND_PROFILER_OUTPUT/old.zip"] == "packed"
    assert told["PROF_000001_20250109084754000_ABC/"] == "not looked into"
    assert told["FRAMEWORK/"] == "of no use"  # but for samples of MindSpore's data pipeline, as is said of it
    assert told["ASCEND_PROFILER_OUTPUT/kernel_details.csv"] == ""
    there = {file.relative_to(output).as_posix() for file in output.rglob("*") if file.is_file()}
    assert there <= told.keys()


def test_a_trace_that_was_read_packed_is_not_called_unread_for_being_packed(tmp_path: Path, rules: Catalog) -> None:
    alone = trace([host("aten::add", 0, 5)])
    (tmp_path / "rank_of_none.json.gz").write_bytes(gzip.compress(json.dumps(alone).encode()))
    (tmp_path / "other.csv.gz").write_bytes(gzip.compress(b"a,b"))
    seen = pipeline.inspect(tmp_path, rules)
    assert seen.refusal is not None
    told = {file.path: file.unused for file in seen.files}
    assert told == {"other.csv.gz": "packed", "rank_of_none.json.gz": "left aside"}


def test_what_is_known_to_be_of_no_use_is_said_with_the_reason(tmp_path: Path, rules: Catalog) -> None:
    output = write_capture(tmp_path, 0)
    files = (
        "fusion_op_20250109084754.csv",
        "task_time_20250109084754.csv",
        "communication_statistic_20250109084754.csv",
        "dp_20250109084754.csv",
    )
    for name in files:
        (output / "ASCEND_PROFILER_OUTPUT" / name).write_text("Device_id\n")
    (output / "ASCEND_PROFILER_OUTPUT" / "node0_1_2025_ascend_pt_op_args").mkdir()
    seen = pipeline.inspect(tmp_path, rules)
    (group,) = seen.ranks
    told = {file.path.rpartition("ASCEND_PROFILER_OUTPUT/")[2]: file for file in group.files}
    for name in (*files, "node0_1_2025_ascend_pt_op_args/"):
        assert told[name].unused == "of no use"
        why = told[name].why
        assert why is not None
        for language in LANGUAGES:
            assert why.say(language) in document_text(inspection_document(seen, language))


def test_arguments_of_operators_that_lie_beside_their_capture_are_told_with_the_reason(
    tmp_path: Path, rules: Catalog
) -> None:
    output = write_capture(tmp_path, 0)
    beside = output.with_name(f"{output.name}_op_args")
    beside.mkdir()
    output.with_name("other_1_2025_ascend_pt_op_args").mkdir()
    (group,) = pipeline.inspect(tmp_path, rules).ranks
    told = {file.path: file for file in group.files if "op_args" in file.path}
    assert {path: file.unused for path, file in told.items()} == {f"{beside.name}/": "of no use"}
    assert told[f"{beside.name}/"].why == why_unused(f"{beside.name}/")
    (alone,) = pipeline.inspect(output, rules).ranks
    assert not [file for file in alone.files if "op_args" in file.path]


@pytest.mark.parametrize(
    "name",
    [
        "dataset.csv",
        "minddata_pipeline_summary_0.csv",
        "minddata_pipeline_summary_0.json",
        "static_op_mem.csv",
        "soc_pmu.csv",
        "page_fault_20250109084754.csv",
        "ub_20250109084754.csv",
        "qos_20250109084754.csv",
        "ccu_mission_20250109084754.csv",
        "ccu_channel_20250109084754.csv",
    ],
)
def test_of_each_file_that_profilers_write_and_nobody_reads_the_reason_is_known(name: str) -> None:
    why = why_unused(name)
    assert why is not None
    assert why.en and why.zh


def test_no_file_is_both_read_and_of_no_use() -> None:
    read = {f"{kind.partition('.')[0]}_20250109084754.{kind.partition('.')[2]}" for kind in msprof.FILES}
    assert {name for name in read if why_unused(name)} == {"task_time_20250109084754.csv"}
    assert not any(why_unused(name) for name in (*TEXT_FILES, *FURTHER_FILES))


def test_all_slices_of_a_long_file_are_read_and_those_of_an_older_export_are_left_aside(
    tmp_path: Path, rules: Catalog
) -> None:
    output = write_msprof(corpus.job("healthy", 3, workload="single"), tmp_path)
    (whole,) = output.glob("op_summary_*.csv")
    heading, *rows = whole.read_text("utf-8").splitlines(keepends=True)
    stamp = whole.stem.rpartition("_")[2]
    for number, part in enumerate((rows[:20], rows[20:40], rows[40:])):
        (output / f"op_summary_slice_{number}_{stamp}.csv").write_text(heading + "".join(part), "utf-8")
    whole.rename(output / f"op_summary_slice_0_{int(stamp) - 1}.csv")
    (found,) = pipeline.inspect(tmp_path, rules).ranks
    told = {file.path.rpartition("/")[2]: file.unused for file in found.files}
    assert [told[f"op_summary_slice_{number}_{stamp}.csv"] for number in range(3)] == ["", "", ""]
    assert told[f"op_summary_slice_0_{int(stamp) - 1}.csv"] == "left aside"


def test_an_inspection_changes_nothing(tmp_path: Path, rules: Catalog) -> None:
    write_capture(tmp_path, 0)
    before = stamps(tmp_path)
    pipeline.inspect(tmp_path, rules)
    assert stamps(tmp_path) == before


@pytest.mark.parametrize("broken", ["empty", "foreign", "unparsed", "truncated"])
def test_what_cannot_be_diagnosed_is_described_with_what_to_do(
    broken: str, tmp_path: Path, rules: Catalog, capsys: pytest.CaptureFixture[str]
) -> None:
    if broken == "foreign":
        (tmp_path / "holiday.jpg").write_bytes(b"\xff\xd8")
    elif broken == "unparsed":
        (tmp_path / "a_1_20250109084754000_ascend_pt" / "PROF_000001_20250109084754000_ABC").mkdir(parents=True)
        (tmp_path / "a_1_20250109084754000_ascend_pt" / "PROF_000001_20250109084754000_ABC" / "x.bin").touch()
    elif broken == "truncated":
        folder = tmp_path / "a_1_20250109084754000_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        (folder / "kernel_details.csv").write_text("")
    seen = pipeline.inspect(tmp_path, rules)
    assert seen.run is None
    assert seen.refusal is not None
    assert seen.refusal.do is not None
    assert (seen.recording is None) == (broken == "unparsed")
    assert main(["inspect", str(tmp_path), "--lang", "en"]) == 3
    said = capsys.readouterr().out
    assert "Nothing here can be diagnosed" in said
    assert "What to do" in said
    assert ("analyse(" if broken == "unparsed" else "profiler.profile(") in said


def test_of_more_folders_than_are_listed_it_is_said_how_many_there_are(tmp_path: Path, rules: Catalog) -> None:
    for number in range(25):
        path = tmp_path / f"job_{number}" / "x.pt.trace.json"
        path.parent.mkdir()
        path.write_text(json.dumps(trace([host("aten::mm", 1, 2)])))
    said = document_text(inspection_document(pipeline.inspect(tmp_path, rules), "en"))
    assert said.count("capture (Kineto)") == 20
    assert "(25 in all)" in said


def test_a_path_to_nothing_is_an_error(tmp_path: Path, rules: Catalog) -> None:
    with pytest.raises(InputError, match="does not exist"):
        pipeline.inspect(tmp_path / "gone", rules)


@pytest.mark.parametrize("width", [20, 50])
def test_what_to_record_can_be_copied_from_a_terminal_of_any_width(width: int, tmp_path: Path, rules: Catalog) -> None:
    seen = pipeline.inspect(tmp_path, rules)
    assert seen.recording is not None
    out = io.StringIO()
    print_document(inspection_summary(seen, "en"), Console(file=out, width=width))
    printed = [line[2:] for line in out.getvalue().splitlines()]
    code = seen.recording.code.splitlines()
    assert max(map(len, code)) > width
    assert set(code) <= set(printed)


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_of_the_profiler_are_code_on_the_page(found: Inspection, language: Language) -> None:
    care = tuple(said for _, said in CARE["mindspore"])
    recording = Recording(recorder="mindspore", language="python", code="pass", care=care)
    seen = found.model_copy(update={"recording": recording})
    page = document_page(inspection_document(seen, language))
    assert "Model.train</code>" in page
    assert "`Model.train`" not in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_format_says_what_can_look(found: Inspection, language: Language) -> None:
    whole = inspection_document(found, language)
    counted = f"{len(found.enabled)}"
    assert counted in document_page(whole)
    assert document_page(whole).count(say("made_by", language, version=found.version)) == 1
    assert counted in document_text(whole)
    assert "host_calls" in document_text(whole)
    assert len(document_text(inspection_summary(found, language))) < len(document_text(whole))


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_called_recorded_that_is_missing(found: Inspection, language: Language) -> None:
    """No switch adds to a recording what stands in a second one, such as another set of hardware counters."""
    alike = found.model_copy(update={"recording": None})
    absent = [one.words.say(language) for one in found.facts if not one.rows and one.rules]
    assert absent
    text = document_text(inspection_document(alike, language))
    every = Text("Every table that rules read was recorded", "规则读取的数据表均已采集").say(language)
    assert every not in text
    first = text.partition("\n## ")[0]
    assert all(words in first for words in absent)
    whole = alike.model_copy(update={"facts": tuple(one for one in found.facts if one.rows)})
    assert every in document_text(inspection_document(whole, language))


def test_the_published_form_keeps_its_schema_and_can_be_read_again(found: Inspection) -> None:
    schema = json.loads((TOP / "docs/reference/inspection.schema.json").read_text("utf-8"))
    jsonschema.validate(json.loads(found.to_json()), schema)
    assert Inspection.model_validate_json(found.to_json()) == found


def test_an_assistant_may_inspect_below_the_roots_alone(tmp_path: Path, rules: Catalog) -> None:
    write_capture(tmp_path / "job", 0)
    tools = Tools(Opened(Roots([tmp_path / "job"]), rules))
    answer = tools.inspect(".")
    assert answer["run"]["ranks"] == [0]
    with pytest.raises(InputError):
        tools.inspect("..")


def test_the_command_writes_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(CASE), "-o", str(tmp_path / "found.json"), "-q"]) == 0
    assert Inspection.model_validate_json((tmp_path / "found.json").read_text("utf-8")).run is not None
    assert capsys.readouterr().out == ""
