"""tools/check_layers.py: the tree passes, and each rule fails on a tree that breaks it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


layers = load_tool("check_layers")


def violations(tmp_path: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = tmp_path / "polyfold" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [found.message for found in layers.check(tmp_path)]


def test_this_tree_is_clean() -> None:
    assert [str(found) for found in layers.check(ROOT / "src")] == []
    assert [str(found) for found in layers.check_native(ROOT / "native")] == []
    assert {path.name for path in (ROOT / "native" / "geometry").iterdir() if path.is_dir()} == set(
        layers.FOLDER_LEVELS
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("network/a.py", "from polyfold.atlas.atlas import Atlas", "network imports atlas"),
        ("network/a.py", "import polyfold.engine.unfold", "network imports engine"),
        ("program/a.py", "from polyfold import engine", "program imports engine"),
        ("exact/a.py", "from polyfold._core import run", "exact imports _core"),
        ("errors.py", "from polyfold.exact import rank", "errors imports exact"),
        ("atlas/a.py", "def f():\n    from polyfold.cli import main", "atlas imports cli"),
        ("atlas/a.py", "if TYPE_CHECKING:\n    from polyfold.engine import x", "atlas imports engine"),
        ("atlas/a.py", "from ..engine import x", "atlas imports engine"),
        ("atlas/a/__init__.py", "from ...engine import x", "atlas imports engine"),
        ("cli/a.py", "from polyfold.cli import Command", "from the face polyfold.cli"),
        ("engine/a.py", "from polyfold.engine import Count", "from the face polyfold.engine"),
        ("atlas/a.py", "from .. import engine", "atlas imports engine"),
        ("atlas/a.py", "importlib.import_module('polyfold.engine')", "atlas imports engine"),
        ("engine/a.py", "from polyfold._core._native import walk", "only polyfold._core does"),
        ("engine/a.py", "from polyfold._core import _native", "only polyfold._core does"),
        ("__init__.py", "from polyfold._core import _native", "only polyfold._core does"),
        ("engine/a.py", "import polyfold as pf", "package's own front"),
        ("engine/a.py", "from polyfold import unfold", "package's own front"),
        ("engine/a.py", "from polyfold.testing import cases", "which is for tests"),
        ("datasets/__init__.py", "from polyfold.program.program import Program", "datasets imports program"),
        ("plotting/scene/a.py", "from polyfold.plotting.render import style", "scene imports plotting.render"),
        ("plotting/render/a.py", "from polyfold.plotting.api import plot", "plotting.render imports plotting"),
        ("stats/a.py", "from polyfold.plotting.scene import shapes", "stats imports plotting.scene"),
        ("stats/a.py", "from polyfold.topology.betti import betti", "stats imports topology"),
        ("plots/a.py", "x = 1", "no known layer"),
        ("engine/a.py", "import relucent", "copyleft"),
        ("exact/a.py", "def f():\n    from cdd import matrix", "copyleft"),
        ("testing/a.py", "import igraph.drawing", "copyleft"),
        ("engine/a.py", "eps = 1e-9", "the float 1e-09"),
        ("network/a.py", "def f(x, tol=-1e-6): return x", "the float 1e-06"),
        ("atlas/a.py", "eps = 2.0**-40", "tiny power"),
        ("atlas/a.py", "eps = np.finfo(float).eps", "the epsilon of np.finfo"),
        ("atlas/a.py", "from math import isclose\nisclose(1, 2)", "hidden tolerance of isclose"),
        ("atlas/a.py", "np.allclose(a, b, rtol=t)", "hidden tolerance of np.allclose"),
        ("atlas/a.py", "np.allclose(a, b, rtol=0, atol=0.1)", "the tolerance atol=0.1"),
    ],
)
def test_a_broken_rule_is_found(tmp_path: Path, name: str, text: str, said: str) -> None:
    found = violations(tmp_path, {name: text})
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cli/main.py", "from polyfold.engine import unfold\nfrom polyfold.errors import PolyfoldError"),
        ("engine/a.py", "from polyfold._core import run\nfrom polyfold.exact import rank\nfrom .b import x"),
        ("plotting/api.py", "from polyfold.plotting.render import files"),
        ("training/__init__.py", "from polyfold.plotting.movie.movie import movie"),
        ("_core/a.py", "from polyfold._core import _native\nfrom . import _native"),
        ("datasets/__init__.py", "from polyfold.network.load import load\nfrom polyfold.errors import NetworkError"),
        ("testing/a.py", "import polyfold\nfrom polyfold.cli import main"),
        ("__init__.py", "from polyfold.cli import main"),
        ("__main__.py", "from polyfold.cli.main import main"),
        ("network/a.py", "torch.allclose(a, b, rtol=IMPORTED, atol=0)"),
        ("testing/b.py", "tilt = 1e-12"),
        ("exact/a.py", "eps = 1e-9\nsmall = 2.0**-53"),
        ("engine/a.py", "half = 0.5\nzero = 0.0\nmany = 1e9\nsquare = 2**3"),
        ("engine/a.py", "import numpy as np\nfrom scipy import optimize"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, name: str, text: str) -> None:
    assert violations(tmp_path, {name: text}) == []


def broken_includes(tmp_path: Path, name: str, text: str) -> list[str]:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [found.message for found in layers.check_native(tmp_path)]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "geometry/exact/a.cpp",
            '#include "geometry/problem/problem.hpp"',
            "exact includes geometry/problem/problem.hpp",
        ),
        ("geometry/walk/a.hpp", '#include "geometry/list/pairing.hpp"', "walk includes geometry/list/pairing.hpp"),
        ("geometry/list/a.hpp", '  # include "geometry/count/count_walk.hpp"', "list includes geometry/count"),
        ("geometry/slices/a.hpp", '#include "geometry/problem/problem.hpp"', "slices includes geometry/problem"),
        ("geometry/faces/a.hpp", '#include "geometry/unfold.hpp"', "faces includes geometry/unfold.hpp"),
        ("geometry/faces/a.hpp", '#include "geometry/somewhere/a.hpp"', "faces includes geometry/somewhere"),
        ("geometry/base/a.hpp", '#include "bindings/arrays.hpp"', "geometry includes bindings/arrays.hpp"),
        ("bindings/a.cpp", '#include "tests/numbers.hpp"', "bindings includes tests/numbers.hpp"),
        ("geometry/base/a.hpp", "#include <nanobind/nanobind.h>", "only bindings knows Python"),
        ("tests/a.cpp", "#include <Python.h>", "only bindings knows Python"),
        ("geometry/elsewhere/a.hpp", "int x;", "no known folder"),
    ],
)
def test_a_broken_include_is_found(tmp_path: Path, name: str, text: str, said: str) -> None:
    found = broken_includes(tmp_path, name, text)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("geometry/list/a.hpp", '#include <vector>\n#include "geometry/list/b.hpp"\n#include "geometry/base/mask.hpp"'),
        ("geometry/unfold.cpp", '#include "geometry/unfold.hpp"\n#include "geometry/faces/face_count.hpp"'),
        ("bindings/a.cpp", '#include <nanobind/nanobind.h>\n#include "bindings/b.hpp"\n#include "geometry/unfold.hpp"'),
        ("tests/a.cpp", '#include <doctest/doctest.h>\n#include "geometry/unfold.hpp"\n#include "tests/numbers.hpp"'),
        ("geometry/base/a.hpp", '// #include "geometry/unfold.hpp"'),
    ],
)
def test_includes_that_are_allowed_pass(tmp_path: Path, name: str, text: str) -> None:
    assert broken_includes(tmp_path, name, text) == []


def test_exit_code_and_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    violations(tmp_path, {"network/a.py": "x = 1\nimport polyfold.atlas\n"})
    broken_includes(tmp_path / "native", "geometry/lp/a.cpp", '\n\n#include "geometry/walk/run.hpp"\n')
    monkeypatch.setattr(sys, "argv", ["check_layers.py", str(tmp_path), str(tmp_path / "native")])
    assert layers.main() == 1
    printed = capsys.readouterr().out
    assert "a.py:2: network imports atlas" in printed
    assert "a.cpp:3: lp includes geometry/walk/run.hpp" in printed
