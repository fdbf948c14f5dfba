# SPDX-License-Identifier: Apache-2.0
"""A folder of captures as an assistant may see it, and the tools over it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import advisor
from advisor.mcp_server.open_captures import Opened
from advisor.mcp_server.roots import Roots
from advisor.mcp_server.tools import Tools
from advisor.rules.catalog import Catalog

CASE = Path(__file__).parent.parent.parent / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return advisor.load_rules()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, catalog: Catalog) -> Path:
    """`prof` is a capture, `report.json` its diagnosis; beside the folder lies what nobody may read."""
    top = tmp_path_factory.mktemp("assistant")
    root = top / "root"
    shutil.copytree(CASE, root / "prof")
    shutil.copytree(CASE, top / "secret")
    (root / "report.json").write_text(advisor.diagnose(root / "prof").to_json(), "utf-8")
    (top / "secret.json").write_bytes((root / "report.json").read_bytes())
    return root


@pytest.fixture(scope="session")
def tools(folder: Path, catalog: Catalog) -> Tools:
    return Tools(Opened(Roots([folder]), catalog))
