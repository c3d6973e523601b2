"""Everything that polyfold shows: the top level and every namespace."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import polyfold as pf


def public() -> dict[str, Any]:
    """What users can name behind `pf.`: functions and classes, each once, by the shortest name."""
    found = {name: getattr(pf, name) for name in pf.__all__}
    for name, space in sorted(found.items()):
        if isinstance(space, ModuleType):
            del found[name]
            inner = {f"{name}.{each}": getattr(space, each) for each in getattr(space, "__all__", ())}
            known = {id(value) for value in found.values()}
            found |= {dotted: value for dotted, value in inner.items() if id(value) not in known}
    return found


def public_types() -> dict[str, type]:
    return {name: value for name, value in public().items() if inspect.isclass(value)}


def public_functions() -> dict[str, Callable[..., Any]]:
    return {name: value for name, value in public().items() if inspect.isfunction(value)}
