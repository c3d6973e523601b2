"""The truncation map of one layer, tau(x) = W^+ (relu(W x + b) - b): base point, generators and sectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyfold._base.inputs import real_array, rows_of
from polyfold._base.notebook import InNotebooks
from polyfold._base.types import Array
from polyfold.domain.domain import DomainLike, Polytope, Slice
from polyfold.errors import LimitError, PolyfoldError, ShapeError, how_many
from polyfold.exact.linear_algebra import exact_rank, pseudo_inverse_in_floats
from polyfold.exact.rational_arrays import Rationals, nearest, rationals
from polyfold.layers.sectors import Sector, Sectors, sectors_of
from polyfold.network.graph import Network
from polyfold.network.read.arrays import from_arrays


@dataclass(frozen=True, eq=False, repr=False)
class TruncationMap(InNotebooks):
    """tau(x) = W^+ (relu(W x + b) - b), a map of R^n to itself, for one layer of m gates.

    With a(x) = W x + b it is tau(x) = p + sum of a_i(x) v_i over the gates that are on: `base` p = -W^+ b is where all
    points go at which no gate is on, and the rows of `generators` v_i are the columns of W^+.

    Attributes
    ----------
    weight, bias: W (m, n) and b (m,). `inverse` is W^+ (n, m).
    rank: of W, decided in rationals. `surjective` is rank = m, `injective` rank = n.
    condition: the largest singular value of W over the smallest one that is not zero. As many digits as it has are
        lost on the way to the next layer and back.
    """

    weight: Array
    bias: Array
    inverse: Array
    rank: int
    condition: float
    base: Array
    exact: tuple[Rationals, Rationals]
    """W and b in rationals; `weight` and `bias` are the nearest floats."""

    def __post_init__(self) -> None:
        m, n = self.weight.shape
        for name, shape in {"bias": (m,), "inverse": (n, m), "base": (n,)}.items():
            if getattr(self, name).shape != shape:
                raise ShapeError(f"a truncation map's {name} must have shape {shape}, not {getattr(self, name).shape}")
        for array in (self.weight, self.bias, self.inverse, self.base, *self.exact):
            array.setflags(write=False)

    def __repr__(self) -> str:
        m, n = self.weight.shape
        kind = "invertible" if self.surjective and self.injective else "surjective" if self.surjective else "injective"
        kind = kind if self.surjective or self.injective else "neither surjective nor injective"
        return f"TruncationMap of R^{n}: {how_many(m, 'gate')}, weights of rank {self.rank}, {kind}"

    @property
    def dim(self) -> int:
        """n: of the space that is mapped to itself."""
        return int(self.weight.shape[1])

    @property
    def gates(self) -> int:
        """m: how many gates the layer has."""
        return int(self.weight.shape[0])

    @property
    def surjective(self) -> bool:
        """Whether W reaches all of R^m: then W tau(x) + b = relu(W x + b), and every sector is there."""
        return self.rank == self.gates

    @property
    def injective(self) -> bool:
        """Whether W forgets no direction: then tau is the identity on S+."""
        return self.rank == self.dim

    @property
    def generators(self) -> Array:
        """v_i as rows (m, n): W v_i is the i-th unit vector where W is surjective."""
        return self.inverse.T

    def __call__(self, X: Any) -> Array:
        """tau at the rows of X (k, n).

        >>> import polyfold as pf
        >>> pf.layers.truncation_map([[1, 0], [0, 1]], [-1, -1])([[3, 2], [3, 0], [0, -5]]).tolist()
        [[3.0, 2.0], [3.0, 1.0], [1.0, 1.0]]
        """
        return np.asarray((np.maximum(self.coordinates(X), 0.0) - self.bias) @ self.inverse.T)

    def coordinates(self, X: Any) -> Array:
        """a(x) = W x + b at the rows of X: what the gates see, and coordinates along the generators from the base."""
        return np.asarray(rows_of(X, self.dim) @ self.weight.T + self.bias)

    @cached_property
    def base_on_all_walls(self) -> bool:
        """Whether all walls meet, that is, whether W p + b = 0; decided in rationals. Always so if W is surjective."""
        if self.surjective:
            return True
        weight, bias = self.exact
        return exact_rank(np.concatenate([weight, bias[:, None]], axis=1), self.rank + 1) == self.rank

    # -- sectors

    def sector(self, on: Any) -> Sector:
        """The sector in which these gates are on and the others off: (m,) of True and False. It may be empty.

        >>> import polyfold as pf
        >>> tau = pf.layers.truncation_map([[1, 0], [0, 1]], [0, 0])
        >>> tau.sector([True, False]).kind
        'mixed'
        """
        flags = np.asarray(on)
        if flags.shape != (self.gates,) or flags.dtype != np.bool_:
            raise ShapeError(f"a sector of {how_many(self.gates, 'gate')} needs as many of True and False, not {on!r}")
        return Sector(self.weight, self.bias, self.inverse, self.base, flags.copy())

    @property
    def kept(self) -> Sector:
        """S+, where all gates are on: there tau(x) = W^+ W x, which is x itself if W is injective."""
        return self.sector(np.ones(self.gates, dtype=np.bool_))

    @property
    def collapsed(self) -> Sector:
        """S-, where no gate is on: there tau(x) is the base point."""
        return self.sector(np.zeros(self.gates, dtype=np.bool_))

    @property
    def identity_on(self) -> Polytope | Slice:
        """All of S+ if W is injective, else the part of it in the row space of W: tau moves no point of it.

        Either is a domain that `pf.unfold` takes; the row space is given by an orthonormal basis in floats. If W is
        surjective, every other point is moved; if not, some may stay.
        """
        outer = self.kept.domain
        if self.injective:
            return outer
        if self.rank == 0:
            raise PolyfoldError("the weights of this map are all zero: it moves every point to the origin")
        _, _, right = np.linalg.svd(self.weight)
        return Slice(np.zeros(self.dim), right[: self.rank].T, within=outer)

    @property
    def network(self) -> Network:
        """tau as a network with one hidden layer, so that `pf.unfold` makes an atlas whose cells are the sectors."""
        return from_arrays([(self.weight, self.bias), (self.inverse, self.base)])

    def sectors(self, domain: DomainLike = None, **limits: Any) -> Sectors:
        """All sectors that have an interior, as cells of the atlas of `network` on a domain.

        There are 2^m of them if W is surjective, and fewer if not. `limits` go to `pf.unfold`.
        """
        return sectors_of(self, domain, limits)


def truncation_map(weight: Any, bias: Any) -> TruncationMap:
    """The truncation map of one layer from its weights (m, n) and biases (m,).

    >>> tau = truncation_map([[2, 0], [0, 1]], [-2, 0])
    >>> tau.base.tolist(), tau.generators.tolist()
    ([1.0, 0.0], [[0.5, 0.0], [0.0, 1.0]])
    >>> tau
    TruncationMap of R^2: 2 gates, weights of rank 2, invertible
    """
    W, b = real_array("W is no array of numbers", weight), real_array("b is no array of numbers", bias)
    if W.ndim != 2 or 0 in W.shape or b.shape != W.shape[:1]:
        raise ShapeError(f"a layer needs W of shape (m, n) and b of shape (m,); these are {W.shape} and {b.shape}")
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise ShapeError("the weights and biases of a layer must be finite numbers; W or b holds infinity or NaN")
    return map_from_rationals(rationals(W), rationals(b))


def map_from_rationals(weight: Rationals, bias: Rationals, rank: int | None = None) -> TruncationMap:
    """The same from rationals, rounded once; the rank is decided here unless it is known."""
    W, b = nearest(weight), nearest(bias)
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise LimitError("the product of the weights up to a layer is too large for floats: scale the network's layers")
    rank = exact_rank(weight) if rank is None else rank
    inverse, condition = pseudo_inverse_in_floats(weight, rank)
    if not np.isfinite(inverse).all():
        raise LimitError(
            "the product of the weights up to a layer is so nearly singular, or so small, that its pseudo-inverse is "
            "too large for floats: scale the network's layers"
        )
    return TruncationMap(W, b, inverse, rank, condition, 0.0 - inverse @ b, (weight, bias))
