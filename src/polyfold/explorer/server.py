"""A running server: its socket, its address, its end."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import uvicorn

from polyfold.errors import PolyfoldError
from polyfold.explorer.api import make_app
from polyfold.explorer.guard import LOOPBACK, Rules
from polyfold.explorer.limits import Limits
from polyfold.explorer.state import State, start

# Seconds that open connections get when the server ends.
_LAST_WORDS = 1


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def rules_for(host: str, token: str | None, limits: Limits) -> Rules:
    """On this machine alone its own names are enough; elsewhere a token is asked for."""
    if not is_loopback(host):
        return Rules(None, token or secrets.token_urlsafe(24), limits.upload)
    return Rules((*LOOPBACK, host), token, limits.upload)


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there, or one of our errors."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise PolyfoldError(f"--host {host} is not an address of this machine: {error.strerror or error}") from None
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(256)
    except OSError as error:
        found.close()
        raise PolyfoldError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
    return found


def address_of(listening: socket.socket, token: str | None) -> str:
    """What to open in a browser."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")


def serve(
    model: str | None,
    host: str,
    port: int,
    token: str | None,
    limits: Limits,
    announce: Callable[[str, State], Any],
) -> None:
    """Serve until Ctrl-C. `announce(address, state)` is called when the socket listens."""
    rules = rules_for(host, token, limits)
    listening = listening_socket(host, port)
    with listening:
        state = start(model, limits)
        config = uvicorn.Config(
            make_app(state, rules),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_LAST_WORDS,
            lifespan="on",
        )
        announce(address_of(listening, rules.token), state)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            pass  # raised once the server has ended in an orderly way
        finally:
            state.close()
