"""Betti numbers by GUDHI: of all chains of faces, which are a set's barycentric subdivision."""

from __future__ import annotations

import gudhi
import numpy as np

import polyfold as pf


def betti_by_gudhi(of: pf.topology.Subcomplex, prime: int = 2) -> tuple[int, ...]:
    """Over the integers modulo a prime. The set must be bounded, or its bounded faces are taken."""
    complex = of.complex
    kept = [flags & bounded for flags, bounded in zip(of.chosen, complex.bounded, strict=True)]
    first = np.concatenate([[0], np.cumsum(complex.f_vector)]).tolist()
    # Chains that end in a face: those of its facets and below, each with the face added.
    below: dict[int, set[int]] = {}
    for k in range(complex.dim + 1):
        matrix = complex.boundary[k].tocsc()
        for i in np.flatnonzero(kept[k]).tolist():
            facets = [first[k - 1] + j for j in matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]].tolist()]
            below[first[k] + i] = set(facets).union(*(below[j] for j in facets))
    chains: dict[int, list[list[int]]] = {}
    for face, smaller in below.items():  # smaller faces come first
        chains[face] = [[face], *([*chain, face] for other in smaller for chain in chains[other])]
    tree = gudhi.SimplexTree()
    for ending in chains.values():
        for chain in ending:
            tree.insert(chain)
    tree.compute_persistence(homology_coeff_field=prime, persistence_dim_max=True)
    numbers = tree.betti_numbers()
    size = of.dim + 1
    return tuple([*numbers, *[0] * size][:size])
