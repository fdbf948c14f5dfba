# SPDX-License-Identifier: Apache-2.0
"""The table of forges, and what is wrong with an address, a repository or a token before it is used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from advisor.bot import gitcode, gitea, gitee, github, gitlab
from advisor.bot.ci_job import CiJob
from advisor.bot.forge import Forge, ForgeKind
from advisor.bot.retries import Retries
from advisor.messages.errors import UsageError
from advisor.messages.message import Message

FORGES: Mapping[str, ForgeKind] = MappingProxyType(
    {
        "github": github.FORGE,
        "gitlab": gitlab.FORGE,
        "gitee": gitee.FORGE,
        "gitcode": gitcode.FORGE,
        "gitea": gitea.FORGE,
    }
)
"""By the name that `--forge` takes. A new forge is a module of its own and a line here."""
_TOKEN = re.compile(r"[\x21-\x7e]+")
_PART = r"[^\s/?#%\\\x00-\x20\x7f]+"
_REPO = re.compile(rf"{_PART}(?:/{_PART})+")


def ci_job(environ: Mapping[str, str]) -> CiJob:
    """What the CI job says of itself that this process runs in; nothing where it runs in none."""
    jobs = (forge.job(environ) for forge in FORGES.values())
    return next((job for job in jobs if job is not None), CiJob())


def token_of(kind: str, environ: Mapping[str, str]) -> str:
    """The token for this forge.

    Raises:
        UsageError: There is none; the message names the variables that may hold it.
    """
    forge = FORGES[kind]
    names = ["ADVISOR_TOKEN", *forge.tokens, *(forge.job_tokens if forge.job(environ) else ())]
    found = next((environ[name] for name in names if environ.get(name, "").strip()), "")
    if found:
        return found
    if forge.refused is not None and environ.get(forge.refused.variable):
        raise UsageError(forge.refused.why, forge.refused.do)
    listed = ", ".join(names)
    raise UsageError(
        Message("no_token"),
        Message("set_token", names=listed),
    )


def forge_client(
    kind: str, repo: str, number: int, token: str, api_url: str = "", *, retries: Retries | None = None
) -> Forge:
    """A client for one pull request.

    Raises:
        UsageError: The repository, the token or the address cannot be right.
    """
    check_repo(kind, repo)
    check_address(api_url)
    return FORGES[kind].client(repo, number, sound_token(token), api_url, retries)


def check_repo(kind: str, repo: str) -> None:
    """Refuses what is no `owner/name`, or on some forges a name within groups."""
    parts = repo.split("/")
    fits = _REPO.fullmatch(repo) and not {".", ".."} & set(parts) and (FORGES[kind].groups or repo.count("/") == 1)
    if not fits:
        raise UsageError(Message("no_repository", repo=repr(repo)), Message("give_repository"))


def check_address(address: str) -> None:
    """Refuses what is no plain web address of an API."""
    try:
        parts = urlsplit(address)
        port_is_sound = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_sound = urlsplit(""), False
    plain = (
        parts.scheme in ("http", "https") and parts.hostname and not (parts.username or parts.query or parts.fragment)
    )
    if address and not (plain and port_is_sound):
        raise UsageError(Message("no_api_address"), Message("give_api_address"))


def sound_token(token: str) -> str:
    """The token without the line break that often ends it. What is wrong with one is said without showing it."""
    stripped = token.strip()
    if not _TOKEN.fullmatch(stripped):
        raise UsageError(Message("token_characters"), Message("copy_token"))
    return stripped
