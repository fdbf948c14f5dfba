# SPDX-License-Identifier: Apache-2.0
"""The comments of a pull request over the kind of API that GitHub began and Gitea, Gitee and GitCode took up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from msgspec import Struct

from advisor.bot import forge_errors as trouble
from advisor.bot.forge import Comment, Features, ForgeClient, Light
from advisor.bot.pages import paged_entries
from advisor.bot.rest import ApiAccess, Rest, is_gone
from advisor.bot.retries import Retries
from advisor.messages.errors import ForgeError
from advisor.messages.message import Message

STATUS_WORDS = 140
"""Longest description of a commit status."""


class Routes(Struct, frozen=True):
    """Where comments are, below the address of the API, and how their list is read."""

    comments: str
    """With holes `repo` and `number`."""
    comment: str
    """With holes `repo` and `id`."""
    page_size: int
    """0 where the list comes whole."""
    query: Mapping[str, str] = {}


PULL_COMMENTS = Routes(
    comments="/repos/{repo}/pulls/{number}/comments",
    comment="/repos/{repo}/pulls/comments/{id}",
    page_size=100,
    query={"direction": "asc", "comment_type": "pr_comment"},
)
"""Of Gitee and GitCode."""


class _User(Struct):
    login: str | None = None


class _Note(Struct):
    id: int
    body: str | None = None
    user: _User | None = None
    html_url: str | None = None

    def comment(self) -> Comment:
        return Comment(self.id, (self.user and self.user.login) or "", self.body or "", self.html_url or "")


class _Written(Struct):
    """The answer to a new comment. GitCode gives the id of a thread as `id` and that of the comment as `note_id`."""

    id: int | str = 0
    note_id: int = 0
    user: _User | None = None
    html_url: str | None = None

    def comment(self, body: str) -> Comment:
        known = self.note_id or (self.id if isinstance(self.id, int) else 0)
        return Comment(known, (self.user and self.user.login) or "", body, self.html_url or "")


class GitHubLike:
    """A pull request of a forge with such an API; its `client` is made of what is known of that forge."""

    def __init__(self, rest: Rest, features: Features, routes: Routes, repo: str, number: int) -> None:
        self.features = features
        self._rest, self._routes = rest, routes
        self._repo = "/".join(quote(part, safe="") for part in repo.split("/"))
        self._every = routes.comments.format(repo=self._repo, number=number)

    @classmethod
    def client(cls, access: ApiAccess, usual: str, features: Features, routes: Routes) -> ForgeClient:
        """What makes one of a repository, a number, a token, an address (empty for the usual one) and retries."""

        def client(repo: str, number: int, token: str, address: str = "", retries: Retries | None = None) -> GitHubLike:
            return cls(Rest(access, address or usual, token, retries), features, routes, repo, number)

        return client

    @property
    def name(self) -> str:
        return self._rest.access.forge

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._rest!r}, {self._every})"

    def whoami(self) -> str:
        return self._rest.read(_User, "GET", "/user").login or ""

    def comments(self) -> Iterator[Comment]:
        routes = self._routes
        if routes.page_size:
            notes: Iterator[_Note] = paged_entries(
                self._rest, list[_Note], self._every, routes.page_size, **routes.query
            )
        else:
            notes = iter(self._rest.read(list[_Note], "GET", self._every, None, **routes.query))
        for note in notes:
            yield note.comment()

    def create(self, body: str) -> Comment:
        return self._rest.read(_Written, "POST", self._every, {"body": body}).comment(body)

    def update(self, comment: Comment, body: str) -> None:
        self._rest.ask("PATCH", self._comment_path(comment), {"body": body})

    def delete(self, comment: Comment) -> None:
        try:
            self._rest.ask("DELETE", self._comment_path(comment))
        except ForgeError as error:
            if not is_gone(error):
                raise

    def set_status(self, sha: str, light: Light) -> None:
        if not self.features.status:
            raise trouble.not_offered(self.name, Message("a_commit_status"))
        self._rest.ask("POST", f"/repos/{self._repo}/statuses/{quote(sha, safe='')}", _status_payload(light))

    def add_check(self, sha: str, light: Light) -> None:
        raise trouble.not_offered(self.name, Message("a_check_run"))

    def _comment_path(self, comment: Comment) -> str:
        return self._routes.comment.format(repo=self._repo, id=comment.id)


def _status_payload(light: Light) -> dict[str, str]:
    words = {
        "state": "success" if light.passed else "failure",
        "context": light.name,
        "description": light.title[:STATUS_WORDS],
    }
    return words | ({"target_url": light.url} if light.url else {})
