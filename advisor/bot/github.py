# SPDX-License-Identifier: Apache-2.0
"""GitHub, and GitHub Enterprise Server: https://docs.github.com/rest/issues/comments"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from msgspec import Struct

from advisor.bot.ci_job import CiJob, actions_job
from advisor.bot.forge import Features, ForgeKind, Light
from advisor.bot.githublike import GitHubLike, Routes
from advisor.bot.rest import ApiAccess, Rest
from advisor.bot.retries import Retries
from advisor.messages.errors import ForgeError
from advisor.messages.text import Text

ADDRESS = "https://api.github.com"
FEATURES = Features(limit=65_536, status=True, check=True)
_SUMMARY = 65_000
"""A check run takes 65,535 characters of text."""
_ACCESS = ApiAccess(
    forge="GitHub",
    header="Authorization",
    prefix="Bearer ",
    headers={"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"},
    needs=Text(
        "a workflow needs `permissions: pull-requests: write` (with --status also `statuses: write`, with --check "
        "`checks: write`), another token `Pull requests: read and write`; for pull requests from forks see docs/bot.md",
        "工作流需要 `permissions: pull-requests: write`（--status 另需 `statuses: write`，"
        "--check 另需 `checks: write`），其他令牌需要 Pull requests 读写权限；来自 fork 的合并请求见 docs/bot.md",
    ),
)
_ROUTES = Routes(
    comments="/repos/{repo}/issues/{number}/comments",  # a pull request is an issue
    comment="/repos/{repo}/issues/comments/{id}",
    page_size=100,
)


class _Viewer(Struct):
    login: str = ""


class _Data(Struct):
    viewer: _Viewer | None = None


class _Query(Struct):
    data: _Data | None = None


class _Head(Struct):
    sha: str = ""


class _Pull(Struct):
    number: int
    head: _Head | None = None


class GitHub(GitHubLike):
    """A pull request on GitHub."""

    def whoami(self) -> str:
        """The login. The token of a workflow is that of an app, which only GraphQL tells."""
        try:
            return super().whoami()
        except ForgeError as refusal:
            if refusal.status != HTTPStatus.FORBIDDEN:
                raise
            query = {"query": "{viewer{login}}"}
            answer = self._rest.read(_Query, "POST", _graphql_address(self._rest.address), query)
            if answer.data is None or answer.data.viewer is None:
                raise
            return answer.data.viewer.login

    def add_check(self, sha: str, light: Light) -> None:
        check = {
            "name": light.name,
            "head_sha": sha,
            "status": "completed",
            "conclusion": "success" if light.passed else "failure",
            "output": {"title": light.title[:255], "summary": light.summary[:_SUMMARY]},
        }
        url = {"details_url": light.url} if light.url else {}
        self._rest.ask("POST", f"/repos/{self._repo}/check-runs", check | url)


def github_job(environ: Mapping[str, str]) -> CiJob | None:
    """A workflow of GitHub Actions; Gitea and Forgejo call themselves that too."""
    if not environ.get("GITHUB_ACTIONS") or environ.get("GITEA_ACTIONS") or environ.get("FORGEJO_ACTIONS"):
        return None
    return actions_job(environ, "github", "GITHUB")


def pull_of(job: CiJob, token: str, retries: Retries | None = None) -> int | None:
    """The number of the open pull request from `owner:branch` at the commit of the job; None when there is none.

    What a `workflow_run` event tells of a pull request from a fork is its branch, not its number.
    """
    rest = Rest(_ACCESS, job.api_url or ADDRESS, token, retries)
    pulls = rest.read(list[_Pull], "GET", f"/repos/{job.repo}/pulls", None, head=job.head, state="open")
    return next((pull.number for pull in pulls if pull.head is not None and pull.head.sha == job.sha), None)


def _graphql_address(address: str) -> str:
    """GitHub Enterprise Server has its REST API at `/api/v3` and GraphQL at `/api/graphql`."""
    return address.removesuffix("/v3") + "/graphql"


FORGE = ForgeKind(
    GitHub.client(_ACCESS, ADDRESS, FEATURES, _ROUTES),
    FEATURES,
    ("GITHUB_TOKEN", "GH_TOKEN"),
    github_job,
    pull_of=pull_of,
)
