"""What a job asks for, read from JSON: a network and a domain of one or two dimensions, or one clear sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from polyfold.atlas.domain import Box, Domain, Slice, line, plane
from polyfold.errors import DomainError, how_many

# Without an extent, so far around the point that a plane goes through.
_AROUND = 1.0


@dataclass(frozen=True, eq=False)
class Place:
    """Where a job looks: the domain, the view of it, what its coordinates are called."""

    domain: Domain
    lo: tuple[float, ...]
    hi: tuple[float, ...]
    names: tuple[str, ...]


def place_of(spec: Any, inputs: int) -> Place:
    """The place that a job's "domain" asks for, in a network with so many inputs."""
    if not isinstance(spec, dict) or not isinstance(spec.get("kind"), str):
        raise DomainError('"domain" must be an object with a "kind": box, plane, line or features')
    kinds = {"box": _box, "plane": _plane, "line": _line, "features": _features}
    if spec["kind"] not in kinds:
        raise DomainError(f'"kind": {spec["kind"]!r} is no domain; use {", ".join(kinds)}')
    return kinds[spec["kind"]](spec, inputs)


def _box(spec: dict[str, Any], inputs: int) -> Place:
    if inputs > 2:
        raise DomainError(
            f"a network with {inputs} inputs cannot be drawn in a box: choose a slice, two features with the others "
            'fixed ("kind": "features") or a plane ("kind": "plane")'
        )
    lo, hi = _numbers(spec, "lo", inputs), _numbers(spec, "hi", inputs)
    return Place(Box(lo, hi).resolve(inputs), tuple(lo), tuple(hi), tuple(f"x{k}" for k in range(inputs)))


def _plane(spec: dict[str, Any], inputs: int) -> Place:
    origin, x, y = (_numbers(spec, name, inputs) for name in ("origin", "x", "y"))
    extent = _extent(spec, 2, [0.0, 1.0, 0.0, 1.0])
    lo, hi = extent[::2], extent[1::2]
    return Place(plane(origin, x, y, Box(lo, hi)).resolve(inputs), tuple(lo), tuple(hi), ("u", "v"))


def _line(spec: dict[str, Any], inputs: int) -> Place:
    start, end = _numbers(spec, "from", inputs), _numbers(spec, "to", inputs)
    lo, hi = _extent(spec, 1, [0.0, 1.0])
    return Place(line(start, end, extend=(lo, hi)).resolve(inputs), (lo,), (hi,), ("t",))


def _features(spec: dict[str, Any], inputs: int) -> Place:
    """Two features (or one), the others fixed; the coordinates are the features themselves."""
    chosen = [_feature(spec, "i", inputs)]
    if spec.get("j") is not None:
        chosen.append(_feature(spec, "j", inputs))
    if len(set(chosen)) < len(chosen):
        raise DomainError(f'"i" and "j" are both {chosen[0]}: choose two different features')
    at = _numbers(spec, "at", inputs)
    around = [side for k in chosen for side in (at[k] - _AROUND, at[k] + _AROUND)]
    extent = _extent(spec, len(chosen), around)
    lo, hi = extent[::2], extent[1::2]
    names = tuple(f"x{k}" for k in chosen)
    if chosen == list(range(inputs)):
        return Place(Box(lo, hi).resolve(inputs), tuple(lo), tuple(hi), names)
    origin, basis = np.array(at), np.zeros((inputs, len(chosen)))
    origin[chosen] = 0.0
    basis[chosen, range(len(chosen))] = 1.0
    return Place(Slice(origin, basis, bounds=Box(lo, hi)).resolve(inputs), tuple(lo), tuple(hi), names)


def _feature(spec: dict[str, Any], name: str, inputs: int) -> int:
    value = spec.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < inputs:
        raise DomainError(f'"{name}": {value!r} is no feature: it must be a whole number from 0 to {inputs - 1}')
    return value


def _extent(spec: dict[str, Any], dim: int, otherwise: list[float]) -> list[float]:
    if spec.get("extent") is None:
        return otherwise
    return _numbers(spec, "extent", 2 * dim)


def _numbers(spec: dict[str, Any], name: str, count: int) -> list[float]:
    value = spec.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and name in ("lo", "hi"):
        value = [value] * count
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != count:
        given = f"{len(value)} of them" if isinstance(value, list) else repr(value)
        raise DomainError(f'"{name}" must be a list of {how_many(count, "number")}, not {given}')
    for each in value:
        if not isinstance(each, (int, float)) or isinstance(each, bool) or not isfinite(each):
            raise DomainError(f'"{name}" holds {each!r}, which is no finite number')
    return [float(each) for each in value]
