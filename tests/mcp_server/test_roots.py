# SPDX-License-Identifier: Apache-2.0
"""Nothing outside of the roots is read, whatever a path or a link says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.mcp_server.roots import Roots
from advisor.messages.errors import InputError, UsageError


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "root" / "prof").mkdir(parents=True)
    (tmp_path / "root" / "prof" / "kernel_details.csv").write_text("x", "utf-8")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kernel_details.csv").write_text("y", "utf-8")
    (tmp_path / "root-of-others").mkdir()
    return tmp_path


def roots(top: Path) -> Roots:
    return Roots([top / "root"])


@pytest.mark.parametrize("words", ["prof", "./prof", "prof/../prof", "."])
def test_paths_below_the_root_are_given(words: str, top: Path) -> None:
    assert roots(top).permit_path(words).path.is_relative_to((top / "root").resolve())


def test_a_full_path_below_the_root_is_given(top: Path) -> None:
    assert roots(top).permit_path(str(top / "root" / "prof")).path == (top / "root" / "prof").resolve()


@pytest.mark.parametrize(
    "words",
    ["..", "../outside", "prof/../../outside", "../root-of-others", "/", "/etc/passwd", "", "a\0b", "x" * 5000, "~"],
)
def test_paths_that_lead_out_are_refused(words: str, top: Path) -> None:
    with pytest.raises(InputError):
        roots(top).permit_path(words)


def test_what_lies_outside_is_refused_alike_whether_it_is_there_or_not(top: Path) -> None:
    said = set()
    for words in ("../outside", "../nothing", str(top / "outside"), str(top / "nothing")):
        with pytest.raises(InputError) as trouble:
            roots(top).permit_path(words)
        said.add(str(trouble.value))
    assert len(said) == 1


def test_links_are_followed_inside_and_refused_where_they_lead_out(top: Path) -> None:
    (top / "root" / "inner").symlink_to(top / "root" / "prof")
    assert roots(top).permit_path("inner").path == (top / "root" / "prof").resolve()
    (top / "root" / "outer").symlink_to(top / "outside")
    with pytest.raises(InputError, match="outside"):
        roots(top).permit_path("outer")
    with pytest.raises(InputError, match="outside"):
        roots(top).permit_path("outer/kernel_details.csv")


@pytest.mark.parametrize("target", ["outside", "outside/kernel_details.csv"])
def test_a_capture_that_holds_a_link_out_is_refused(target: str, top: Path) -> None:
    (top / "root" / "prof" / "deep").mkdir()
    (top / "root" / "prof" / "deep" / "link").symlink_to(top / target)
    with pytest.raises(InputError, match="outside"):
        roots(top).permit_path("prof")


def test_a_link_out_behind_a_link_inside_is_refused(top: Path) -> None:
    (top / "root" / "other").mkdir()
    (top / "root" / "other" / "link").symlink_to(top / "outside")
    (top / "root" / "prof" / "aside").symlink_to(top / "root" / "other")
    with pytest.raises(InputError, match="outside"):
        roots(top).permit_path("prof")


def test_a_circle_of_links_and_a_link_to_nothing_do_no_harm(top: Path) -> None:
    prof = top / "root" / "prof"
    (prof / "up").symlink_to(top / "root")
    (prof / "self").symlink_to(prof / "self")
    (prof / "nothing").symlink_to(top / "root" / "nothing")
    os.mkfifo(prof / "pipe")
    assert roots(top).permit_path("prof").stamp
    with pytest.raises(InputError):
        roots(top).permit_path("prof/self")


def test_an_output_is_read_with_its_capture_which_must_lie_below_the_root_too(top: Path) -> None:
    output = top / "capture" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    with pytest.raises(InputError, match="outside"):
        Roots([output]).permit_path(".")
    assert Roots([top / "capture"]).permit_path("ASCEND_PROFILER_OUTPUT").path == output.resolve()


def test_the_stamp_changes_with_the_files_and_with_nothing_else(top: Path) -> None:
    given = roots(top).permit_path("prof")
    assert roots(top).permit_path("./prof") == given
    (top / "root" / "prof" / "kernel_details.csv").write_text("longer", "utf-8")
    assert roots(top).permit_path("prof").stamp != given.stamp


def test_a_root_is_a_folder(top: Path) -> None:
    with pytest.raises(UsageError):
        Roots([top / "nothing"])


def test_the_first_root_that_has_a_path_gives_it(top: Path) -> None:
    both = Roots([top / "root-of-others", top / "root"])
    assert both.permit_path("prof").path == (top / "root" / "prof").resolve()
    with pytest.raises(InputError, match="does not exist"):
        both.permit_path("nothing")


PARTS = ("..", ".", "", "prof", "outside", "link", "file", "~", "root", "root-of-others", "a\udc80", "…")


@given(
    parts=st.lists(st.sampled_from(PARTS), max_size=8), start=st.sampled_from(["", "/", "//", "./"]), full=st.booleans()
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_whatever_leads_out(parts: list[str], start: str, full: bool, top: Path) -> None:
    link = top / "root" / "link"
    if not link.is_symlink():
        link.symlink_to(top / "outside")
    words = start + "/".join(parts)
    words = f"{top}/root/{words}" if full else words
    try:
        given_path = roots(top).permit_path(words).path
    except InputError:
        return
    assert given_path.resolve().is_relative_to((top / "root").resolve())
