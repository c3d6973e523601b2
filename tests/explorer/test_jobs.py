"""What the explorer answers is what the library says, to the last digit."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from helpers.explorers import BOX, Client, as_onnx, random_layers
from polyfold.datasets.named import BUNDLED

SQUARE = pf.box([-3.0, -3.0], [3.0, 3.0])


def corners_of(page: dict[str, list], k: int) -> np.ndarray:
    points = np.array(page["points"]).reshape(-1, 2)
    return points[page["start"][k] : page["start"][k + 1]]


def holds(corners: np.ndarray, point: np.ndarray) -> bool:
    """Whether a counter-clockwise polygon holds a point."""
    sides = np.roll(corners, -1, axis=0) - corners
    away = point - corners
    return bool((sides[:, 0] * away[:, 1] - sides[:, 1] * away[:, 0] >= 0).all())


def test_every_cell_is_the_library_s(client: Client) -> None:
    atlas = pf.unfold(BUNDLED["iris"](), pf.box([0.0, 0.0], [8.0, 4.0]))
    job = client.done("iris", {"kind": "box", "lo": [0.0, 0.0], "hi": [8.0, 4.0]})
    page = client.get(f"/api/jobs/{job}/cells")
    assert page["total"] == len(atlas)
    assert sum(page["area"]) == pytest.approx(32.0, rel=1e-12)
    A, c = atlas.maps()
    for number in range(len(atlas)):
        cell = client.get(f"/api/jobs/{job}/cell/{number}")
        assert np.array_equal(cell["map"]["A"], A[number]) and np.array_equal(cell["map"]["c"], c[number])
        assert cell["pattern"] == atlas[number].pattern
        assert cell["volume"] == atlas[number].volume
        assert cell["witness"] == atlas[number].witness.tolist()
        assert [facet["neighbour"] for facet in cell["facets"]] == atlas.neighbour[atlas.facets(number)].tolist()
        rows, offsets = atlas[number].halfspaces
        assert [facet["row"] for facet in cell["facets"]] == rows.tolist()
        assert [facet["offset"] for facet in cell["facets"]] == offsets.tolist()
        assert "map_on_slice" not in cell
        for facet in cell["facets"]:
            assert ("edge" in facet["words"]) == (facet["neighbour"] == -1)


def test_points_and_classes(client: Client) -> None:
    network = BUNDLED["blobs"]()
    atlas = pf.unfold(network, SQUARE)
    job = client.done("blobs")
    parts = client.get(f"/api/jobs/{job}/classes")
    points = np.random.default_rng(1).uniform(-3, 3, size=(40, 2))
    winners = network(points).argmax(axis=1)
    for point, winner in zip(points, winners, strict=True):
        cell = client.get(f"/api/jobs/{job}/at", params={"x": float(point[0]), "y": float(point[1])})
        assert cell["cell"] == atlas.locate([point])[0]
        labels = {parts["class"][k] for k in range(len(parts["cell"])) if holds(corners_of(parts, k), point)}
        assert labels == {winner}
    boundary = client.get(f"/api/jobs/{job}/boundary")
    ends = np.array(boundary["segments"]).reshape(-1, 2, 2)
    assert len(ends) == len(boundary["pairs"]) > 0
    outputs = network(ends.mean(axis=1))
    for values, (one, other) in zip(outputs, boundary["pairs"], strict=True):
        assert values[one] == pytest.approx(values[other], abs=1e-9) == pytest.approx(values.max(), abs=1e-9)


def test_walls_by_layer(client: Client) -> None:
    network = BUNDLED["blobs"]()
    atlas = pf.unfold(network, SQUARE)
    job = client.done("blobs")
    layers = client.get(f"/api/jobs/{job}/layers")["layers"]
    assert [layer["layer"] for layer in layers] == [1, 2, 3]
    assert sum(len(layer["segments"]) // 4 for layer in layers) == atlas.inner_facets
    for layer in layers:
        values = network.evaluate(np.array(layer["segments"]).reshape(-1, 2, 2).mean(axis=1))
        before = next(node for node in network.nodes if node.name == layer["name"]).inputs[0]
        # On each segment one unit of this layer is zero.
        assert np.abs(values[before]).min(axis=1).max(initial=0.0) < 1e-9


def test_a_slice_of_an_image_network(client: Client) -> None:
    rng = np.random.default_rng(2)
    at = rng.random(784).tolist()
    domain = {"kind": "features", "i": 300, "j": 410, "at": at, "extent": [0.0, 1.0, -1.0, 1.0]}
    job = client.done("mnist_he", domain)
    basis = np.zeros((784, 2))
    basis[[300, 410], [0, 1]] = 1
    origin = np.array(at)
    origin[[300, 410]] = 0
    atlas = pf.unfold(BUNDLED["mnist_he"](), pf.slice_of(origin, basis, bounds=pf.box([0.0, -1.0], [1.0, 1.0])))
    page = client.get(f"/api/jobs/{job}/cells")
    assert page["total"] == len(atlas) and sum(page["area"]) == pytest.approx(2.0, rel=1e-12)
    cell = client.get(f"/api/jobs/{job}/cell/1")
    for name, over in (("map", "inputs"), ("map_on_slice", "parameters")):
        A, c = atlas.maps([1], over=over)
        assert np.array_equal(cell[name]["A"], A[0]) and np.array_equal(cell[name]["c"], c[0])
    assert client.get(f"/api/jobs/{job}")["result"]["names"] == ["x300", "x410"]


def test_a_line(client: Client) -> None:
    network = BUNDLED["blobs"]()
    job = client.done("blobs", {"kind": "line", "from": [-3.0, -1.0], "to": [3.0, 2.0]})
    page = client.get(f"/api/jobs/{job}/cells?output=1")
    ends = np.array(page["points"]).reshape(-1, 2)
    assert sum(page["area"]) == pytest.approx(1.0, rel=1e-12)
    for k in (0, 1):
        inputs = np.array([-3.0, -1.0]) + ends[:, [k]] * np.array([6.0, 3.0])
        assert np.allclose(page["ends"][k], network(inputs)[:, 1], rtol=1e-10, atol=1e-10)
    assert client.get(f"/api/jobs/{job}/at?x=0.25")["map_on_slice"]
    walls = [point for layer in client.get(f"/api/jobs/{job}/layers")["layers"] for point in layer["segments"]]
    assert sorted(walls) == pytest.approx(sorted(ends[:, 1])[:-1])


def test_cells_appear_while_the_engine_runs(client: Client, tmp_path: Path) -> None:
    layers = random_layers(5, 2, 100, 100, 3)
    known = client.upload("wide.onnx", as_onnx(layers, tmp_path))
    assert (known["inputs"], known["outputs"], known["gates"], known["source"]) == (2, 3, 200, "uploaded")
    for _ in range(5):  # on a busy machine the engine may be done before anybody looks
        job = client.start(known["id"])
        events = client.events(job)
        kinds = [kind for kind, _ in events]
        if "block" in kinds:
            break
    assert "block" in kinds and kinds[-1] == "end" and events[-1][1]["state"] == "done"
    blocks = [data for kind, data in events if kind == "block"]
    page = client.get(f"/api/jobs/{job}/cells")
    shown = [key for block in blocks for key in block["key"]]
    assert len(set(shown)) == len(shown) and set(shown) < set(page["key"])
    # A block's polygon is the one of the finished cell.
    at = page["key"].index(blocks[0]["key"][0])
    assert np.allclose(corners_of(blocks[0], 0), corners_of(page, at))
    saved = tmp_path / "atlas.parquet"
    saved.write_bytes(client.http.get(f"/api/jobs/{job}/export.parquet").content)
    atlas, mine = pf.open(saved), pf.unfold(pf.load(tmp_path / "network.onnx"), SQUARE)
    assert atlas.complete and np.array_equal(atlas.patterns, mine.patterns)
    assert sum(page["area"]) == pytest.approx(36.0, rel=1e-9)


def test_pages_and_table(client: Client) -> None:
    job = client.done("blobs")
    whole = client.get(f"/api/jobs/{job}/cells")
    parts = [client.get(f"/api/jobs/{job}/cells?from={first}&count=4") for first in range(0, whole["total"], 4)]
    for name in ("cell", "key", "class", "value", "slope", "layer", "area", "facets", "points"):
        assert [each for part in parts for each in part[name]] == whole[name], name
    assert client.get(f"/api/jobs/{job}/cells?from=1000")["count"] == 0
    answer = client.http.get(f"/api/jobs/{job}/export.csv")
    assert answer.headers["content-type"].startswith("text/csv") and job in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    atlas = pf.unfold(BUNDLED["blobs"](), SQUARE)
    assert [float(row["area"]) for row in rows] == whole["area"] and len(rows) == len(atlas)
    assert [row["pattern"] for row in rows] == [atlas[int(row["cell"])].pattern for row in rows]
    assert client.http.get(f"/api/jobs/{job}/export.csv").content == answer.content


def test_comparing_networks(client: Client, tmp_path: Path) -> None:
    layers = random_layers(6, 2, 6, 2)
    changed = [layers[0], (layers[1][0], layers[1][1] + [0.0, 0.5])]
    a = client.done(client.upload("a.onnx", as_onnx(layers, tmp_path))["id"])
    same = client.done(client.upload("b.onnx", as_onnx(layers, tmp_path))["id"])
    other = client.done(client.upload("c.onnx", as_onnx(changed, tmp_path))["id"])
    equal = client.wait(client.post("/api/compare", {"a": a, "b": same})["job"])["result"]
    assert equal["verdict"] == "equal" and equal["largest"] == 0
    found = client.wait(client.post("/api/compare", {"a": a, "b": other})["job"])["result"]
    assert found["verdict"] == "different" and found["largest"] == pytest.approx(0.5) and found["at"] == found["point"]
    elsewhere = client.done("blobs", {**BOX, "hi": [2.0, 2.0]})
    refused = client.post("/api/compare", {"a": a, "b": elsewhere}, expected=422)
    assert "different domains" in refused["error"]


def test_data_in_cells(client: Client) -> None:
    rng = np.random.default_rng(3)
    rows = rng.uniform(-3, 3, size=(50, 2))
    text = io.StringIO("x,y,label\n")
    text.seek(0, 2)
    text.writelines(f"{x!r},{y!r},{'ab'[k % 2]}\n" for k, (x, y) in enumerate(rows.tolist()))
    found = client.upload("points.csv", text.getvalue().encode(), path="/api/data")
    assert found["rows"] == rows.tolist() and found["columns"] == ["x", "y"] and found["labels"][:2] == ["a", "b"]
    assert client.get("/api/data") == found
    network = BUNDLED["blobs"]()
    atlas, job = pf.unfold(network, SQUARE), client.done("blobs")
    seen = client.get(f"/api/jobs/{job}/data")
    assert seen["cell"] == atlas.locate(rows).tolist() and not seen["projected"]
    assert seen["class"] == network(rows).argmax(axis=1).tolist()
    counts = [client.get(f"/api/jobs/{job}/cell/{k}")["data"]["count"] for k in range(len(atlas))]
    assert counts == np.bincount(seen["cell"], minlength=len(atlas)).tolist()


def test_data_for_another_network(client: Client) -> None:
    client.upload("points.csv", b"1,2,3\n", path="/api/data")
    job = client.done("blobs")
    for path in ("cell/0", "at?x=0&y=0"):
        cell = client.get(f"/api/jobs/{job}/{path}")
        assert cell["data"] is None and cell["map"]["A"]
    assert "3 columns" in client.get(f"/api/jobs/{job}/data", 422)["error"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "no points"), ("x,y\n", "no points"), ("1,2\n3", "line 2"), ("1,2\n3,b", "'b'"), ("1,nan", "finite")],
)
def test_bad_data(client: Client, text: str, words: str) -> None:
    assert words in client.upload("points.csv", text.encode(), 422, "/api/data")["error"]


def test_a_saved_atlas(client: Client, tmp_path: Path) -> None:
    atlas = pf.unfold(BUNDLED["blobs"]())  # all of the plane: cells are cut off at the view
    atlas.save(tmp_path / "mine.parquet")
    known = client.upload("mine.parquet", (tmp_path / "mine.parquet").read_bytes())
    assert known["kind"] == "atlas" and known["atlas"]["cells"] == len(atlas)
    job = client.done(known["id"], {"kind": "atlas", "extent": [-5.0, 5.0, -4.0, 4.0]})
    page = client.get(f"/api/jobs/{job}/cells")
    assert sum(page["area"]) == pytest.approx(80.0, rel=1e-9)
    job = client.done(known["id"])
    assert client.get(f"/api/jobs/{job}/cells")["total"] == len(pf.unfold(BUNDLED["blobs"](), SQUARE))


def test_a_recording(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "run.recording"
    layers = random_layers(7, 2, 5, 2)
    with pf.training.record(layers, path=path) as recorder:
        for step in range(3):
            layers[0][0][:] *= 1.5
            recorder.step(loss=1.0 / (step + 1))
    known = client.upload("run.recording", path.read_bytes())
    recording = pf.training.open(path)
    assert known["kind"] == "recording" and known["steps"] == recording.steps.tolist()
    assert known["id"] in [each["id"] for each in client.get("/api/recordings")["recordings"]]
    for snapshot in (0, len(recording) - 1):
        job = client.done(known["id"], snapshot=snapshot)
        A, c = pf.unfold(recording.network(snapshot), SQUARE).maps([0])
        found = client.get(f"/api/jobs/{job}/cell/0")["map"]
        assert np.array_equal(found["A"], A[0]) and np.array_equal(found["c"], c[0])
    assert (
        "whole number"
        in client.post("/api/jobs", {"network": known["id"], "domain": BOX, "snapshot": 99}, expected=422)["error"]
    )


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (None, "domain"),
        ({"kind": "sphere"}, "sphere"),
        ({"kind": "box", "lo": [0, 0], "hi": [0, 1]}, "flat"),
        ({"kind": "box", "lo": [0], "hi": [1, 1]}, "2 numbers"),
        ({"kind": "box", "lo": [0, "a"], "hi": [1, 1]}, "'a'"),
        ({"kind": "plane", "origin": [0, 0], "x": [1, 0], "y": [2, 0]}, "directions"),
        ({"kind": "features", "i": 0, "j": 0, "at": [0, 0]}, "different features"),
        ({"kind": "features", "i": 0, "j": 2, "at": [0, 0]}, "2"),
        ({"kind": "atlas"}, "saved atlas"),
        ({"kind": "box", "lo": [0, 0], "hi": [1, 10**400]}, "not a finite number"),
        ({"kind": "features", "i": 0, "j": 1, "at": [0, -(10**400)]}, "not a finite number"),
        ({"kind": "features", "i": 10**400, "at": [0, 0]}, "not a feature"),
    ],
)
def test_bad_domains(client: Client, domain: object, words: str) -> None:
    assert words in client.post("/api/jobs", {"network": "blobs", "domain": domain}, expected=422)["error"]


def test_nothing_else_in_a_domain_is_kept(client: Client) -> None:
    odd = '{"network": "blobs", "domain": {"kind": "box", "lo": -3, "hi": [3, 3], "x": NaN, "\\ud800": "\\ud800"}}'
    answer = client.http.post("/api/jobs", content=odd)
    assert answer.status_code == 200
    state = client.wait(answer.json()["job"])
    assert state["state"] == "done" and state["domain"] == {"kind": "box", "lo": -3, "hi": [3, 3]}
    assert client.get("/api/jobs")["jobs"] == [state]


def test_numbers_beyond_all_floats_are_null(client: Client) -> None:
    job = client.done("blobs", {"kind": "box", "lo": -1e155, "hi": 1e155})
    page = client.get(f"/api/jobs/{job}/cells")
    assert None in page["area"] and all(area is None or area >= 0 for area in page["area"])
    assert client.get(f"/api/jobs/{job}/cell/{page['cell'][page['area'].index(None)]}")["volume"] is None
    assert ",inf," in client.http.get(f"/api/jobs/{job}/export.csv").text


def test_extents_of_a_saved_atlas(client: Client, tmp_path: Path) -> None:
    pf.unfold(random_layers(3, 1, 5, 1)).save(tmp_path / "line.parquet")
    known = client.upload("line.parquet", (tmp_path / "line.parquet").read_bytes())
    for extent in (5, [1.0], [0.0, 1.0, 2.0, 3.0], [0, 10**400], [2.0, 2.0], "ab"):
        body = {"network": known["id"], "domain": {"kind": "atlas", "extent": extent}}
        assert "extent" in client.post("/api/jobs", body, 422)["error"]
    job = client.done(known["id"], {"kind": "atlas", "extent": [-2, 3]})
    assert sum(client.get(f"/api/jobs/{job}/cells")["area"]) == pytest.approx(5.0, rel=1e-12)
    pf.unfold(random_layers(3, 3, 4, 1), pf.box(-1, 1)).save(tmp_path / "space.parquet")
    known = client.upload("space.parquet", (tmp_path / "space.parquet").read_bytes())
    body = {"network": known["id"], "domain": {"kind": "atlas"}}
    assert "3 dimensions" in client.post("/api/jobs", body, 422)["error"]


def test_too_many_dimensions(client: Client) -> None:
    refused = client.post("/api/jobs", {"network": "mnist_he", "domain": {"kind": "box", "lo": 0, "hi": 1}}, 422)
    assert "choose a slice" in refused["error"]


def test_what_is_not_there(client: Client) -> None:
    job = client.done("blobs")
    assert "no cell" in client.get(f"/api/jobs/{job}/cell/1000", 404)["error"]
    assert "no cell" in client.get(f"/api/jobs/{job}/at?x=9&y=0", 404)["error"]
    assert "not a number" in client.get(f"/api/jobs/{job}/at?x=a&y=0", 422)["error"]
    assert client.get("/api/jobs/nothing", 404)["error"]
    assert "there is no network" in client.post("/api/jobs", {"network": "nothing", "domain": BOX}, 422)["error"]
