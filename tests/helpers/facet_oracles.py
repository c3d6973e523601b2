"""Facets without the engine: by linear programs, by patterns, and by exact points on them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from flint import fmpq
from scipy.optimize import linprog

from polyfold.atlas.atlas import Atlas

Layers = list[tuple[np.ndarray, np.ndarray]]


def facets_by_programs(layers: Layers, signs: np.ndarray) -> int:
    """How many walls of one cell of a plain network in general position matter: each is tried by a linear program."""
    rows, offsets = walls(layers, signs)
    count = 0
    for k in range(len(rows)):
        others = np.delete(np.arange(len(rows)), k)
        # Is there a point within all other walls that is beyond this one? It need not be far beyond.
        limits = np.append(offsets[others], offsets[k] + 1)
        found = linprog(-rows[k], np.vstack([rows[others], rows[k]]), limits, bounds=[(None, None)] * rows.shape[1])
        assert found.status == 0, found.message
        count += int(-found.fun > offsets[k] + 1e-9)
    return count


def walls(layers: Layers, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cell as rows @ x <= offsets, one row per gate."""
    A, c = np.eye(layers[0][0].shape[1]), np.zeros(layers[0][0].shape[1])
    rows, offsets, first = [], [], 0
    for weight, bias in layers[:-1]:
        A, c = weight @ A, weight @ c + bias
        on = signs[first : first + len(bias)]
        side = np.where(on, -1.0, 1.0)
        rows.append(side[:, None] * A)
        offsets.append(-side * c)
        A, c = A * on[:, None], c * on
        first += len(bias)
    return np.concatenate(rows), np.concatenate(offsets)


def pairs_one_bit_apart(atlas: Atlas) -> int:
    """How many pairs of cells have patterns that differ in one gate."""
    words = {row.tobytes() for row in atlas.signs()}
    count = 0
    for row in atlas.signs():
        for gate in range(atlas.gates):
            row[gate] ^= True
            count += row.tobytes() in words
            row[gate] ^= True
    return count // 2


class FacetPoints:
    """Exact points on facets of a plain network."""

    def __init__(self, atlas: Atlas, layers: Layers) -> None:
        self._atlas, self._layers = atlas, exact(layers)
        self._generators = atlas.generators()

    def point(self, facet: int) -> list[fmpq]:
        """Near the middle of a facet, where its gate is exactly zero as seen from its cell."""
        found, cell = self._generators, int(self._atlas.facet_owner[facet])
        local = facet - int(self._atlas.facet_start[cell])
        on = [
            g
            for g in range(found.start[cell], found.start[cell + 1])
            if local in found.facet[found.facet_start[g] : found.facet_start[g + 1]]
        ]
        points, kind = found.points[on], found.kind[on]
        middle = points[kind == 0].mean(axis=0) + points[kind == 1].sum(axis=0)
        form = self._form(self._atlas.signs([cell])[0], int(self._atlas.facet_wall[facet]))
        start = [rational(x) for x in middle.tolist()]
        off = dot(form, [*start, fmpq(1)])
        length = dot(form[:-1], form[:-1])
        return [x - a * off / length for a, x in zip(form[:-1], start, strict=True)]

    def _form(self, signs: np.ndarray, gate: int) -> list[fmpq]:
        """The gate's value on the cell: slopes, and the constant at the end."""
        inputs = len(self._layers[0][0][0])
        forms = [[fmpq(int(i == j)) for j in range(inputs + 1)] for i in range(inputs)]
        first = 0
        for weight, bias in self._layers:
            columns = list(zip(*forms, strict=True))
            forms = [[dot(row, column) for column in columns] for row in weight]
            for form, constant in zip(forms, bias, strict=True):
                form[-1] += constant
            if gate < first + len(bias):
                return forms[gate - first]
            on = signs[first : first + len(bias)]
            forms = [form if here else [fmpq(0)] * (inputs + 1) for form, here in zip(forms, on, strict=True)]
            first += len(bias)
        raise AssertionError(f"there is no gate {gate}")

    def signs(self, point: list[fmpq]) -> list[int]:
        """The sign of every gate at a point, by a plain pass in rationals."""
        value, signs = point, []
        for weight, bias in self._layers[:-1]:
            value = [dot(row, value) + b for row, b in zip(weight, bias, strict=True)]
            signs += [(x > 0) - (x < 0) for x in value]
            value = [max(x, fmpq(0)) for x in value]
        return signs


def exact(layers: Layers) -> list[tuple[list[list[fmpq]], list[fmpq]]]:
    """The same weights as rationals."""
    return [([[rational(w) for w in row] for row in W.tolist()], [rational(x) for x in b.tolist()]) for W, b in layers]


def rational(x: float) -> fmpq:
    return fmpq(*x.as_integer_ratio())


def dot(one: Iterable[fmpq], other: Iterable[fmpq]) -> fmpq:
    return sum((a * b for a, b in zip(one, other, strict=True)), fmpq(0))
