# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between the bot and a forge, and what to do."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    "a_check_run": Text("check run", "检查项（check run）"),
    "no_repository": Text("{repo} is no repository", "{repo} 不是仓库名"),
    "give_repository": Text("give --repo owner/name", "请给出 --repo owner/name"),
    "no_api_address": Text("--api-url is no web address of an API", "--api-url 不是有效的 API 地址"),
    "give_api_address": Text(
        "give one such as https://gitlab.example.com/api/v4", "例如 https://gitlab.example.com/api/v4"
    ),
    "token_characters": Text("the token holds characters that no token has", "令牌中含有非法字符"),
    "copy_token": Text("copy it again, on one line and without quotes", "请重新复制，保持一行且不含引号"),
    "a_commit_status": Text("commit status", "提交状态"),
    "check_token": Text(
        "see whether it has expired or belongs to another forge", "请检查令牌是否过期、是否属于另一平台"
    ),
    "check_place": Text("check --repo, --pr and --api-url", "请检查 --repo、--pr 和 --api-url"),
    "run_later": Text("run the same command again later", "请稍后重新执行同一命令"),
    "check_network": Text(
        "check --api-url, the network and the proxy (HTTPS_PROXY, NO_PROXY), then run the same command again",
        "请检查 --api-url、网络和代理（HTTPS_PROXY、NO_PROXY），然后重新执行同一命令",
    ),
    "forge_too_slow": Text("{forge} at {address} does not answer in time", "{forge}（{address}）响应超时"),
    "run_too_long": Text(
        "{forge} took longer than {seconds} s for all requests together",
        "{forge} 的全部请求合计超过 {seconds} 秒",
    ),
    "raise_time_limit": Text(
        "run the same command again later, or allow more with --time-limit",
        "请稍后重新执行同一命令，或用 --time-limit 放宽时限",
    ),
    "answer_too_large": Text(
        "{forge} at {address} answers with more than {size} MiB", "{forge}（{address}）的响应超过 {size} MiB"
    ),
    "too_many_pages": Text("{forge} lists more than {count} pages of comments", "{forge} 返回的评论超过 {count} 页"),
    "forge_unreachable": Text("{forge} at {address} cannot be reached: {why}", "无法连接 {forge}（{address}）：{why}"),
    "no_forge_api": Text(
        "what answers at {address} is not the API of {forge}", "{address} 返回的内容不是 {forge} 的 API 响应"
    ),
    "check_api_url": Text(
        "check --api-url, and whether a proxy or a login page stands before it",
        "请检查 --api-url，以及中间是否有代理或登录页",
    ),
    "forge_redirects": Text(
        "{forge} redirects to {host}, where the token is not sent", "{forge} 重定向到 {host}，令牌不会发送到那里"
    ),
    "give_api_itself": Text("give the address of the API itself with --api-url", "请用 --api-url 给出 API 的实际地址"),
    "token_of_nobody": Text("{forge} does not tell whose token this is", "{forge} 未返回令牌所属的账号"),
    "give_login": Text("give the login the comments carry with --as", "请用 --as 给出评论所用的账号名"),
    "comments_of_another": Text(
        "{forge} writes comments as {name}, not as {me}; the comment was removed again",
        "{forge} 上的评论以 {name} 而非 {me} 的身份发表；评论已撤回",
    ),
    "give_as": Text("give --as {name}, or leave --as away", "请使用 --as {name}，或去掉 --as"),
    "target_unknown": Text("it is not known which {what} to write to", "无法确定要写入的{what}"),
    "give_target": Text(
        "give {option}; in the jobs of a forge's own CI it is known. To see the comment alone, --dry-run needs none",
        "请给出 {option}；在平台自带的 CI 中可自动识别。只想查看评论内容时，用 --dry-run 即可，无需平台",
    ),
    "needs_httpx": Text("the bot needs the package httpx2", "机器人功能需要 httpx2 包"),
    "install_bot": Text("pip install 'ascend-advisor[bot]'", "请执行 pip install 'ascend-advisor[bot]'"),
    "forge_has_no": Text("{forge} has no {what} the bot could set", "{forge} 不支持设置{what}"),
    "leave_option": Text("leave the option away; the comment is written all the same", "请去掉该选项，评论不受影响"),
    "mark_is_removed": Text(
        "{forge} takes the hidden mark out of comments; the comment was removed again",
        "{forge} 会去掉评论中的隐藏标记；评论已撤回",
    ),
    "mark_is_needed": Text(
        "without it no later run would find the comment: please report this",
        "没有该标记，后续运行找不到这条评论：请反馈此问题",
    ),
    "no_token": Text("there is no token to comment with", "缺少发表评论所需的令牌"),
    "set_token": Text(
        "set one of {names}; see docs/bot.md. --dry-run needs none",
        "请设置 {names} 之一，见 docs/bot.md；--dry-run 不需要令牌",
    ),
    "verdict_of_other_run": Text(
        "{path} is a verdict on other findings than this run has", "{path} 判定的不是这次运行：两者的问题不一致"
    ),
    "give_its_verdict": Text(
        "give the one that `advisor check … -o gate.verdict.json` wrote of this run",
        "请给出 `advisor check … -o gate.verdict.json` 对这次运行写出的文件",
    ),
    "give_verdict": Text(
        "give a file written by `advisor check … -o gate.verdict.json`",
        "请给出由 `advisor check … -o gate.verdict.json` 写出的文件",
    ),
    "pull_request": Text("pull request", "合并请求"),
    "token_unencrypted": Text(
        "the token travels unencrypted to {host}; use https where there is a choice",
        "令牌将以明文发送到 {host}；如有可能请使用 https",
    ),
    "a_verdict": Text("a verdict", "门禁结论"),
    "no_comment_name": Text("--name {name} cannot be a name", "--name {name} 不能用作名称"),
    "use_letters": Text("use letters, digits and single . _ -", "请使用字母、数字以及单个的 . _ -"),
    "no_report_address": Text("--report-url is no web address", "--report-url 不是网址"),
    "begin_with_https": Text("give one that begins with https://", "请给出以 https:// 开头的网址"),
    "a_forge": Text("forge", "平台"),
    "a_repository": Text("repository", "仓库"),
    "a_commit": Text("commit", "提交"),
    "token_unknown": Text("{forge} does not know the token ({answer})", "{forge} 不认可该令牌（{answer}）"),
    "token_not_allowed": Text(
        "the token is not allowed to do this on {forge} ({answer})", "令牌在 {forge} 上权限不足（{answer}）"
    ),
    "no_pull_request": Text(
        "{forge} finds no such pull request, or the token may not see it ({answer})",
        "{forge} 上没有该合并请求，或令牌无权查看（{answer}）",
    ),
    "forge_answers": Text("{forge} answers {answer}", "{forge} 返回 {answer}"),
    "rate_is_limited": Text("{forge} limits the rate of requests ({status})", "{forge} 限制了请求频率（{status}）"),
    "rate_is_limited_for": Text(
        "{forge} limits the rate of requests for {seconds} s ({status})",
        "{forge} 限制了请求频率，需等待 {seconds} 秒（{status}）",
    ),
}
