"""Who may ask what: host names, origins, the token, sizes of requests, and headers on every answer."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.responses import JSONResponse, RedirectResponse

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN_COOKIE = "polyfold_token"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# Questions are short; uploads have a limit of their own.
_JSON_BYTES = 1_000_000
_AROUND_A_FILE = 20_000
UPLOADS = ("/api/networks", "/api/data")


@dataclass(frozen=True)
class Rules:
    """`hosts` are the names under which the server may be addressed (None: any); `token`, if given, must be shown."""

    hosts: tuple[str, ...] | None
    token: str | None
    upload: int


class Guard:
    """Stands in front of the application, and lets through what the rules allow."""

    def __init__(self, app: App, rules: Rules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        answer = self._refusal(scope, headers)
        with_headers = _adding(send, scope["path"])
        if answer is not None:
            await answer(scope, receive, with_headers)
            return
        limit = self._limit(scope["path"])
        if not headers.get("content-length", "0").isdigit() or int(headers.get("content-length", "0")) > limit:
            await too_large(self._rules.upload)(scope, receive, with_headers)
            return
        await self._app(scope, _counted(receive, limit), with_headers)

    def _limit(self, path: str) -> int:
        return self._rules.upload + _AROUND_A_FILE if path in UPLOADS else _JSON_BYTES

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Any:
        """The answer to a request that is not let through, or None."""
        hosts = self._rules.hosts
        # A name that somebody else's page had point to this machine must not lead here. Starlette's TrustedHost would
        # do this part, but reads names such as [::1]:80 right in its newest versions only, and answers with no JSON.
        if hosts is not None and _host_name(headers.get("host", "")) not in hosts:
            return JSONResponse({"error": f"this server is not called {headers.get('host', '')!r}"}, 403)
        origin = headers.get("origin")
        changes = scope["method"] not in ("GET", "HEAD")
        if changes and origin is not None and not _is_page_of(headers.get("host"), origin):
            return JSONResponse({"error": f"a page of {origin} may not ask for this"}, 403)
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"].startswith("/api/"):
            return JSONResponse({"error": "another site's page may not ask for this"}, 403)
        return None if self._rules.token is None else self._without_token(scope, headers, self._rules.token)

    def _without_token(self, scope: Scope, headers: dict[str, str], token: str) -> Any:
        shown = headers.get("x-polyfold-token") or headers.get("authorization", "").removeprefix("Bearer ")
        if _same(shown, token) or _same(cookies(headers).get(TOKEN_COOKIE, ""), _digest(token)):
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in asked if name == "token"]
        if given and _same(given[-1], token) and scope["method"] == "GET":
            # The token goes out of the address bar at once; the cookie does not hold it either.
            rest = urlencode([(name, value) for name, value in asked if name != "token"])
            answer = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(TOKEN_COOKIE, _digest(token), httponly=True, samesite="strict")
            return answer
        return JSONResponse({"error": "this server asks for a token: open the address that it printed"}, 401)


class TooMuchError(Exception):
    """More was sent than is taken. The application answers it, since it reads what is sent."""


def cookies(headers: dict[str, str]) -> dict[str, str]:
    """The cookies of a request, without those that make no sense."""
    try:
        return {name: each.value for name, each in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _same(one: str, other: str) -> bool:
    """In a time that does not tell how much of it is right."""
    return hmac.compare_digest(one.encode(), other.encode())


def _digest(token: str) -> str:
    return hashlib.sha256(f"polyfold cookie {token}".encode()).hexdigest()


def _is_page_of(host: str | None, origin: str) -> bool:
    try:
        return urlsplit(origin).netloc == host
    except ValueError:
        return False  # no address at all


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def too_large(upload: int) -> Any:
    """What to answer to too much."""
    return JSONResponse({"error": f"this is too large: a file may have {upload:,} bytes at most"}, 413)


def _counted(receive: Receive, limit: int) -> Receive:
    """What comes in, until it is more than allowed; who sends in pieces does not say how much it will be."""
    so_far = 0

    async def receive_some() -> Message:
        nonlocal so_far
        message = await receive()
        so_far += len(message.get("body", b""))
        if so_far > limit:
            raise TooMuchError
        return message

    return receive_some


def _adding(send: Send, path: str) -> Send:
    """Headers on every answer; answers of the interface are never kept by browsers."""
    more = {**_HEADERS, "cache-control": "no-store" if path.startswith("/api/") else "no-cache"}

    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            added = [(name.encode(), value.encode()) for name, value in more.items() if name.encode() not in there]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return send_more
