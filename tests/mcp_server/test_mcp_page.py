# SPDX-License-Identifier: Apache-2.0
"""What the page about assistants says can be pasted as it stands."""

from __future__ import annotations

import json
import re
from pathlib import Path

from advisor.cli.top_parser import build_parser
from advisor.mcp_server.query import MOST_ROWS, Query
from advisor.mcp_server.tools import Tools

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")
BLOCKS = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", PAGE, re.M | re.S)]


def test_the_settings_of_assistants_start_the_command() -> None:
    entries = [block.get("mcpServers") or block.get("servers") for block in BLOCKS if "table" not in block]
    assert len(entries) == 2
    for entry in entries:
        assert entry["advisor"]["command"] == "advisor"
        arguments = build_parser("mcp").parse_args(entry["advisor"]["args"])
        assert len(arguments.root) == 1


def test_the_query_of_the_page_is_answered(tools: Tools) -> None:
    (block,) = [block for block in BLOCKS if "table" in block]
    path, table = block.pop("path"), block.pop("table")
    wish = Query(**{key: tuple(value) if isinstance(value, list) else value for key, value in block.items()})
    rows = tools.query(path, table, wish)["rows"]
    assert [head["name"] for head in rows["columns"]] == ["op_type", "total_us", "calls"]
    assert len(rows["rows"]) == 5


def test_every_tool_is_on_the_page_and_its_limit_is_right() -> None:
    named = {name for name in re.findall(r"`(\w+)`", PAGE) if hasattr(Tools, name)}
    asked = {name for name in vars(Tools) if not name.startswith("_")} - {"whole"}
    assert named == asked
    assert f"at most {MOST_ROWS}\nrows" in PAGE
