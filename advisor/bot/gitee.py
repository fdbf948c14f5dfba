# SPDX-License-Identifier: Apache-2.0
"""Gitee: https://gitee.com/api/v5/swagger"""

from __future__ import annotations

from advisor.bot.forge import Features
from advisor.bot.githublike import GitHubLike, Routes
from advisor.bot.patience import Patience
from advisor.bot.rest import Door, Rest
from advisor.messages.text import Text

ADDRESS = "https://gitee.com/api/v5"
FEATURES = Features(limit=65_535)
_DOOR = Door(
    forge="Gitee",
    header="Authorization",
    prefix="Bearer ",
    needs=Text(
        "the token needs the permissions pull_requests, notes and user_info",
        "私人令牌需要勾选 pull_requests、notes 和 user_info 权限",
    ),
)
_ROUTES = Routes(
    every="/repos/{repo}/pulls/{number}/comments",
    one="/repos/{repo}/pulls/comments/{id}",
    page_size=100,
    query={"direction": "asc", "comment_type": "pr_comment"},
)


def gitee(repo: str, number: int, token: str, address: str = "", patience: Patience | None = None) -> GitHubLike:
    """One pull request on Gitee."""
    rest = Rest(_DOOR, address or ADDRESS, token, patience)
    return GitHubLike(rest, FEATURES, _ROUTES, repo, number)
