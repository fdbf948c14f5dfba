# SPDX-License-Identifier: Apache-2.0
"""What the bot says when a forge does not do what it was asked: what happened, and what to do."""

from __future__ import annotations

from http import HTTPStatus

from advisor.messages.errors import ForgeError, UsageError
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.report.prose import clean_line

_LONGEST = 300


def request_refused(forge: str, status: int, said: str, needs: Text) -> ForgeError:
    """A forge that answers no, by what its status means."""
    answer = Message("part", part=status, what=clean_line(said, _LONGEST)) if said else status
    match status:
        case 401:
            what = Message("token_unknown", forge=forge, answer=answer)
            return ForgeError(what, _with_hint(_CHECK_TOKEN, needs), status)
        case 403:
            what = Message("token_not_allowed", forge=forge, answer=answer)
            return ForgeError(what, needs, status)
        case 404 | 410:
            what = Message("no_pull_request", forge=forge, answer=answer)
            return ForgeError(what, _with_hint(_CHECK_PLACE, needs), status)
    what = Message("forge_answers", forge=forge, answer=answer)
    return ForgeError(what, _LATER if status >= HTTPStatus.INTERNAL_SERVER_ERROR else _CHECK_PLACE, status)


def rate_limited(forge: str, status: int, asked_s: float | None) -> ForgeError:
    """Too many requests, for longer than the bot waits."""
    if asked_s:
        what = Message("rate_is_limited_for", forge=forge, seconds=f"{asked_s:.0f}", status=status)
    else:
        what = Message("rate_is_limited", forge=forge, status=status)
    return ForgeError(what, _LATER, status)


def too_slow(forge: str, address: str) -> ForgeError:
    """No answer in time."""
    return ForgeError(Message("forge_too_slow", forge=forge, address=address), _NETWORK)


def run_too_long(forge: str, seconds: float) -> ForgeError:
    """All requests together take longer than the run may."""
    return ForgeError(Message("run_too_long", forge=forge, seconds=f"{seconds:g}"), Message("raise_time_limit"))


def answer_too_large(forge: str, address: str, most: int) -> ForgeError:
    """More bytes than are taken from a server."""
    what = Message("answer_too_large", forge=forge, address=address, size=most >> 20)
    return ForgeError(what, Message("check_api_url"))


def too_many_entries(forge: str, most: int) -> ForgeError:
    """A list with more pages than are read: the comment may stand on any of the others."""
    return ForgeError(Message("too_many_pages", forge=forge, count=most), Message("check_api_url"))


def unreachable(forge: str, address: str, why: str) -> ForgeError:
    """No connection."""
    reason = clean_line(why, _LONGEST)
    return ForgeError(Message("forge_unreachable", forge=forge, address=address, why=reason), _NETWORK)


def not_an_api(forge: str, address: str) -> ForgeError:
    """Something answers, and it is not the API."""
    return ForgeError(Message("no_forge_api", address=address, forge=forge), Message("check_api_url"))


def redirected_away(forge: str, host: str) -> ForgeError:
    """A redirect to where the token must not go."""
    where = clean_line(host, 80)
    return ForgeError(Message("forge_redirects", forge=forge, host=where), Message("give_api_itself"))


def login_unknown(forge: str) -> ForgeError:
    """A forge that does not tell whose token it was given: our comments could not be told from those of others."""
    return ForgeError(Message("token_of_nobody", forge=forge), Message("give_login"))


def not_ours(forge: str, author: str, me: str) -> ForgeError:
    """A comment just written that does not look like ours: the next run would write another."""
    if author.lower() == me.lower():
        return ForgeError(Message("mark_is_removed", forge=forge), Message("mark_is_needed"))
    name = clean_line(author, 80)
    return ForgeError(
        Message("comments_of_another", forge=forge, name=repr(name), me=repr(me)),
        Message("give_as", name=name),
    )


def target_unknown(what: Message, option: str) -> UsageError:
    """Something that neither an option nor the environment tells."""
    return UsageError(Message("target_unknown", what=what), Message("give_target", option=option))


def not_installed() -> UsageError:
    """The client library is an extra."""
    return UsageError(Message("needs_httpx"), Message("install_bot"))


def not_offered(forge: str, what: Message) -> UsageError:
    """A forge that has no such thing."""
    return UsageError(Message("forge_has_no", forge=forge, what=what), Message("leave_option"))


def _with_hint(first: Message, second: Text) -> Message:
    return Message("with_hint", what=first, hint=second)


_CHECK_TOKEN = Message("check_token")
_CHECK_PLACE = Message("check_place")
_LATER = Message("run_later")
_NETWORK = Message("check_network")
