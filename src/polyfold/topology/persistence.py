"""How the topology of an output's sublevel sets comes and goes: persistent homology, by GUDHI.

An output is affine on every face. Faces are cut into simplices without new vertices, and a simplex is there as soon as
its highest vertex is: what GUDHI then sees has at every value the topology of the sublevel set itself. Only the sorting
of simplices into pairs is GUDHI's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.clock import Report, tick
from polyfold._base.extras import require
from polyfold._base.inputs import one_output
from polyfold._base.question import question
from polyfold._base.result import InFloats, Rows, answered
from polyfold._base.types import Array, Ids
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.errors import DomainError, LimitError, PolyfoldError
from polyfold.topology.face_complex import FaceComplex, as_faces
from polyfold.topology.vertex_order import vertex_order

Sets = Literal["sublevel", "superlevel"]

_MOST_SIMPLICES = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Persistence(InFloats, Rows):
    """How features of an output's sublevel or superlevel sets come and go; features are those over two elements.

    `evidence` says what is known of the cells.

    Attributes
    ----------
    diagrams : tuple of array of float, shape (n, 2)
        `diagrams[k]`: where each k-dimensional feature is born and where it dies; infinite if it never does.
    sets : str
        "sublevel" or "superlevel". With superlevel sets values fall, and what never dies has death -infinity.
    """

    diagrams: tuple[Array, ...]
    sets: Sets

    def __repr__(self) -> str:
        features = ", ".join(str(len(pairs)) for pairs in self.diagrams)
        return f"Persistence: {features} features by dimension; {self.evidence}"

    def betti(self, value: float) -> tuple[int, ...]:
        """The Betti numbers of the sublevel (superlevel) set at a value."""
        sign = 1 if self.sets == "sublevel" else -1
        return tuple(
            int(((sign * pairs[:, 0] <= sign * value) & (sign * value < sign * pairs[:, 1])).sum())
            for pairs in self.diagrams
        )

    def rows(self) -> dict[str, Any]:
        """One row per feature: its dimension, birth and death."""
        pairs = np.concatenate(self.diagrams)
        dim = np.repeat(np.arange(len(self.diagrams)), [len(part) for part in self.diagrams])
        return {"dim": dim, "birth": pairs[:, 0], "death": pairs[:, 1]}


@question("topology.persistence")
def persistence(
    source: SourceLike | FaceComplex,
    domain: DomainLike = None,
    *,
    output: int = 0,
    sets: Sets = "sublevel",
    max_simplices: int = _MOST_SIMPLICES,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Persistence:
    """The persistence diagrams of an output over a bounded domain. Needs GUDHI: pip install polyfold[topology].

    Births and deaths are the output's values at vertices, in floats. What is the same along an edge exactly, is the
    same float, so that rounding makes no features on flat pieces.

    Parameters
    ----------
    source : model, Network, Program, Atlas or FaceComplex
        What is asked about. Anything but an atlas is unfolded on the domain first; faces that were listed before need
        not be listed again.
    domain : Domain, optional
        Where; of an atlas it is its own. It must be bounded.
    output : int
        The number of the output.
    sets : "sublevel" or "superlevel"
        Whether sets grow as the value rises, or as it falls.
    max_simplices : int
        LimitError if cells are cut into more.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Persistence
        One diagram per dimension.

    Examples
    --------
    >>> import polyfold as pf
    >>> dips = [([[1.0], [1.0], [1.0], [1.0]], [0.0, -1.0, -2.0, -3.0]), ([[-1.0, 2.0, -3.0, 4.0]], [0.0])]
    >>> [pairs.round(12).tolist() for pairs in pf.topology.persistence(dips, pf.box(0, 4)).diagrams]
    [[[-2.0, inf], [-1.0, 0.0]], []]
    """
    faces = as_faces(source, domain, threads)
    if sets not in ("sublevel", "superlevel"):
        raise PolyfoldError(f"sets={sets!r} must be 'sublevel' or 'superlevel'")
    output = one_output(output, faces.atlas.outputs)
    unbounded = int((~faces.bounded[-1]).sum())
    if unbounded:
        raise DomainError(
            f"persistent homology needs a bounded domain, and {unbounded:,} cells are unbounded: unfold on a bounded "
            "one, say pf.box(lo, hi)"
        )
    gudhi = require("gudhi", extra="topology", purpose="persistent homology")
    sign = 1.0 if sets == "sublevel" else -1.0
    value = sign * vertex_order(faces, output, "persistent homology").value
    simplices = triangulated(faces, max_simplices)
    tree = gudhi.SimplexTree()
    apart(lambda: tree.insert_batch(simplices.T, np.full(len(simplices), value.min())))
    for vertex, at in enumerate(value.tolist()):
        tick()
        tree.assign_filtration([vertex], at)
    apart(lambda: tree.make_filtration_non_decreasing())
    apart(lambda: tree.compute_persistence(homology_coeff_field=2, persistence_dim_max=True))
    diagrams = []
    for k in range(faces.dim + 1):
        pairs = sign * np.asarray(tree.persistence_intervals_in_dimension(k), dtype=np.float64).reshape(-1, 2)
        diagrams.append(pairs[np.lexsort((sign * pairs[:, 1], sign * pairs[:, 0]))])
    return answered(Persistence(tuple(diagrams), sets), faces.evidence)


def triangulated(faces: FaceComplex, max_simplices: int = _MOST_SIMPLICES) -> Ids:
    """A bounded complex as simplices (n, d + 1) of its own vertices.

    Every face is a cone from its first vertex over those of its facets that do not contain it. Faces that cells share
    are cut in the same way, since their first vertex is.
    """
    first = [np.arange(faces.f_vector[0])]
    count = [np.ones(faces.f_vector[0], dtype=np.int64)]
    bases: list[tuple[Ids, Ids]] = []
    for k in range(1, faces.dim + 1):
        entries = faces.boundary[k].tocoo()
        least = np.full(entries.shape[1], faces.f_vector[0], dtype=np.int64)
        np.minimum.at(least, entries.col, first[-1][entries.row])
        apart = first[-1][entries.row] != least[entries.col]
        base, face = entries.row[apart].astype(np.int64), entries.col[apart].astype(np.int64)
        bases.append((base, face))
        simplices = np.zeros(entries.shape[1], dtype=np.int64)
        np.add.at(simplices, face, count[-1][base])
        first.append(least)
        count.append(simplices)
    total = int(count[-1].sum())
    if total > max_simplices:
        raise LimitError(
            f"there are {total:,} simplices, more than max_simplices={max_simplices:,}: allow more, or choose a "
            "smaller domain"
        )
    # From the cells down: which faces are left to be cut, and what they are cones from.
    left = np.arange(faces.f_vector[-1])
    apexes: list[Ids] = []
    for k in range(faces.dim, 0, -1):
        base, face = bases[k - 1]
        by_face = np.argsort(face, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(face, minlength=faces.f_vector[k]))])
        lengths = np.diff(start)[left]
        row = np.repeat(np.arange(len(left)), lengths)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        apexes = [apex[row] for apex in [*apexes, first[k][left]]]
        left = base[by_face[start[left][row] + offset]]
    return np.stack([*apexes, left], axis=1)
