"""Betti numbers of sets of faces.

Unbounded sets have more than one homology. With *Borel-Moore* homology, chains may go to infinity: all faces count as
they are. *Ordinary* homology, that of the set cut off by a large enough box, is that of its bounded faces: the boundary
of an unbounded polyhedron without lines is contractible, so that unbounded faces can be pushed away from infinity one
after the other, the largest ones first. Lines that all cells contain are divided out before. With one point added at
infinity, ordinary homology is Borel-Moore's with one more component.

Ranks of boundary matrices are exact, over two elements and over the rationals. Rows are cleared by entries 1 and -1 in
the core, which needs no fractions, so that what it counts holds over the rationals. Columns that have no such entry
left, which torsion makes, are few, and their rank is computed in integers of any size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from polyfold import _core as core
from polyfold._base.apart import apart
from polyfold._base.clock import Report
from polyfold._base.question import question
from polyfold._base.result import Value, answered
from polyfold._base.types import Ids
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike, own_domain
from polyfold.errors import PolyfoldError
from polyfold.topology.face_complex import FaceComplex, as_faces
from polyfold.topology.subcomplex import Subcomplex

Homology = Literal["truncated", "borel-moore", "compactified"]
Coefficients = Literal["rationals", "gf2"]

_COEFFICIENTS = ("rationals", "gf2")
_HOMOLOGIES = ("truncated", "borel-moore", "compactified")
# Entries of a matrix that may be written out where numbers in the core have outgrown 64 bits.
_MOST_WRITTEN_OUT = 1 << 22


@dataclass(frozen=True, repr=False)
class Betti(Value):
    """Betti numbers of a set of faces.

    Attributes
    ----------
    value : tuple of int
        b0, b1, ... up to the dimension of the set: components, loops, voids and so on. Empty of an empty set.
    coefficients : str
        "rationals" or "gf2".
    homology : str
        "truncated", "borel-moore" or "compactified".
    """

    value: tuple[int, ...]
    coefficients: Coefficients
    homology: Homology

    def __repr__(self) -> str:
        how = f"{self.coefficients}, {self.homology}"
        return f"Betti: {', '.join(map(str, self.value)) or 'of nothing'} ({how}); {self.evidence}"


@question("topology.betti")
def betti(
    source: SourceLike | Subcomplex | FaceComplex,
    domain: DomainLike = None,
    *,
    coefficients: Coefficients = "rationals",
    homology: Homology = "truncated",
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Betti:
    """The Betti numbers b0, b1, ... up to the dimension of a set of faces: components, loops, voids and so on.

    Parameters
    ----------
    source : Subcomplex, FaceComplex, or anything that has faces
        What `pf.topology.sublevel`, `pf.topology.superlevel`, `pf.topology.level_set`, `pf.topology.class_region`,
        `pf.topology.boundary` or `FaceComplex.closure` return, or a whole complex: `pf.topology.faces(...)`, or an
        atlas or a model, whose faces are listed first.
    domain : Domain, optional
        Where; of an atlas it is its own. By default all of R^d.
    coefficients : "rationals" or "gf2"
        "gf2" are the two elements 0 and 1. They differ where there is torsion.
    homology : "truncated", "borel-moore" or "compactified"
        For sets without end: "truncated" is that of the set cut off by a large box, which is ordinary homology;
        "borel-moore" has chains that may be infinite; "compactified" is ordinary homology with one point added at
        infinity. For a bounded set all are the same.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Betti
        The numbers: `value` is a tuple.

    Examples
    --------
    >>> import polyfold as pf
    >>> faces = pf.topology.faces([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> [pf.topology.betti(faces, homology=kind).value for kind in ("truncated", "borel-moore", "compactified")]
    [(1, 0, 0), (0, 0, 1), (1, 0, 1)]
    """
    if coefficients not in _COEFFICIENTS:
        raise PolyfoldError(f"coefficients={coefficients!r} must be 'rationals' or 'gf2'")
    if homology not in _HOMOLOGIES:
        raise PolyfoldError(f"homology={homology!r} must be 'truncated', 'borel-moore' or 'compactified'")
    if isinstance(source, Subcomplex):
        own_domain(source.complex.original, domain)
        asked = source
    else:
        asked = as_faces(source, domain, threads).all()
    return answered(Betti(_betti(asked, coefficients, homology), coefficients, homology), asked.evidence)


def _betti(asked: Subcomplex, coefficients: Coefficients, homology: Homology) -> tuple[int, ...]:
    if not len(asked):
        return ()
    complex, size = asked.complex, asked.dim + 1
    if homology == "truncated":
        chosen = [flags & bounded for flags, bounded in zip(asked.chosen, complex.bounded, strict=True)][
            complex.least :
        ]
        numbers = _numbers([complex.boundary[complex.least + k] for k in range(len(chosen))], chosen, coefficients)
    else:
        numbers = _numbers(list(complex.boundary), list(asked.chosen), coefficients)
    if homology == "compactified" and not asked.compact:
        numbers[0] += 1
    return tuple([*numbers, *[0] * size][:size])


def _numbers(boundary: list[Any], chosen: list[Any], coefficients: Coefficients) -> list[int]:
    """n_k - rank of the boundary of k-faces - rank of that of (k + 1)-faces."""
    counts = [int(flags.sum()) for flags in chosen]
    matrices = [boundary[0]]
    for k in range(1, len(chosen)):
        matrices.append(boundary[k][:, np.flatnonzero(chosen[k])].tocsr()[np.flatnonzero(chosen[k - 1])])
    found = [*ranks(matrices, coefficients), 0]
    return [count - found[k] - found[k + 1] for k, count in enumerate(counts)]


def ranks(matrices: list[Any], coefficients: Coefficients) -> list[int]:
    """The ranks of the boundary matrices of a chain complex: matrices[k] is (k - 1)-faces by k-faces.

    The image of one matrix lies in the kernel of the next: columns of it that a pivot of the one before stands for
    depend on the others, and are not looked at.
    """
    found = [0] * len(matrices)
    if not matrices:
        return found
    depends = np.zeros(matrices[-1].shape[1], dtype=np.uint8)
    for k in range(len(matrices) - 1, 0, -1):
        matrix = matrices[k].tocsc()
        found[k], pivots = _rank(matrix, depends, coefficients)
        depends = np.zeros(matrix.shape[0], dtype=np.uint8)
        depends[pivots] = 1
    return found


def _rank(matrix: Any, depends: npt.NDArray[np.uint8], coefficients: Coefficients) -> tuple[int, Ids]:
    found = sparse_rank(matrix, depends, coefficients == "gf2")
    if found["overflow"]:
        return _written_out_rank(matrix, depends), np.zeros(0, dtype=np.int64)
    pivots = found["pivot_rows"]
    start = found["rest_start"]
    if len(start) == 1:
        return len(pivots), pivots
    rows, place = np.unique(found["rest_row"], return_inverse=True)
    rest = fmpz_mat(len(start) - 1, len(rows))
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    for i, j, value in zip(owner.tolist(), place.tolist(), found["rest_value"].tolist(), strict=True):
        rest[i, j] = value
    return len(pivots) + int(rest.rank()), pivots


def sparse_rank(matrix: Any, skipped: npt.NDArray[np.uint8], modulo_two: bool) -> dict[str, Any]:
    """Pivot rows of a sparse matrix of small integers, and what is left without entries 1 or -1."""
    start, row, value = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.int8)
    return apart(lambda: core.sparse_rank(matrix.shape[0], start, row, value, skipped, modulo_two))


def _written_out_rank(matrix: Any, depends: npt.NDArray[np.uint8]) -> int:
    kept = matrix[:, depends == 0]
    if kept.shape[0] * kept.shape[1] > _MOST_WRITTEN_OUT:
        raise PolyfoldError(
            f"the rank of a boundary matrix of shape {kept.shape} could not be decided over the rationals: on the way "
            "numbers outgrow 64 bits; over 'gf2' it can be"
        )
    return int(fmpz_mat(kept.toarray().astype(int).tolist()).rank())
