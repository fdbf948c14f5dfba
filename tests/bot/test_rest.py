# SPDX-License-Identifier: Apache-2.0
"""Requests wait when they are told to, give up in clear words, and the token stays where it belongs."""

from __future__ import annotations

import json
import logging
import socket
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from fake_forge import DIALECTS, NUMBER, REPO, TOKEN, Account, FakeForge, Trouble, fake_forge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.bot import rest
from advisor.bot.forge import Forge
from advisor.bot.forges import forge_client
from advisor.bot.github import _graphql_address
from advisor.bot.retries import Retries, asked_pause, is_limit
from advisor.messages.errors import AdvisorError, ForgeError, UsageError

NOW = 1_700_000_000.0


@dataclass
class Clock:
    """Time that passes when somebody sleeps."""

    slept: list[float] = field(default_factory=list)
    chance: float = 0.0

    def retries(self, **more: float) -> Retries:
        return Retries(
            sleep=self.slept.append,
            now=lambda: NOW + sum(self.slept),
            chance=lambda: self.chance,
            **more,  # type: ignore[arg-type]
        )


@pytest.fixture(params=DIALECTS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def client(served: FakeForge, kind: str = "github", clock: Clock | None = None, **more: float) -> Forge:
    retries = (clock or Clock()).retries(**more)
    return forge_client(kind, REPO, NUMBER, TOKEN, served.api(kind), retries=retries)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", (429, 500, 502, 503, 504))
def test_a_passing_failure_is_waited_out(served: FakeForge, kind: str, status: int) -> None:
    clock = Clock()
    served.troubles += [Trouble("GET", status)] * 3
    assert list(client(served, kind, clock).comments()) == []
    assert clock.slept == [1.0, 2.0, 4.0]


def test_a_cut_connection_is_tried_again(served: FakeForge, kind: str) -> None:
    clock = Clock()
    served.troubles.append(Trouble("GET", 0, cut=True))
    assert list(client(served, kind, clock).comments()) == []
    assert len(clock.slept) == 1


@pytest.mark.parametrize(
    ("headers", "pause"),
    (
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:50 GMT"}, 30.0),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:00 GMT"}, 0.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 40)}, 40.0),
        ({"RateLimit-Remaining": "0", "RateLimit-Reset": str(int(NOW) + 5)}, 5.0),
        ({"Retry-After": "soon"}, 1.0),
        ({"Retry-After": "-3"}, 1.0),
        ({"Retry-After": "٣"}, 1.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "never"}, 1.0),
    ),
)
def test_a_pause_that_is_asked_for_is_kept(served: FakeForge, headers: dict[str, str], pause: float) -> None:
    clock = Clock()
    served.troubles.append(Trouble("GET", 429, headers))
    list(client(served, clock=clock).comments())
    assert clock.slept == [pause]


def test_the_second_limit_of_github_comes_as_403_and_is_waited_out(served: FakeForge) -> None:
    clock = Clock()
    said = b'{"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}'
    served.troubles.append(Trouble("POST", 403, body=said))
    assert client(served, clock=clock).create("one").id
    assert clock.slept == [60.0]


def test_a_limit_longer_than_we_wait_ends_at_once_and_says_how_long(served: FakeForge) -> None:
    clock = Clock()
    served.troubles.append(Trouble("GET", 429, {"Retry-After": "3600"}))
    with pytest.raises(ForgeError, match=r"limits the rate of requests for 3600 s \(429\)\n.*again later"):
        list(client(served, clock=clock).comments())
    assert clock.slept == []


def test_tries_and_time_are_bounded(served: FakeForge) -> None:
    clock = Clock()
    served.troubles += [Trouble("GET", 503)] * 100
    with pytest.raises(ForgeError, match="503"):
        list(client(served, clock=clock).comments())
    assert len(served.asked) == 6
    served.troubles = [Trouble("GET", 429, {"Retry-After": "20"})] * 100
    with pytest.raises(ForgeError, match="429"):
        list(client(served, clock=Clock(), total_s=50.0).comments())
    assert len(served.asked) == 9


@given(st.integers(1, 12), st.floats(0, 0.999), st.none() | st.floats(0, 1000))
def test_pauses_grow_are_bounded_and_never_undercut_what_was_asked(
    tried: int, chance: float, asked: float | None
) -> None:
    pause = Retries(chance=lambda: chance).pause(tried, asked)
    if asked is not None:
        assert asked <= pause < asked + 1
    else:
        assert min(2.0 ** (tried - 1), 30.0) / 2 <= pause <= 30.0


@given(st.dictionaries(st.sampled_from(["retry-after", "x-ratelimit-reset", "x-ratelimit-remaining"]), st.text()))
def test_no_header_a_server_may_send_breaks_the_waiting(headers: dict[str, str]) -> None:
    asked = asked_pause(429, headers, "", NOW)
    assert asked is None or asked >= 0
    assert is_limit(429, headers, "")


REFUSALS = {
    401: (r"GitHub does not know the token \(401: trouble\)", r"expired.*pull-requests: write"),
    403: (r"the token is not allowed to do this on GitHub \(403: trouble\)", r"pull-requests: write.*docs/bot.md"),
    404: (r"no such pull request, or the token may not see it \(404: trouble\)", r"--repo, --pr.*pull-requests: write"),
    422: (r"GitHub answers 422: trouble", "--repo"),
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_is_said_with_what_to_do_and_not_tried_again(served: FakeForge, status: int) -> None:
    served.troubles += [Trouble("POST", status)] * 9
    what, hint = REFUSALS[status]
    with pytest.raises(ForgeError, match=rf"(?s){what}\n    hint: .*{hint}") as caught:
        client(served).create("one")
    assert caught.value.status == status
    assert len(served.asked) == 1
    assert any("\u4e00" <= sign <= "\u9fff" for sign in caught.value.say("zh"))


NEEDS = {
    "github": "pull-requests: write",
    "gitlab": "scope api",
    "gitea": "write:issue",
    "gitee": "pull_requests, notes",
    "gitcode": "read and write on pull requests",
}


def test_each_forge_names_the_permission_it_needs(served: FakeForge, kind: str) -> None:
    served.accounts[TOKEN] = Account("reader", may_write=False)
    with pytest.raises(ForgeError, match=NEEDS[kind]):
        client(served, kind).create("one")


def test_a_login_page_is_not_taken_for_an_api(served: FakeForge, kind: str) -> None:
    for body in (b"<html><body>sign in</body></html>", b"[{}]", b'[{"id": "x"}]', b"{", b"", b"null", b"\xff\xfe"):
        served.troubles.append(Trouble("GET", 200, body=body))
        with pytest.raises(ForgeError, match="not the API"):
            list(client(served, kind).comments())


def test_a_forge_that_cannot_be_reached_is_said_so(kind: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    clock = Clock()
    forge = forge_client(kind, REPO, NUMBER, TOKEN, address, retries=clock.retries(tries=2))  # type: ignore[arg-type]
    with pytest.raises(ForgeError, match=r"(?s)cannot be reached: .*proxy"):
        forge.whoami()
    assert len(clock.slept) == 1


def test_a_forge_that_does_not_answer_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "TIMEOUT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        retries = Clock().retries(tries=1)
        forge = forge_client("github", REPO, NUMBER, TOKEN, address, retries=retries)
        with pytest.raises(ForgeError, match="does not answer in time"):
            forge.whoami()


def moved_to(place: str, status: int) -> Trouble:
    return Trouble("ANY", status, {"Location": place})


@pytest.mark.parametrize("status", (301, 302, 307, 308))
def test_a_renamed_repository_is_followed_on_its_own_host(served: FakeForge, status: int) -> None:
    there = f"{served.api('github')}/repos/team/model/issues/7/comments"
    served.troubles += [moved_to(there, status), moved_to("/github/repos/team/model/issues/7/comments", status)]
    assert client(served).create("one").id
    assert [one["body"] for one in served.comments] == ["one"]


@pytest.mark.parametrize("status", (301, 302, 307, 308))
def test_the_token_does_not_follow_to_another_host(served: FakeForge, kind: str, status: int) -> None:
    with fake_forge() as other:
        served.troubles.append(moved_to(f"{other.api(kind)}/user", status))
        with pytest.raises(ForgeError, match=r"redirects to 127\.0\.0\.1.*not sent"):
            client(served, kind).whoami()
        assert other.asked == []


@pytest.mark.parametrize(
    "place", ("//evil.invalid/x", "https://127.0.0.1/x", "http://127.0.0.1:1/x", "ftp://x", "http://[")
)
def test_no_form_of_redirect_leads_the_token_away(served: FakeForge, place: str) -> None:
    served.troubles.append(moved_to(place, 307))
    with pytest.raises(ForgeError):
        client(served).whoami()
    assert len(served.asked) == 1


def test_redirects_in_a_circle_end(served: FakeForge) -> None:
    served.troubles += [moved_to("/github/user", 307)] * 50
    with pytest.raises(ForgeError):
        client(served).whoami()
    assert len(served.asked) <= 3


def text_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + str(error.__dict__)


@pytest.mark.parametrize("status", (200, 301, 400, 401, 403, 404, 409, 422, 429, 500))
def test_no_message_holds_the_token_even_when_the_server_sends_it_back(
    served: FakeForge, kind: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    # with DEBUG the library logs what a server sends, and a redirect that spells the token out would stand there
    caplog.set_level(logging.INFO if status == 301 else logging.DEBUG)
    body = f'{{"message": "no {TOKEN}", "errors": ["{TOKEN}"], "headers": "Bearer {TOKEN}"}}'.encode()
    headers = {"Location": f"http://{TOKEN}.invalid/"} if status == 301 else {}
    served.troubles += [Trouble("ANY", status, headers, body)] * 9
    forge = client(served, kind)
    with pytest.raises(AdvisorError) as caught:
        list(forge.comments())
    assert isinstance(caught.value, ForgeError)
    told = text_of(caught.value) + caught.value.say("zh") + caplog.text + repr(forge) + repr(vars(forge))
    assert TOKEN not in told


def test_the_token_is_in_no_address(served: FakeForge, kind: str) -> None:
    forge = client(served, kind)
    forge.whoami()
    list(forge.comments())
    forge.create("one")
    assert not [asked for asked in served.asked if TOKEN in asked.path + str(asked.query) + asked.body]


@pytest.mark.parametrize("token", ("", " ", "a b", "tok\x00en", "tok\nen", "秘密", "x" * 3 + "\u200b"))
def test_a_token_that_cannot_be_one_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(UsageError) as caught:
        forge_client("github", REPO, NUMBER, token)
    assert not token.strip() or token not in str(caught.value)


def test_a_line_break_after_a_token_does_no_harm(served: FakeForge, kind: str) -> None:
    forge = forge_client(kind, REPO, NUMBER, f"{TOKEN}\r\n", served.api(kind))  # type: ignore[arg-type]
    assert forge.whoami()


@pytest.mark.parametrize(
    "repo", ("", "model", "a/b/c", "/a", "a/", "a/..", "../a", "a b/c", "a/b?x", "a/b#c", "a/%2e%2e")
)
def test_what_is_no_repository_is_refused(repo: str) -> None:
    with pytest.raises(UsageError, match="no repository"):
        forge_client("github", repo, NUMBER, TOKEN)


def test_gitlab_has_groups_within_groups() -> None:
    assert "group%2Fsub%2Fmodel" in repr(forge_client("gitlab", "group/sub/model", NUMBER, TOKEN))


@pytest.mark.parametrize(
    "address",
    (
        "example.com",
        "ftp://example.com",
        "https://",
        "https://me:pass@example.com/api",
        "https://x/api?a=b",
        "http://[",
    ),
)
def test_what_is_no_address_is_refused_without_being_shown(address: str) -> None:
    with pytest.raises(UsageError, match="no web address") as caught:
        forge_client("gitlab", REPO, NUMBER, TOKEN, address)
    assert "pass" not in str(caught.value)


def test_without_the_extra_the_way_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "httpx2", None)
    with pytest.raises(UsageError, match=r"pip install 'ascend-advisor\[bot\]'"):
        forge_client("github", REPO, NUMBER, TOKEN)


@pytest.mark.parametrize(
    ("address", "graphql"),
    (
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://git.example.org/api/v3", "https://git.example.org/api/graphql"),
    ),
)
def test_graphql_is_beside_the_other_api(address: str, graphql: str) -> None:
    assert _graphql_address(address) == graphql


@given(
    st.sampled_from(sorted(DIALECTS)),
    st.sampled_from((200, 201, 204, 206, 300, 304, 307, 400, 404, 410, 418, 451, 500, 511)),
    st.one_of(
        st.binary(max_size=40),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["id", "body", "user", "login", "author", "message", "errors"]), inner
                )
            ),
            max_leaves=6,
        ).map(lambda value: json.dumps(value).encode()),
    ),
    st.dictionaries(
        st.sampled_from(["Link", "X-Next-Page", "total_page", "Location", "Retry-After"]),
        st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=8),
        max_size=2,
    ),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_answer_ends_a_run_in_any_other_way_than_with_words(
    served: FakeForge, kind: str, status: int, body: bytes, headers: dict[str, str]
) -> None:
    for work in WORKS.values():
        served.troubles = [Trouble("ANY", status, headers, b"" if status in (204, 304) else body)] * 20
        try:
            work(client(served, kind, tries=2))
        except ForgeError as error:
            assert error.say("zh")


WORKS: dict[str, Callable[[Forge], object]] = {
    "whoami": lambda forge: forge.whoami(),
    "comments": lambda forge: list(forge.comments()),
    "create": lambda forge: forge.create("one"),
}


@pytest.mark.parametrize("work", WORKS.values(), ids=list(WORKS))
def test_a_wrong_token_is_said_so(served: FakeForge, kind: str, work: Callable[[Forge], object]) -> None:
    served.accounts.clear()
    with pytest.raises(ForgeError, match=r"does not know the token \(401"):
        work(client(served, kind))
