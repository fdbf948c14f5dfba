# SPDX-License-Identifier: Apache-2.0
"""Which client belongs to which forge, and what is wrong with an address, a repository or a token before it is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from advisor.bot import gitcode, gitea, gitee, github, gitlab
from advisor.bot.forge import Features, Forge, Kind
from advisor.bot.patience import Patience
from advisor.messages.errors import UsageError
from advisor.messages.text import Text

_TOKEN = re.compile(r"[\x21-\x7e]+")
_PART = r"[^\s/?#%\\\x00-\x20\x7f]+"
_REPO = re.compile(rf"{_PART}(?:/{_PART})+")


_MAKING: Mapping[Kind, Callable[[str, int, str, str, Patience | None], Forge]] = MappingProxyType(
    {
        "github": github.github,
        "gitlab": gitlab.gitlab,
        "gitee": gitee.gitee,
        "gitcode": gitcode.gitcode,
        "gitea": gitea.gitea,
    }
)
FEATURES: Mapping[Kind, Features] = MappingProxyType(
    {
        "github": github.FEATURES,
        "gitlab": gitlab.FEATURES,
        "gitee": gitee.FEATURES,
        "gitcode": gitcode.FEATURES,
        "gitea": gitea.FEATURES,
    }
)
"""What each forge can show and do, known without asking it."""


def forge_client(
    kind: Kind, repo: str, number: int, token: str, api_url: str = "", *, patience: Patience | None = None
) -> Forge:
    """A client for one pull request.

    Raises:
        UsageError: The repository, the token or the address cannot be right.
    """
    check_repo(kind, repo)
    check_address(api_url)
    return _MAKING[kind](repo, number, sound_token(token), api_url, patience)


def check_repo(kind: Kind, repo: str) -> None:
    """Refuses what is no `owner/name`; GitLab has groups within groups."""
    parts = repo.split("/")
    fits = _REPO.fullmatch(repo) and not {".", ".."} & set(parts) and (kind == "gitlab" or repo.count("/") == 1)
    if not fits:
        raise UsageError(
            Text(f"{repo!r} is no repository", f"{repo!r} 不是仓库名"),
            Text("give --repo owner/name", "请给出 --repo owner/name"),
        )


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
        raise UsageError(
            Text("--api-url is no web address of an API", "--api-url 不是有效的 API 地址"),
            Text("give one such as https://gitlab.example.com/api/v4", "例如 https://gitlab.example.com/api/v4"),
        )


def sound_token(token: str) -> str:
    """The token without the line break that often ends it. What is wrong with one is said without showing it."""
    stripped = token.strip()
    if not _TOKEN.fullmatch(stripped):
        raise UsageError(
            Text("the token holds characters that no token has", "令牌中含有非法字符"),
            Text("copy it again, on one line and without quotes", "请重新复制，保持一行且不含引号"),
        )
    return stripped
