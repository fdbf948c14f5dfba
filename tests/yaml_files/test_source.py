# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from pathlib import Path

import pytest

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import RuleError
from advisor.messages.message import Message
from advisor.rules.catalog import read_rule
from advisor.rules.rule import Rule
from advisor.yaml_files import source
from advisor.yaml_files.document import Path_


def refused(text: str) -> str:
    with pytest.raises(RuleError) as caught:
        source.parse_document(text, "rule.yaml")
    return str(caught.value.mistakes[0].what)


def test_words_of_yaml_1_1_stay_words() -> None:
    text = "a: off\nb: yes\nc: 1:30\nd: 0x10\ne: 1_000\nf: 2024-01-01\ng: 010\nh: .inf\ni: 0.1.0"
    assert set(map(type, source.parse_document(text, "x").data.values())) == {str}


def test_numbers_truths_and_nothing_are_values() -> None:
    data = source.parse_document("a: 1\nb: -0.5\nc: 1e3\nd: true\ne: ~\nf: '1'\ng: [.5, 2.]", "x").data
    assert data == {"a": 1, "b": -0.5, "c": 1000.0, "d": True, "e": None, "f": "1", "g": [0.5, 2.0]}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: 1\nb: {c: 1, c: 2}", "`c` is given twice"),
        ("a: &x [1]\nb: *x", "anchors with aliases are not read here"),
        ("a: &x word\nb: *x", "anchors with aliases are not read here"),
        ("a: &x\n  - *x", "anchors with aliases are not read here"),
        ("a: {<<: {b: 1}}", "merge keys are not read here"),
        ("a: !!python/object:os.system {}", "tags are not read here"),
        ("a: !!python/name:os.system ''", "tags are not read here"),
        ("a: !!python/object/new:os.system [x]", "tags are not read here"),
        ("a: !mine 5", "tags are not read here"),
        ("a: !!set {x}", "tags are not read here"),
        ("? [a, b]\n: 1", "a key is a plain word"),
        ("a: 1\n---\nb: 2", 'not YAML: "but found another document"'),
        ("a: [" * 2001, "more than 2000 brackets"),
        ("- " * 1001 + "x", "line is longer than 2000 characters"),
        ("- " * 500 + "x", "nested too deep"),
        ("a: '" + "x" * 3000 + "'", "line is longer than 2000 characters"),
        ("a: \x07", 'not YAML: "control characters are not allowed"'),
        ("a: b: c", 'not YAML: "mapping values are not allowed in this context"'),
    ],
)
def test_what_surprises_is_refused(text: str, what: str) -> None:
    assert refused(text) == what


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    begin = time.process_time()
    assert refused("\n".join(lines)) == "anchors with aliases are not read here"
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "{a: " * 60_000, "? " * 120_000, "- " * 120_000, "\n".join("- [" * 99)]
)
def test_nesting_without_end_does_not_end_the_process(text: str) -> None:
    with pytest.raises(RuleError):
        source.parse_document(text, "x")


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_bytes(b"#" * 10_000_000)
    with pytest.raises(RuleError, match="larger than 256 KiB"):
        source.read_document(path)


def test_bytes_that_are_not_utf8_are_placed(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("a: 1\nb: café".encode("latin-1"))
    with pytest.raises(RuleError) as caught:
        source.read_document(path)
    assert (caught.value.mistakes[0].place.line, caught.value.mistakes[0].place.column) == (2, 7)


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="cannot be read"):
        source.read_document(tmp_path / "none.yaml")


def test_windows_line_ends_and_a_byte_order_mark_are_borne(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    assert source.read_document(path).data == {"a": 1, "b": 2}


def test_passing_over_the_tests_leaves_every_other_line_where_it_was() -> None:
    text = "a: 1\ntests:\n- name: x\n  given: {a: [}\n\n  # note\nb: 2\n"
    document = source.parse_document(text, "x", tests=False)
    assert document.data == {"a": 1, "b": 2}
    assert document.mistake(("b",), "?").place.line == 7


def test_the_place_in_a_folded_expression_is_found_on_its_own_line() -> None:
    document = source.parse_document("when: >-\n  aaa and\n  bbb\n", "x")
    assert str(document.mistake(("when",), "?", column=8).place) == "x:3:3"


def test_a_second_document_behind_the_tests_is_not_taken_for_one_of_them() -> None:
    with pytest.raises(RuleError) as caught:
        source.parse_document("a: 1\ntests:\n- x\n---\na: 2\n", "x", tests=False)
    assert [str(mistake.what) for mistake in caught.value.mistakes] == ['not YAML: "but found another document"']


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a:\n\tb: 1", "请用空格缩进，不要用制表符（Tab）"),
        ("en: {x} of it", '以 { 开头的文本需整体加引号："{x} of it"'),
        ("when：x\nb: 1", "请将 `：` 改为半角的 `:`"),
        ("b: {c: 1， d: 2}", "请将 `，` 改为半角的 `,`"),
        ("zh: “查表: 慢”", '请将 `“` 改为半角的 `"`'),
        ("when: !recorded(x)", "条件取反请用 `not`；以 ! 开头的文本需加引号"),
        ("a: 1\n---\nb: 2", "一个文件只能有一个文档：请删去中间的 `---`"),
        ("zh: 注意：a: b", "含有“: ”的文本需加引号"),
    ],
)
def test_slips_are_told_in_the_language_of_the_reader(text: str, hint: str) -> None:
    with pytest.raises(RuleError) as caught:
        source.parse_document(text, "x")
    assert caught.value.mistakes[0].say("zh").endswith(f"提示：{hint}")


def test_a_key_that_stands_too_far_in_is_not_told_to_be_quoted() -> None:
    with pytest.raises(RuleError) as caught:
        source.parse_document("title: idle\n  en: x\n", "x")
    assert caught.value.mistakes[0].hint == Message("check_yaml_here")


@pytest.mark.parametrize("tests", [True, False])
def test_a_document_that_let_its_nodes_go_tells_the_same_places(tests: bool) -> None:
    text = "id: a/b\nwhen: a > 1\nfix:\n  - x: 1\n    y: [2, three]\ntests:\n  - name: one\n"
    whole, kept = (source.parse_document(text, "a.yaml", tests=tests) for _ in range(2))
    kept.let_go_of_nodes()
    assert kept.nodes is None and kept.data == whole.data
    paths: list[Path_] = [(), ("id",), ("when",), ("fix", 0, "y", 1), ("fix", 0, "z"), ("tests", 0, "name")]
    for path in paths:
        assert kept.place(path, key=True) == whole.place(path, key=True)
        assert kept.written(path) == whole.written(path)
        assert kept.mistake(path, Message("no_tags")) == whole.mistake(path, Message("no_tags"))


def test_a_rule_without_mistakes_keeps_no_nodes() -> None:
    path = shipped_folder("rules") / "host" / "free-time.yaml"
    rule = read_rule(path)
    assert isinstance(rule, Rule) and rule.document.nodes is None and rule.document.line(("id",)) > 0
