"""A real server on a free port of this machine, and what its tests ask it."""

from __future__ import annotations

import itertools
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.explorer.answers import Shelf
from polyfold.explorer.limits import Limits
from polyfold.explorer.pool import Pool
from polyfold.explorer.sessions import Sessions
from polyfold.explorer.state import State

httpx = pytest.importorskip("httpx")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("onnx")

BOX = {"kind": "box", "lo": [-3.0, -3.0], "hi": [3.0, 3.0]}
ENDED = ("done", "cancelled", "failed", "limit")


@dataclass
class Explorer:
    """A running `polyfold serve`."""

    process: subprocess.Popen[str]
    line: str

    @property
    def address(self) -> str:
        return re.search(r"http://[^/ ]+", self.line)[0]

    def client(self) -> Client:
        return Client(httpx.Client(base_url=self.address, timeout=60))

    @property
    def workers(self) -> list[int]:
        """The processes that the server has started and that are there now."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        found = [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
        return [pid for pid in found if b"explorer.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def memory(self) -> int:
        """Bytes of memory of the server and its workers."""
        pids = [self.process.pid, *self.workers]
        return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 for pid in pids)


@dataclass
class Client:
    """One browser: a session of its own."""

    http: Any

    def get(self, path: str, expected: int = 200, **options: Any) -> Any:
        answer = self.http.get(path, **options)
        assert answer.status_code == expected, answer.text
        return answer.json()

    def post(self, path: str, body: Any, expected: int = 200) -> Any:
        answer = self.http.post(path, json=body)
        assert answer.status_code == expected, answer.text
        return answer.json()

    def upload(self, name: str, content: bytes, expected: int = 200, path: str = "/api/networks") -> Any:
        answer = self.http.post(path, files={"file": (name, content)})
        assert answer.status_code == expected, answer.text
        return answer.json()

    def start(self, network: str, domain: Any = BOX, **more: Any) -> str:
        return self.post("/api/jobs", {"network": network, "domain": domain, **more})["job"]

    def wait(self, job: str, until: tuple[str, ...] = ENDED, seconds: float = 90.0) -> Any:
        end = time.monotonic() + seconds
        while (state := self.get(f"/api/jobs/{job}"))["state"] not in until:
            assert time.monotonic() < end, state
            time.sleep(0.03)
        return state

    def done(self, network: str, domain: Any = BOX, **more: Any) -> str:
        job = self.start(network, domain, **more)
        state = self.wait(job)
        assert state["state"] == "done", state
        return job

    def events(self, job: str) -> list[tuple[str, Any]]:
        found, kind = [], ""
        with self.http.stream("GET", f"/api/jobs/{job}/events") as stream:
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    kind = line[7:]
                elif line.startswith("data: "):
                    found.append((kind, json.loads(line[6:])))
        return found


def started(*options: str) -> Explorer:
    command = [sys.executable, "-m", "polyfold.cli.main", "serve", "--port", "0", "--no-browser", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return Explorer(process, process.stdout.readline())


def stopped(explorer: Explorer) -> int:
    explorer.process.send_signal(signal.SIGINT)
    try:
        return explorer.process.wait(20)
    finally:
        explorer.process.kill()
        explorer.process.stdout.close()
        explorer.process.stderr.close()


def without_workers(**limits: int) -> Any:
    """What an explorer holds whose workers have ended: jobs wait for ever."""
    given = Limits(workers=1, **limits)
    pool, folder = Pool(given), tempfile.TemporaryDirectory()
    pool.close()
    return State(given, pool, Sessions(Path(folder.name), given, pool), Shelf(2), {}, folder)


def random_layers(seed: int, *widths: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [
        (rng.normal(size=(after, before)) / np.sqrt(before), rng.normal(size=after) / 2)
        for before, after in itertools.pairwise(widths)
    ]


def as_onnx(layers: Any, folder: Path) -> bytes:
    path = folder / "network.onnx"
    pf.load(layers).save_onnx(path)
    return path.read_bytes()
