# SPDX-License-Identifier: Apache-2.0
"""Gitea and Forgejo: https://docs.gitea.com/development/api-usage"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from advisor.bot.ci_job import CiJob, actions_job
from advisor.bot.forge import Features, ForgeKind
from advisor.bot.githublike import GitHubLike, Routes
from advisor.bot.rest import ApiAccess
from advisor.messages.text import Text

ADDRESS = "https://gitea.com/api/v1"
FEATURES = Features(limit=65_536, status=True)
_ACCESS = ApiAccess(
    forge="Gitea",
    header="Authorization",
    prefix="token ",
    needs=Text(
        "the token needs the scopes write:issue and read:user (with --status also write:repository)",
        "令牌需要 write:issue 和 read:user 权限（--status 另需 write:repository）",
    ),
)
_ROUTES = Routes(
    comments="/repos/{repo}/issues/{number}/comments",
    comment="/repos/{repo}/issues/comments/{id}",
    page_size=0,  # this list has no pages: asked for a second one, it is sent again
)


def gitea_job(environ: Mapping[str, str]) -> CiJob | None:
    """A workflow of Gitea or Forgejo, which tells what it knows as GitHub does; the address of a run is another."""
    if not (environ.get("GITEA_ACTIONS") or environ.get("FORGEJO_ACTIONS")):
        return None
    return msgspec.structs.replace(actions_job(environ, "gitea", "GITHUB"), run_url="")


FORGE = ForgeKind(
    GitHubLike.client(_ACCESS, ADDRESS, FEATURES, _ROUTES),
    FEATURES,
    ("GITEA_TOKEN", "FORGEJO_TOKEN"),
    gitea_job,
    job_tokens=("GITHUB_TOKEN",),  # what Gitea's own runner calls it
)
