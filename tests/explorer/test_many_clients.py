"""Many browsers at once: no error, nobody gets another one's answers, memory stays within bounds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from helpers.explorers import Explorer, as_onnx, random_layers

CLIENTS = 50
MB = 1_000_000


def looked_around(explorer: Explorer, number: int, content: bytes, jobs: int) -> tuple[int, float, float]:
    """One browser's visit: upload a network of its own, unfold boxes of its own size, ask for every cell's map."""
    client = explorer.client()
    client.upload(f"{number}.csv", f"{number},0\n".encode(), path="/api/data")
    network = client.upload(f"{number}.onnx", content)
    assert network["name"] == f"{number}.onnx"
    side = 1.0 + number / 10
    areas, slopes = 0.0, 0.0
    for _ in range(jobs):
        job = client.start(network["id"], {"kind": "box", "lo": [0.0, 0.0], "hi": [side, side]})
        assert client.events(job)[-1][1]["state"] == "done"
        page = client.get(f"/api/jobs/{job}/cells")
        areas = sum(page["area"])
        at = client.get(f"/api/jobs/{job}/at?x={side / 2!r}&y={side / 3!r}")
        slopes = at["map"]["A"][0][0]
    assert [each["name"] for each in client.get("/api/networks")["networks"]][-1] == f"{number}.onnx"
    assert client.get("/api/data")["rows"] == [[float(number), 0.0]]
    assert len(client.get("/api/jobs")["jobs"]) == jobs
    client.http.close()
    return page["total"], areas, slopes


def visits(explorer: Explorer, tmp_path: Path, jobs: int, *widths: int) -> None:
    networks = [random_layers(100 + number, 2, *widths) for number in range(CLIENTS)]
    contents = [as_onnx(layers, tmp_path) for layers in networks]
    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(lambda k: looked_around(explorer, k, contents[k], jobs), range(CLIENTS)))
    for number, (cells, area, slope) in enumerate(found):
        side = 1.0 + number / 10
        atlas = pf.unfold(networks[number], pf.box(0.0, side))
        A, _ = atlas.maps(atlas.locate([[side / 2, side / 3]]))
        assert (cells, slope) == (len(atlas), A[0, 0, 0])
        assert area == pytest.approx(side**2, rel=1e-9)


def test_fifty_clients(explorer: Explorer, tmp_path: Path) -> None:
    explorer.client().done("blobs")
    before = explorer.memory()
    visits(explorer, tmp_path, 1, 4, 2)
    assert len(explorer.workers) <= 2
    assert explorer.memory() - before < 300 * MB


@pytest.mark.slow
def test_fifty_clients_with_larger_networks(start_explorer: Callable[..., Explorer], tmp_path: Path) -> None:
    explorer = start_explorer()
    explorer.client().done("blobs")
    visits(explorer, tmp_path, 2, 16, 16, 3)
    once = explorer.memory()
    for _ in range(2):
        visits(explorer, tmp_path, 2, 16, 16, 3)
    # What more visits leave behind is forgotten sessions' files, not memory.
    assert explorer.memory() < once + 150 * MB
    assert explorer.memory() < 1500 * MB
    assert np.isfinite(once)
