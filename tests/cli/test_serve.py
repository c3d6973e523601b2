"""polyfold serve as a command: what it prints, how it ends, what it refuses."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

COMMAND = [sys.executable, "-m", "polyfold.cli.main", "serve", "--no-browser"]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_starts_and_ends(tmp_path: Path, end: signal.Signals) -> None:
    process = subprocess.Popen(
        [*COMMAND, "iris", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"TMPDIR": str(tmp_path), "PATH": "", "HOME": tempfile.gettempdir()},
    )
    with process:
        line = process.stdout.readline()
        assert "http://127.0.0.1:" in line and "token" not in line
        address = line.split("at ")[1].split("/;")[0]
        with httpx.Client(base_url=address) as client:
            assert client.get("/api/networks").json()["networks"][0]["source"] == "given"
            answer = client.post("/api/data", files={"file": ("a.csv", b"1,2\n")})
            assert answer.status_code == 200
            # Somebody who still looks on does not keep it from ending.
            job = {"network": "given", "domain": {"kind": "box", "lo": [0, 0], "hi": [8, 8]}}
            assert client.post("/api/jobs", json=job).status_code == 200
        assert list(tmp_path.glob("polyfold-explorer-*"))
        process.send_signal(end)
        said = process.communicate(timeout=20)
    assert process.returncode == (0 if end == signal.SIGINT else -signal.SIGTERM)
    assert "Traceback" not in said[1] and not list(tmp_path.glob("polyfold-explorer-*"))


def test_bad_models(run, tmp_path: Path) -> None:
    (tmp_path / "notes.onnx").write_text("no weights")
    for model, words in (("nothing.onnx", "nothing.onnx"), (tmp_path / "notes.onnx", "notes.onnx"), ("a.txt", "a.txt")):
        code, out, error = run("serve", model, "--port", 0, "--no-browser")
        assert (code, out) == (2, "") and words in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-seconds", "0"], "--max-seconds"),
        (["--max-memory", "-1"], "--max-memory"),
        (["--max-upload", "0"], "--max-upload"),
        (["--token", "short"], "--token"),
        (["--host", "no such host.example"], "--host"),
    ],
)
def test_bad_options(run, options: list[str], words: str) -> None:
    code, _, error = run("serve", "--port", 0, "--no-browser", *options)
    assert code == 2 and words in error and error.count("\n") == 1


def test_a_port_that_is_taken(run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, error = run("serve", "--port", port, "--no-browser")
    assert code == 2 and str(port) in error


def test_without_the_extra(run, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    code, _, error = run("serve", "--no-browser")
    assert code == 2 and "starlette" in error and "polyfold[app]" in error
