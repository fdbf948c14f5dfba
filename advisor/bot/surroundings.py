# SPDX-License-Identifier: Apache-2.0
"""What the environment of a CI job tells: which forge, which pull request, which commit, and the token for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from advisor.bot.forge import Kind
from advisor.messages.errors import UsageError
from advisor.messages.text import Text

TOKENS: Mapping[Kind, tuple[str, ...]] = {
    "github": ("GITHUB_TOKEN", "GH_TOKEN"),
    "gitlab": ("GITLAB_TOKEN",),
    "gitee": ("GITEE_TOKEN",),
    "gitcode": ("GITCODE_TOKEN", "ATOMGIT_TOKEN"),
    "gitea": ("GITEA_TOKEN", "FORGEJO_TOKEN"),
}
"""Where a token may stand, after ADVISOR_TOKEN. A token of one forge is not sent to another."""
_PULL = re.compile(r"refs/(?:pull|merge-requests)/(\d{1,18})/")


class Surroundings(Struct, frozen=True):
    """What is known without being said; empty and None where it is not."""

    kind: Kind | None = None
    repo: str = ""
    number: int | None = None
    sha: str = ""
    """The commit of the pull request, not of its merge."""
    api_url: str = ""
    run_url: str = ""
    """Where people find this run and what it keeps."""
    head: str = ""
    """`owner:branch` of a pull request whose number the event does not tell."""


def surroundings(environ: Mapping[str, str]) -> Surroundings:
    """What the CI says of itself. Gitea speaks as GitHub does, so it is asked first."""
    if environ.get("GITEA_ACTIONS") or environ.get("FORGEJO_ACTIONS"):
        return _actions(environ, "gitea", "GITHUB")
    if environ.get("GITHUB_ACTIONS"):
        return _actions(environ, "github", "GITHUB")
    if environ.get("ATOMGIT_ACTIONS"):
        return _actions(environ, "gitcode", "ATOMGIT")
    if environ.get("GITLAB_CI"):
        return _gitlab(environ)
    return _gitee(environ) if environ.get("giteePullRequestIid") else Surroundings()


def token_of(kind: Kind, environ: Mapping[str, str]) -> str:
    """The token for this forge.

    Raises:
        UsageError: There is none; the message names the variables that may hold it.
    """
    names = ["ADVISOR_TOKEN", *TOKENS[kind]]
    if kind == "gitea" and (environ.get("GITEA_ACTIONS") or environ.get("FORGEJO_ACTIONS")):
        names.append("GITHUB_TOKEN")  # what Gitea's own runner calls it
    found = next((environ[name] for name in names if environ.get(name, "").strip()), "")
    if found:
        return found
    listed = ", ".join(names)
    if kind == "gitlab" and environ.get("CI_JOB_TOKEN"):
        raise UsageError(
            Text("CI_JOB_TOKEN cannot write comments on GitLab", "GitLab 的 CI_JOB_TOKEN 不能发表评论"),
            Text(
                "make a project access token with the scope api and hand it over as the masked variable GITLAB_TOKEN",
                "请创建具有 api 范围的项目访问令牌，并以掩码变量 GITLAB_TOKEN 传入",
            ),
        )
    raise UsageError(
        Text("there is no token to comment with", "缺少发表评论所需的令牌"),
        Text(
            f"set one of {listed}; see docs/bot.md. --dry-run needs none",
            f"请设置 {listed} 之一，见 docs/bot.md；--dry-run 不需要令牌",
        ),
    )


class _Owner(Struct):
    login: str | None = None


class _Repository(Struct):
    owner: _Owner | None = None


class _Head(Struct):
    sha: str | None = None


class _Pull(Struct):
    number: int | None = None
    head: _Head | None = None


class _Issue(Struct):
    number: int | None = None
    pull_request: object = None


class _Run(Struct):
    event: str | None = None
    head_branch: str | None = None
    head_sha: str | None = None
    head_repository: _Repository | None = None
    pull_requests: list[_Pull] | None = None
    html_url: str | None = None


class _Event(Struct):
    pull_request: _Pull | None = None
    issue: _Issue | None = None
    workflow_run: _Run | None = None


def _actions(environ: Mapping[str, str], kind: Kind, prefix: str) -> Surroundings:
    def said(name: str) -> str:
        return environ.get(f"{prefix}_{name}", "")

    event = _event(said("EVENT_PATH"))
    base = Surroundings(
        kind=kind,
        repo=said("REPOSITORY"),
        number=_number(event, said("REF")),
        sha=_sha(event) or said("SHA"),
        api_url="" if kind == "gitcode" else said("API_URL"),  # GitCode gives an address without its /api/v5
        run_url=f"{said('SERVER_URL')}/{said('REPOSITORY')}/actions/runs/{said('RUN_ID')}" if kind == "github" else "",
    )
    run = event.workflow_run
    return base if run is None else _of_run(base, run)


def _of_run(base: Surroundings, run: _Run) -> Surroundings:
    """What a `workflow_run` event tells of the pull request whose run it follows."""
    owner = run.head_repository and run.head_repository.owner and run.head_repository.owner.login
    from_pull = run.event == "pull_request" and base.number is None and owner and run.head_branch
    return msgspec.structs.replace(
        base, run_url=run.html_url or base.run_url, head=f"{owner}:{run.head_branch}" if from_pull else ""
    )


def _event(path: str) -> _Event:
    """What set the job off. A file that is missing or of another form tells nothing: options say what is needed."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=_Event) if path else _Event()
    except (OSError, msgspec.DecodeError):
        return _Event()


def _number(event: _Event, ref: str) -> int | None:
    if event.pull_request is not None and event.pull_request.number:
        return event.pull_request.number
    if event.issue is not None and event.issue.pull_request and event.issue.number:
        return event.issue.number
    if event.workflow_run is not None:
        pulls = event.workflow_run.pull_requests or []
        return pulls[0].number if len(pulls) == 1 else None
    found = _PULL.match(ref)
    return int(found[1]) if found else None


def _sha(event: _Event) -> str:
    if event.workflow_run is not None:
        return event.workflow_run.head_sha or ""
    head = event.pull_request.head if event.pull_request is not None else None
    return (head.sha or "") if head is not None else ""


def _gitlab(environ: Mapping[str, str]) -> Surroundings:
    """For a merge request from a fork the project is the one that it goes into."""
    number = environ.get("CI_MERGE_REQUEST_IID", "")
    return Surroundings(
        kind="gitlab",
        repo=environ.get("CI_MERGE_REQUEST_PROJECT_PATH") or environ.get("CI_PROJECT_PATH", ""),
        number=int(number) if re.fullmatch(r"[0-9]{1,18}", number) else None,
        sha=environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environ.get("CI_COMMIT_SHA", ""),
        api_url=environ.get("CI_API_V4_URL", ""),
        run_url=environ.get("CI_JOB_URL", ""),
    )


def _gitee(environ: Mapping[str, str]) -> Surroundings:
    """Jenkins with the plugin of Gitee: https://github.com/jenkinsci/gitee-plugin"""
    number = environ["giteePullRequestIid"]
    parts = (environ.get("giteeTargetNamespace", ""), environ.get("giteeTargetRepoName", ""))
    return Surroundings(
        kind="gitee",
        repo="/".join(parts) if all(parts) else "",
        number=int(number) if re.fullmatch(r"[0-9]{1,18}", number) else None,
        run_url=environ.get("BUILD_URL", ""),
    )
