# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import sys

import pytest

from advisor.messages.text import LANGUAGES, Language
from advisor.model.progress import WorkerState
from advisor.report import progress_bar as bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_drawn_where_no_terminal_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with bar.ProgressBar() as shown:
        shown("rules", 1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("patience", "seen"), [(0.0, True), (1000.0, False)])
def test_work_is_shown_only_once_it_has_lasted(patience: float, seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(bar, "PATIENCE_S", patience)
    with bar.ProgressBar() as shown:
        shown("rules", 1, 2)
    assert ("applying rules" in terminal.getvalue()) == seen


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("what", ["captures", "timeline", "database", "ranks", "rules"])
def test_every_part_of_the_work_has_a_name_in_both_languages(
    what: str, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(bar, "PATIENCE_S", 0.0)
    with bar.ProgressBar(language) as shown:
        shown(what, 1, 2)
    assert any("\u4e00" <= sign <= "\u9fff" for sign in terminal.getvalue()) == (language == "zh")


def test_work_begun_before_the_bar_is_shown_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    clock = iter([0.0, 0.1, 0.2, 5.0])
    monkeypatch.setattr(bar.time, "monotonic", lambda: next(clock, 5.0))
    with bar.ProgressBar() as shown:
        shown("captures", 1, 1)
        shown("ranks", 0, 1)
        shown("database", 1, 2)
    assert "analysing ranks" in terminal.getvalue()
    assert "opening captures" not in terminal.getvalue()


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "103 of 1,024, 10 a second, about 92.1 s left"), ("zh", "103/1,024，每秒 10 个，约剩 92.1 s")],
)
def test_of_many_ranks_it_is_told_how_fast_and_how_long(
    language: Language, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted from where it began: three of the ranks lay in a cache."""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "160")
    now = [0.0]
    monkeypatch.setattr(bar.time, "monotonic", lambda: now[0])
    with bar.ProgressBar(language) as shown:
        shown("ranks", 3, 1024)
        now[0] = 10.0
        shown("ranks", 103, 1024)
    assert told in terminal.getvalue()
    assert terminal.getvalue().count("约剩" if language == "zh" else "left") == 1


def test_one_rank_is_told_without_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(bar, "PATIENCE_S", 0.0)
    with bar.ProgressBar() as shown:
        shown("ranks", 0, 1)
    assert "0 of" not in terminal.getvalue()


def test_ranks_that_are_read_again_for_more_are_counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "160")
    now = [0.0]
    monkeypatch.setattr(bar.time, "monotonic", lambda: now[0])
    with bar.ProgressBar() as shown:
        for moment, done in ((0.0, 0), (90.0, 100), (100.0, 0), (110.0, 50)):
            now[0] = moment
            shown("ranks", done, 100)
    assert "50 of 100, 5 a second, about 10.0 s left" in terminal.getvalue()


def states(count: int) -> list[WorkerState]:
    """Workers of which the later ones have been at their rank longer."""
    return [
        WorkerState(f"tcp://10.0.0.{number}:40001", 2, 100 + number, float(number)) for number in range(1, count + 1)
    ]


def drawn_with(workers: list[WorkerState], language: Language, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(bar, "PATIENCE_S", 0.0)
    with bar.ProgressBar(language) as shown:
        shown.show_workers(workers)
        shown("ranks", 1, 100)
    return terminal.getvalue()


@pytest.mark.parametrize(
    ("language", "reads", "idle"),
    [
        ("en", "10.0.0.1:40001: at rank 101 for 1.00 s, 2 done", "10.0.0.9:1: nothing to do, 5 done"),
        ("zh", "10.0.0.1:40001：正在读 rank 101，已用 1.00 s；已完成 2 个", "10.0.0.9:1：空闲；已完成 5 个"),
    ],
)
def test_of_each_worker_it_is_told_what_it_reads_and_how_long(
    language: Language, reads: str, idle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = drawn_with([*states(1), WorkerState("tls://10.0.0.9:1", 5)], language, monkeypatch)
    assert reads in told
    assert idle in told
    assert "tcp" not in told


def test_of_many_workers_those_are_shown_that_may_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    told = drawn_with(states(bar.MOST_WORKERS + 3), "en", monkeypatch)
    assert "10.0.0.11:40001" in told
    assert "10.0.0.3:40001" not in told
    assert "and 3 more workers" in told


def test_without_a_cluster_nothing_is_said_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "worker" not in drawn_with([], "en", monkeypatch)
