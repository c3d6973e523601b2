"""Faces: what a package shows is written once, in the stub beside its `__init__`, and imported when it is asked for."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import lazy_loader


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the imports of its stub.

    lazy_loader knows stubs as well, but only names of the package's own modules. A face may also show what another
    layer defines (`training.movie` is drawn by `plotting`), and under another name.

    Parameters
    ----------
    package, file : str
        `__name__` and `__file__` of the package.
    """
    modules, inside, elsewhere = _names(package, Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    found, _, known = lazy_loader.attach(package, modules, inside)
    names = sorted({*known, *elsewhere})

    def get(name: str) -> Any:
        if name in elsewhere:
            module, original = elsewhere[name]
            value = getattr(import_module(module), original)
            setattr(sys.modules[package], name, value)
            return value
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return found(name)

    return get, lambda: list(names), names


def _names(package: str, stub: str) -> tuple[set[str], dict[str, list[str]], dict[str, tuple[str, str]]]:
    """Submodules; names by the module of the package that has them; of others the module, and their name there."""
    modules: set[str] = set()
    inside: dict[str, list[str]] = {}
    elsewhere: dict[str, tuple[str, str]] = {}
    for node in ast.parse(stub).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            name = alias.asname or alias.name
            if node.module is None:
                modules.add(name)
            elif node.level and name == alias.name:
                inside.setdefault(node.module, []).append(name)
            else:
                module = f"{package}.{node.module}" if node.level else node.module
                elsewhere[name] = (module, alias.name)
    return modules, inside, elsewhere
