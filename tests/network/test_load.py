"""What load accepts, and how it refuses the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import NetworkError, ShapeError
from polyfold.network import load


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("weights.pt", ["weights.pt", "load_state_dict", ".pt2"]),
        ("weights.pth", ["weights.pth", "load_state_dict"]),
        ("model.keras", ["model.keras", "keras.models.load_model"]),
        ("notes.txt", ["notes.txt", ".onnx"]),
        ("absent.onnx", ["no file", "absent.onnx"]),
        ("absent.pt2", ["no file", "absent.pt2"]),
    ],
)
def test_paths_that_are_no_network(name: str, words: list[str], tmp_path: Path) -> None:
    with pytest.raises(NetworkError) as caught:
        load(tmp_path / name)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("thing", [5, None, {"W": 1}, np.ones((2, 2)), object()])
def test_things_that_are_no_model(thing: Any) -> None:
    with pytest.raises(NetworkError, match=f"an object of type {type(thing).__qualname__} cannot be read"):
        load(thing)


@pytest.mark.parametrize("shape", ["abc", (0,), (-1, 2), (1.5,), (None, 3)])
def test_bad_input_shapes_are_quoted(shape: Any) -> None:
    with pytest.raises(NetworkError, match="positive whole numbers"):
        load([([[1.0]], [0.0])], input_shape=shape)


def test_input_shape_is_refused_where_the_model_tells_it() -> None:
    with pytest.raises(NetworkError, match="a list tells its own"):
        load([([[1.0]], [0.0])], input_shape=(1,))


def test_a_missing_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"something")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NetworkError, match=r"model\.onnx.*pip install polyfold\[onnx\]"):
        load(str(path))


def test_importing_loads_no_framework() -> None:
    code = (
        "import sys, polyfold.network, polyfold.program\n"
        "polyfold.network.load([([[1.0]], [0.0])])\n"
        "print(sorted({'torch', 'onnx', 'onnxruntime', 'sklearn', 'keras'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_network_shows_itself_in_a_line() -> None:
    network = load([([[1.0, 2.0]], [0.0]), ([[1.0]], [0.0])])
    assert repr(network) == "Network from arrays: input (2,) to linear2 (1,), 3 nodes"


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [(dict, "dict is a class, call it"), ({"weight": 1}, "load_state_dict"), (3, "an object of type int cannot")],
)
def test_things_that_are_no_networks(wrong: object, advice: str) -> None:
    with pytest.raises(NetworkError, match=advice):
        load(wrong)


def test_inputs_that_are_no_numbers() -> None:
    with pytest.raises(ShapeError, match=r"X must be rows of .*'abc'"):
        load([([[1.0, 2.0]], [0.0])])("abc")


def test_a_domain_in_the_place_of_inputs() -> None:
    with pytest.raises(ShapeError, match=r"not 'Box'; give a domain by its name, domain="):
        pf.report([([[1.0, 2.0]], [0.0])], pf.box(0, 1))


def test_what_an_onnx_file_needs(tmp_path: Path) -> None:
    """The start of most programs: numbers that only some networks need are not waited for."""
    pytest.importorskip("onnx")
    path = tmp_path / "small.onnx"
    load([([[1.0, 2.0], [3.0, 4.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]).save_onnx(path)
    code = (
        f"import sys, polyfold as pf; pf.load({str(path)!r})\n"
        "late = ('scipy', 'torch', 'sklearn', 'onnx.reference', 'matplotlib', 'pandas')\n"
        "print([name for name in late if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
