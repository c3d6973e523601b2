"""Jobs that take too long, find too much, or are not wanted any more."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import polyfold as pf
from helpers.explorers import BOX, Client, Explorer, as_onnx, random_layers

if not Path("/proc/self/statm").exists():
    pytest.skip("processes are looked at through /proc", allow_module_level=True)


def long_network(client: Client, folder: Path) -> str:
    """Unfolding it takes far longer than any test."""
    return client.upload("long.onnx", as_onnx(random_layers(9, 2, 200, 200, 200, 2), folder))["id"]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def seconds_of_processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_cancelling_stops_the_worker(explorer: Explorer, client: Client, tmp_path: Path) -> None:
    job = client.start(long_network(client, tmp_path))
    client.wait(job, ("running",))
    while client.get(f"/api/jobs/{job}")["cells"] == 0:
        time.sleep(0.02)
    before = explorer.workers
    began = time.monotonic()
    state = client.http.delete(f"/api/jobs/{job}").json()
    assert state["state"] == "cancelled" and client.get(f"/api/jobs/{job}")["state"] == "cancelled"
    while all(runs(pid) for pid in before):
        assert time.monotonic() - began < 2.0  # a fraction of a second, on a machine with other things to do
        time.sleep(0.01)
    assert [kind for kind, _ in client.events(job)] == ["end"]
    client.get(f"/api/jobs/{job}/cells", 409)
    client.done("blobs")  # there is a worker again


def test_two_jobs_at_once(explorer: Explorer, client: Client, tmp_path: Path) -> None:
    network = long_network(client, tmp_path)
    jobs = [client.start(network) for _ in range(2)]
    for job in jobs:
        client.wait(job, ("running",))
        while client.get(f"/api/jobs/{job}")["cells"] == 0:
            time.sleep(0.02)
    assert len(explorer.workers) == 2
    waits = client.start("blobs")
    assert client.get(f"/api/jobs/{waits}")["state"] == "queued"
    # One that waits can be cancelled as well, and one that ends makes room for the next one.
    assert client.http.delete(f"/api/jobs/{waits}").json()["state"] == "cancelled"
    waits = client.start("blobs")
    client.http.delete(f"/api/jobs/{jobs[0]}")
    assert client.wait(waits)["state"] == "done"
    assert client.get(f"/api/jobs/{jobs[1]}")["state"] == "running"
    client.http.delete(f"/api/jobs/{jobs[1]}")
    assert {job["job"]: job["state"] for job in client.get("/api/jobs")["jobs"]}[jobs[1]] == "cancelled"


def test_limits_of_a_job(start_explorer: Callable[..., Explorer], tmp_path: Path) -> None:
    explorer = start_explorer("--max-cells", "3000", "--workers", "1")
    client = explorer.client()
    network = long_network(client, tmp_path)
    state = client.wait(client.start(network))
    assert state["state"] == "limit" and "3,000 cells" in state["error"]
    assert state["cells"] == 3000 and not state["result"]["complete"] and not state["result"]["classes"]
    page = client.get(f"/api/jobs/{state['job']}/cells")
    assert page["total"] == 3000 and 0 < sum(page["area"]) < 36
    (tmp_path / "part.parquet").write_bytes(client.http.get(f"/api/jobs/{state['job']}/export.parquet").content)
    assert (pf.open(tmp_path / "part.parquet").neighbour == -2).any()
    client.get(f"/api/jobs/{state['job']}/boundary", 422)
    # A session's queue is bounded.
    jobs = [client.start(network) for _ in range(8)]
    assert "8 jobs" in client.post("/api/jobs", {"network": network, "domain": BOX}, 422)["error"]
    for job in jobs:
        client.http.delete(f"/api/jobs/{job}")


def test_time_is_limited(start_explorer: Callable[..., Explorer], tmp_path: Path) -> None:
    client = start_explorer("--max-seconds", "0.3", "--max-cells", "100000000").client()
    began = time.monotonic()
    state = client.wait(client.start(long_network(client, tmp_path)))
    assert state["state"] == "limit" and "seconds" in state["error"], state
    assert time.monotonic() - began < 20
    assert state["result"]["cells"] == state["cells"] > 0
    assert client.get(f"/api/jobs/{state['job']}/cells?count=5")["count"] == 5


def test_memory_is_limited(start_explorer: Callable[..., Explorer], tmp_path: Path) -> None:
    explorer = start_explorer("--max-memory", "0.12", "--max-cells", "100000000", "--workers", "1")
    client = explorer.client()
    state = client.wait(client.start(long_network(client, tmp_path)))
    assert state["state"] == "limit" and "memory" in state["error"], state
    assert client.wait(client.start("blobs"))["state"] == "done"


@pytest.mark.slow
def test_results_are_dropped_when_there_are_too_many(start_explorer: Callable[..., Explorer]) -> None:
    client = start_explorer().client()
    first = client.done("blobs")
    for number in range(60):
        client.done("blobs", {**BOX, "hi": [3.0 + number, 3.0]})
    assert client.get(f"/api/jobs/{first}", 404)["error"]
    assert len(client.get("/api/jobs")["jobs"]) <= 60
