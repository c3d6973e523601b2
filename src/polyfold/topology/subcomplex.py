"""Sets that are unions of faces: chosen faces of a complex, closed under taking faces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyfold._base.evidence import Evidence
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, Flags, Ids
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.topology.face_complex import FaceComplex


@dataclass(frozen=True, eq=False, repr=False)
class Subcomplex(Rows):
    """A closed set that is a union of faces.

    Attributes
    ----------
    complex : FaceComplex
        All faces.
    chosen : tuple of array of bool
        `chosen[k]` says which faces of dimension k are in the set.
    """

    complex: FaceComplex
    chosen: tuple[Flags, ...]

    def __post_init__(self) -> None:
        shapes = tuple((count,) for count in self.complex.f_vector)
        if tuple(flags.shape for flags in self.chosen) != shapes:
            raise ShapeError(f"flags must have the lengths {self.complex.f_vector}, one per dimension")
        for k in range(1, self.complex.dim + 1):
            bounding = abs(self.complex.boundary[k]) @ self.chosen[k].astype(np.int64) > 0
            missing = np.flatnonzero(bounding & ~self.chosen[k - 1])
            if len(missing):
                raise PolyfoldError(
                    f"these faces are not closed: face {int(missing[0])} of dimension {k - 1} bounds one of them and "
                    "is not chosen; FaceComplex.closure adds what is missing"
                )
        for flags in self.chosen:
            flags.setflags(write=False)

    def __len__(self) -> int:
        return sum(self.f_vector)

    def __repr__(self) -> str:
        by_dimension = ", ".join(f"{n:,}" for n in self.f_vector)
        return f"Subcomplex: {how_many(len(self), 'face')}, by dimension {by_dimension}; {self.evidence}"

    @property
    def evidence(self) -> Evidence:
        """What is known of the atlas that the faces belong to."""
        return self.complex.evidence

    @property
    def dim(self) -> int:
        """The largest dimension of a face; -1 if there is none."""
        return max((k for k, flags in enumerate(self.chosen) if flags.any()), default=-1)

    @property
    def f_vector(self) -> tuple[int, ...]:
        """Numbers of faces of dimension 0, 1, ..., up to that of the set."""
        return tuple(int(flags.sum()) for flags in self.chosen[: self.dim + 1])

    @property
    def compact(self) -> bool:
        """Whether the set is bounded."""
        return not len(self) or (
            self.complex.least == 0
            and not any((c & ~b).any() for c, b in zip(self.chosen, self.complex.bounded, strict=True))
        )

    def faces(self, dim: int) -> Ids:
        """The numbers of its faces of one dimension."""
        return np.flatnonzero(self.chosen[self.complex._dimension(dim)])

    @cached_property
    def cells(self) -> Ids:
        """The cells of the original atlas that it meets, on their boundary at least."""
        touched = self.chosen[0]
        for k in range(1, self.complex.dim + 1):
            touched = self.chosen[k] | (abs(self.complex.boundary[k]).T @ touched.astype(np.int64) > 0)
        return np.unique(self.complex.original_cells[touched])

    @cached_property
    def components(self) -> Components:
        """Its connected components."""
        return answered(_components(self), self.evidence)

    def rows(self) -> dict[str, Any]:
        """One row per face: its dimension, its number in the complex, and whether it is bounded."""
        numbers = [np.flatnonzero(flags) for flags in self.chosen]
        return {
            "dim": np.repeat(np.arange(len(numbers)), [len(part) for part in numbers]),
            "face": np.concatenate(numbers),
            "bounded": np.concatenate([self.complex.bounded[k][part] for k, part in enumerate(numbers)]),
        }

    def facts(self) -> dict[str, Any]:
        return {"f_vector": self.f_vector, "dim": self.dim, "compact": self.compact, "cells": self.cells}

    def ask_instead(self) -> str:
        return "compare the number of its faces, len(set)"


@dataclass(frozen=True, eq=False, repr=False)
class Components(Rows):
    """Connected components, those with more faces of the largest dimension first.

    Attributes
    ----------
    of : Subcomplex
        What they are components of.
    label : tuple of array of int
        `label[k][i]` is the component of face i of dimension k, or -1.
    dim, facets, face : array of int, shape (n,)
        The dimension of each component, how many faces of that dimension it has, and one of these.
    point : array of float, shape (n, d)
        A point inside that face, in floats.
    cell : array of int, shape (n,)
        A cell of the original atlas that this face belongs to.
    euler : array of int, shape (n,)
        The alternating sum of its numbers of faces.
    bounded : array of bool, shape (n,)
        Whether it is bounded.
    """

    of: Subcomplex
    label: tuple[Ids, ...]
    dim: Ids
    facets: Ids
    face: Ids
    point: Array
    cell: Ids
    euler: Ids
    bounded: Flags

    def __len__(self) -> int:
        return len(self.dim)

    def __repr__(self) -> str:
        return f"Components: {len(self)}; {self.evidence}"

    def __getitem__(self, number: int) -> Subcomplex:
        """One component as a set of its own."""
        if not 0 <= number < len(self):
            raise IndexError(f"there is no component {number}: there are {len(self)}")
        chosen = tuple(label == number for label in self.label)
        return answered(Subcomplex(self.of.complex, chosen), self.evidence)

    def rows(self) -> dict[str, Any]:
        """One row per component."""
        columns = {name: getattr(self, name) for name in ("dim", "facets", "face", "cell", "euler", "bounded")}
        return columns | {f"point_{k}": self.point[:, k] for k in range(self.point.shape[1])}

    def facts(self) -> dict[str, Any]:
        return {"components": len(self), **self.rows()}

    def ask_instead(self) -> str:
        return "compare their number, len(components)"


def _components(of: Subcomplex) -> Components:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    complex = of.complex
    first = np.concatenate([[0], np.cumsum(complex.f_vector)])
    total = int(first[-1])
    ends: list[tuple[Ids, Ids]] = []
    for k in range(1, complex.dim + 1):
        entries = complex.boundary[k].tocoo()
        kept = of.chosen[k][entries.col]
        ends.append((first[k - 1] + entries.row[kept], first[k] + entries.col[kept]))
    low, high = (np.concatenate(parts) for parts in zip(*ends, strict=True))
    graph = coo_array((np.ones(len(low), dtype=bool), (low, high)), shape=(total, total))
    raw = connected_components(graph, directed=False)[1]
    chosen = np.concatenate(of.chosen)
    found, group = np.unique(raw[chosen], return_inverse=True)
    dimension = np.repeat(np.arange(complex.dim + 1), complex.f_vector)[chosen]
    number = np.flatnonzero(chosen)
    count = len(found)
    dim = np.zeros(count, dtype=np.int64)
    np.maximum.at(dim, group, dimension)
    top = dimension == dim[group]
    facets = np.bincount(group[top], minlength=count)
    order = np.lexsort((-facets, -dim))
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    label = np.full(total, -1, dtype=np.int64)
    label[chosen] = rank[group]
    # The first face of the largest dimension stands for its component.
    face = np.full(count, total, dtype=np.int64)
    np.minimum.at(face, rank[group[top]], number[top])
    dim, facets = dim[order], facets[order]
    face = face - first[dim]
    signs = np.where(dimension % 2 == 0, 1, -1)
    euler = np.zeros(count, dtype=np.int64)
    np.add.at(euler, rank[group], signs)
    ends_everywhere = np.concatenate(complex.bounded)[chosen] & (complex.least == 0)
    bounded = np.ones(count, dtype=bool)
    np.logical_and.at(bounded, rank[group], ends_everywhere)
    point, cell = np.empty((count, complex.dim)), np.empty(count, dtype=np.int64)
    for k in np.unique(dim).tolist():
        rows = np.flatnonzero(dim == k)
        # Witnesses are proved to be inside.
        point[rows] = complex.atlas.witnesses[face[rows]] if k == complex.dim else complex.inner_points(k, face[rows])
        cell[rows] = [complex.original_cells[complex.cells(k, int(i))[0]] for i in face[rows]]
    return Components(
        of,
        tuple(label[first[k] : first[k + 1]] for k in range(complex.dim + 1)),
        dim,
        facets,
        face,
        point,
        cell,
        euler,
        bounded,
    )
