"""What a job asks for, read from JSON: a network and a domain of one or two dimensions, or one clear sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from polyfold.domain.domain import Box, Domain, Slice, line, plane
from polyfold.errors import DomainError, how_many

# Without an extent, so far around the point that a plane goes through.
_AROUND = 1.0


@dataclass(frozen=True, eq=False)
class RequestedDomain:
    """Where a job looks: the domain, the view of it, what its coordinates are called."""

    domain: Domain
    lo: tuple[float, ...]
    hi: tuple[float, ...]
    names: tuple[str, ...]


def domain_of(spec: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """What a job's "domain" asks of a network, checked. Nothing else that it may hold is kept or ever sent back."""
    if isinstance(spec, dict) and spec.get("kind") == "atlas":
        if facts["kind"] != "atlas":
            raise DomainError('"kind": "atlas" shows a saved atlas as it is, and this network is none')
        _check_extent_of_atlas(spec, facts["atlas"]["dim"])
        keys: tuple[str, ...] = ("extent",)
    else:
        place_of(spec, facts["inputs"])
        keys = _KINDS[spec["kind"]][1]
    return {key: spec[key] for key in ("kind", *keys) if key in spec}


def place_of(spec: Any, inputs: int) -> RequestedDomain:
    """The place that a job's "domain" asks for, in a network with so many inputs."""
    if not isinstance(spec, dict) or not isinstance(spec.get("kind"), str):
        raise DomainError('"domain" must be an object with a "kind": box, plane, line or features')
    if spec["kind"] not in _KINDS:
        raise DomainError(f'"kind": {spec["kind"]!r} is not a domain; use {", ".join(_KINDS)}')
    return _KINDS[spec["kind"]][0](spec, inputs)


def _check_extent_of_atlas(spec: dict[str, Any], dim: int) -> None:
    if dim > 2:
        raise DomainError(
            f"this atlas has {how_many(dim, 'dimension')}, and one or two can be drawn: choose a slice, which is "
            "unfolded anew"
        )
    if spec.get("extent") is None:
        return
    extent = _numbers(spec, "extent", 2 * dim)
    if not all(lo < hi for lo, hi in zip(extent[::2], extent[1::2], strict=True)):
        raise DomainError(f'"extent": {extent} is empty: each lower bound must be less than the upper one')


def _box(spec: dict[str, Any], inputs: int) -> RequestedDomain:
    if inputs > 2:
        raise DomainError(
            f"a network with {inputs} inputs cannot be drawn in a box: choose a slice, two features with the others "
            'fixed ("kind": "features") or a plane ("kind": "plane")'
        )
    lo, hi = _numbers(spec, "lo", inputs), _numbers(spec, "hi", inputs)
    return RequestedDomain(Box(lo, hi).resolve(inputs), tuple(lo), tuple(hi), tuple(f"x{k}" for k in range(inputs)))


def _plane(spec: dict[str, Any], inputs: int) -> RequestedDomain:
    origin, x, y = (_numbers(spec, name, inputs) for name in ("origin", "x", "y"))
    extent = _extent(spec, 2, [0.0, 1.0, 0.0, 1.0])
    lo, hi = extent[::2], extent[1::2]
    return RequestedDomain(plane(origin, x, y, Box(lo, hi)).resolve(inputs), tuple(lo), tuple(hi), ("u", "v"))


def _line(spec: dict[str, Any], inputs: int) -> RequestedDomain:
    start, end = _numbers(spec, "from", inputs), _numbers(spec, "to", inputs)
    lo, hi = _extent(spec, 1, [0.0, 1.0])
    return RequestedDomain(line(start, end, extend=(lo, hi)).resolve(inputs), (lo,), (hi,), ("t",))


def _features(spec: dict[str, Any], inputs: int) -> RequestedDomain:
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
        return RequestedDomain(Box(lo, hi).resolve(inputs), tuple(lo), tuple(hi), names)
    origin, basis = np.array(at), np.zeros((inputs, len(chosen)))
    origin[chosen] = 0.0
    basis[chosen, range(len(chosen))] = 1.0
    return RequestedDomain(Slice(origin, basis, bounds=Box(lo, hi)).resolve(inputs), tuple(lo), tuple(hi), names)


def _feature(spec: dict[str, Any], name: str, inputs: int) -> int:
    value = spec.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < inputs:
        raise DomainError(
            f'"{name}": {repr(value)[:60]} is not a feature: it must be a whole number from 0 to {inputs - 1}'
        )
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
        if not isinstance(each, (int, float)) or isinstance(each, bool) or not _is_finite(each):
            raise DomainError(f'"{name}" holds {repr(each)[:60]}, which is not a finite number')
    return [float(each) for each in value]


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


# The domains that can be asked for: how each is read, and what may stand in it.
_KINDS: dict[str, tuple[Callable[[dict[str, Any], int], RequestedDomain], tuple[str, ...]]] = {
    "box": (_box, ("lo", "hi")),
    "plane": (_plane, ("origin", "x", "y", "extent")),
    "line": (_line, ("from", "to", "extent")),
    "features": (_features, ("i", "j", "at", "extent")),
}
