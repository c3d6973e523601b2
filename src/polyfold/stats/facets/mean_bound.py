"""What is known of the mean number of facets beside 2d, and on what ground.

On all of R^d:

- one stage of gates is an arrangement of hyperplanes. Its cells have at most 2d facets on average, in general position
  or not (Fukuda, Saito, Tamura, Tokuyama 1991);
- in one dimension n cells have 2n - 2 ends;
- in two dimensions at least four edges meet in every vertex. For a gate is continuous: where its zeros reach an edge
  from one side, its sign changes along the edge, and so its zeros go on behind it; they end in vertices only. By
  Euler's formula the mean is then at most 4 - (4 + u) / n, where u of the n cells are unbounded, and equal to it in
  general position;
- of deeper networks in three and more dimensions "Characterizing the Discrete Geometry of ReLU Networks" says that the
  mean is at most 2d for almost every network. We know networks in general position with more: docs/facets.md has one.

A domain with walls of its own can break the bound in any dimension above 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from polyfold.atlas.atlas import Atlas
from polyfold.errors import how_many

Case = Literal["incomplete", "walls", "arrangement", "line", "plane", "coincident", "deep"]

_SAID: dict[Case, str] = {
    "incomplete": "cells are missing, so nothing is known of the mean of all",
    "walls": "the domain has walls of its own, and then no bound is known",
    "arrangement": "one stage of gates on all of R^d is an arrangement of hyperplanes: the mean is at most 2d, always",
    "line": "intervals have two ends at most, so the mean is at most 2d, always",
    "plane": "on all of the plane at least four edges meet in a vertex: the mean is less than 2d, always",
    "coincident": "facets lie on several gates at once: of networks in such special position no theorem speaks",
    "deep": "a theorem says that it is at most 2d for almost every network on R^d; deep ones with more are known",
}


@dataclass(frozen=True)
class MeanBound:
    """The mean number of facets beside 2d.

    `case` says which theorem speaks of the atlas, `proved` whether it says that the bound holds for every network. That
    a network is in general position is not decided: only facets on several gates are seen, and called "coincident".
    """

    mean: Fraction
    dim: int
    case: Case

    @property
    def bound(self) -> int:
        """2d."""
        return 2 * self.dim

    @property
    def holds(self) -> bool:
        """Whether the mean is at most 2d; compared in integers."""
        return self.mean <= self.bound

    @property
    def proved(self) -> bool:
        """Whether a theorem says that the bound holds here, in general position or not."""
        return self.case in ("arrangement", "line", "plane")

    def __str__(self) -> str:
        relation = "more than" if not self.holds else "exactly" if self.mean == self.bound else "less than"
        return f"{float(self.mean):.4g} facets per cell, {relation} 2d = {self.bound}: {_SAID[self.case]}"


def mean_bound(atlas: Atlas) -> MeanBound:
    """The mean of an atlas that has cells, and what is known of it."""
    return MeanBound(Fraction(len(atlas.facet_wall), len(atlas)), atlas.dim, _case(atlas))


def _case(atlas: Atlas) -> Case:
    if not atlas.complete:
        return "incomplete"
    if atlas.dim == 1:
        return "line"
    if atlas.domain.rows:
        return "walls"
    if len(atlas.program.stages) <= 1:
        return "arrangement"
    if atlas.dim == 2:
        return "plane"
    return "coincident" if len(atlas.shared_facet) else "deep"


def in_the_plane(cells: int, unbounded: int) -> Fraction:
    """The mean on all of the plane, for networks in general position; no network has more.

    >>> in_the_plane(4, 4)  # two lines that cross: each quarter has two edges
    Fraction(2, 1)
    """
    if cells < 1:
        raise ValueError(f"{how_many(cells, 'cell')} have no mean")
    return 4 - Fraction(4 + unbounded, cells)
