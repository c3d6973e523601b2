"""The sectors of a truncation map: polyhedral cones on each of which it is affine, and what they collapse to.

A sector is where given gates are on and the others off. It is a cell of the layer, so the sectors that there are come
from the atlas of the map as a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.inputs import rows_of
from polyfold._base.types import Array, Flags
from polyfold.atlas.atlas import Atlas
from polyfold.domain.domain import Box, DomainLike, Polytope, Slice
from polyfold.engine.unfold import unfold
from polyfold.errors import PolyfoldError, how_many

if TYPE_CHECKING:
    from polyfold.layers.one_map import TruncationMap

Kind = Literal["kept", "collapsed", "mixed"]


@dataclass(frozen=True, eq=False, repr=False)
class Sector:
    """Where gates are on or off as `on` says: all x with a_i(x) >= 0 if on and a_i(x) <= 0 if off, a(x) = W x + b."""

    weight: Array
    bias: Array
    inverse: Array
    base: Array
    on: Flags

    def __post_init__(self) -> None:
        self.on.setflags(write=False)

    def __repr__(self) -> str:
        return f"Sector: {int(self.on.sum())} of {how_many(len(self.on), 'gate')} on, {self.kind}"

    @property
    def kind(self) -> Kind:
        """ "kept" (S+, all gates on), "collapsed" (S-, all off) or "mixed"."""
        return "kept" if self.on.all() else "mixed" if self.on.any() else "collapsed"

    @property
    def domain(self) -> Polytope:
        """The sector as a domain for `pf.unfold`: its rows are those of `weight`, without rounding."""
        sign = np.where(self.on, -1.0, 1.0)
        return Polytope(self.weight * sign[:, None], self.bias * -sign)

    @property
    def map(self) -> tuple[Array, Array]:
        """(A, c) with tau(x) = A x + c on the sector."""
        chosen = self.inverse[:, self.on]
        return chosen @ self.weight[self.on], chosen @ self.bias[self.on] + self.base

    @property
    def generators(self) -> Array:
        """The generators of the gates that are on, as rows: the image is a part of base + their non-negative sums."""
        return self.inverse[:, self.on].T

    @property
    def collapses_to(self) -> Array | Slice:
        """The base point if no gate is on; else base + all non-negative sums of the generators that are on.

        The latter is a slice of the input space with one parameter for each gate that is on. If W is surjective it is
        the image of the sector; if not, it holds the image, and where generators depend on each other, `pf.unfold`
        refuses the slice as flat.
        """
        if not self.on.any():
            return self.base
        return Slice(self.base, self.inverse[:, self.on], bounds=Box(0.0, np.inf))

    def contains(self, X: Any) -> Flags:
        """Which rows of X lie in the sector or on its border, in floats."""
        a = rows_of(X, self.weight.shape[1]) @ self.weight.T + self.bias
        return np.asarray(np.all(np.where(self.on, a >= 0, a <= 0), axis=1))


@dataclass(frozen=True, eq=False, repr=False)
class Sectors:
    """All sectors of a truncation map on a domain; number k is cell k of `atlas`."""

    tau: TruncationMap
    atlas: Atlas

    def __len__(self) -> int:
        return len(self.atlas)

    def __getitem__(self, cell: int) -> Sector:
        return self.tau.sector(self.atlas.signs([cell])[0])

    def __iter__(self) -> Iterator[Sector]:
        return (self.tau.sector(on) for on in self.patterns)

    def __repr__(self) -> str:
        return f"Sectors: {len(self)} of {self.tau!r}"

    @property
    def patterns(self) -> Flags:
        """Which gates are on in which sector: (sectors, m)."""
        return self.atlas.signs()

    def of_kind(self, kind: Kind) -> npt.NDArray[np.int64]:
        """The numbers of all sectors that are "kept", "collapsed" or "mixed"."""
        count = self.patterns.sum(axis=1)
        wanted = {"kept": count == self.tau.gates, "collapsed": count == 0}
        wanted["mixed"] = ~(wanted["kept"] | wanted["collapsed"])
        if kind not in wanted:
            raise PolyfoldError(f"a sector is 'kept', 'collapsed' or 'mixed', not {kind!r}")
        return np.flatnonzero(wanted[kind])


def sectors_of(tau: TruncationMap, domain: DomainLike, limits: dict[str, Any]) -> Sectors:
    """The atlas of the map as a network, read as sectors."""
    return Sectors(tau, unfold(tau.network, domain, **limits))
