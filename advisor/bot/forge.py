# SPDX-License-Identifier: Apache-2.0
"""Forge: what the bot needs of the place where a pull request lives. One module per forge gives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol

from msgspec import Struct

Kind = Literal["github", "gitlab", "gitee", "gitcode", "gitea"]
KINDS: tuple[Kind, ...] = ("github", "gitlab", "gitee", "gitcode", "gitea")


class Comment(Struct, frozen=True):
    """One comment of a pull request."""

    id: int
    """Later comments have higher ones."""
    author: str
    """Login; empty for an account that is gone."""
    body: str
    url: str = ""


class Features(Struct, frozen=True):
    """What a forge can show and do."""

    limit: int
    """Characters of a comment."""
    folds: bool = True
    """`<details>` is shown as something to unfold."""
    status: bool = False
    """A commit can be given a status."""
    check: bool = False
    """A commit can be given a check run with text."""


class Light(Struct, frozen=True):
    """What is shown beside a commit."""

    passed: bool
    title: str
    """One plain line."""
    summary: str = ""
    """Markdown; only a check run shows it."""
    url: str = ""
    name: str = "advisor"


class Forge(Protocol):
    """Comments of one pull request.

    Every method raises `ForgeError` when the forge cannot be reached or says no.
    """

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def features(self) -> Features:
        """What it can do."""

    def whoami(self) -> str:
        """The login the token belongs to, as comments name it."""

    def comments(self) -> Iterator[Comment]:
        """Every comment of the pull request, each once, however many pages there are."""

    def create(self, body: str) -> Comment:
        """Writes a new comment."""

    def update(self, comment: Comment, body: str) -> None:
        """Gives a comment another text."""

    def delete(self, comment: Comment) -> None:
        """Takes a comment away. One that is gone already is no failure."""

    def set_status(self, sha: str, light: Light) -> None:
        """Gives a commit a status."""

    def add_check(self, sha: str, light: Light) -> None:
        """Gives a commit a finished check run."""
