# SPDX-License-Identifier: Apache-2.0
"""GitCode: https://docs.gitcode.com/docs/apis"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from advisor.bot.ci_job import CiJob, actions_job
from advisor.bot.forge import Features, ForgeKind
from advisor.bot.githublike import PULL_COMMENTS, GitHubLike
from advisor.bot.rest import ApiAccess
from advisor.messages.text import Text

ADDRESS = "https://api.gitcode.com/api/v5"
FEATURES = Features(limit=65_535)
_ACCESS = ApiAccess(
    forge="GitCode",
    header="Authorization",
    prefix="Bearer ",
    needs=Text(
        "the personal access token needs read and write on pull requests, and its owner access to the repository",
        "个人访问令牌需要合并请求的读写权限，令牌所有者需能访问该仓库",
    ),
)


def gitcode_job(environ: Mapping[str, str]) -> CiJob | None:
    """A workflow of GitCode, whose variables begin with ATOMGIT; the address they give lacks its /api/v5."""
    if not environ.get("ATOMGIT_ACTIONS"):
        return None
    return msgspec.structs.replace(actions_job(environ, "gitcode", "ATOMGIT"), api_url="", run_url="")


FORGE = ForgeKind(
    GitHubLike.client(_ACCESS, ADDRESS, FEATURES, PULL_COMMENTS),
    FEATURES,
    ("GITCODE_TOKEN", "ATOMGIT_TOKEN"),
    gitcode_job,
)
