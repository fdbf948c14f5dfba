# SPDX-License-Identifier: Apache-2.0
"""Every tool, asked as an assistant asks it: over the protocol."""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="needs the extra mcp")

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from advisor.cli.main import main
from advisor.facts import FACTS
from advisor.mcp_server import server as server_module
from advisor.mcp_server.answers import MOST_TEXT, model_in_language
from advisor.mcp_server.open_captures import Opened
from advisor.mcp_server.query import Query
from advisor.mcp_server.roots import Roots
from advisor.mcp_server.server import build_server
from advisor.mcp_server.tools import Tools
from advisor.model.explanation import Explanation
from advisor.model.findings import Diagnosis, Finding, Saving
from advisor.rules.catalog import Catalog

MODES = ["auto", "legacy"]
"""The protocol of today, and the one with a handshake that most assistants speak."""


def connected(tools: Tools, work: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    async def inner() -> Any:
        async with Client(build_server(tools), mode=mode) as client:
            return await work(client)

    return asyncio.run(inner())


def call(tools: Tools, name: str, /, mode: str = "auto", **arguments: object) -> dict[str, Any]:
    """The answer of a tool, which must not be an error; as text and as data it is the same."""
    result: CallToolResult = connected(tools, lambda client: client.call_tool(name, arguments), mode)
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert not result.is_error, content.text
    assert json.loads(content.text) == result.structured_content
    return dict(result.structured_content or {})


def refused(tools: Tools, name: str, /, **arguments: object) -> str:
    """What a tool says when it cannot answer."""
    result: CallToolResult = connected(tools, lambda client: client.call_tool(name, arguments))
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert result.is_error
    assert "Traceback" not in content.text
    return content.text


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_says_what_it_is_for_and_that_it_changes_nothing(tools: Tools, mode: str) -> None:
    listed = connected(tools, lambda client: client.list_tools(), mode).tools
    assert {tool.name for tool in listed} == {
        "diagnose", "inspect", "explain", "compare", "list_rules", "show_rule", "list_tables", "show_table", "query"
    }  # fmt: skip
    for tool in listed:
        assert tool.description and tool.title and tool.annotations.read_only_hint
        assert all(one.get("description") for one in tool.input_schema["properties"].values()), tool.name


@pytest.mark.parametrize("mode", MODES)
def test_a_diagnosis_holds_the_findings_of_the_command(tools: Tools, folder: Path, mode: str) -> None:
    saved = Diagnosis.model_validate_json((folder / "report.json").read_text("utf-8"))
    answer = call(tools, "diagnose", mode, path="prof", top=3)
    found = [Finding.model_validate(one["finding"]) for one in answer["findings"]]
    assert found == list(saved.findings[:3])
    assert answer["total"] == len(saved.findings)
    assert all("{" not in one["title"] and one["fix"] for one in answer["findings"])
    assert sum(answer["outcomes"].values()) == len(saved.outcomes)


def test_findings_that_say_the_time_of_another_are_numbered_under_it_as_in_reports(tools: Tools) -> None:
    answer = call(tools, "diagnose", path="prof", top=50)
    assert len(answer["findings"]) == answer["total"]
    assert {"1", "1.1"} <= {one["number"] for one in answer["findings"]}


@pytest.mark.parametrize("mode", MODES)
def test_progress_is_told_while_a_capture_is_read(folder: Path, catalog: Catalog, mode: str) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def listen(done: float, total: float | None, what: str | None) -> None:
        told.append((done, total, what))

    fresh = Tools(Opened(Roots([folder]), catalog))
    connected(fresh, lambda client: client.call_tool("diagnose", {"path": "prof"}, progress_callback=listen), mode)
    assert {what for _, _, what in told} >= {"captures", "rules"}
    assert told[-1][0] == told[-1][1]


def test_questions_asked_at_once_are_all_answered(folder: Path, catalog: Catalog) -> None:
    fresh = Tools(Opened(Roots([folder]), catalog))
    questions: list[tuple[str, dict[str, object]]] = [
        ("diagnose", {"path": "prof"}),
        ("query", {"path": "prof", "table": "kernels"}),
        ("explain", {"rule": "host/free-time", "path": "prof"}),
        ("show_table", {"table": "overlaps", "path": "prof"}),
        ("compare", {"before": "report.json", "after": "prof"}),
    ]

    async def work(client: Client) -> list[CallToolResult]:
        return await asyncio.gather(*(client.call_tool(name, words) for name, words in questions * 2))

    assert not any(result.is_error for result in connected(fresh, work))


def test_a_finding_is_explained_by_how_its_fingerprint_begins(tools: Tools) -> None:
    first = call(tools, "diagnose", path="prof", top=1)["findings"][0]["finding"]
    answer = call(tools, "explain", finding=first["fingerprint"][:6], path="prof", rows=2)
    assert answer["rule"]["id"] == first["rule"]
    (case,) = answer["cases"]
    assert case["finding"] == first | {"excerpt": case["finding"]["excerpt"]}
    assert len(case["rows"]["rows"]) == 2 and case["checks"]


def test_a_saved_diagnosis_is_explained_too(tools: Tools) -> None:
    answer = call(tools, "explain", rule="host/free-time", path="report.json")
    assert answer["outcome"]["outcome"] == "fired" and answer["cases"][0]["checks"]


def test_rules_are_listed_and_shown(tools: Tools) -> None:
    every = call(tools, "list_rules")["rules"]
    some = call(tools, "list_rules", pattern="host/*")["rules"]
    assert {one["id"] for one in some} == {one["id"] for one in every if one["id"].startswith("host/")}
    assert call(tools, "show_rule", rule="host/free-time")["logic"]["table"] == "overlaps"
    assert call(tools, "show_rule", rule="host/free-time").keys() == Explanation.model_fields.keys()


def test_tables_are_listed_and_shown(tools: Tools) -> None:
    assert [one["name"] for one in call(tools, "list_tables")["tables"]] == list(FACTS)
    shown = call(tools, "show_table", table="kernels", path="prof")
    assert shown["rows"] > 0 and shown["missing"] is None


def test_a_tool_without_arguments_says_that_it_takes_none(tools: Tools) -> None:
    said = refused(tools, "list_tables", path="prof")
    assert "the tool list_tables has no argument `path`" in said
    assert "it takes none" in said
    assert "known are" not in said


def test_a_table_that_was_not_recorded_says_how_to_record_it(tools: Tools, catalog: Catalog) -> None:
    missing = []
    for name in FACTS:
        shown = call(tools, "show_table", table=name, path="prof")
        assert (shown["rows"] is None) == (shown["missing"] is not None)
        missing += [name] if shown["missing"] else []
    for name in missing[:2]:
        assert "not recorded" in refused(tools, "query", path="prof", table=name)


@pytest.mark.parametrize("mode", MODES)
def test_a_query_gives_groups_with_computed_values(tools: Tools, mode: str) -> None:
    answer = call(
        tools, "query", mode, path="prof", table="kernels", by=["op_type"], limit=3,
        let={"spent_us": "sum(duration_us)"}, sort="-spent_us", where="rank == 0",
    )  # fmt: skip
    rows = answer["rows"]
    assert [head["name"] for head in rows["columns"]] == ["op_type", "spent_us"]
    assert len(rows["rows"]) == 3 < rows["total"]
    assert rows["rows"][0][1] >= rows["rows"][1][1] >= rows["rows"][2][1]


def test_a_query_knows_the_step_whether_or_not_the_capture_was_diagnosed(folder: Path, catalog: Catalog) -> None:
    fresh = Tools(Opened(Roots([folder]), catalog))
    wish = Query(let={"share": "sum(duration_us) / step_us"}, columns=("share",))
    before = fresh.query("prof", "kernels", wish)
    fresh.whole("prof")
    assert fresh.query("prof", "kernels", wish) == before
    assert before["rows"]["rows"][0][0] > 0


def test_a_query_knows_the_framework_that_operators_alone_tell(folder: Path, tmp_path: Path, catalog: Catalog) -> None:
    results = next((folder / "prof").rglob("ASCEND_PROFILER_OUTPUT"))
    shutil.copytree(results, tmp_path / results.name)
    fresh = Tools(Opened(Roots([tmp_path]), catalog))
    wish = Query(let={"known": 'count(where=framework == "PyTorch")'}, columns=("known",))
    answer = fresh.query(str(tmp_path / results.name), "kernels", wish)
    assert answer["rows"]["rows"][0][0] > 0


def test_a_capture_compared_with_itself_is_the_same(tools: Tools) -> None:
    answer = call(tools, "compare", before="prof", after="report.json")
    assert {one["status"] for one in answer["changes"]} <= {"same", "not comparable"}
    assert all(one["status"] == "same" for one in answer["shifts"])


def test_answers_speak_one_language(folder: Path, catalog: Catalog) -> None:
    chinese = Tools(Opened(Roots([folder]), catalog), language="zh")
    answer = json.dumps(call(chinese, "show_rule", rule="host/free-time"), ensure_ascii=False)
    assert "空闲" in answer and "Free time is time" not in answer
    assert "没有规则" in refused(chinese, "show_rule", rule="host/fre-time")
    shown = call(chinese, "show_table", table="kernels")
    assert not shown["holds"].isascii()
    assert [one["holds"] for one in shown["columns"] if one["name"] == "duration_us"] == ["耗时"]


@pytest.mark.parametrize(
    ("tool", "words", "said"),
    [
        ("show_rule", {"rule": "zzz/zzz"}, ("没有规则", "`list_rules`")),
        ("show_rule", {"rule": "host/fre-time"}, ("没有规则", "是不是")),
        ("show_rule", {}, ("缺少参数 `rule`", "")),
        ("query", {"path": "prof", "table": "kernels", "limit": "x"}, ("参数 `limit` 不符合要求：", "")),
        ("diagnose", {"path": "prof", "topp": 1}, ("工具 diagnose 没有参数 `topp`", "可用：path, top")),
        ("diagnose", {"path": ""}, ("未给出路径", "")),
        ("diagnos", {"path": "prof"}, ("没有名为 `diagnos` 的工具", "可用：diagnose, inspect")),
        ("explain", {}, ("未指定规则或问题", "`finding`")),
        ("explain", {"path": "prof"}, ("未指定规则或问题", "`finding`")),
        ("explain", {"finding": "abcd"}, ("查找问题需要一份诊断", "`path`")),
    ],
)
def test_a_refusal_speaks_one_language_and_names_arguments_in_place_of_options(
    tool: str, words: dict[str, object], said: tuple[str, str], folder: Path, catalog: Catalog
) -> None:
    begins, hint = said
    told = refused(Tools(Opened(Roots([folder]), catalog), language="zh"), tool, **words)
    assert told.startswith(begins)
    assert hint in told
    assert "--" not in told


def test_reports_are_resources(tools: Tools, folder: Path) -> None:
    whole = connected(tools, lambda client: client.read_resource("advisor://diagnosis/prof")).contents[0]
    assert whole.mime_type == "application/json"
    assert Diagnosis.model_validate_json(whole.text).findings
    page = connected(tools, lambda client: client.read_resource("advisor://report/report.json")).contents[0]
    assert page.text.startswith("# ")


@pytest.mark.parametrize(
    "uri",
    [
        "advisor://report/../secret",
        "advisor://report/%2e%2e/secret",
        "advisor://diagnosis//etc/passwd",
        "advisor://diagnosis/prof/../../secret.json",
        "advisor://report/nothing",
        "file:///etc/passwd",
    ],
)
def test_resources_stay_below_the_roots(tools: Tools, uri: str) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError) as trouble:
            await client.read_resource(uri)
        assert "root:" not in str(trouble.value)

    connected(tools, work)


@pytest.mark.parametrize("path", ["../secret", "../secret.json", "/etc/passwd", "prof/../../secret", "out", "", "x\0y"])
@pytest.mark.parametrize("tool", ["diagnose", "show_table", "query", "explain", "compare"])
def test_no_tool_reads_outside_of_the_roots(tool: str, path: str, tools: Tools, folder: Path) -> None:
    if not (folder / "out").is_symlink():
        (folder / "out").symlink_to(folder.parent / "secret")
    words: dict[str, object] = {
        "diagnose": {"path": path},
        "show_table": {"table": "kernels", "path": path},
        "query": {"table": "kernels", "path": path},
        "explain": {"rule": "host/free-time", "path": path},
        "compare": {"before": "prof", "after": path},
    }[tool]  # type: ignore[assignment]
    if not path and tool in ("show_table", "explain"):
        assert call(tools, tool, **words)["rows" if tool == "show_table" else "run"] is None
    else:
        assert ("outside of the folders" if path else "no path is given") in refused(tools, tool, **words)


@pytest.mark.parametrize(
    ("tool", "words", "message"),
    [
        ("query", {"table": "kernls"}, "did you mean `kernels`?"),
        ("query", {"table": "kernels", "where": "durations > 5"}, "did you mean `duration_us`?"),
        ("query", {"table": "kernels", "where": "(lambda: 1)()"}, "can be called"),
        ("query", {"table": "kernels", "limit": 10**12}, "1 to 500"),
        ("query", {"table": "kernels", "limit": -1}, "1 to 500"),
        ("query", {"table": "kernels", "columns": ["__class__"]}, "no column"),
        ("query", {"table": "kernels", "let": {"a": "a"}}, "unknown name `a`"),
        ("diagnose", {"top": 10**9}, "1 to 50"),
        ("explain", {"rule": "host/fre-time"}, "did you mean `host/free-time`?"),
        ("explain", {"finding": "zzzz"}, "no finding `zzzz`"),
        ("explain", {"rule": "host/free-time", "rows": 0}, "1 to 200"),
        ("explain", {}, "neither a rule nor a finding"),
    ],
)
def test_wrong_questions_are_answered_with_what_would_be_right(
    tool: str, words: dict[str, object], message: str, tools: Tools
) -> None:
    assert message in refused(tools, tool, path="prof", **words)


def test_an_answer_that_is_too_long_to_be_of_use_is_not_given(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MOST_CHARACTERS", 1000)
    assert "fewer rows" in refused(tools, "query", path="prof", table="kernels", limit=100)


def test_unknown_rules_and_missing_arguments_are_errors_of_the_tool(tools: Tools) -> None:
    assert "categories" in refused(tools, "list_rules", pattern="nothing/*")
    assert "table" in refused(tools, "query", path="prof")


def test_a_saved_file_that_is_no_diagnosis_is_named(folder: Path, tools: Tools) -> None:
    (folder / "broken.json").write_text('{"format": "other"}', "utf-8")
    assert "is not a diagnosis" in refused(tools, "diagnose", path="broken.json")


def test_endless_names_are_cut_and_no_surrogate_reaches_the_wire() -> None:
    finding = {"subject": {"op": "n" * 10_000, "file": "a\ud800b"}}
    made = Finding.model_validate(
        {"rule": "a/b", "fingerprint": "0" * 16, "severity": "low", "confidence": "low", **finding}
    )
    answer = model_in_language(made, "en")
    assert len(answer["subject"]["op"]) == MOST_TEXT
    assert answer["subject"]["file"] == "a\\ud800b"
    saving = model_in_language(Saving.model_construct(us=math.inf, share=math.nan), "en")
    assert (saving["us"], saving["share"]) == (None, None)


def test_nothing_is_written(folder: Path, tools: Tools) -> None:
    def listing() -> dict[str, tuple[int, int]]:
        return {str(p): (p.lstat().st_size, p.lstat().st_mtime_ns) for p in folder.rglob("*")}

    before = listing()
    call(tools, "diagnose", path="prof")
    call(tools, "query", path="prof", table="kernels")
    call(tools, "compare", before="prof", after="report.json")
    assert listing() == before


def test_the_command_speaks_the_protocol_on_standard_output_and_nothing_else(folder: Path) -> None:
    async def work() -> CallToolResult:
        arguments = ["-m", "advisor", "mcp", "--root", str(folder)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
        async with Client(StdioServerParameters(command=sys.executable, args=arguments, env=environment)) as client:
            return await client.call_tool("diagnose", {"path": "prof", "top": 1})

    result = asyncio.run(work())
    assert not result.is_error and result.structured_content is not None
    assert result.structured_content["findings"]


def test_without_the_package_the_command_says_how_to_get_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("", "utf-8")  # as an older release: without the server of today
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])}
    done = subprocess.run(
        [sys.executable, "-m", "advisor", "mcp", "--root", str(folder), "--lang", "en"],
        env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2
    assert 'pip install "ascend-advisor[mcp]"' in done.stderr


@pytest.mark.parametrize("place", ["/", "~"])
def test_neither_home_nor_the_whole_disk_is_opened_by_default(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(Path(place).expanduser())
    assert main(["mcp"]) == 2
    assert "--root" in capsys.readouterr().err


def test_a_root_that_is_no_folder_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--root", str(tmp_path / "nothing")]) == 2
    assert "is no folder" in capsys.readouterr().err
