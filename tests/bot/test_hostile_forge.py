# SPDX-License-Identifier: Apache-2.0
"""A server that wants to hold up, fill up, mislead or break the bot gets a sentence, within its time and its bytes."""

from __future__ import annotations

import gzip
import json
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_forge import NUMBER, REPO, TOKEN, FakeForge, Trouble

from advisor.bot import pages, rest
from advisor.bot.ci_job import actions_job
from advisor.bot.forge import Forge
from advisor.bot.forges import forge_client
from advisor.bot.limits import AnswerTooLarge, Limits, TookTooLong, read_body
from advisor.bot.retries import Retries
from advisor.bot.sticky import Posted, comment_mark, post_comment
from advisor.cli.commands import bot
from advisor.messages.errors import ForgeError

Handler = BaseHTTPRequestHandler
Answer = Callable[[Handler], None]
NO_ANSWER = "does not answer in time"
BOMB = gzip.compress(b"[" + b" " * 8_000_000)
MANY_LISTS = b"[" * 100_000
DEEP = b"[" * 900 + b"]" * 900


GONE: set[int] = set()
"""Ports of servers that are no more: what they had begun to answer ends too, or it would go on to the end of all
tests."""


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """A server that answers every request in this one way."""
    quiet = {"log_message": lambda *_: None, "handle_one_request": _handle_quietly}
    ways = {f"do_{method}": answer for method in ("GET", "POST", "PATCH", "DELETE")}
    served = ThreadingHTTPServer(("127.0.0.1", 0), type("Way", (Handler,), {**quiet, **ways}))
    served.daemon_threads = True
    threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{served.server_address[1]}"
    finally:
        served.shutdown()
        served.server_close()
        GONE.add(served.server_address[1])


def _handle_quietly(handler: Handler) -> None:
    """The client has every right to leave in the middle of an answer."""
    try:
        Handler.handle_one_request(handler)
    except OSError:
        handler.close_connection = True


def client(address: str, *, tries: int = 1, slept: list[float] | None = None, **limits: Any) -> Forge:
    nap = (slept if slept is not None else []).append
    return forge_client("github", REPO, NUMBER, TOKEN, address, retries=Retries(Limits(**limits), tries, sleep=nap))


def drip(handler: Handler) -> None:
    """An answer that comes byte by byte, and never whole."""
    while handler.server.server_address[1] not in GONE:
        handler.wfile.write(b" ")
        time.sleep(0.01)


def drip_body(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    drip(handler)


def drip_headers(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    drip(handler)


@pytest.mark.parametrize("way", [drip_body, drip_headers])
def test_an_answer_in_drips_is_left_after_the_time_of_one_request(way: Answer) -> None:
    began = time.monotonic()
    with server(way) as address, pytest.raises(ForgeError, match=NO_ANSWER):
        client(address, request_s=0.15).whoami()
    assert time.monotonic() - began < 30


def test_all_requests_together_have_a_time_limit_and_it_is_said_how_to_raise_it() -> None:
    began = time.monotonic()
    with server(drip_body) as address, pytest.raises(ForgeError, match=r"longer than 0.3 s(?s:.*)--time-limit") as told:
        client(address, tries=99, request_s=0.1, run_s=0.3).whoami()
    assert time.monotonic() - began < 30
    assert "超过 0.3 秒" in told.value.say("zh")


def test_pauses_count_toward_the_time_of_the_run(served: FakeForge) -> None:
    served.troubles += [Trouble("GET", 503)] * 9
    slept: list[float] = []
    with pytest.raises(ForgeError, match="longer than 5 s"):
        client(served.api("github"), tries=9, run_s=5, slept=slept).whoami()
    assert sum(slept) < 5


def test_the_time_of_the_run_is_one_for_all_its_clients() -> None:
    limits = Limits(run_s=10, clock=iter([0.0, 6.0, 20.0, 20.5]).__next__)
    assert limits.timed(lambda: "one") == "one"
    assert limits.left_s() == 4
    assert limits.timed(lambda: "two") == "two"
    assert limits.left_s() == 3.5


def test_what_a_request_raises_is_raised_where_it_is_waited_for() -> None:
    with pytest.raises(ZeroDivisionError):
        Limits().timed(lambda: 1 / 0)
    with pytest.raises(TookTooLong):
        Limits(request_s=0.01).timed(lambda: time.sleep(0.5))


def send(body: bytes, **headers: str) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(200)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def endless(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 100_000)


@pytest.mark.parametrize("way", [send(BOMB, Content_Encoding="gzip"), endless], ids=["bomb", "endless"])
def test_an_answer_is_read_up_to_its_limit_however_it_is_packed(way: Answer) -> None:
    with server(way) as address, pytest.raises(ForgeError, match="answers with more than 1 MiB"):
        client(address, body_bytes=1 << 20).whoami()


def test_a_packed_answer_is_unpacked() -> None:
    packed = gzip.compress(b'{"login": "perf-bot"}')
    with server(send(packed, Content_Encoding="GZip")) as address:
        assert client(address).whoami() == "perf-bot"


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip", "x-gzip", "gzip, gzip"])
def test_an_answer_packed_otherwise_or_badly_is_not_the_api(packing: str) -> None:
    with server(send(b"{}", Content_Encoding=packing)) as address, pytest.raises(ForgeError, match="not the API"):
        client(address).whoami()


def test_the_limit_of_a_body_is_met_to_the_byte() -> None:
    assert read_body([b"abc", b"de"], "", 5) == b"abcde"
    assert read_body([gzip.compress(b"abcde")], "gzip", 5) == b"abcde"
    for packing, chunks in (("", [b"abc", b"def"]), ("gzip", [gzip.compress(b"abcdef")])):
        with pytest.raises(AnswerTooLarge):
            read_body(chunks, packing, 5)


def test_pages_without_end_are_said_and_no_comment_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_MOST_PAGES", 5)
    asked: list[str] = []

    def fresh(handler: Handler) -> None:
        asked.append(handler.command)
        entry = {"id": len(asked), "body": "x", "user": {"login": "somebody"}}
        send(json.dumps([entry]).encode(), Link='<https://elsewhere.invalid/>; rel="next"')(handler)

    with server(fresh) as address, pytest.raises(ForgeError, match="more than 5 pages"):
        post_comment(client(address), "one", comment_mark(), "perf-bot")
    assert asked == ["GET"] * 5


@pytest.mark.parametrize("status", (200, 301, 307, 404, 422, 500))
@pytest.mark.parametrize("body", (DEEP, MANY_LISTS, b'{"message": %s}' % DEEP, b'{"errors": "\xff"}', b'"\\ud800"'))
def test_no_body_breaks_the_bot(served: FakeForge, status: int, body: bytes) -> None:
    served.troubles.append(Trouble("GET", status, body=body))
    try:
        assert client(served.api("github")).whoami() == ""
    except ForgeError as told:
        assert told.say("zh").encode()


@pytest.mark.parametrize("place", ("http://127.0.0.1/" + "a" * 60_000, "/" + "a" * 8300, "http://" + "a" * 9000))
def test_an_address_longer_than_any_is_not_followed(served: FakeForge, place: str) -> None:
    served.troubles.append(Trouble("GET", 307, {"Location": place}))
    with pytest.raises(ForgeError) as told:
        client(served.api("github")).whoami()
    assert len(str(told.value)) < 1000
    assert len(served.asked) == 1


LOG_COMMANDS = "\n::error::owned\r##[error]owned\x1b[31mred\x9b2J\u202e"


def test_what_a_forge_says_is_no_command_to_a_log(served: FakeForge) -> None:
    served.troubles.append(Trouble("GET", 422, body=json.dumps({"message": LOG_COMMANDS}).encode()))
    with pytest.raises(ForgeError) as told:
        client(served.api("github")).whoami()
    assert not commands_in(str(told.value))


def commands_in(text: str) -> bool:
    return "::error" in text or "##[" in text or any(odd in text for odd in "\x1b\x9b\r\u202e")


@pytest.mark.parametrize(
    "url",
    ("https://x.example/::error::a", "https://x.example/##[error]b", "https://x/\x9b2J", f"https://x/{LOG_COMMANDS}"),
)
def test_the_address_of_a_comment_is_shown_as_an_address_or_not_at_all(url: str) -> None:
    assert not commands_in(bot._say_posted(Posted("created", url), "GitHub", "en"))
    plain = "https://forge.example/team/model/pull/7#issuecomment-101"
    assert bot._say_posted(Posted("created", plain), "GitHub", "en") == f"comment written on GitHub {plain}"


def test_the_login_and_the_host_a_forge_names_are_no_commands_to_a_log(served: FakeForge) -> None:
    served.troubles.append(Trouble("GET", 301, {"Location": "http://x##[error]owned/"}))
    with pytest.raises(ForgeError) as told:
        client(served.api("github")).whoami()
    assert not commands_in(str(told.value))
    served.accounts[TOKEN].login = LOG_COMMANDS
    with pytest.raises(ForgeError, match="not as") as told:
        post_comment(client(served.api("github")), "one", comment_mark(), "perf-bot")
    assert not commands_in(str(told.value))


@pytest.mark.parametrize(
    "place",
    (
        "http://forge.example/api/v3/user",
        "HTTP://forge.example:443/api/v3/user",
        "https://forge.example:8443/api/v3/user",
        "https://forge.example@evil.example/",
        "https://evil.example\\@forge.example/",
        "https://forge.example.evil.example/",
        "//evil.example/",
    ),
)
@pytest.mark.parametrize("status", (301, 302, 307, 308))
def test_the_token_is_not_sent_to_another_host_nor_from_https_to_http(
    monkeypatch: pytest.MonkeyPatch, place: str, status: int
) -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(status, headers={"Location": place}, content=iter([b"moved"]))

    mocked = httpx2.Client(transport=httpx2.MockTransport(answer))
    monkeypatch.setattr(rest, "_make_client", lambda *_: mocked)
    with pytest.raises(ForgeError, match="the token is not sent"):
        client("https://forge.example/api/v3").whoami()
    assert asked == ["https://forge.example/api/v3/user"]


@pytest.mark.parametrize("content", (b"\xff", b'{"pull_request": "\xff"}', MANY_LISTS, b'{"issue": %s}' % MANY_LISTS))
def test_an_event_that_is_no_json_tells_nothing(tmp_path: Path, content: bytes) -> None:
    event = tmp_path / "event.json"
    event.write_bytes(content)
    assert actions_job({"X_EVENT_PATH": str(event)}, "github", "X").number is None


def test_the_options_are_the_limits() -> None:
    given = Namespace(time_limit=7, request_limit=3, quiet=True, lang="en")
    limits = bot._announced_retries(given).limits
    assert (limits.run_s, limits.request_s) == (7, 3)
