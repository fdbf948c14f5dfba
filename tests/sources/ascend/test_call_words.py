# SPDX-License-Identifier: Apache-2.0
"""What host calls do is told where they are read, and nothing behind that knows what a vendor calls them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import advisor
from advisor.facts.table import Texts
from advisor.sources.ascend.call_words import activities_in_totals, activities_of_calls
from advisor.sources.ascend.host_calls import HOST_CALLS
from tests.sources.traces import captured, event, of

CALLS = [
    ("aclopCompileAndExecuteV2", "dispatch"),
    ("opCompile", "build"),
    ("aclrtMemcpy", "blocking_copy"),
    ("MemCopySync", "blocking_copy"),
    ("aclrtMemcpyAsync", "copy"),
    ("aclrtSynchronizeStreamWithTimeout", "synchronise"),
    ("StreamSynchronize", "synchronise"),
    ("aclrtFreePhysical", "allocate"),
    ("aclnnAdd", None),
]
OPERATORS = [("aten::item", "read"), ("aten::to", "fetch"), ("aten::mul", None), ("aclrtMemcpy", None)]


def test_a_call_does_what_its_name_says_in_the_layer_it_belongs_to():
    names = Texts.of(name for name, _ in (*CALLS, *OPERATORS))
    calls = [True] * len(CALLS) + [False] * len(OPERATORS)
    found = activities_of_calls(names, calls, [not one for one in calls])
    assert found.values() == [does for _, does in (*CALLS, *OPERATORS)]
    assert set(activities_of_calls(names, [False] * len(calls), [False] * len(calls)).values()) == {None}


def test_calls_inside_of_others_do_nothing_of_their_own_in_totals():
    assert activities_in_totals(Texts.of(["StreamSynchronize", "rtStreamSynchronize", None])).values() == [
        "synchronise",
        None,
        None,
    ]


def test_operators_that_wait_to_learn_how_large_their_result_is_are_told_in_totals():
    names = ["aclnnNonzeroV2", "aclnnMaskedSelect", "aclnnUnique2", "aclnnNonzeroV2GetWorkspaceSize", "aclnnAdd"]
    assert activities_in_totals(Texts.of(names)).values() == ["await_size"] * 3 + [None] * 2


def test_what_calls_do_is_read_with_them(tmp_path: Path):
    trace = [event("AscendCL@aclrtMemcpy", "1.000"), event("aten::item", "5.000", cat="cpu_op")]
    rows = of(HOST_CALLS.ways["text"], captured(tmp_path, trace))
    assert [(row["kind"], row["activity"]) for row in rows] == [("api", "blocking_copy"), ("operator", "read")]


NAMES = re.compile(r"\bacl(rt|op|nn)\w|\brt[A-Z]\w|aten::|TASK_QUEUE|\bASCEND_|\bHCCL_|\bMemcpy")


def literals(file: Path) -> Iterator[str]:
    """The texts of a module but its docstrings."""
    tree = ast.parse(file.read_text("utf-8"))
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.value


@pytest.mark.parametrize("room", ["analysis", "engine", "summary"])
def test_no_vendor_s_calls_or_settings_are_known_behind_the_sources(room: str):
    files = (Path(advisor.__file__).parent / room).rglob("*.py")
    assert [(file.name, text) for file in files for text in literals(file) if NAMES.search(text)] == []


SAID = {
    "synchronise": (
        "aclrtSynchronizeStream",
        "aclrtSynchronizeStreamWithTimeout",
        "aclrtSynchronizeDevice",
        "aclrtSynchronizeDeviceWithTimeout",
        "aclrtSynchronizeEvent",
        "StreamSynchronize",
        "DeviceSynchronize",
        "EventSynchronize",
        "rtStreamSynchronize",
    ),
    "blocking_copy": ("aclrtMemcpy", "aclrtMemcpy2d", "MemcpySync", "rtMemcpy", "MemCopySync2d"),
    "copy": ("aclrtMemcpyAsync", "aclrtMemcpy2dAsync", "rtMemcpyAsync", "rtMemCopyAsync"),
    "dispatch": ("aclopCompileAndExecute", "aclopCompileAndExecuteV2"),
    "build": ("opCompile", "OpCompile"),
    "allocate": (
        "aclMallocMemInner",
        "aclrtMalloc",
        "aclrtMallocPhysical",
        "aclrtFree",
        "aclrtFreePhysical",
        "aclrtMapMem",
        "aclrtUnmapMem",
        "aclrtReleaseMemAddress",
    ),
    None: ("aclnnAdd", "aclrtLaunchKernel", "launch", "hcom_allReduce_", "aclrtRecordEvent", "ContextGetCurrent"),
}
"""Calls of captures of several versions, and of the interface of CANN, by what they do."""


@pytest.mark.parametrize(("does", "name"), [(does, name) for does, names in SAID.items() for name in names])
def test_each_call_into_cann_does_one_thing(does: str | None, name: str):
    assert activities_of_calls(Texts.of([name]), [True], [False]).values() == [does]
    in_totals = None if name.startswith("rt") else does
    assert activities_in_totals(Texts.of([name])).values() == [in_totals]


@pytest.mark.parametrize(
    ("name", "does"),
    [
        ("aten::item", "read"),
        ("aten::_local_scalar_dense", "read"),
        ("aten::nonzero", "read"),
        ("aten::copy_", "fetch"),
        ("aten::_to_copy", "fetch"),
        ("aten::to", "fetch"),
        ("aten::add", None),
        ("aten::clone", None),
    ],
)
def test_operators_that_may_wait_for_a_value_are_told_apart(name: str, does: str | None):
    assert activities_of_calls(Texts.of([name]), [False], [True]).values() == [does]
