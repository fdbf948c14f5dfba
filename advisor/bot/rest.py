# SPDX-License-Identifier: Apache-2.0
"""Rest: requests to a forge's API that wait when told to, keep the token to themselves, and fail in clear words."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import Struct

from advisor.bot import forge_errors as trouble
from advisor.bot.limits import AnswerTooLarge, TookTooLong, read_body
from advisor.bot.retries import WORTH_ANOTHER_TRY, Retries, asked_pause, is_limit
from advisor.messages.errors import ForgeError
from advisor.messages.text import Text
from advisor.release import VERSION

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
TIMEOUT_S = 30.0
"""Seconds of silence until a connection is given up."""
_LONGEST_HEADER = 8192
"""Characters; what is longer is left out: no address that a forge moves to is."""
_MOVED = frozenset({301, 302, 307, 308})
_MOST_MOVES = 3
_GONE = (404, 410)
_NO_JSON = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What an answer may be that is not the API's: other text, bytes that are no text, lists in lists without end."""


class ApiAccess(Struct, frozen=True):
    """How one forge is entered."""

    forge: str
    """What people call it."""
    header: str
    """The header the token goes into."""
    prefix: str
    """What stands before the token there."""
    needs: Text
    """What the token must be allowed to do, and where that is set."""
    headers: Mapping[str, str] = {}


class Response(Struct, frozen=True):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class _Failure(Struct, frozen=True):
    """A request that did not get through, and whether another try may help."""

    error: ForgeError
    again: bool = False
    asked_s: float | None = None


class Rest:
    """One API: an address, a token that is sent there and nowhere else, and retries."""

    def __init__(self, access: ApiAccess, address: str, token: str, retries: Retries | None = None) -> None:
        self.access, self.address = access, address.rstrip("/")
        self._token, self._retries = token, retries or Retries()
        self._limits = self._retries.limits
        self._client = _make_client(access, token)

    def __repr__(self) -> str:
        return f"Rest({self.access.forge}, {self.address})"

    def read(self, kind: type[T], method: str, path: str, payload: object = None, **params: object) -> T:
        """What a request answers, as this type.

        Raises:
            ForgeError: No answer, a refusal, or an answer of another form.
        """
        return self.decoded(kind, self.ask(method, path, payload, **params))

    def decoded(self, kind: type[T], answer: Response) -> T:
        """The content of an answer, as this type."""
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except _NO_JSON as error:
            raise trouble.not_an_api(self.access.forge, self.address) from error

    def ask(self, method: str, path: str, payload: object = None, **params: object) -> Response:
        """The answer to a request, tried again while that may help; `path` follows the address, or is an address.

        Raises:
            ForgeError: No answer or a refusal.
        """
        url = path if "://" in path else self.address + path
        waited, tried = 0.0, 0
        while True:
            tried += 1
            got = self._ask_once(method, url, payload, params)
            if isinstance(got, Response):
                return got
            pause = self._retries.pause(tried, got.asked_s)
            if not got.again or tried >= self._retries.tries or waited + pause > self._retries.total_s:
                raise got.error
            if pause >= self._limits.left_s():
                raise trouble.run_too_long(self.access.forge, self._limits.run_s) from got.error
            self._retries.sleep(pause)
            self._limits.spend(pause)
            waited += pause

    def _ask_once(self, method: str, url: str, payload: object, params: Mapping[str, object]) -> Response | _Failure:
        import httpx2

        try:
            answer = self._limits.timed(lambda: self._follow_redirects(method, url, payload, params))
        except (httpx2.TimeoutException, TookTooLong):
            return self._failure_of_time()
        except AnswerTooLarge:
            return _Failure(trouble.answer_too_large(self.access.forge, self.address, self._limits.body_bytes))
        except (ValueError, httpx2.InvalidURL):  # a body or an address that is none
            return _Failure(trouble.not_an_api(self.access.forge, self.address))
        except httpx2.RequestError as error:
            why = self._without_token(str(error) or type(error).__name__)
            return _Failure(trouble.unreachable(self.access.forge, self.address, why), again=True)
        return answer if answer.status < HTTPStatus.MULTIPLE_CHOICES else self._failure_of_answer(answer)

    def _failure_of_time(self) -> _Failure:
        if self._limits.left_s() <= 0:
            return _Failure(trouble.run_too_long(self.access.forge, self._limits.run_s))
        return _Failure(trouble.too_slow(self.access.forge, self.address), again=True)

    def _follow_redirects(self, method: str, url: str, payload: object, params: Mapping[str, object]) -> Response:
        """The answer behind redirects; a renamed repository gives one. The token never goes to another host."""
        content = None if payload is None else msgspec.json.encode(payload)
        query = {name: str(value) for name, value in params.items()}
        for _ in range(_MOST_MOVES):
            with self._client.stream(method, url, params=query or None, content=content) as got:
                headers = {n.lower(): value for n, value in got.headers.items() if len(value) <= _LONGEST_HEADER}
                packing = headers.get("content-encoding", "").strip().lower()
                body = read_body(got.iter_raw(), packing, self._limits.body_bytes)
            answer = Response(got.status_code, headers, body)
            if answer.status not in _MOVED or "location" not in answer.headers:
                return answer
            url, query = self._at_home(url, answer.headers["location"]), {}
        return answer

    def _at_home(self, url: str, location: str) -> str:
        """Where a redirect leads, as long as that is the host the token is for."""
        try:
            target = urljoin(url, location)
            leads_home = urlsplit(target)[:2] == urlsplit(self.address)[:2]
        except ValueError:
            target, leads_home = "", False
        if not leads_home:
            raise trouble.redirected_away(self.access.forge, self._without_token(urlsplit(target).netloc))
        return target

    def _failure_of_answer(self, answer: Response) -> _Failure:
        said = self._without_token(_refusal_text(answer))
        if is_limit(answer.status, answer.headers, said):
            asked = asked_pause(answer.status, answer.headers, said, self._retries.now())
            return _Failure(trouble.rate_limited(self.access.forge, answer.status, asked), again=True, asked_s=asked)
        error = trouble.request_refused(self.access.forge, answer.status, said, self.access.needs)
        if answer.status not in WORTH_ANOTHER_TRY:
            return _Failure(error, again=False)
        asked = asked_pause(answer.status, answer.headers, said, self._retries.now())
        return _Failure(error, again=True, asked_s=asked)

    def _without_token(self, text: str) -> str:
        """Text from outside without the token: a server or proxy may send back what it was given."""
        return text.replace(self._token, "***") if self._token else text


def is_gone(error: ForgeError) -> bool:
    """Whether a failure says that the thing asked for does not exist."""
    return error.status in _GONE


def _make_client(access: ApiAccess, token: str) -> httpx2.Client:
    try:
        import httpx2
    except ImportError as error:
        raise trouble.not_installed() from error
    headers = {
        "accept": "application/json",
        "accept-encoding": "gzip",
        "content-type": "application/json",
        "user-agent": f"ascend-advisor/{VERSION}",
        **access.headers,
        access.header: access.prefix + token,
    }
    try:
        return httpx2.Client(headers=headers, timeout=TIMEOUT_S, follow_redirects=False)
    except (ImportError, ValueError) as error:  # a proxy of the environment that cannot be used
        raise trouble.unreachable(access.forge, "proxy", type(error).__name__) from error


class _RefusalBody(Struct):
    message: object = None
    error: object = None
    error_message: object = None
    errors: object = None


def _refusal_text(answer: Response) -> str:
    """What the forge says is wrong; nothing when it says so in HTML."""
    try:
        said = msgspec.json.decode(answer.content, type=_RefusalBody)
    except _NO_JSON:
        return ""
    parts = [part for part in (said.message or said.error or said.error_message, said.errors) if part]
    return "; ".join(part if isinstance(part, str) else msgspec.json.encode(part).decode() for part in parts)
