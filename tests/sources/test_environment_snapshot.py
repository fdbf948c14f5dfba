# SPDX-License-Identifier: Apache-2.0
"""What a snapshot of the environment says is read beside a capture, and none says what is secret."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.__main__ import main
from advisor.facts.observed import Setting
from advisor.pipeline import open_profile
from advisor.sources.shared import environment_snapshot
from advisor.sources.shared.environment import snapshot_settings
from advisor.sources.shared.environment_snapshot import FILE_NAME, VARIABLES, environment, snapshot

SECRETS = (
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYz",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "AKIAIOSFODNN7EXAMPLE",
    "my-secret-word",
    "https://me:word@host/path",
    "me@host",
    "0123456789abcdef0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    "two\nlines",
)
CAPTURE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_is_written_wherever_it_stands(secret: str) -> None:
    given = dict.fromkeys([*VARIABLES, "HF_TOKEN", "VLLM_API_KEY", "AWS_SECRET_ACCESS_KEY", "HTTP_PROXY"], secret)
    written = json.dumps(snapshot(given))
    assert secret not in written
    assert json.dumps(secret)[1:-1] not in written
    assert not any(environment(given).get(name) for name in given if not name.endswith("_DIR"))


def test_names_beyond_the_list_are_not_written() -> None:
    assert not environment({"MY_WORD": "1"}).keys() - {*VARIABLES}
    assert not [name for name in VARIABLES if re.search("KEY|TOKEN|SECRET|PASS", name)]


def test_plain_values_are_written_and_unset_ones_are_known_to_be() -> None:
    given = {
        "TASK_QUEUE_ENABLE": "2",
        "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True",
        "CPU_AFFINITY_CONF": "1,npu0:0-1",
        "HCCL_ALGO": "level0:ring;level1:H-D_R",
        "LD_PRELOAD": "/home/me/lib/libtcmalloc.so.4 /opt/libjemalloc.so.2",
        "ACL_OP_COMPILER_CACHE_DIR": "/home/me/cache",
    }
    told = environment(given)
    assert {name: told[name] for name in list(given)[:4]} == dict(list(given.items())[:4])
    assert told["LD_PRELOAD"] == "libtcmalloc.so.4:libjemalloc.so.2"
    assert told["ACL_OP_COMPILER_CACHE_DIR"] == "set"
    assert told["OMP_NUM_THREADS"] == ""


def test_the_script_needs_no_package_and_no_newer_python() -> None:
    text = Path(environment_snapshot.__file__).read_text("utf-8")
    tree = ast.parse(text, feature_version=(3, 7))
    names = [
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert {str(name).split(".", maxsplit=1)[0] for name in names} <= sys.stdlib_module_names


def test_the_printed_script_runs_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["snapshot-env"]) == 0
    (tmp_path / "env.py").write_text(capsys.readouterr().out, "utf-8")
    done = subprocess.run([sys.executable, "-I", "env.py", "-o", "."], cwd=tmp_path, check=True, capture_output=True)
    assert FILE_NAME in done.stdout.decode()
    assert json.loads((tmp_path / FILE_NAME).read_text("utf-8"))["host"]["python"]


@pytest.mark.parametrize("folder", ["prof", "./prof/", "new/prof"])
def test_a_folder_that_is_not_there_yet_is_made_and_the_profiler_can_write_into_it(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["snapshot-env", "-o", folder]) == 0
    assert json.loads((tmp_path / folder / FILE_NAME).read_text("utf-8"))["host"]["python"]
    (tmp_path / folder / "host_1_ascend_pt").mkdir()


def test_a_file_that_cannot_be_written_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["snapshot-env", "-o", str(tmp_path / "nowhere" / "env.json")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("inside", [True, False], ids=["in a capture", "beside the captures"])
def test_a_snapshot_is_read_with_the_capture_and_what_the_profiler_recorded_counts(
    inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "prof"
    shutil.copytree(CAPTURE, folder)
    ranks = [path for path in folder.iterdir() if path.is_dir()]
    before = open_profile(folder, jobs=1).table(Setting).rows()
    monkeypatch.setenv("TASK_QUEUE_ENABLE", "2")
    monkeypatch.setenv("ACLNN_CACHE_LIMIT", "77")
    assert main(["snapshot-env", "-o", str(ranks[0] if inside else folder)]) == 0
    after = open_profile(folder, jobs=1).table(Setting).rows()
    assert [row for row in after if row in before] == before
    added = [row for row in after if row not in before]
    assert len({row["rank"] for row in added}) == (1 if inside else len(ranks))
    assert {row["kind"] for row in added} == {"env", "host", "package"}
    assert ("env", "TASK_QUEUE_ENABLE", "2") in {(row["kind"], row["name"], row["value"]) for row in added}
    recorded = {row["name"] for row in before}
    assert not [row for row in added if row["name"] in recorded]


def test_nothing_above_what_was_given_is_read(tmp_path: Path) -> None:
    shutil.copytree(CAPTURE, tmp_path / "prof")
    assert main(["snapshot-env", "-o", str(tmp_path / "prof")]) == 0
    rank = next(path for path in (tmp_path / "prof").iterdir() if path.is_dir())
    for given in (rank, rank / "ASCEND_PROFILER_OUTPUT"):
        assert "host" not in {row["kind"] for row in open_profile(given, jobs=1).table(Setting).rows()}


@pytest.mark.parametrize(
    "written", ["", "[]", "{}", '{"advisor_env": 2}', '{"advisor_env": 1, "env": [1]}', "\0\0", "{"]
)
def test_what_is_no_snapshot_is_passed_over(written: str, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(written)
    assert snapshot_settings([tmp_path]) == []
