"""Betti numbers of sets of faces.

Unbounded sets have more than one homology. With *Borel-Moore* homology, chains may go to infinity: all faces count as
they are. *Ordinary* homology, that of the set cut off by a large enough box, is that of its bounded faces: the boundary
of an unbounded polyhedron without lines is contractible, so that unbounded faces can be pushed away from infinity one
after the other, the largest ones first. Lines that all cells contain are divided out before. With one point added at
infinity, ordinary homology is Borel-Moore's with one more component.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from polyfold.errors import PolyfoldError
from polyfold.topology.face_complex import FaceComplex
from polyfold.topology.ranks import Coefficients, ranks
from polyfold.topology.subcomplex import Subcomplex

Homology = Literal["truncated", "borel-moore", "compactified"]

_COEFFICIENTS = ("rationals", "gf2")
_HOMOLOGIES = ("truncated", "borel-moore", "compactified")


def betti(
    of: Subcomplex | FaceComplex, *, coefficients: Coefficients = "rationals", homology: Homology = "truncated"
) -> tuple[int, ...]:
    """The Betti numbers b0, b1, ... up to the dimension of a set of faces: components, loops, voids and so on.

    Parameters
    ----------
    of: what `pf.topology.sublevel`, `pf.topology.superlevel`, `pf.topology.level_set`, `pf.topology.class_region`,
        `pf.topology.boundary` or `FaceComplex.closure` return, or a whole complex.
    coefficients: "rationals", or "gf2" for the two elements 0 and 1. They differ where there is torsion.
    homology: for sets without end: "truncated", that of the set cut off by a large box, which is ordinary homology;
        "borel-moore", where chains may be infinite; or "compactified", ordinary homology with one point added at
        infinity. For a bounded set all are the same.

    >>> import polyfold as pf
    >>> faces = pf.topology.faces(pf.unfold([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]))
    >>> [pf.topology.betti(faces, homology=kind) for kind in ("truncated", "borel-moore", "compactified")]
    [(1, 0, 0), (0, 0, 1), (1, 0, 1)]
    """
    if coefficients not in _COEFFICIENTS:
        raise PolyfoldError(f"coefficients={coefficients!r} is no option: use 'rationals' or 'gf2'")
    if homology not in _HOMOLOGIES:
        raise PolyfoldError(f"homology={homology!r} is no option: use 'truncated', 'borel-moore' or 'compactified'")
    asked = of.all() if isinstance(of, FaceComplex) else of
    if not isinstance(asked, Subcomplex):
        raise PolyfoldError(
            f"Betti numbers are asked of faces, not of {type(of).__name__}: give pf.topology.faces(atlas), or what "
            "pf.topology.sublevel, pf.topology.class_region or pf.topology.boundary returns"
        )
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
