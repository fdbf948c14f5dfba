# SPDX-License-Identifier: Apache-2.0
"""GitLab, gitlab.com or self-managed: https://docs.gitlab.com/api/notes/"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from msgspec import Struct

from advisor.bot import trouble
from advisor.bot.forge import Comment, Features, Light
from advisor.bot.pages import paged
from advisor.bot.patience import Patience
from advisor.bot.rest import Door, Rest, is_gone
from advisor.messages.errors import ForgeError
from advisor.messages.text import Text

ADDRESS = "https://gitlab.com/api/v4"
FEATURES = Features(limit=1_000_000, status=True)
_PAGE = 100
_STATUS_WORDS = 255
_DOOR = Door(
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
        return self._rest.door.forge

    def __repr__(self) -> str:
        return f"GitLab({self._rest!r}, {self._notes})"

    def whoami(self) -> str:
        return self._rest.read(_Author, "GET", "/user").username

    def comments(self) -> Iterator[Comment]:
        for note in paged(self._rest, list[_Note], self._notes, _PAGE, sort="asc", order_by="created_at"):
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
        raise trouble.not_offered(self.name, Text("check run", "检查项（check run）"))


def gitlab(repo: str, number: int, token: str, address: str = "", patience: Patience | None = None) -> GitLab:
    """One merge request on GitLab; `repo` is the full path of the project, with all its groups."""
    return GitLab(Rest(_DOOR, address or ADDRESS, token, patience), repo, number)
