# SPDX-License-Identifier: Apache-2.0
"""GitLab, gitlab.com or self-managed: https://docs.gitlab.com/api/notes/"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from msgspec import Struct

from advisor.bot import forge_errors as trouble
from advisor.bot.ci_job import CiJob, parse_pull_number
from advisor.bot.forge import Comment, Features, ForgeKind, Light, Refused
from advisor.bot.pages import paged_entries
from advisor.bot.rest import ApiAccess, Rest, is_gone
from advisor.bot.retries import Retries
from advisor.messages.errors import ForgeError
from advisor.messages.message import Message
from advisor.messages.text import Text

ADDRESS = "https://gitlab.com/api/v4"
FEATURES = Features(limit=1_000_000, status=True)
_PAGE = 100
_STATUS_WORDS = 255
_ACCESS = ApiAccess(
    forge="GitLab",
    header="PRIVATE-TOKEN",
    prefix="",
    needs=Text(
        "use a project or personal access token with the scope api and at least the role Reporter (Developer with "
        "--status); CI_JOB_TOKEN cannot write comments",
        "请使用具有 api 范围、角色不低于 Reporter（--status 需 Developer）的项目或个人访问令牌；"
        "CI_JOB_TOKEN 不能发表评论",
    ),
)


class _Author(Struct):
    username: str = ""


class _Note(Struct):
    id: int
    body: str | None = None
    author: _Author | None = None
    system: bool = False

    def comment(self) -> Comment:
        return Comment(self.id, self.author.username if self.author else "", self.body or "")


class GitLab:
    """A merge request on GitLab."""

    features = FEATURES

    def __init__(self, rest: Rest, repo: str, number: int) -> None:
        self._rest = rest
        self._project = f"/projects/{quote(repo, safe='')}"
        self._notes = f"{self._project}/merge_requests/{number}/notes"

    @property
    def name(self) -> str:
        return self._rest.access.forge

    def __repr__(self) -> str:
        return f"GitLab({self._rest!r}, {self._notes})"

    def whoami(self) -> str:
        return self._rest.read(_Author, "GET", "/user").username

    def comments(self) -> Iterator[Comment]:
        for note in paged_entries(self._rest, list[_Note], self._notes, _PAGE, sort="asc", order_by="created_at"):
            if not note.system:
                yield note.comment()

    def create(self, body: str) -> Comment:
        return self._rest.read(_Note, "POST", self._notes, {"body": body}).comment()

    def update(self, comment: Comment, body: str) -> None:
        self._rest.ask("PUT", f"{self._notes}/{comment.id}", {"body": body})

    def delete(self, comment: Comment) -> None:
        try:
            self._rest.ask("DELETE", f"{self._notes}/{comment.id}")
        except ForgeError as error:
            if not is_gone(error):
                raise

    def set_status(self, sha: str, light: Light) -> None:
        words = {
            "state": "success" if light.passed else "failed",
            "name": light.name,
            "description": light.title[:_STATUS_WORDS],
        }
        url = {"target_url": light.url} if light.url else {}
        self._rest.ask("POST", f"{self._project}/statuses/{quote(sha, safe='')}", words | url)

    def add_check(self, sha: str, light: Light) -> None:
        raise trouble.not_offered(self.name, Message("a_check_run"))


def gitlab_client(repo: str, number: int, token: str, address: str = "", retries: Retries | None = None) -> GitLab:
    """One merge request on GitLab; `repo` is the full path of the project, with all its groups."""
    return GitLab(Rest(_ACCESS, address or ADDRESS, token, retries), repo, number)


def gitlab_job(environ: Mapping[str, str]) -> CiJob | None:
    """A job of GitLab CI. For a merge request from a fork the project is the one that it goes into."""
    if not environ.get("GITLAB_CI"):
        return None
    return CiJob(
        kind="gitlab",
        repo=environ.get("CI_MERGE_REQUEST_PROJECT_PATH") or environ.get("CI_PROJECT_PATH", ""),
        number=parse_pull_number(environ.get("CI_MERGE_REQUEST_IID", "")),
        sha=environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environ.get("CI_COMMIT_SHA", ""),
        api_url=environ.get("CI_API_V4_URL", ""),
        run_url=environ.get("CI_JOB_URL", ""),
    )


FORGE = ForgeKind(
    gitlab_client,
    FEATURES,
    ("GITLAB_TOKEN",),
    gitlab_job,
    refused=Refused(
        "CI_JOB_TOKEN",
        Text("CI_JOB_TOKEN cannot write comments on GitLab", "GitLab 的 CI_JOB_TOKEN 不能发表评论"),
        Text(
            "make a project access token with the scope api and hand it over as the masked variable GITLAB_TOKEN",
            "请创建具有 api 范围的项目访问令牌，并以掩码变量 GITLAB_TOKEN 传入",
        ),
    ),
    groups=True,
)
