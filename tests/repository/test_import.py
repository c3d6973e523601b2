"""`import polyfold` is quick and loads none of the heavy extras."""

from __future__ import annotations

import subprocess
import sys

ALLOWED_SECONDS = 0.25
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
