"""Check the rules of the source tree that no linter knows.

    python tools/check_layers.py [SOURCE [NATIVE]]

- Imports go downward only, in the order of LAYERS. An import inside a function or under TYPE_CHECKING counts as any
  other. Layers on one level do not import each other. Only a face, the `__init__` of a layer or of the package, may
  name modules above it, and nothing imports a face: everybody imports the module that defines a name.
- `_core` alone imports the compiled extension.
- `testing` may import anything; nothing imports it.
- Packages under a copyleft licence are never imported.
- Tolerances live in `exact`: elsewhere there are no tiny float literals, no machine epsilon, and "close to"
  only with tolerances given by name. (`testing` may use small numbers: it makes nearly degenerate networks.)
- Includes in the compiled core go downward only as well, in the order of FOLDERS; `geometry` knows nothing of Python,
  and only `bindings` includes what does.

Prints one line for each violation and exits with 1 if there are any.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "polyfold"
# From low to high. What stands on one line is one level.
LAYERS = """
errors
_base
exact _core
domain
network
datasets
program
atlas
engine
size
stats
topology
graph
maps
explain
symmetry
rewrite
compare
layers
separation
training
plotting.geometry
plotting.scene
plotting.render
plotting
reporting
explorer
cli
testing
"""
LEVELS = {layer: level for level, line in enumerate(LAYERS.split("\n")) for layer in line.split()}
# The same for native/geometry. Files beside the folders are above them.
FOLDERS = """
base
exact
problem slices graph maps
cells
lp
proof
walk
list count faces
"""
FOLDER_LEVELS = {folder: level for level, line in enumerate(FOLDERS.split("\n")) for folder in line.split()}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
PYTHON_HEADERS = ("nanobind/", "pybind11/", "numpy/", "Python.h")
# Where everything is named once: these `__init__` hold code that others import.
NO_FACES = {"_core", "datasets"}
FACE = "a face"
ROOT_MODULES = {"__init__", "__main__"}
COPYLEFT = {"relucent", "cdd", "ppl", "pplpy", "igraph"}
TINY = 1e-3
EPSILON = {"finfo", "float_info"}
CLOSENESS = {"isclose", "allclose", "assert_allclose"}
CLOSENESS_OPTIONS = {"atol", "rtol", "abs_tol", "rel_tol"}


@dataclass(frozen=True)
class Violation:
    """One broken rule at one place."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def check(source: Path) -> list[Violation]:
    """All violations in the package below `source` (the folder that contains the package folder)."""
    return [found for path in sorted((source / PACKAGE).rglob("*.py")) for found in check_file(path, source)]


def check_file(path: Path, source: Path) -> Iterator[Violation]:
    """All violations in one file."""
    module = path.relative_to(source).with_suffix("").parts
    place = layer_of(module[1:])
    if len(module) == 2 and place in ROOT_MODULES:
        place = PACKAGE
    elif place in LEVELS and len(module) == 3 and module[2] == "__init__" and place not in NO_FACES:
        place = FACE
    elif place not in LEVELS:
        yield Violation(path, 1, f"{place!r} is no known layer: give it a level in tools/check_layers.py")
        return
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        for target in imported(node, module):
            message = judge_import(place, target) or judge_face(target, source)
            if message:
                yield Violation(path, line, message)
        if place not in ("exact", "testing"):
            message = judge_tolerance(node)
            if message:
                yield Violation(path, line, f"{message}: tolerances belong in {PACKAGE}.exact")


def check_native(native: Path) -> list[Violation]:
    """All violations in the compiled core below `native`."""
    files = sorted(path for path in native.rglob("*") if path.suffix in (".hpp", ".cpp"))
    return [found for path in files for found in check_includes(path, native)]


def check_includes(path: Path, native: Path) -> Iterator[Violation]:
    """All violations in one file of the compiled core."""
    place = path.relative_to(native).parts
    if place[0] == "geometry" and len(place) > 2 and place[1] not in FOLDER_LEVELS:
        yield Violation(path, 1, f"{place[1]!r} is no known folder: give it a level in tools/check_layers.py")
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        message = found and judge_include(place, found[2], quoted=found[1] == '"')
        if message:
            yield Violation(path, number, message)


def judge_include(place: tuple[str, ...], target: str, *, quoted: bool) -> str | None:
    """Why a file of the compiled core may not include `target`, or None."""
    if not quoted:
        is_python = target.startswith(PYTHON_HEADERS)
        return (
            f"{place[0]} includes {target}: only bindings knows Python"
            if is_python and place[0] != "bindings"
            else None
        )
    parts = target.split("/")
    if parts[0] not in ("geometry", place[0]):
        return f"{place[0]} includes {target}: includes go downward only"
    if place[0] != "geometry" or len(place) == 2:
        return None
    above = len(parts) == 2 or FOLDER_LEVELS.get(parts[1], len(FOLDERS)) >= FOLDER_LEVELS[place[1]]
    if above and parts[1] != place[1]:
        return f"{place[1]} includes {target}: includes go downward only"
    return None


def layer_of(parts: tuple[str, ...]) -> str:
    """The layer of a module below the package: the inner folder that has a level of its own, or the first name."""
    inner = ".".join(parts[:2])
    return inner if inner in LEVELS else parts[0]


def imported(node: ast.AST, module: tuple[str, ...]) -> Iterator[str]:
    """Dotted names that a node imports; `from a import b` gives a.b."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            # Dropping `level` parts from a module's own path is right for __init__ files as well,
            # because their path still ends in "__init__" here.
            base = ".".join([*module[: len(module) - node.level], *([node.module] if node.module else [])])
        for alias in node.names:
            yield f"{base}.{alias.name}"
    elif isinstance(node, ast.Call) and node.args:
        first = node.args[0]
        dynamic = name_of(node.func) in {"import_module", "__import__"}
        if dynamic and isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def judge_import(place: str, target: str) -> str | None:
    """Why a module in layer `place` may not import `target`, or None."""
    parts = target.split(".")
    if parts[0] in COPYLEFT:
        return f"imports {parts[0]}, which is under a copyleft licence"
    if parts[0] != PACKAGE:
        return None
    layer = layer_of(tuple(parts[1:])) if len(parts) > 1 else PACKAGE
    if "_native" in parts and place != "_core":
        return f"imports the compiled extension {target}: only {PACKAGE}._core does"
    if place in (PACKAGE, FACE, "testing") or layer == place:
        return None
    if layer not in LEVELS:
        return f"imports {target} from the package's own front: import the module that defines it"
    if layer == "testing":
        return f"imports {PACKAGE}.testing, which is for tests"
    if LEVELS[layer] >= LEVELS[place]:
        return f"{place} imports {layer}: imports go downward only"
    return None


def judge_face(target: str, source: Path) -> str | None:
    """Why `polyfold.layer.name` is a name of a layer's face and not a module, or None."""
    parts = target.split(".")
    if parts[0] != PACKAGE or len(parts) != 3 or parts[1] in NO_FACES:
        return None
    folder = source / PACKAGE / parts[1]
    inside = folder / parts[2]
    if not folder.is_dir() or inside.is_dir() or inside.with_suffix(".py").exists():
        return None
    return f"imports {parts[2]} from the face {PACKAGE}.{parts[1]}: import the module that defines it"


def judge_tolerance(node: ast.AST) -> str | None:
    """Why a node looks like a tolerance, or None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < abs(node.value) < TINY:
        return f"the float {node.value!r}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Constant):
        power = node.right
        negative = isinstance(power, ast.UnaryOp) and isinstance(power.op, ast.USub)
        if negative and isinstance(node.left.value, int | float) and abs(node.left.value) > 1:
            return f"the tiny power {ast.unparse(node)}"
    if name_of(node) in EPSILON:
        return f"the epsilon of {ast.unparse(node)}"
    if isinstance(node, ast.Call) and name_of(node.func) in CLOSENESS:
        given = {option.arg for option in node.keywords}
        if not ({"rtol", "atol"} <= given or "rel_tol" in given):
            return f"the hidden tolerance of {ast.unparse(node.func)}"
    if isinstance(node, ast.keyword) and node.arg in CLOSENESS_OPTIONS:
        value = node.value
        if isinstance(value, ast.Constant) and value.value:
            return f"the tolerance {node.arg}={value.value!r}"
    return None


def name_of(node: ast.AST) -> str:
    """The last part of a dotted name, or nothing."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def main() -> int:
    """Print violations; 1 if there are any."""
    root = Path(__file__).parents[1]
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "src"
    native = Path(sys.argv[2]) if len(sys.argv) > 2 else root / "native"
    violations = check(source) + check_native(native)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
