# SPDX-License-Identifier: Apache-2.0
"""Gitea and Forgejo: https://docs.gitea.com/development/api-usage"""

from __future__ import annotations

from advisor.bot.forge import Features
from advisor.bot.githublike import GitHubLike, Routes
from advisor.bot.patience import Patience
from advisor.bot.rest import Door, Rest
from advisor.messages.text import Text

ADDRESS = "https://gitea.com/api/v1"
FEATURES = Features(limit=65_536, status=True)
_DOOR = Door(
    forge="Gitea",
    header="Authorization",
    prefix="token ",
    needs=Text(
        "the token needs the scopes write:issue and read:user (with --status also write:repository)",
        "令牌需要 write:issue 和 read:user 权限（--status 另需 write:repository）",
    ),
)
_ROUTES = Routes(
    every="/repos/{repo}/issues/{number}/comments",
    one="/repos/{repo}/issues/comments/{id}",
    page_size=0,  # this list has no pages: asked for a second one, it is sent again
)


def gitea(repo: str, number: int, token: str, address: str = "", patience: Patience | None = None) -> GitHubLike:
    """One pull request on a Gitea or Forgejo server."""
    rest = Rest(_DOOR, address or ADDRESS, token, patience)
    return GitHubLike(rest, FEATURES, _ROUTES, repo, number)
