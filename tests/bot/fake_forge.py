# SPDX-License-Identifier: Apache-2.0
"""A forge on this machine: keeps comments, knows who may do what, and can be told to fail.

One server speaks every dialect, each below its own prefix, on one pull request: `team/model`, number 7. It is strict
where the real ones are: about who asks, about the form of what is sent, about pages.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPO, NUMBER = "team/model", 7
TOKEN = "s3cr3t-token-0123456789"  # noqa: S105 - of no account
BOT = "perf-bot"


@dataclass(frozen=True)
class Dialect:
    """What tells one API from another."""

    prefix: str
    header: str
    before_token: str
    every: str
    one: str
    pages: str
    """`link`, `x-next-page`, `total_page`, `short` (a page that is not full is the last) or `none`."""
    edit: str = "PATCH"
    default_page: int = 20


_PULLS = (r"/repos/team/model/pulls/7/comments", r"/repos/team/model/pulls/comments/(\d+)")
_ISSUES = (r"/repos/team/model/issues/7/comments", r"/repos/team/model/issues/comments/(\d+)")
_NOTES = (r"/projects/team%2Fmodel/merge_requests/7/notes", r"/projects/team%2Fmodel/merge_requests/7/notes/(\d+)")
DIALECTS = {
    "github": Dialect("/github", "Authorization", "Bearer ", *_ISSUES, pages="link", default_page=30),
    "gitlab": Dialect("/gitlab/api/v4", "PRIVATE-TOKEN", "", *_NOTES, pages="x-next-page", edit="PUT"),
    "gitea": Dialect("/gitea/api/v1", "Authorization", "token ", *_ISSUES, pages="none"),
    "gitee": Dialect("/gitee/api/v5", "Authorization", "Bearer ", *_PULLS, pages="total_page"),
    "gitcode": Dialect("/gitcode/api/v5", "Authorization", "Bearer ", *_PULLS, pages="short"),
}


@dataclass
class Account:
    """Whose token it is, and what it may do."""

    login: str
    may_write: bool = True
    is_app: bool = False
    """The token of a workflow: `GET /user` is closed to it, GraphQL is not."""
    is_maintainer: bool = False
    """May change what others wrote."""


@dataclass
class Trouble:
    """One request that goes wrong."""

    method: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"message": "trouble"}'
    done_first: bool = False
    """The request is carried out, and only its answer is lost."""
    cut: bool = False
    """The connection ends without an answer."""


@dataclass
class Asked:
    """One request that came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: str


class FakeForge:
    """The state behind the server."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.comments: list[dict[str, Any]] = []
        self.accounts: dict[str, Account] = {TOKEN: Account(BOT)}
        self.troubles: list[Trouble] = []
        self.asked: list[Asked] = []
        self.statuses: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.pulls: list[dict[str, Any]] = []
        self.limit = 65_536
        self.line_end = "\n"
        self.strips_marks = False
        self.before: Callable[[str, str], None] = lambda method, path: None
        self.address = ""
        self._last = 100

    def api(self, kind: str) -> str:
        """The address of one dialect."""
        return self.address + DIALECTS[kind].prefix

    def say(self, author: str, body: str, *, system: bool = False) -> dict[str, Any]:
        """Somebody writes a comment."""
        with self.lock:
            self._last += 1
            comment = {"id": self._last, "author": author, "body": body, "system": system}
            self.comments.append(comment)
            return comment

    def by(self, author: str) -> list[str]:
        """What one account has written."""
        return [comment["body"] for comment in self.comments if comment["author"] == author]

    def writes(self) -> list[str]:
        """The requests that changed something."""
        return [asked.method for asked in self.asked if asked.method != "GET"]

    def trouble(self, method: str) -> Trouble | None:
        """The next thing to go wrong with such a request."""
        with self.lock:
            found = next((one for one in self.troubles if one.method in (method, "ANY")), None)
            if found:
                self.troubles.remove(found)
            return found


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message


Answer = tuple[int, dict[str, str], Any]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    forge: FakeForge

    def log_message(self, *_: object) -> None:
        return

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.forge.asked.append(Asked(self.command, parts.path, query, headers, body.decode()))
        self.forge.before(self.command, parts.path)
        trouble = self.forge.trouble(self.command)
        if trouble and not trouble.done_first:
            return self._fail(trouble)
        try:
            answer = self._answer(parts.path, query, body)
        except _Refused as refused:
            answer = (refused.status, {}, {"message": refused.message})
        return self._fail(trouble) if trouble else self._send(*answer)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

    def _fail(self, trouble: Trouble) -> None:
        if trouble.cut:
            self.close_connection = True
            self.connection.close()
            return
        self._send(trouble.status, trouble.headers, trouble.body)

    def _send(self, status: int, headers: dict[str, str], content: Any) -> None:
        data = content if isinstance(content, bytes) else b"" if status == 204 else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _answer(self, path: str, query: dict[str, str], body: bytes) -> Answer:
        kind, dialect = next((k, d) for k, d in DIALECTS.items() if path.startswith(d.prefix))
        account = self._account(dialect)
        rest = path.removeprefix(dialect.prefix)
        payload = self._payload(body)
        with self.forge.lock:
            return _Api(self.forge, kind, dialect, account).answer(self.command, rest, query, payload)

    def _account(self, dialect: Dialect) -> Account:
        said = self.headers.get(dialect.header, "")
        token = said.removeprefix(dialect.before_token)
        if not said.startswith(dialect.before_token) or token not in self.forge.accounts:
            raise _Refused(401, "Bad credentials")
        return self.forge.accounts[token]

    def _payload(self, body: bytes) -> dict[str, Any]:
        if not body:
            return {}
        if self.headers.get("Content-Type") != "application/json":
            raise _Refused(415, "JSON only")
        payload = json.loads(body)
        assert isinstance(payload, dict)
        return payload


@dataclass
class _Api:
    """One request to one dialect."""

    forge: FakeForge
    kind: str
    dialect: Dialect
    account: Account

    def answer(self, method: str, path: str, query: dict[str, str], payload: dict[str, Any]) -> Answer:
        if path in ("/user", "/graphql"):
            return self._user(path, payload)
        if re.fullmatch(self.dialect.every, path):
            return self._list(query) if method == "GET" else self._create(payload)
        one = re.fullmatch(self.dialect.one, path)
        if one:
            return self._change(method, int(one[1]), payload)
        return self._beside(method, path, query, payload)

    def _user(self, path: str, payload: dict[str, Any]) -> Answer:
        if path == "/graphql":
            assert "viewer" in payload["query"]
            return 200, {}, {"data": {"viewer": {"login": self.account.login}}}
        if self.account.is_app:
            raise _Refused(403, "Resource not accessible by integration")
        return 200, {}, {"username" if self.kind == "gitlab" else "login": self.account.login}

    def _list(self, query: dict[str, str]) -> Answer:
        comments = list(self.forge.comments)
        if self.kind == "gitlab" and query.get("sort", "desc") == "desc":
            comments.reverse()
        if self.dialect.pages == "none":
            return 200, {"X-Total-Count": str(len(comments))}, [self._shown(one) for one in comments]
        page, size = int(query.get("page", 1)), min(int(query.get("per_page", self.dialect.default_page)), 100)
        shown = comments[(page - 1) * size : page * size]
        more = page * size < len(comments)
        return 200, self._paging(page, more, -(-len(comments) // size)), [self._shown(one) for one in shown]

    def _paging(self, page: int, more: bool, pages: int) -> dict[str, str]:
        if self.dialect.pages == "link" and pages > 1:
            # addresses nobody should follow: the pages are to be counted
            links = ['<https://elsewhere.invalid/?page=1>; rel="first"']
            return {"Link": ", ".join([*links, *(['<https://elsewhere.invalid/>; rel="next"'] if more else [])])}
        if self.dialect.pages == "x-next-page":
            return {"X-Next-Page": str(page + 1) if more else "", "X-Page": str(page)}
        return {"total_page": str(pages)} if self.dialect.pages == "total_page" else {}

    def _create(self, payload: dict[str, Any]) -> Answer:
        comment = self.forge.say(self.account.login, self._body(payload))
        if self.kind == "gitcode":
            return 201, {}, {"id": "02564a3e864addd5", "note_id": comment["id"], "body": comment["body"]}
        return 201, {}, self._shown(comment)

    def _change(self, method: str, number: int, payload: dict[str, Any]) -> Answer:
        comment = next((one for one in self.forge.comments if one["id"] == number), None)
        if comment is None:
            raise _Refused(404, "Not Found")
        if comment["author"] != self.account.login and not self.account.is_maintainer:
            raise _Refused(403, "not your comment")
        if method == "DELETE":
            self.forge.comments.remove(comment)
            return 204, {}, None
        if method != self.dialect.edit:
            raise _Refused(405, "Method Not Allowed")
        comment["body"] = self._body(payload)
        return 200, {}, self._shown(comment)

    def _body(self, payload: dict[str, Any]) -> str:
        if not self.account.may_write:
            raise _Refused(403, "Resource not accessible by integration")
        body = payload["body"]
        assert isinstance(body, str)
        assert set(payload) == {"body"}
        if len(body) > self.forge.limit:
            raise _Refused(422, f"body is too long (maximum is {self.forge.limit} characters)")
        if self.forge.strips_marks:
            body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
        return body.replace("\n", self.forge.line_end)

    def _shown(self, comment: dict[str, Any]) -> dict[str, Any]:
        common = {"id": comment["id"], "body": comment["body"], "created_at": "2026-11-20T00:00:00Z"}
        if self.kind == "gitlab":
            return common | {"author": {"id": 1, "username": comment["author"]}, "system": comment["system"]}
        user = {"id": 1, "login": comment["author"]} if comment["author"] else None
        return common | {"user": user, "html_url": f"https://forge.example/7#{comment['id']}"}

    def _beside(self, method: str, path: str, query: dict[str, str], payload: dict[str, Any]) -> Answer:
        status = re.fullmatch(r"/(?:repos/team/model|projects/team%2Fmodel)/statuses/([0-9a-f]{40})", path)
        if status and method == "POST" and self.kind in ("github", "gitlab", "gitea"):
            self.forge.statuses.append(payload | {"sha": status[1]})
            return 201, {}, self._status(payload)
        if path == "/repos/team/model/check-runs" and method == "POST" and self.kind == "github":
            self.forge.checks.append(payload)
            return 201, {}, {"id": 4}
        if path == "/repos/team/model/pulls" and method == "GET":
            found = [pull for pull in self.forge.pulls if pull["from"] == query.get("head")]
            return 200, {}, [{name: pull[name] for name in pull if name != "from"} for pull in found]
        raise _Refused(404, "Not Found")

    def _status(self, payload: dict[str, Any]) -> dict[str, Any]:
        """GitHub says `state` in the answer too, the others `status`."""
        said = "state" if self.kind == "github" else "status"
        return {said if name == "state" else name: value for name, value in payload.items()}


@contextmanager
def fake_forge() -> Iterator[FakeForge]:
    """A running forge; it ends with the block."""
    forge = FakeForge()
    handler = type("Handler", (_Handler,), {"forge": forge})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    forge.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
