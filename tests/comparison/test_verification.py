# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from comparison_samples import diagnosis, finding, measure, outcome
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.comparison import compare
from advisor.comparison.verification import Verification, Verifications, finding_named, verify_all, verify_finding
from advisor.messages.errors import UsageError
from advisor.messages.text import Language, Text
from advisor.model.findings import Diagnosis
from advisor.report.renderers.markdown import document_text
from advisor.report.verification.document import verification_document

IDLE = "host/idle"
SHORTER = (800.0, 810.0, 790.0)


def verified(before: Diagnosis, after: Diagnosis, name: str = IDLE) -> Verification:
    return verify_finding(compare(before, after), name)


def test_a_finding_that_is_gone_and_a_step_that_won_it_keep_the_promise() -> None:
    found = verified(diagnosis(finding(us=200)), diagnosis(steps=SHORTER, free_us=10))
    assert (found.result, found.promised_us, found.freed_us, found.won_us) == ("kept", 200, 200, 200)


def test_what_is_still_left_to_win_is_not_counted_as_won() -> None:
    after = diagnosis(finding(us=110, share=0.12), steps=(910.0, 920.0, 900.0), free_us=100)
    found = verified(diagnosis(finding(us=200)), after)
    assert (found.result, found.freed_us) == ("partly", 90)


def test_nothing_moved_is_not_kept_and_growth_is_worse() -> None:
    assert verified(diagnosis(finding()), diagnosis(finding())).result == "not kept"
    assert verified(diagnosis(finding(us=100)), diagnosis(finding(us=300))).result == "worse"


@pytest.mark.parametrize(
    ("language", "said", "unsaid"),
    [("en", "Saving available on top of that now", "no longer"), ("zh", "新增的可优化时间", "已消除的")],
)
def test_what_a_finding_lost_besides_is_told_as_more_and_not_as_less_than_nothing(
    language: Language, said: str, unsaid: str
) -> None:
    comparison = compare(diagnosis(finding(us=100)), diagnosis(finding(us=300)))
    text = document_text(verification_document(verify_finding(comparison, IDLE), comparison, language))
    assert re.search(f"{said} *\\| *200 µs", text) and unsaid not in text


def test_a_step_that_got_longer_keeps_no_promise() -> None:
    found = verified(diagnosis(finding(us=200)), diagnosis(steps=(1200.0, 1210.0, 1190.0)))
    assert (found.result, found.won_us) == ("partly", -200)


def test_a_step_that_something_else_made_shorter_keeps_no_promise() -> None:
    """The finding lost 60 of its 200 µs; the other 240 by which the step is shorter are not its own."""
    after = diagnosis(finding(us=140, share=0.2), steps=(700.0, 705.0, 695.0), free_us=140)
    found = verified(diagnosis(finding(us=200)), after)
    assert (found.status, found.result) == ("better", "partly")
    assert (found.won_us, found.freed_us, found.explained_us) == (300, 60, 60)


def test_a_finding_that_the_fix_did_not_touch_explains_nothing_of_a_shorter_step() -> None:
    before = diagnosis(finding(us=200), finding("comm/late", us=100, share=0.2))
    after = diagnosis(finding("comm/late", us=120, share=0.25), steps=SHORTER, free_us=10)
    found = verified(before, after, "comm/late")
    assert (found.status, found.result, found.freed_us, found.explained_us) == ("same", "not kept", 0, 0)
    assert found.won_us == 200


def test_all_findings_of_the_first_capture_are_verified_in_their_order() -> None:
    before = diagnosis(finding(us=200), finding("comm/late", us=100), finding("compute/casts", us=50))
    after = diagnosis(
        finding("comm/late", us=100),
        outcomes=(outcome("compute/casts", "skipped"),),
        steps=SHORTER,
        free_us=10,
    )
    found = verify_all(compare(before, after))
    assert [(one.rule, one.status) for one in found.findings] == [
        ("host/idle", "gone"),
        ("comm/late", "same"),
        ("compute/casts", "not comparable"),
    ]
    assert [one.explained_us for one in found.findings] == [200, 0, None]
    assert found.worked
    assert Verifications.model_validate_json(found.to_json()) == found


def test_a_fix_beside_which_a_finding_got_worse_did_not_work() -> None:
    before = diagnosis(finding(us=200), finding("comm/late", us=100))
    after = diagnosis(finding("comm/late", us=300))
    assert not verify_all(compare(before, after)).worked
    assert not verify_all(compare(before, before)).worked


def test_what_was_not_looked_at_cannot_be_told() -> None:
    found = verified(diagnosis(finding()), diagnosis(outcomes=(outcome(IDLE, "skipped"),)))
    assert (found.result, found.freed_us) == ("not known", None)
    assert found.reasons


def test_other_findings_that_grew_are_named() -> None:
    after = diagnosis(finding("comm/late", us=190))
    found = verified(diagnosis(finding(us=200)), after)
    assert [change.rule for change in found.against] == ["comm/late"]


def test_a_finding_without_a_promise_is_judged_by_what_it_measures() -> None:
    found = verified(diagnosis(finding(us=0)), diagnosis(quiet=(measure(share=0.01),)))
    assert (found.result, found.promised_us) == ("kept", 0)
    assert (found.metrics[0].before, found.metrics[0].after) == (0.3, 0.01)


def test_a_finding_is_named_by_fingerprint_its_beginning_or_its_rule() -> None:
    one = diagnosis(finding(), finding("comm/late"))
    own = one.findings[0]
    for name in (own.fingerprint, own.fingerprint[:6], own.rule):
        assert finding_named(one, name) == own


@pytest.mark.parametrize("name", ["nothing", "abc", "0" * 16, ""])
def test_an_unknown_name_is_answered_with_those_that_exist(name: str) -> None:
    one = diagnosis(finding())
    with pytest.raises(UsageError, match=one.findings[0].fingerprint):
        finding_named(one, name)
    with pytest.raises(UsageError, match="no findings at all"):
        finding_named(diagnosis(), name)


@given(st.floats(1, 900), st.floats(0, 900), st.floats(300, 2000))
def test_more_is_never_freed_than_was_promised(promised: float, left: float, step: float) -> None:
    after = diagnosis(*([finding(us=left)] if left else []), steps=(step, step + 1))
    found = verified(diagnosis(finding(us=promised)), after)
    assert found.freed_us is not None
    assert found.freed_us <= found.promised_us
    assert found.explained_us is not None
    assert 0 <= found.explained_us <= max(found.freed_us, 0)
    assert found.explained_us <= max(found.won_us or 0, 0)
    assert found.result != "kept" or found.freed_us >= 0.75 * promised
    assert Verification.model_validate_json(found.to_json()) == found


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Path]:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(diagnosis(finding(us=200)).to_json(), "utf-8")
    after.write_text(diagnosis(finding("comm/late", us=190), steps=SHORTER).to_json(), "utf-8")
    return before, after


def test_the_command_says_what_was_promised_and_won(
    saved: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, data = tmp_path / "fix.md", tmp_path / "fix.json"
    words = ["verify", *map(str, saved), "--finding", IDLE, "--lang", "en", "-o", str(report), "-o", str(data)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "Fixed: the promise was kept." in said
    assert "200 µs" in said
    assert "comm/late" in said
    assert str(report) in said.replace("\n", "") and str(data) in said.replace("\n", "")
    assert "# Fixed: the promise was kept." in report.read_text("utf-8")
    assert json.loads(data.read_text("utf-8"))["result"] == "kept"


@pytest.mark.parametrize("name", [None, IDLE])
def test_a_report_says_which_captures_were_compared(saved: tuple[Path, Path], name: str | None, tmp_path: Path) -> None:
    for path, called in zip(saved, ("slow", "fixed"), strict=True):
        made = Diagnosis.model_validate_json(path.read_bytes())
        run = made.run.model_copy(update={"name": called})
        path.write_text(made.model_copy(update={"run": run}).to_json(), "utf-8")
    page, text = tmp_path / "fix.html", tmp_path / "fix.md"
    one = ["--finding", name] if name else []
    main(["verify", *map(str, saved), *one, "--lang", "en", "-q", "-o", str(page), "-o", str(text)])
    assert "<title>slow → fixed · " in page.read_text("utf-8")
    assert "Before: `slow`" in text.read_text("utf-8")
    assert "After: `fixed`" in text.read_text("utf-8")


def test_captures_of_one_name_are_told_apart_by_their_paths(saved: tuple[Path, Path], tmp_path: Path) -> None:
    main(["verify", *map(str, saved), "--lang", "en", "-q", "-o", str(tmp_path / "fix.md")])
    assert "Before: `before.json`" in (tmp_path / "fix.md").read_text("utf-8")


def test_a_step_that_moved_within_noise_wins_no_part_of_the_promise() -> None:
    found = compare(diagnosis(finding(us=200)), diagnosis(finding(us=190), steps=(995.0, 1005.0, 985.0)))
    said = document_text(verification_document(verify_finding(found, IDLE), found, "en"))
    assert "Not fixed: it did not change beyond noise" in said
    assert re.search(r"Step time won \| 5\.00 µs \| within noise", said), said
    assert "of the promise" not in said


def test_a_shorter_step_is_no_part_of_the_promise_of_a_finding_that_did_not_move() -> None:
    found = compare(diagnosis(finding(us=200)), diagnosis(finding(us=190), steps=SHORTER))
    said = document_text(verification_document(verify_finding(found, IDLE), found, "en"))
    assert "Not fixed: it did not change beyond noise" in said
    assert "of the promise" not in said


def test_without_a_name_the_command_verifies_all_that_was_found(
    saved: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, data = tmp_path / "fix.md", tmp_path / "fix.json"
    assert main(["verify", *map(str, saved), "--lang", "en", "-o", str(report), "-o", str(data)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 gone" in said
    assert "New or worse beside it" in said
    assert "comm/late" in said
    assert "host/idle" in report.read_text("utf-8")
    assert [one["rule"] for one in json.loads(data.read_text("utf-8"))["findings"]] == ["host/idle"]
    before, _ = map(str, saved)
    assert main(["verify", before, before, "--lang", "zh"]) == 1
    assert "不变" in capsys.readouterr().out


def test_a_capture_without_findings_has_nothing_that_was_not_fixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fine.json").write_text(diagnosis().to_json(), "utf-8")
    assert main(["verify", str(tmp_path / "fine.json"), str(tmp_path / "fine.json"), "--lang", "en"]) == 0
    assert "nothing to verify" in capsys.readouterr().out


def test_the_command_speaks_chinese(saved: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", *map(str, saved), "--finding", IDLE, "--lang", "zh"]) == 0
    assert "修复有效" in capsys.readouterr().out


def test_a_fix_that_did_nothing_ends_with_1(saved: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    before, _ = map(str, saved)
    assert main(["verify", before, before, "--finding", IDLE, "--lang", "en", "-q"]) == 1
    assert capsys.readouterr().out == ""


def test_an_unknown_finding_is_wrong_use(saved: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", *map(str, saved), "--finding", "host/idel", "--lang", "en"]) == 2
    assert "name one of" in capsys.readouterr().err


def test_what_programs_read_is_not_mixed_with_what_people_read(
    saved: tuple[Path, Path], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["verify", *map(str, saved), "--finding", IDLE, "--lang", "en", "-o", "json:-"]) == 0
    said = capsysbinary.readouterr()
    assert json.loads(said.out)["result"] == "kept"
    assert b"the promise was kept" in said.err


@pytest.mark.parametrize("name", [None, IDLE])
def test_a_finding_has_the_numbers_that_it_was_found_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str | None
) -> None:
    sides = [tmp_path / "before.json", tmp_path / "after.json"]
    for side, share in zip(sides, (0.3, 0.5), strict=True):
        made = diagnosis(finding(share=share))
        titled = [
            info.model_copy(update={"title": Text(en="Idle for {share}", zh="空闲 {share}")}) for info in made.rules
        ]
        side.write_text(made.model_copy(update={"rules": tuple(titled)}).to_json(), "utf-8")
    main(["verify", *map(str, sides), "--lang", "en", *(["--finding", name] if name else [])])
    said = capsys.readouterr().out
    assert "Idle for 30 %" in said
    assert "Idle for 50 %" not in said


@pytest.mark.parametrize(("findings", "said"), [(1, "Of 1 finding: 1 the same."), (2, "Of 2 findings: 2 the same.")])
def test_one_finding_is_no_several(findings: int, said: str) -> None:
    side = diagnosis(*[finding(name, us=100, share=0.2) for name in (IDLE, "comm/late")[:findings]])
    comparison = compare(side, side)
    assert said in document_text(verification_document(verify_all(comparison), comparison, "en"))


def test_the_beginning_of_a_fingerprint_that_is_too_short_is_said_to_be_that() -> None:
    with pytest.raises(UsageError, match=r"`.` is too short: at least 4 characters of a fingerprint"):
        finding_named(diagnosis(finding()), finding().fingerprint[:1])
