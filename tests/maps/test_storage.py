"""Maps in files: the same bytes however often the work was stopped, and never a mixture."""

from __future__ import annotations

import json
import signal
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from polyfold._base.clock import Progress
from polyfold.errors import LimitError, StorageError
from polyfold.maps import storage

RNG = np.random.default_rng(0)
LAYERS = [(RNG.normal(size=(9, 5)), RNG.normal(size=9)), (RNG.normal(size=(3, 9)), RNG.normal(size=3))]
X = RNG.normal(size=(2000, 5))


def bytes_in(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "maps.npy").read_bytes(), (folder / "cells.npy").read_bytes()


def test_files_hold_what_memory_holds(tmp_path: Path) -> None:
    kept, free = pf.maps.matrices(LAYERS, X, out=tmp_path / "a"), pf.maps.matrices(LAYERS, X)
    assert isinstance(kept.matrices, np.memmap) and not isinstance(free.matrices, np.memmap)
    assert (kept.matrices == free.matrices).all() and (kept.cells == free.cells).all()
    assert kept.residual == free.residual and kept.path == tmp_path / "a"
    rows, about = storage.read_output(tmp_path / "a", 2)
    assert (rows == free.of(2)).all() and about.done == 2000
    with pytest.raises(StorageError, match="no maps of output 3"):
        storage.read_output(tmp_path / "a", 3)


def test_stopped_by_time_and_again(tmp_path: Path) -> None:
    whole = pf.maps.matrices(LAYERS, X, out=tmp_path / "whole")
    lengths = []
    while not lengths or lengths[-1] < len(X):
        part = pf.maps.matrices(LAYERS, X, out=tmp_path / "parts", max_seconds=1e-9)
        assert len(part) == len(part.X) == part.matrices.shape[1]
        assert (part.stopped_by is None) == (len(part) == len(X))
        lengths.append(len(part))
    assert len(lengths) > 2 and lengths == sorted(set(lengths))
    assert bytes_in(tmp_path / "parts") == bytes_in(tmp_path / "whole")
    assert part.residual == whole.residual and part.distinct_cells == whole.distinct_cells


def test_interrupted_and_again(tmp_path: Path, interruptible: None) -> None:
    pf.maps.matrices(LAYERS, X, out=tmp_path / "whole")

    def interrupt(event: Progress) -> None:
        signal.raise_signal(signal.SIGINT)

    part = pf.maps.matrices(LAYERS, X, out=tmp_path / "parts", progress=interrupt)
    assert part.stopped_by == "interrupt" and 0 < len(part) < len(X)
    rest: list[Progress] = []
    again = pf.maps.matrices(LAYERS, X, out=tmp_path / "parts", progress=rest.append)
    assert again.stopped_by is None and rest[0].done > len(part)
    assert bytes_in(tmp_path / "parts") == bytes_in(tmp_path / "whole")


def test_killed_between_writing_and_keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pf.maps.matrices(LAYERS, X, out=tmp_path / "whole")

    class KilledError(Exception):
        pass

    def killed(event: Progress) -> None:
        if event.done >= 512:
            raise KilledError

    with pytest.raises(KilledError):
        pf.maps.matrices(LAYERS, X, out=tmp_path / "parts", progress=killed)
    assert json.loads((tmp_path / "parts" / "about.json").read_text())["done"] == 0
    pf.maps.matrices(LAYERS, X, out=tmp_path / "parts")
    assert bytes_in(tmp_path / "parts") == bytes_in(tmp_path / "whole")


def test_done_is_not_done_again(tmp_path: Path) -> None:
    pf.maps.matrices(LAYERS, X, out=tmp_path)
    seen: list[Progress] = []
    again = pf.maps.matrices(LAYERS, X, out=tmp_path, progress=seen.append)
    assert not seen and len(again) == len(X)
    with pytest.raises(ValueError, match="read-only"):
        again.matrices[0, 0, 0] = 1.0


@pytest.mark.parametrize(
    ("layers", "inputs", "options", "message"),
    [
        ([(2 * W, b) for W, b in LAYERS], X, {}, "another network or of other inputs"),
        (LAYERS, X + 1, {}, "another network or of other inputs"),
        (LAYERS, X, {"output": [0, 1]}, "another network or of other inputs"),
        (LAYERS, X, {"dtype": "float32"}, "holds maps in float64"),
    ],
)
def test_others_are_not_mixed_in(tmp_path: Path, layers: list, inputs: np.ndarray, options: dict, message: str) -> None:
    pf.maps.matrices(LAYERS, X, out=tmp_path)
    before = bytes_in(tmp_path)
    with pytest.raises(StorageError, match=message):
        pf.maps.matrices(layers, inputs, out=tmp_path, **options)
    assert bytes_in(tmp_path) == before


def test_damaged_folders(tmp_path: Path) -> None:
    pf.maps.matrices(LAYERS, X, out=tmp_path)
    about = tmp_path / "about.json"
    text = about.read_text()
    about.write_text("{")
    with pytest.raises(StorageError, match="damaged"):
        pf.maps.matrices(LAYERS, X, out=tmp_path)
    about.unlink()
    with pytest.raises(StorageError, match=r"no about\.json"):
        pf.maps.matrices(LAYERS, X, out=tmp_path)
    about.write_text(text)
    np.save(tmp_path / "maps.npy", np.zeros((3, 2, 6)))
    with pytest.raises(StorageError, match="do not fit"):
        pf.maps.matrices(LAYERS, X, out=tmp_path)


def test_too_much_for_memory_or_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("polyfold.maps.matrices"), "IN_MEMORY", 1000)
    with pytest.raises(LimitError, match="out="):
        pf.maps.matrices(LAYERS, X)
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000}))
    with pytest.raises(StorageError, match="room for 1,000"):
        pf.maps.matrices(LAYERS, X, out=tmp_path / "new")
