"""`import polyfold` is quick and loads none of the heavy extras."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import polyfold as pf

ALLOWED_SECONDS = 0.05
RUNS = 9
HEAVY = (
    "torch",
    "onnx",
    "onnxruntime",
    "plotly",
    "pyarrow",
    "pandas",
    "keras",
    "sklearn",
    "matplotlib",
    "dask",
    "gudhi",
)
COPYLEFT = ("relucent", "cdd", "ppl", "igraph")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def seconds(module: str) -> float:
    clock = "import time; start = time.perf_counter()"
    return float(python(f"{clock}; import {module}; print(time.perf_counter() - start)"))


def test_import_time() -> None:
    numpy = polyfold = float("inf")
    for _ in range(RUNS):
        numpy = min(numpy, seconds("numpy"))
        polyfold = min(polyfold, seconds("polyfold"))
    assert polyfold - numpy <= ALLOWED_SECONDS


def test_heavy_packages_are_not_loaded() -> None:
    loaded = set(python("import sys, polyfold; print(*sys.modules)").split())
    assert not loaded.intersection(HEAVY + COPYLEFT)


def test_works_where_heavy_packages_are_absent() -> None:
    """A None in sys.modules makes an import fail as if the package were not installed."""
    python(
        f"import sys; sys.modules.update(dict.fromkeys({HEAVY!r}));"
        "import polyfold as pf; assert len(pf.unfold([([[1.0, 2.0]], [0.5]), ([[1.0]], [0.0])])) == 2"
    )


def test_every_public_name_is_there_and_is_what_type_checkers_see() -> None:
    """Names are imported when they are asked for; the list of places must say what the imports for mypy say."""
    tree = ast.parse(Path(pf.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    seen = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(seen) == sorted(pf.__all__)
    assert set(pf.__all__) <= set(dir(pf))
    for name, (module, original) in seen.items():
        assert module is not None
        assert getattr(pf, name) is getattr(sys.modules[module], original)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'unfolds'"):
        pf.unfolds  # type: ignore[attr-defined]  # noqa: B018


def test_completion_knows_all_names_at_once() -> None:
    assert set(python("import polyfold; print(*dir(polyfold))").split()) >= {"unfold", "local", "box", "open"}
