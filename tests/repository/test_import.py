"""`import polyfold` is quick and loads none of the heavy extras."""

from __future__ import annotations

import ast
import importlib
import re
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


FACES = sorted(path.parent for path in Path(pf.__file__).parent.rglob("__init__.pyi"))


def shown(folder: Path) -> dict[str, tuple[str, str]]:
    """The names of a face: the module that each comes from, and its name there."""
    package = ".".join(folder.relative_to(Path(pf.__file__).parents[1]).parts)
    found = {}
    for node in ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            base = f"{package}.{node.module or ''}".rstrip(".") if node.level else str(node.module)
            for alias in node.names:
                assert alias.asname == alias.name, "a stub shows what is imported under its own name"
                found[alias.name] = (base, alias.name)
    return found


@pytest.mark.parametrize("folder", FACES, ids=lambda folder: folder.name)
def test_every_public_name_is_there_and_is_what_type_checkers_see(folder: Path) -> None:
    package = importlib.import_module(".".join(folder.relative_to(Path(pf.__file__).parents[1]).parts))
    names = shown(folder)
    assert sorted(names) == sorted(package.__all__) and set(package.__all__) <= set(dir(package))
    for name, (module, original) in names.items():
        # A whole layer is shown where a stub says `from . import layer`.
        expected = sys.modules.get(f"{module}.{original}") if module == package.__name__ else None
        found = getattr(package, name)
        assert found is (expected or getattr(importlib.import_module(module), original))


def test_functions_are_not_hidden_by_modules_of_their_name() -> None:
    """`pf.graph.path` stays the function, whatever was imported before it was asked for."""
    python(
        "import importlib, pkgutil, types, polyfold as pf\n"
        "for found in pkgutil.walk_packages(pf.__path__, 'polyfold.'):\n"
        "    if '__main__' not in found.name: importlib.import_module(found.name)\n"
        "for layer in map(pf.__getattr__, pf.__all__):\n"
        "    for name in getattr(layer, '__all__', ()):\n"
        "        assert not isinstance(getattr(layer, name), types.ModuleType), (layer, name)\n"
    )


def test_what_the_top_level_shows() -> None:
    """The table of contents in the docstring names all of it."""
    said = set(re.findall(r"\w+", str(pf.__doc__)))
    machinery = {"PolyfoldError", "atlas", "datasets", "domain", "engine", "network", "program", "reporting", "testing"}
    assert set(pf.__all__) - said <= machinery


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'unfolds'"):
        pf.unfolds  # type: ignore[attr-defined]  # noqa: B018


def test_completion_knows_all_names_at_once() -> None:
    assert set(python("import polyfold; print(*dir(polyfold))").split()) >= {"unfold", "local", "box", "open"}
