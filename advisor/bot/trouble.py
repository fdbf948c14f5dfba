# SPDX-License-Identifier: Apache-2.0
"""What the bot says when a forge does not do what it was asked: what happened, and what to do."""

from __future__ import annotations

from http import HTTPStatus

from advisor.messages.errors import ForgeError, UsageError
from advisor.messages.text import Text
from advisor.report.prose import clean

_LONGEST = 300


def refused(forge: str, status: int, said: str, needs: Text) -> ForgeError:
    """A forge that answers no, by what its status means."""
    quoted = f": {clean(said, _LONGEST)}" if said else ""
    cited = f"：{clean(said, _LONGEST)}" if said else ""
    match status:
        case 401:
            what = Text(f"{forge} does not know the token (401{quoted})", f"{forge} 不认可该令牌（401{cited}）")
            return ForgeError(what, _join(_CHECK_TOKEN, needs), status)
        case 403:
            what = Text(
                f"the token is not allowed to do this on {forge} (403{quoted})",
                f"令牌在 {forge} 上权限不足（403{cited}）",
            )
            return ForgeError(what, needs, status)
        case 404 | 410:
            what = Text(
                f"{forge} finds no such pull request, or the token may not see it ({status}{quoted})",
                f"{forge} 上没有该合并请求，或令牌无权查看（{status}{cited}）",
            )
            return ForgeError(what, _join(_CHECK_PLACE, needs), status)
    what = Text(f"{forge} answers {status}{quoted}", f"{forge} 返回 {status}{cited}")
    return ForgeError(what, _LATER if status >= HTTPStatus.INTERNAL_SERVER_ERROR else _CHECK_PLACE, status)


def limited(forge: str, status: int, asked_s: float | None) -> ForgeError:
    """Too many requests, for longer than the bot waits."""
    seconds = f" for {asked_s:.0f} s" if asked_s else ""
    wait = f"，需等待 {asked_s:.0f} 秒" if asked_s else ""
    what = Text(f"{forge} limits the rate of requests{seconds} ({status})", f"{forge} 限制了请求频率{wait}（{status}）")
    return ForgeError(what, _LATER, status)


def too_slow(forge: str, address: str) -> ForgeError:
    """No answer in time."""
    return ForgeError(Text(f"{forge} at {address} does not answer in time", f"{forge}（{address}）响应超时"), _NETWORK)


def unreachable(forge: str, address: str, why: str) -> ForgeError:
    """No connection."""
    reason = clean(why, _LONGEST)
    return ForgeError(
        Text(f"{forge} at {address} cannot be reached: {reason}", f"无法连接 {forge}（{address}）：{reason}"), _NETWORK
    )


def unreadable(forge: str, address: str) -> ForgeError:
    """Something answers, and it is not the API."""
    return ForgeError(
        Text(f"what answers at {address} is not the API of {forge}", f"{address} 返回的内容不是 {forge} 的 API 响应"),
        Text(
            "check --api-url, and whether a proxy or a login page stands before it",
            "请检查 --api-url，以及中间是否有代理或登录页",
        ),
    )


def moved(forge: str, host: str) -> ForgeError:
    """A redirect to where the token must not go."""
    return ForgeError(
        Text(
            f"{forge} redirects to {host}, where the token is not sent", f"{forge} 重定向到 {host}，令牌不会发送到那里"
        ),
        Text("give the address of the API itself with --api-url", "请用 --api-url 给出 API 的实际地址"),
    )


def nameless(forge: str) -> ForgeError:
    """A forge that does not tell whose token it was given: our comments could not be told from those of others."""
    return ForgeError(
        Text(f"{forge} does not tell whose token this is", f"{forge} 未返回令牌所属的账号"),
        Text("give the login the comments carry with --as", "请用 --as 给出评论所用的账号名"),
    )


def not_ours(forge: str, author: str, me: str) -> ForgeError:
    """A comment just written that does not look like ours: the next run would write another."""
    if author.lower() == me.lower():
        return ForgeError(
            Text(
                f"{forge} takes the hidden mark out of comments; the comment was removed again",
                f"{forge} 会去掉评论中的隐藏标记；评论已撤回",
            ),
            Text(
                "without it no later run would find the comment: please report this",
                "没有该标记，后续运行找不到这条评论：请反馈此问题",
            ),
        )
    name = clean(author, 80)
    return ForgeError(
        Text(
            f"{forge} writes comments as {name!r}, not as {me!r}; the comment was removed again",
            f"{forge} 上的评论以 {name!r} 而非 {me!r} 的身份发表；评论已撤回",
        ),
        Text(f"give --as {name}, or leave --as away", f"请使用 --as {name}，或去掉 --as"),
    )


def unknown(what: Text, option: str) -> UsageError:
    """Something that neither an option nor the environment tells."""
    return UsageError(
        Text(f"it is not known which {what.en} to write to", f"无法确定要写入的{what.zh}"),
        Text(
            f"give {option}; in the jobs of a forge's own CI it is known",
            f"请给出 {option}；在平台自带的 CI 中可自动识别",
        ),
    )


def not_installed() -> UsageError:
    """The client library is an extra."""
    return UsageError(
        Text("the bot needs the package httpx2", "机器人功能需要 httpx2 包"),
        Text("pip install 'ascend-advisor[bot]'", "请执行 pip install 'ascend-advisor[bot]'"),
    )


def not_offered(forge: str, what: Text) -> UsageError:
    """A forge that has no such thing."""
    return UsageError(
        Text(f"{forge} has no {what.en} the bot could set", f"{forge} 不支持设置{what.zh}"),
        Text("leave the option away; the comment is written all the same", "请去掉该选项，评论不受影响"),
    )


def _join(first: Text, second: Text) -> Text:
    return Text(f"{first.en}; {second.en}", f"{first.zh}；{second.zh}")


_CHECK_TOKEN = Text("see whether it has expired or belongs to another forge", "请检查令牌是否过期、是否属于另一平台")
_CHECK_PLACE = Text("check --repo, --pr and --api-url", "请检查 --repo、--pr 和 --api-url")
_LATER = Text("run the same command again later", "请稍后重新执行同一命令")
_NETWORK = Text(
    "check --api-url, the network and the proxy (HTTPS_PROXY, NO_PROXY), then run the same command again",
    "请检查 --api-url、网络和代理（HTTPS_PROXY、NO_PROXY），然后重新执行同一命令",
)
