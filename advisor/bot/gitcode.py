# SPDX-License-Identifier: Apache-2.0
"""GitCode: https://docs.gitcode.com/docs/apis"""

from __future__ import annotations

from advisor.bot.forge import Features
from advisor.bot.githublike import GitHubLike, Routes
from advisor.bot.patience import Patience
from advisor.bot.rest import Door, Rest
from advisor.messages.text import Text

ADDRESS = "https://api.gitcode.com/api/v5"
FEATURES = Features(limit=65_535)
_DOOR = Door(
    forge="GitCode",
    header="Authorization",
    prefix="Bearer ",
    needs=Text(
        "the personal access token needs read and write on pull requests, and its owner access to the repository",
        "个人访问令牌需要合并请求的读写权限，令牌所有者需能访问该仓库",
    ),
)
_ROUTES = Routes(
    every="/repos/{repo}/pulls/{number}/comments",
    one="/repos/{repo}/pulls/comments/{id}",
    page_size=100,
    query={"direction": "asc", "comment_type": "pr_comment"},
)


def gitcode(repo: str, number: int, token: str, address: str = "", patience: Patience | None = None) -> GitHubLike:
    """One pull request on GitCode."""
    rest = Rest(_DOOR, address or ADDRESS, token, patience)
    return GitHubLike(rest, FEATURES, _ROUTES, repo, number)
