# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from report_samples import CONVERSION, EXPOSED, SHAPES, rich, write_report
from rich.cells import cell_len
from rich.console import Console

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, RemedyStep
from advisor.report.blocks import Document, Grid
from advisor.report.console import terminal_console
from advisor.report.diagnosis.document import diagnosis_summary
from advisor.report.explanation.rule_document import rule_document
from advisor.report.prose import plain_prose
from advisor.report.renderers.terminal import print_document


def printed(
    diagnosis: Diagnosis, language: Language, width: int = 80, top: int = 5, written: Sequence[Path] = ()
) -> str:
    out = io.StringIO()
    document = diagnosis_summary(diagnosis, language, top, is_written=bool(written))
    print_document(document, Console(file=out, width=width), written)
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_but_one_of_code_is_wider_than_the_terminal(
    diagnosis: Diagnosis, language: Language, width: int
) -> None:
    whole = {line for step in remedies(diagnosis) for line in (step.run or step.code).splitlines()}
    lines = [line for line in printed(diagnosis, language, width).splitlines() if line[6:] not in whole]
    assert lines
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("width", [20, 80])
def test_code_can_be_copied_from_a_terminal_of_any_width(width: int) -> None:
    lines = [line[6:] for line in printed(rich(), "en", width, top=99).splitlines()]
    first = [rule.fix[0] for rule in rich().rules if rule.fix]
    shown = [step for step in first if (step.run or step.code).splitlines()[:1] in [[line] for line in lines]]
    assert shown
    for step in shown:
        assert set((step.run or step.code).splitlines()) <= set(lines)


def remedies(diagnosis: Diagnosis) -> list[RemedyStep]:
    return [step for rule in diagnosis.rules for step in rule.fix]


def test_the_first_line_is_the_verdict() -> None:
    text = " ".join(printed(rich(), "en").split("\n\n")[0].split())
    assert text.startswith("A step takes 117 ms: 70 % exposed communication, 22 % idle, 7.7 % compute. Fix first:")
    assert "about 57.0 ms per step (49 %)" in text


def test_as_many_findings_as_asked_for_and_how_many_more() -> None:
    text = printed(rich(), "en", top=2)
    assert "reach a device that has run dry" in text
    assert "The device is idle" not in text
    assert "Further findings: 11" in text


@pytest.mark.parametrize(("top", "said"), [(1, False), (5, True)])
def test_of_several_savings_it_is_said_that_they_do_not_add_up(top: int, said: bool) -> None:
    assert ("do not add up" in printed(rich(), "en", top=top)) is said
    assert ("不可相加" in printed(rich(), "zh", top=top)) is said


def test_each_finding_says_its_saving_its_place_and_its_first_step() -> None:
    text = printed(rich(), "zh")
    for words in (
        "每步约可省 57.0 ms（49 %）",
        "rank 0–3，step 50–54",
        "打开二级流水下发",
        "export TASK_QUEUE_ENABLE=2",
    ):
        assert words in text


def test_what_was_skipped_comes_with_how_to_record_it() -> None:
    text = printed(SHAPES["blind"], "en")
    assert "record with profiler_level=Level1 or above" in text
    assert "This does not mean that all is well." in " ".join(text.split())


def test_the_files_written_are_named() -> None:
    assert "Report: out/report.html" in printed(rich(), "en", written=[Path("out/report.html")])


def test_a_name_is_neither_markup_nor_an_escape_of_the_terminal() -> None:
    text = printed(rich(), "en", top=20)
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "\u202e" not in text


def test_without_colour_the_parts_of_the_bar_are_still_told_apart() -> None:
    bar = next(line for line in printed(rich(), "en").splitlines() if line.startswith("▓"))
    assert {"▓", "░", "█"} <= set(bar)
    assert cell_len(bar) == 80


def test_a_small_part_of_the_time_still_has_a_cell() -> None:
    split = rich().split
    assert split is not None
    tiny = split.model_copy(update={"compute_us": 0.001})
    assert "█" in printed(rich().model_copy(update={"split": tiny}), "en").split("\n\n")[1].splitlines()[0]


def test_a_rule_is_shown_with_thresholds_fixes_and_references(language: Language) -> None:
    out = io.StringIO()
    for info in (EXPOSED, CONVERSION):
        print_document(rule_document(info, language), Console(file=out, width=80))
    text = out.getvalue()
    for words in ("comm/exposed-communication", "tolerated", "10 %", 'HCCL_ALGO="level0:NA;level1:H-D_R"'):
        assert words in text
    assert "javascript" not in text


def test_a_rule_is_shown_with_its_table_and_its_condition(language: Language) -> None:
    out = io.StringIO()
    logic = (("in", "steps"), ("let", "a: 1"), ("let", "b: a[red]"), ("when", "b > tolerated"))
    print_document(rule_document(EXPOSED, language, logic), Console(file=out, width=80))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert [line for line in lines if line and (line[0] in ("in", "let", "when") or line[0] == "b:")] == [
        ["in", "steps"],
        ["let", "a:", "1"],
        ["b:", "a[red]"],
        ["when", "b", ">", "tolerated"],
    ]


def test_what_a_cluster_summary_lacks_is_looked_for_in_its_captures_first(tmp_path: Path) -> None:
    run = rich().run
    captures = tuple(capture.model_copy(update={"source": "cluster"}) for capture in run.captures)
    summary = rich().model_copy(update={"run": run.model_copy(update={"captures": captures})})
    assert captures
    for said in (printed(summary, "en"), said_in(summary, tmp_path / "a.md"), said_in(summary, tmp_path / "a.html")):
        assert "before recording anything" in " ".join(said.split())
    assert "before recording anything" not in " ".join(printed(rich(), "en").split())


def said_in(diagnosis: Diagnosis, path: Path) -> str:
    write_report(diagnosis, path, "en")
    return path.read_text("utf-8")


def test_the_first_place_that_cannot_be_read_is_named_and_the_others_counted(language: Language) -> None:
    text = " ".join(printed(rich(), language, 200).split())
    assert ("row 17" if language == "en" else "第 17 行") in text
    assert ("1 more in the report" if language == "en" else "另有 1 处") in text
    one = rich().model_copy(update={"unread": rich().unread[:1]})
    assert ("1 more in the report" if language == "en" else "另有 1 处") not in printed(one, language, 200)


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_what_names_a_row_is_whole_and_numbers_of_it_have_their_head(width: int) -> None:
    heads = ("Rank", "Operation", "Size", "Calls", "Total time", "Mean", "Median", "Longest", "Payload")
    cells = ("0", "allReduce", "15.6 MiB", "6", "45.4 ms", "7.56 ms", "7.53 ms", "9.34 ms", "552 MiB")
    grid = Grid(
        tuple(plain_prose(head) for head in heads),
        (tuple(plain_prose(cell) for cell in cells),),
        (True, False, *[True] * 7),
        keys=3,
    )
    out = io.StringIO()
    print_document(Document("en", (grid,)), Console(file=out, width=width))
    assert all(cell in out.getvalue() for cell in cells)
    assert all(word in out.getvalue() for head in heads if head != "Operation" for word in head.split())
    assert max(map(cell_len, out.getvalue().splitlines())) <= width


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_numbers_of_a_table_are_never_broken_however_narrow_the_terminal(width: int) -> None:
    heads = ("Kind", "Calls", "Total time", "Mean", "Median", "Longest", "Payload")
    cells = ("allReduce", "6", "45.4 ms", "7.56 ms", "7.53 ms", "9.34 ms", "552 MiB")
    grid = Grid(
        tuple(plain_prose(head) for head in heads),
        (tuple(plain_prose(cell) for cell in cells),),
        (False, *[True] * 6),
    )
    out = io.StringIO()
    print_document(Document("en", (grid,)), Console(file=out, width=width))
    assert all(cell in out.getvalue() for cell in cells[1:])
    assert max(map(cell_len, out.getvalue().splitlines())) <= width


@pytest.mark.parametrize(("columns", "width"), [("0", 80), ("1", 24), ("23", 24), ("24", 24), ("33", 33), ("", 80)])
def test_a_width_in_which_nothing_can_be_read_is_not_taken(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for color in (True, False):
        monkeypatch.setenv("NO_COLOR", "" if color else "1")
        out = io.StringIO()
        console = terminal_console(out)
        assert console.width == width
        console.print("nothing needs fixing")
        assert out.getvalue() == "nothing needs fixing\n"


@pytest.mark.parametrize("width", [20, 80])
def test_no_line_of_a_table_ends_in_blanks(width: int) -> None:
    heads = tuple(map(plain_prose, ("Table", "Why", "Calls")))
    rows = tuple(tuple(map(plain_prose, row)) for row in (("kernels", "not recorded", "3"), ("links", "", "12,345")))
    out = io.StringIO()
    words = Grid(heads[:2], tuple(row[:2] for row in rows))
    document = Document("en", (Grid(heads, rows, (False, False, True)), words))
    print_document(document, Console(file=out, width=width))
    lines = out.getvalue().splitlines()
    assert any("12,345" in line for line in lines)
    assert [line for line in lines if line != line.rstrip()] == []


def test_each_finding_names_its_rule_and_how_sure_it_is() -> None:
    lines = [line.strip() for line in printed(rich(), "en").splitlines()]
    facts = lines.index("critical  saving about 57.0 ms per step (49 %)  Confidence: high")
    assert lines[facts + 1].startswith("pipeline stage 0, ranks 0–3, steps 50–54")
    assert "comm/exposed" in lines[facts + 1] + lines[facts + 2]
    assert "严重  每步约可省 57.0 ms（49 %）  置信度：高" in printed(rich(), "zh")
