"""Uploads that are no networks: one clear sentence each, and nothing in them is run."""

from __future__ import annotations

import asyncio
import io
import json
import pickle
import tempfile
import zipfile
from pathlib import Path

import httpx
import numpy as np
import pytest

import polyfold as pf
from helpers.explorers import BOX, Client, as_onnx, random_layers, without_workers
from polyfold.errors import LimitError
from polyfold.explorer.api import COOKIE, make_app
from polyfold.explorer.guard import Rules
from polyfold.explorer.uploads import begin_reading


class Trap:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def refused(client: Client, name: str, content: bytes, *words: str, status: int = 422) -> None:
    error = client.upload(name, content, status)["error"]
    assert all(word in error for word in words), error
    assert "\n" not in error and "/" not in error.replace("and/or", ""), error


def test_a_text_file(client: Client) -> None:
    refused(client, "notes.onnx", b"these are no weights\n" * 10, "notes.onnx")
    refused(client, "notes.txt", b"hello", "'notes.txt'", ".onnx or .pt2")
    refused(client, "nothing.onnx", b"", "empty")
    refused(client, "notes.parquet", b"hello", "no .parquet file")
    refused(client, "notes.pt2", b"hello", "no .pt2 file")
    refused(client, "notes.recording", b"hello", "no .recording file")


@pytest.mark.parametrize("ending", ["onnx", "pt2", "parquet", "recording", "pt", "pkl"])
def test_a_pickle(client: Client, tmp_path: Path, ending: str) -> None:
    trap = tmp_path / "trapped"
    refused(client, f"model.{ending}", pickle.dumps(Trap(trap)), f"model.{ending}")
    assert not trap.exists()


def test_a_damaged_atlas(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "atlas.parquet"
    pf.unfold(random_layers(1, 2, 4, 1), pf.box(-1, 1)).save(path)
    content = path.read_bytes()
    for damaged in (content[:-100], content[:200] + bytes(50) + content[250:]):
        refused(client, "atlas.parquet", damaged, "atlas.parquet")
    assert client.upload("atlas.parquet", path.read_bytes())["kind"] == "atlas"


def test_weights_that_are_no_numbers(client: Client, tmp_path: Path) -> None:
    import onnx
    from onnx import numpy_helper

    model = onnx.load_from_string(as_onnx(random_layers(1, 2, 4, 1), tmp_path))
    weights = numpy_helper.to_array(model.graph.initializer[0]).copy()
    weights.flat[0] = np.nan
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, model.graph.initializer[0].name))
    refused(client, "nan.onnx", model.SerializeToString(), "nan", "finite")


def test_too_large(client: Client) -> None:
    refused(client, "large.onnx", bytes(20_100_000), "20,000,000", status=413)

    def in_pieces():
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.onnx"\r\n\r\n'
        for _ in range(25):
            yield bytes(1_000_000)

    # Who does not say how much there is to come is stopped on the way.
    answer = client.http.post(
        "/api/networks", content=in_pieces(), headers={"content-type": "multipart/form-data; boundary=x"}
    )
    assert answer.status_code == 413, answer.text
    answer = client.http.post("/api/jobs", content=b"[" * 2_000_000)
    assert answer.status_code == 413


def test_requests_that_make_no_sense(client: Client) -> None:
    for content in (b"", b"[1, 2", b"[" * 100_000, b'"text"'):
        answer = client.http.post("/api/jobs", content=content)
        assert answer.status_code == 422 and "JSON" in answer.json()["error"]
    answer = client.http.post("/api/networks", content=b"abc")
    assert answer.status_code == 422 and "file" in answer.json()["error"]
    assert "network" in client.post("/api/jobs", {"network": ["a"], "domain": BOX}, 422)["error"]


def test_uploads_have_a_number(client: Client, tmp_path: Path) -> None:
    content = as_onnx(random_layers(1, 2, 3, 1), tmp_path)
    ids = [client.upload("same.onnx", content)["id"] for _ in range(20)]
    refused(client, "same.onnx", content, "20 uploads")
    assert client.http.delete(f"/api/networks/{ids[0]}").status_code == 200
    client.upload("same.onnx", content)
    assert client.http.delete(f"/api/networks/{ids[0]}").status_code == 404
    assert client.http.delete("/api/networks/iris").status_code == 404


def test_files_beside_the_upload(client: Client, tmp_path: Path) -> None:
    import onnx

    model = onnx.load_from_string(as_onnx(random_layers(1, 2, 4, 1), tmp_path))
    for place in ("weights.bin", "deeper/weights.bin", "."):
        tensor = model.graph.initializer[0]
        tensor.data_location = onnx.TensorProto.EXTERNAL
        del tensor.external_data[:]
        tensor.external_data.add(key="location", value=place)
        error = client.upload("apart.onnx", model.SerializeToString(), 422)["error"]
        assert "apart.onnx" in error and "polyfold-explorer" not in error and tempfile.gettempdir() not in error


def test_a_refused_file_is_not_kept() -> None:
    state = without_workers(queued=0)
    session = state.sessions.new()
    with pytest.raises(LimitError, match="jobs wait"):
        begin_reading(state.sessions, session, "a.onnx", b"hello", state.limits)
    assert list(session.folder.iterdir()) == []
    state.close()


def test_uploads_that_wait_hold_nobody_up() -> None:
    """More of them than the server has threads (40)."""
    state = without_workers(queued=100)
    session = state.sessions.new()
    app = make_app(state, Rules(None, None, 1_000_000))

    async def ask() -> list[int]:
        transport = httpx.ASGITransport(app)
        cookies = {COOKIE: session.id}
        async with httpx.AsyncClient(transport=transport, base_url="http://here", cookies=cookies) as http:
            job = state.sessions.start(session, {"kind": "unfold"})
            try:
                uploads = [
                    asyncio.create_task(http.post("/api/networks", files={"file": ("a.onnx", b"hello")}))
                    for _ in range(45)
                ]
                # Those that wait for a thread have no job yet.
                async with asyncio.timeout(5):
                    while len(session.jobs) < 46:
                        await asyncio.sleep(0.01)
                    page = await http.get("/static/index.html")
                    cancelled = await http.delete(f"/api/jobs/{job.id}")
                assert cancelled.json()["state"] == "cancelled"
            finally:
                for waiting in list(session.jobs.values()):
                    waiting.stop("cancelled")
            answers = await asyncio.gather(*uploads)
            return [each.status_code for each in (page, cancelled, *answers)]

    try:
        assert asyncio.run(ask()) == [200, 200, *[422] * 45]
        assert [path for path in session.folder.rglob("*") if path.is_file()] == []
    finally:
        state.close()


def test_names_are_only_names(client: Client, tmp_path: Path) -> None:
    content = as_onnx(random_layers(1, 2, 3, 1), tmp_path)
    assert client.upload("../../etc/passwd.onnx", content)["name"] == "passwd.onnx"
    assert client.upload("..\\windows\\system.onnx", content)["name"] == "system.onnx"


# -- torch's archives


def archive(torch: object, tmp_path: Path) -> bytes:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    path = tmp_path / "model.pt2"
    batch = torch.export.Dim("batch")
    torch.export.save(torch.export.export(model, (torch.zeros(3, 2),), dynamic_shapes=({0: batch},)), path)
    return path.read_bytes()


def changed(content: bytes, change: object, added: dict[str, bytes] | None = None) -> bytes:
    """The archive with members changed, `change(name, bytes) -> bytes`, or added."""
    new = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(new, "w") as after:
        for name in before.namelist():
            after.writestr(name, change(name, before.read(name)))
        for name, more in (added or {}).items():
            after.writestr(name, more)
    return new.getvalue()


@pytest.mark.slow  # torch takes seconds to import
def test_torch_archives(client: Client, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    content = archive(torch, tmp_path)
    known = client.upload("model.pt2", content)
    assert (known["inputs"], known["gates"]) == (2, 4)
    client.done(known["id"])

    trap = tmp_path / "trapped"
    weights = io.BytesIO()
    torch.save(Trap(trap), weights)

    def with_trap(name: str, data: bytes) -> bytes:
        return weights.getvalue() if name.endswith("sample_inputs/model.pt") else data

    trapped = changed(content, with_trap)
    (tmp_path / "trapped.pt2").write_bytes(trapped)
    # Torch by itself would run it, and then fail: at what it finds, or at telling of it in its log.
    with pytest.raises((AssertionError, TypeError)):
        torch.export.load(tmp_path / "trapped.pt2")
    assert trap.exists()
    trap.unlink()
    refused(client, "model.pt2", trapped, "model.pt2", "pickled objects")
    assert not trap.exists()


@pytest.mark.slow
def test_torch_archives_with_more_than_a_network(client: Client, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    content = archive(torch, tmp_path)

    def same(name: str, data: bytes) -> bytes:
        return data

    for member in ("model/data/aotinductor/model/code.so", "model/data/constants/custom_obj_0", "model/extra/run.py"):
        error = client.upload("model.pt2", changed(content, same, {member: b"x"}), 422)["error"]
        assert "no part of a plain network" in error

    def with_formula(name: str, data: bytes) -> bytes:
        text = data.decode() if name.endswith("models/model.json") else ""
        assert not text or "Symbol(" in text
        return text.replace("Symbol('", "exec('import os')+Symbol('").encode() if text else data

    refused(client, "model.pt2", changed(content, with_formula), "no formula")

    def with_call(name: str, data: bytes) -> bytes:
        if not name.endswith("models/model.json"):
            return data
        return (
            json.dumps(json.loads(data))
            .replace("torch.ops.aten.relu.default", "torch.serialization.os.system")
            .encode()
        )

    refused(client, "model.pt2", changed(content, with_call), "no operation")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b"--b\r\nnonsense"),
        (
            "multipart/form-data; boundary=b; charset=none",
            b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff',
        ),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\n1\r\n--b--\r\n',
        ),
        ("application/x-www-form-urlencoded", b"file=1&\xff=%ff"),
        ("text/plain", b"x"),
    ],
)
def test_forms_that_hold_no_file(client: Client, kind: str, body: bytes) -> None:
    answer = client.http.post("/api/networks", content=body, headers={"content-type": kind})
    assert answer.status_code == 422 and "holds no file" in answer.json()["error"]
