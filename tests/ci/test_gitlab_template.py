# SPDX-License-Identifier: Apache-2.0
"""ci/gitlab.yml does what docs/ci.md says: its script runs on a capture, against a forge on loopback."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fake_forge import BOT, NUMBER, REPO, TOKEN, FakeForge
from gitlab_ci import included
from shells import run_logged
from standins import python3, recorded

TOP = Path(__file__).parents[2]
TEMPLATE = TOP / "ci" / "gitlab.yml"
CAPTURE = TOP / "corpus" / "host-bound-2-ranks"


@dataclass
class Pipeline:
    """A runner with a checkout."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    log: str = ""

    @property
    def report(self) -> Path:
        return self.folder / "advisor-report"

    def run(self, **inputs: str) -> int:
        """The exit code of the job."""
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        ((_, job),) = included(TEMPLATE, {"path": "prof", **named}).items()
        own = {name: one["value"] if isinstance(one, dict) else one for name, one in job["variables"].items()}
        script = "\n".join(job["script"])
        code, self.log = run_logged(["sh", "-e", "-c", script], self.folder, {**self.environment, **own})
        return code


@pytest.fixture
def pipeline(tmp_path: Path, forge: FakeForge, advisor_program: str) -> Pipeline:
    """A job for a merge request."""
    folder, programs = tmp_path / "checkout", tmp_path / "programs"
    folder.mkdir()
    shutil.copytree(CAPTURE, folder / "prof")
    python3(programs, tmp_path / "pip", advisor_program)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(TOP),
        "GITLAB_CI": "true",
        "GITLAB_TOKEN": TOKEN,
        "CI_API_V4_URL": forge.api("gitlab"),
        "CI_PROJECT_ID": "12",
        "CI_PROJECT_PATH": REPO,
        "CI_MERGE_REQUEST_PROJECT_PATH": REPO,
        "CI_MERGE_REQUEST_IID": str(NUMBER),
        "CI_DEFAULT_BRANCH": "main",
        "CI_JOB_URL": "https://forge.example/team/model/-/jobs/9",
    }
    return Pipeline(folder, environment)


def test_it_writes_the_reports_and_comments(pipeline: Pipeline, forge: FakeForge) -> None:
    assert pipeline.run() == 0, pipeline.log
    assert "no baseline from the default branch" in pipeline.log
    for name in ("advisor.html", "advisor.json", "advisor.codequality.json", "advisor.junit.xml"):
        assert (pipeline.report / name).stat().st_size > 0
    (comment,) = forge.by(BOT)
    assert "https://forge.example/team/model/-/jobs/9/artifacts/file/advisor-report/advisor.html" in comment
    assert TOKEN not in pipeline.log


def test_with_a_baseline_of_its_own_findings_that_are_not_new_pass(pipeline: Pipeline, forge: FakeForge) -> None:
    pipeline.run(comment="false")
    shutil.copy(pipeline.report / "advisor.json", pipeline.folder / "main.json")
    assert pipeline.run(baseline="main.json", language="zh", name="train") == 0, pipeline.log
    (comment,) = forge.by(BOT)
    assert comment.startswith("<!-- advisor:diagnosis train -->")
    assert "每步" in comment


def test_findings_fail_the_job_after_the_comment(pipeline: Pipeline, forge: FakeForge) -> None:
    assert pipeline.run(baseline="prof", fail_on="high") == 1
    assert len(forge.by(BOT)) == 1


def test_on_the_default_branch_nothing_fails_and_nobody_is_told(pipeline: Pipeline, forge: FakeForge) -> None:
    for name in ("CI_MERGE_REQUEST_IID", "CI_MERGE_REQUEST_PROJECT_PATH"):
        del pipeline.environment[name]
    pipeline.environment["CI_COMMIT_BRANCH"] = "main"
    assert pipeline.run(fail_on="high") == 0, pipeline.log
    assert not forge.asked


def test_without_a_token_there_is_no_comment_and_the_reason_is_told(pipeline: Pipeline, forge: FakeForge) -> None:
    del pipeline.environment["GITLAB_TOKEN"]
    assert pipeline.run(fail_on="none") == 0, pipeline.log
    assert "there is no variable GITLAB_TOKEN" in pipeline.log
    assert not forge.asked


def test_what_cannot_be_read_fails_the_job(pipeline: Pipeline) -> None:
    assert pipeline.run(path="nowhere") == 3


@pytest.mark.parametrize(
    "value", ["x'; touch pwned; \"; touch pwned; $(touch pwned) `touch pwned` & touch pwned\ntouch pwned #", "--help"]
)
def test_what_an_input_holds_is_one_word_and_no_option(pipeline: Pipeline, value: str) -> None:
    file = pipeline.folder.parent / "told"
    recorded(pipeline.folder.parent / "programs", file)
    names = ("path", "baseline", "policy", "fail_on", "anchor", "name", "package")
    assert pipeline.run(**dict.fromkeys(names, value)) == 0, pipeline.log
    check, bot = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    outputs = [word for word in check if word.startswith("-o") or "advisor-report" in word]
    options = ("--baseline", "--config", "--fail-on", "--anchor")
    given = [word for word in check[2:] if word not in outputs]
    assert given == [*(f"{one}={value}" for one in options), "--", value]
    assert [word for word in bot[2:5]] == [f"{one}={value}" for one in ("--baseline", "--config", "--name")]
    assert (pipeline.folder.parent / "pip").read_text("utf-8").split("\n--\n")[1] == f"{value}\n"
    assert not list(pipeline.folder.parent.rglob("pwned"))


@contextmanager
def kept(content: bytes, asked: list[str]) -> Iterator[str]:
    """Where an artifact is kept: it answers with a redirect to another host, as object storage does."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.path} {self.headers.get('PRIVATE-TOKEN')}")
            self.send_response(200 if self.path == "/kept" else 302)
            self.send_header("Location", f"http://localhost:{server.server_address[1]}/kept")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_the_baseline_comes_from_the_default_branch_and_the_token_goes_to_the_forge_alone(pipeline: Pipeline) -> None:
    pipeline.run(comment="false")
    main = (pipeline.report / "advisor.json").read_bytes()
    asked: list[str] = []
    with kept(main, asked) as address:
        pipeline.environment["CI_API_V4_URL"] = address
        assert pipeline.run(comment="false", job="perf job") == 0, pipeline.log
    path = "/projects/12/jobs/artifacts/main/raw/advisor-report/advisor.json?job=perf%20job"
    assert asked == [f"{path} {TOKEN}", "/kept None"]
    assert json.loads((pipeline.report / "baseline.json").read_bytes()) == json.loads(main)
    assert "no baseline" not in pipeline.log
