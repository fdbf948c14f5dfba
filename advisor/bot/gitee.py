# SPDX-License-Identifier: Apache-2.0
"""Gitee: https://gitee.com/api/v5/swagger"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.bot.ci_job import CiJob, parse_pull_number
from advisor.bot.forge import Features, ForgeKind
from advisor.bot.githublike import PULL_COMMENTS, GitHubLike
from advisor.bot.rest import ApiAccess
from advisor.messages.text import Text

ADDRESS = "https://gitee.com/api/v5"
FEATURES = Features(limit=65_535)
_ACCESS = ApiAccess(
    forge="Gitee",
    header="Authorization",
    prefix="Bearer ",
    needs=Text(
        "the token needs the permissions pull_requests, notes and user_info",
        "私人令牌需要勾选 pull_requests、notes 和 user_info 权限",
    ),
)


def gitee_job(environ: Mapping[str, str]) -> CiJob | None:
    """Jenkins with the plugin of Gitee: https://github.com/jenkinsci/gitee-plugin"""
    number = environ.get("giteePullRequestIid", "")
    parts = (environ.get("giteeTargetNamespace", ""), environ.get("giteeTargetRepoName", ""))
    repo = "/".join(parts) if all(parts) else ""
    return CiJob("gitee", repo, parse_pull_number(number), run_url=environ.get("BUILD_URL", "")) if number else None


FORGE = ForgeKind(GitHubLike.client(_ACCESS, ADDRESS, FEATURES, PULL_COMMENTS), FEATURES, ("GITEE_TOKEN",), gitee_job)
