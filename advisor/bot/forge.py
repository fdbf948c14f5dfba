# SPDX-License-Identifier: Apache-2.0
"""Forge: what the bot needs of the place where a pull request lives. One module per forge gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from advisor.bot.ci_job import CiJob
from advisor.bot.retries import Retries
from advisor.messages.text import Text


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


class Refused(Struct, frozen=True):
    """A variable of a CI job whose token cannot write comments."""

    variable: str
    why: Text
    do: Text


ForgeClient = Callable[[str, int, str, str, Retries | None], Forge]
"""Repository, number, token, address (empty for its usual one), and how often to try: one pull request."""


class ForgeKind(Struct, frozen=True):
    """One kind of forge: how to write to it, and how a CI job of its own names what is needed for that."""

    client: ForgeClient
    features: Features
    tokens: tuple[str, ...]
    """Variables that may hold a token, after ADVISOR_TOKEN. A token of one forge is not sent to another."""
    job: Callable[[Mapping[str, str]], CiJob | None]
    """What an environment tells of a job on this forge; None where it is no such job."""
    job_tokens: tuple[str, ...] = ()
    """Variables that hold a token of this forge only within a job of its own."""
    refused: Refused | None = None
    groups: bool = False
    """Repositories may lie in groups within groups."""
    pull_of: Callable[[CiJob, str, Retries | None], int | None] | None = None
    """The number of the pull request of a job that knows its branch alone; takes the token, and how often to try."""
