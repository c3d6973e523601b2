"""Who may ask: host names, other sites' pages, the token, sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import numpy as np
import pytest

from helpers.explorers import BOX, Client, Explorer, as_onnx, random_layers, without_workers
from polyfold.explorer.limits import Limits
from polyfold.explorer.server import address_of, listening_socket, rules_for
from polyfold.explorer.sessions import Data


def test_headers(explorer: Explorer, client: Client) -> None:
    page = client.http.get("/")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    answer = client.http.get("/api/networks")
    for response in (page, answer, client.http.get("/static/nothing"), client.http.get("/api/jobs/nothing")):
        policy = response.headers["content-security-policy"]
        assert "default-src 'self'" in policy and "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "server" not in response.headers
    assert answer.headers["cache-control"] == "no-store"
    cookie = httpx.get(f"{explorer.address}/api/networks").headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie


@pytest.mark.parametrize("path", ["/static/../api.py", "/static/..%2f..%2fcli.py", "/static/%2e%2e/guard.py", "/docs"])
def test_only_the_page_s_files_are_served(client: Client, path: str) -> None:
    assert client.http.get(path).status_code == 404


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:80", 200), ("evil.example", 403), ("", 403), ("[", 403)],
)
def test_names_of_this_machine(client: Client, host: str, status: int) -> None:
    assert client.http.get("/api/networks", headers={"host": host}).status_code == status


def test_pages_of_other_sites(explorer: Explorer, client: Client) -> None:
    body = {"network": "blobs", "domain": BOX}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://["):
        answer = client.http.post("/api/jobs", json=body, headers={"origin": origin})
        assert answer.status_code == 403 and answer.json()["error"]
    assert client.http.post("/api/jobs", json=body, headers={"origin": explorer.address}).status_code == 200
    assert client.http.get("/api/networks", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.http.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


def test_sessions_do_not_see_each_other(explorer: Explorer, client: Client, tmp_path: Path) -> None:
    known = client.upload("mine.onnx", as_onnx(random_layers(1, 2, 3, 2), tmp_path))
    client.upload("mine.csv", b"1,2\n", path="/api/data")
    job = client.done(known["id"])
    other = explorer.client()
    assert known["id"] not in [each["id"] for each in other.get("/api/networks")["networks"]]
    assert other.http.cookies["polyfold_session"] != client.http.cookies["polyfold_session"]
    assert other.get("/api/jobs") == {"jobs": []}
    for path in ("", "/events", "/cells", "/cell/0", "/at?x=0&y=0", "/layers", "/boundary", "/classes", "/data"):
        other.get(f"/api/jobs/{job}{path}", 404)
    for path in ("export.csv", "export.parquet"):
        assert other.http.get(f"/api/jobs/{job}/{path}").status_code == 404
    other.get("/api/data", 404)
    assert other.http.delete(f"/api/jobs/{job}").status_code == 404
    assert other.http.delete(f"/api/networks/{known['id']}").status_code == 404
    other.post("/api/jobs", {"network": known["id"], "domain": BOX}, 422)
    other.post("/api/compare", {"a": job, "b": job}, 422)
    assert client.get(f"/api/jobs/{job}")["state"] == "done"


def test_sessions_that_hold_nothing_go_first() -> None:
    state = without_workers(sessions=5)
    sessions = state.sessions
    mine, working = sessions.new(), sessions.new()
    mine.data = Data(np.zeros((1, 2)), None, None)
    sessions.start(working, {"kind": "read"})
    slow = sessions.new()
    for _ in range(20):
        sessions.new()
    assert len(sessions) == 5 and sessions.find(mine.id) is mine and sessions.find(working.id) is working
    # One that was dropped while its first upload was on the way is known from then on.
    assert sessions.find(slow.id) is None
    sessions.start(slow, {"kind": "read"})
    assert sessions.find(slow.id) is slow and len(sessions) == 5
    for _ in range(5):
        sessions.start(sessions.new(), {"kind": "read"})
    assert len(sessions) == 5 and sessions.find(mine.id) is None and not mine.folder.exists()
    state.close()


def test_addresses_with_odd_tokens() -> None:
    with listening_socket("127.0.0.1", 0) as listening:
        address = address_of(listening, "a&b=c #+/%41")
    assert parse_qsl(urlsplit(address).query) == [("token", "a&b=c #+/%41")]


def test_a_token_is_asked_for(start_explorer: Callable[..., Explorer]) -> None:
    explorer = start_explorer("--host", "0.0.0.0", "--token", "open sesame")
    address = explorer.address.replace("0.0.0.0", "127.0.0.1")
    assert "token=" in explorer.line
    for path in ("/", "/api/networks", "/static/index.html", "/?token=wrong", "/?token="):
        answer = httpx.get(address + path)
        assert answer.status_code == 401 and "token" in answer.json()["error"]
    for headers in ({"x-polyfold-token": "wrong"}, {"authorization": "Bearer open"}, {"cookie": "polyfold_token=x"}):
        assert httpx.get(f"{address}/api/networks", headers=headers).status_code == 401
    assert httpx.get(f"{address}/api/networks", headers={"x-polyfold-token": "open sesame"}).status_code == 200
    assert httpx.get(f"{address}/api/networks", headers={"authorization": "Bearer open sesame"}).status_code == 200
    with httpx.Client(base_url=address) as browser:
        shown = browser.get("/?token=open%20sesame&network=iris")
        assert shown.status_code == 303 and shown.headers["location"] == "/?network=iris"
        assert "sesame" not in shown.headers["set-cookie"]
        assert browser.get("/api/networks").status_code == 200
        assert browser.post("/api/jobs", json={"network": "blobs", "domain": BOX}).status_code == 200


def test_elsewhere_a_token_is_made_up() -> None:
    limits = Limits()
    tokens = {rules_for(host, None, limits).token for host in ("0.0.0.0", "::", "192.168.0.1", "example.org")}
    assert len(tokens) == 4 and all(len(token) >= 32 for token in tokens)
    for host in ("127.0.0.1", "127.0.0.5", "::1", "localhost"):
        assert rules_for(host, None, limits).token is None
        assert rules_for(host, "chosen one", limits).token == "chosen one"
        assert host in rules_for(host, None, limits).hosts
