# SPDX-License-Identifier: Apache-2.0
"""`advisor bot`: one comment on a pull request that says what a diagnosis found, kept up to date in place."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.arguments import (
    judged_options,
    language_option,
    named_path,
    policy_options,
    positive_number,
    reading_options,
)
from advisor.cli.exit_codes import FINE
from advisor.cli.inputs import given_diagnosis, read_saved
from advisor.cli.settings_in_force import language_of, settings_of
from advisor.cli.standard_error import tell

if TYPE_CHECKING:
    from advisor.bot.ci_job import CiJob
    from advisor.bot.forge import Features, Forge
    from advisor.bot.retries import Retries
    from advisor.bot.sticky import Posted
    from advisor.cli.slips import Parser
    from advisor.messages.text import Language
    from advisor.model.comparison import Comparison
    from advisor.model.findings import Diagnosis
    from advisor.model.verdict import Verdict
    from advisor.policy.settings import Settings

LONG_PAUSE_S = 3.0
LONGEST_URL = 300


def words(one: Parser) -> None:
    """What the command understands."""
    from advisor.bot.forges import FORGES
    from advisor.bot.limits import REQUEST_S, RUN_S

    judged_options(one)
    where = one.add_argument_group(
        one.say("where", "位置"),
        one.say(
            "in the jobs of a forge's own CI all of these are known", "在代码平台自己的 CI 任务中，这些都能自动得知"
        ),
    )
    where.add_argument(
        "--forge",
        choices=tuple(FORGES),
        help=one.say(
            "where the pull request lives; gitea is for Forgejo too", "pull request 所在的代码平台；Forgejo 也用 gitea"
        ),
    )
    where.add_argument(
        "--repo",
        metavar="OWNER/NAME",
        help=one.say("the repository; on GitLab the full path of the project", "仓库；GitLab 上为项目完整路径"),
    )
    where.add_argument(
        "--pr",
        type=positive_number,
        metavar="N",
        help=one.say("number of the pull or merge request", "pull request 或 merge request 的编号"),
    )
    where.add_argument(
        "--api-url",
        metavar="URL",
        help=one.say(
            "API of a server of your own, such as https://HOST/api/v4", "自建服务器的 API，如 https://HOST/api/v4"
        ),
    )
    where.add_argument(
        "--sha",
        metavar="SHA",
        help=one.say("the commit that --status and --check are set for", "--status、--check 对应的提交"),
    )
    what = one.add_argument_group(one.say("what", "内容"))
    what.add_argument(
        "--verdict",
        type=named_path,
        metavar="FILE",
        help=one.say(
            "what the gate said: a .verdict.json of advisor check (default: asked anew where there are settings)",
            "门禁结论：advisor check 写出的 .verdict.json（默认有配置时重新判定）",
        ),
    )
    what.add_argument(
        "--report-url",
        metavar="URL",
        help=one.say("a link to the full report (default: the run of the CI)", "完整报告的链接（默认为本次 CI 运行）"),
    )
    what.add_argument(
        "--name",
        default="",
        help=one.say("tells several comments on one pull request apart", "同一 pull request 有多条评论时用来区分"),
    )
    what.add_argument(
        "--as",
        dest="author",
        default="",
        metavar="LOGIN",
        help=one.say(
            "the account that writes the comments (default: that of the token, as the forge says)",
            "发表评论的账号（默认为令牌所属账号）",
        ),
    )
    what.add_argument("--status", action="store_true", help=one.say("set a commit status too", "同时设置提交状态"))
    what.add_argument(
        "--check",
        action="store_true",
        help=one.say(
            "add a check run too (GitHub, token of an app or a workflow)",
            "同时添加 check run（GitHub，须用 App 或 workflow 的令牌）",
        ),
    )
    what.add_argument(
        "--dry-run",
        action="store_true",
        help=one.say("print the comment; needs no token and no network", "只输出评论内容；无需令牌和网络"),
    )
    limits = one.add_argument_group(one.say("limits", "时限"))
    limits.add_argument(
        "--time-limit",
        type=positive_number,
        default=RUN_S,
        metavar="S",
        help=one.say(
            f"seconds for all requests and pauses together (default: {RUN_S:g})",
            f"全部请求与等待合计的秒数上限（默认 {RUN_S:g}）",
        ),
    )
    limits.add_argument(
        "--request-limit",
        type=positive_number,
        default=REQUEST_S,
        metavar="S",
        help=one.say(f"seconds for one answer (default: {REQUEST_S:g})", f"单次应答的秒数上限（默认 {REQUEST_S:g}）"),
    )
    policy_options(one)
    language_option(one)
    reading_options(one)
    one.add_argument(
        "-q", "--quiet", action="store_true", help=one.say("print nothing but errors", "除错误外不输出任何内容")
    )


def run(arguments: argparse.Namespace) -> int:
    """Reads, renders, writes the comment."""
    from advisor.bot.forges import FORGES, ci_job

    settings = settings_of(arguments)
    job = _job_with_options(arguments, ci_job(os.environ))
    _check_name_and_url(arguments)
    # what is missing is said before anything is read
    forge = None if arguments.dry_run else _pull_request_client(arguments, job)
    features = forge.features if forge else FORGES[job.kind or "github"].features
    shown = _CommentContent(arguments, settings, job)
    body = shown.comment(features)
    if forge is None:
        print(body, end="")
        return FINE
    _write_comment(forge, body, shown, arguments)
    return FINE


class _CommentContent:
    """What there is to say, read once."""

    def __init__(self, arguments: argparse.Namespace, settings: Settings | None, job: CiJob) -> None:
        self.language: Language = language_of(arguments.lang)
        self.name: str = arguments.name
        self.sha = job.sha
        self.url: str = arguments.report_url or job.run_url
        self.diagnosis: Diagnosis = given_diagnosis(arguments.path, arguments, settings)
        self.comparison = _compare_with_baseline(self.diagnosis, arguments, settings)
        self.verdict = self._verdict_to_show(arguments, settings)

    def _verdict_to_show(self, arguments: argparse.Namespace, settings: Settings | None) -> Verdict | None:
        if arguments.verdict is not None:
            return _saved_verdict(arguments.verdict, self.diagnosis)
        wanted = settings is not None or arguments.status or arguments.check
        return _judge_diagnosis(self.diagnosis, self.comparison, settings) if wanted else None

    def comment(self, features: Features) -> str:
        from advisor.bot.comment import render_comment

        return render_comment(
            self.diagnosis,
            self.comparison,
            self.verdict,
            self.language,
            self.url,
            features.limit,
            name=self.name,
            folds=features.folds,
        )

    def title(self) -> str:
        from advisor.bot.comment import headline

        return headline(self.diagnosis, self.comparison, self.language)


def _job_with_options(arguments: argparse.Namespace, job: CiJob) -> CiJob:
    """What the options say, and for the same forge what the CI tells."""
    from msgspec.structs import replace

    from advisor.bot.ci_job import CiJob

    known = job if arguments.forge in (None, job.kind) else CiJob(kind=arguments.forge)
    if arguments.repo and arguments.repo != known.repo:
        known = replace(known, repo=arguments.repo, number=None, sha="", head="")
    return replace(
        known,
        number=arguments.pr or known.number,
        sha=arguments.sha or known.sha,
        api_url=arguments.api_url or known.api_url,
    )


def _check_name_and_url(arguments: argparse.Namespace) -> None:
    """Refuses a name or an address that cannot be right.

    Raises:
        UsageError: One of them cannot.
    """
    from advisor.bot.sticky import NAME
    from advisor.messages.errors import UsageError
    from advisor.messages.markup import web_address
    from advisor.messages.message import Message

    if arguments.name and not NAME.fullmatch(arguments.name):
        raise UsageError(Message("no_comment_name", name=repr(arguments.name)), Message("use_letters"))
    if arguments.report_url and not web_address(arguments.report_url):
        raise UsageError(Message("no_report_address"), Message("begin_with_https"))


def _pull_request_client(arguments: argparse.Namespace, job: CiJob) -> Forge:
    """The client for the pull request.

    Raises:
        UsageError: It is not known where to write, or with which token, or the forge has no such thing.
        ForgeError: The number had to be asked for, and the forge did not tell.
    """
    from advisor.bot import forge_errors as trouble
    from advisor.bot.forges import FORGES, forge_client, token_of
    from advisor.messages.message import Message

    kind = job.kind
    if not kind:
        raise trouble.target_unknown(Message("a_forge"), "--forge")
    if not job.repo:
        raise trouble.target_unknown(Message("a_repository"), "--repo owner/name")
    if (arguments.status or arguments.check) and not job.sha:
        raise trouble.target_unknown(Message("a_commit"), "--sha")
    if arguments.check and not FORGES[kind].features.check:
        raise trouble.not_offered(kind, Message("a_check_run"))
    if arguments.status and not FORGES[kind].features.status:
        raise trouble.not_offered(kind, Message("a_commit_status"))
    token = token_of(kind, os.environ)
    retries = _announced_retries(arguments)
    number = job.number or _pull_number_by_branch(kind, job, token, retries)
    _warn_of_plain(job.api_url, arguments)
    return forge_client(kind, job.repo, number, token, job.api_url, retries=retries)


def _announced_retries(arguments: argparse.Namespace) -> Retries:
    """Waits as the forge asks, and says so: a job that stands still without a word looks broken."""
    import time

    from advisor.bot.limits import Limits
    from advisor.bot.retries import Retries
    from advisor.bot.words import say

    def sleep(seconds: float) -> None:
        if seconds >= LONG_PAUSE_S and not arguments.quiet:
            said = say("waiting", language_of(arguments.lang), seconds=f"{seconds:.0f}")
            tell(said)
        time.sleep(seconds)

    return Retries(limits=Limits(arguments.time_limit, arguments.request_limit), sleep=sleep)


def _pull_number_by_branch(kind: str, job: CiJob, token: str, retries: Retries) -> int:
    """The number of a pull request of which only the branch is known, as after a run for a fork."""
    from advisor.bot import forge_errors as trouble
    from advisor.bot.forges import FORGES, check_address, check_repo, sound_token
    from advisor.messages.message import Message

    pull_of = FORGES[kind].pull_of
    if pull_of is not None and job.head:
        check_repo(kind, job.repo)
        check_address(job.api_url)
        found = pull_of(job, sound_token(token), retries)
        if found is not None:
            return found
    raise trouble.target_unknown(Message("pull_request"), "--pr N")


def _warn_of_plain(address: str, arguments: argparse.Namespace) -> None:
    from urllib.parse import urlsplit

    from advisor.messages.message import Message

    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        warning = Message("token_unencrypted", host=parts.netloc)
        tell(warning.say(language_of(arguments.lang)))


def _compare_with_baseline(
    diagnosis: Diagnosis, arguments: argparse.Namespace, settings: Settings | None
) -> Comparison | None:
    if arguments.baseline is None:
        return None
    from advisor.pipeline import compare

    before = given_diagnosis(arguments.baseline, arguments, settings)
    return compare(before, diagnosis, settings)


def _judge_diagnosis(diagnosis: Diagnosis, comparison: Comparison | None, settings: Settings | None) -> Verdict:
    """What the policy says; where it asks for what changed and there is no baseline, that part rests."""
    from advisor.pipeline import bars_in_force, verdict_by_settings

    bars = bars_in_force(None, settings, compared=comparison is not None)
    rest = tuple(bar for bar in bars if bar.since and comparison is None)
    verdict = verdict_by_settings(diagnosis, comparison, settings, tuple(bar for bar in bars if bar not in rest))
    return verdict.model_copy(update={"unjudged": tuple(map(str, rest))})


def _saved_verdict(path: Path, diagnosis: Diagnosis) -> Verdict:
    """The verdict on a diagnosis in a .json file.

    Raises:
        InputError: There is none, or it was passed on other findings: what it says is no word on this run.
    """
    from advisor.messages.errors import InputError
    from advisor.messages.message import Message
    from advisor.model.verdict import Verdict

    remedy = Message("give_verdict")
    verdict = read_saved(path, Verdict, Message("a_verdict"), remedy)
    if {ruling.fingerprint for ruling in verdict.rulings} != diagnosis.by_fingerprint.keys():
        raise InputError(Message("verdict_of_other_run", path=path), Message("give_its_verdict"))
    return verdict


def _write_comment(forge: Forge, body: str, shown: _CommentContent, arguments: argparse.Namespace) -> None:
    from advisor.bot.forge import Light
    from advisor.bot.sticky import comment_mark, post_comment

    posted = post_comment(forge, body, comment_mark(shown.name), arguments.author)
    if not arguments.quiet:
        print(_say_posted(posted, forge.name, shown.language))
    name = f"advisor/{shown.name}" if shown.name else "advisor"
    passed = shown.verdict is None or shown.verdict.passed
    light = Light(passed=passed, title=shown.title(), summary=body, url=shown.url, name=name)
    if arguments.status:
        forge.set_status(shown.sha, light)
    if arguments.check:
        forge.add_check(shown.sha, light)


def _say_posted(posted: Posted, forge: str, language: Language) -> str:
    from advisor.bot.words import say
    from advisor.messages.markup import web_address
    from advisor.report.prose import clean_line

    removed = say("removed", language, count=posted.removed) if posted.removed else ""
    url = clean_line(web_address(posted.url), LONGEST_URL)
    return " ".join(part for part in (say(posted.done, language, forge=forge), url, removed) if part)
