"""The three-hidden-layer network: its weights, its widths, and its values in floats.

With k hyperplanes H x = c, p pieces that are half-open polyhedra, and their maps alpha x + beta:

    layer 1   relu( x, -x, H x - c )
    layer 2   relu( the first 2n as they are; closed: as it is; open: 1 - inf * (H x - c)+ )
    layer 3   relu( +-(alpha x + beta) - inf * R * layer 2 )          two units a piece and output
    output    the first half minus the second half

A piece is the set where all its conditions hold. A closed one, H x <= c, holds where its unit of layer 2 is zero; an
open one, H x > c, where its unit is zero, which otherwise is one. R has a one for every condition of a piece. Infinity
times zero is zero, so exactly one piece passes (docs/adr/0016).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from polyfold._base.extras import require
from polyfold._base.inputs import rows_of
from polyfold._base.result import Result
from polyfold._base.types import Array, Flags, Ids
from polyfold.domain.domain import Domain
from polyfold.domain.points import contains
from polyfold.errors import DomainError, PolyfoldError, how_many
from polyfold.exact.rational import rational
from polyfold.exact.rounding import TINY, relative
from polyfold.exact.tolerances import WELL_KNOWN
from polyfold.network.graph import Network
from polyfold.network.head import Head, behind, head_json
from polyfold.rewrite.shallow.exactly import ExactPieces, ExactValue, value_at

if TYPE_CHECKING:
    import onnx
    import torch
    from scipy.sparse import csr_matrix

# Numbers that may be worked with at a time.
_FLOATS = 1 << 22


@dataclass(frozen=True)
class Widths:
    """How many units each hidden layer has, beside the theorem's bound for all of them."""

    layers: tuple[int, int, int]
    bound: int

    def __str__(self) -> str:
        return f"{', '.join(f'{width:,}' for width in self.layers)} (at most {self.bound:,})"


@dataclass(frozen=True, eq=False, repr=False)
class Shallow(Result):
    """A piecewise-linear function of n inputs with m outputs as a network with three hidden layers.

    H, c         (k, n), (k,)         the hyperplanes H x = c
    piece_start  (p + 1,)             the conditions of piece i are piece_start[i] .. piece_start[i + 1] - 1
    condition    (conditions,)        the hyperplane of a condition
    is_open      (conditions,) bool   whether it says H x > c; else it says H x <= c
    of_domain    (k,) bool            whether a hyperplane bounds the domain; it bounds pieces by closed conditions only
    alpha, beta  (p, m, n), (p, m)    the maps of the pieces
    frozen       (p,) bool            whether fine-tuning leaves a piece's map alone
    sides        (facets, 3)          facets between pieces: the hyperplane, the piece on its side H x <= c, the other;
                                      None if that is not known, because pieces were given with a tolerance
    head                              what the model does behind this function, whose outputs are then scores

    Pieces, maps and calls speak of the scores. Exported networks have the head. `evidence` says what is known of the
    atlas that the pieces come from: nothing, if they were given or edited.
    """

    domain: Domain
    H: Array
    c: Array
    piece_start: Ids
    condition: Ids
    is_open: Flags
    of_domain: Flags
    alpha: Array
    beta: Array
    frozen: Flags
    sides: Ids | None
    exact: ExactPieces = field(repr=False)
    head: Head | None = None

    def __post_init__(self) -> None:
        finite = np.isfinite(self.alpha).all(axis=(1, 2)) & np.isfinite(self.beta).all(axis=1)
        if not finite.all():
            piece = int(np.flatnonzero(~finite)[0])
            raise PolyfoldError(f"the map of piece {piece} has numbers that are too large for floats")
        assert np.isfinite(self.H).all() and not np.isnan(self.c).any()
        for name in ("H", "c", "piece_start", "condition", "is_open", "of_domain", "alpha", "beta", "frozen"):
            getattr(self, name).setflags(write=False)

    # -- what it is

    def __polyfold_network__(self) -> Network:
        """The network whose function the pieces are. Its own three layers have infinite weights, which no Network has.

        There is none of pieces that were given or edited: these need not be those of any ReLU network.
        """
        return self.exact.network()

    def ask_instead(self) -> str:
        return "len(network) says how many pieces there are"

    def facts(self) -> dict[str, Any]:
        bounded = self.domain.to_json()
        arrays = {"H": self.H, "c": self.c, "alpha": self.alpha, "beta": self.beta}
        counts = {"pieces": len(self), "hyperplanes": len(self.c), "inputs": self.inputs, "outputs": self.outputs}
        head = head_json(self.head)
        return {**counts, "widths": self.widths.layers, "bound": self.widths.bound, "head": head} | {
            "domain": bounded,
            **arrays,
            "piece_start": self.piece_start,
            "condition": self.condition,
            "is_open": self.is_open,
        }

    def __len__(self) -> int:
        return len(self.alpha)

    def __repr__(self) -> str:
        return (
            f"Shallow: {how_many(len(self), 'piece')} between {how_many(len(self.c), 'hyperplane')}, "
            f"{self.inputs} -> {self.outputs}{behind(self.head)}; widths {self.widths}"
            + ("" if self.evidence.nothing else f"; {self.evidence}")
        )

    @property
    def inputs(self) -> int:
        return int(self.H.shape[1])

    @property
    def outputs(self) -> int:
        return int(self.beta.shape[1])

    @cached_property
    def conditions(self) -> tuple[Ids, Ids]:
        """The hyperplanes with closed conditions, and those with open ones: a unit of layer 2 each."""
        return np.unique(self.condition[~self.is_open]), np.unique(self.condition[self.is_open])

    @property
    def widths(self) -> Widths:
        """2 n + k, 2 n + closed + open, 2 p m; the bound counts closed and open half-spaces as k."""
        halfspaces = sum(len(some) for some in self.conditions)
        layers = (2 * self.inputs + len(self.c), 2 * self.inputs + halfspaces, 2 * len(self) * self.outputs)
        bound = max(2 * self.inputs + halfspaces, 2 * self.inputs + len(self), 2 * len(self) * self.outputs)
        return Widths(layers, bound)

    @cached_property
    def R(self) -> csr_matrix:
        """Zero-one (p, closed + open): which conditions a piece has."""
        from scipy.sparse import csr_matrix

        closed, open_ = self.conditions
        column = np.where(
            self.is_open, len(closed) + np.searchsorted(open_, self.condition), np.searchsorted(closed, self.condition)
        )
        shape = (len(self), len(closed) + len(open_))
        return csr_matrix((np.ones(len(column)), column, self.piece_start), shape=shape)

    @property
    def margin(self) -> float:
        """What rounding may make of H x - c, as a part of |H| |x| + |c|: farther out a point is outside for sure."""
        return relative(self.inputs + 8)

    @property
    def stops(self) -> Ids:
        """For every piece (p, most) what stops it: condition j, or k + j for an open one; filled up with 2 k."""
        counts = np.diff(self.piece_start)
        stops = np.full((len(self), int(counts.max(initial=0))), 2 * len(self.c))
        stops[np.arange(stops.shape[1]) < counts[:, None]] = self.condition + len(self.c) * self.is_open
        return stops

    @property
    def layers(self) -> list[tuple[csr_matrix, Array]]:
        """(W, b) of the three hidden layers and the output, as sparse matrices with their infinities.

        They say what the network is. To multiply with them infinity times zero must be zero; in floats it is not.
        """
        from scipy.sparse import bmat, csr_matrix, eye, vstack

        n, (closed, open_), units = self.inputs, self.conditions, len(self) * self.outputs
        first = vstack([eye(n), -eye(n), csr_matrix(self.H)], format="csr")
        same = eye(2 * n, 2 * n + len(self.c))
        pick = eye(len(self.c), format="csr")
        wide = csr_matrix((len(self.c), 2 * n))
        passed = bmat([[wide, pick]], format="csr")
        second = vstack([same, passed[closed], -np.inf * passed[open_]], format="csr")
        linear = csr_matrix(self.alpha.reshape(units, n))
        stop = csr_matrix(-np.inf * self.R)[np.repeat(np.arange(len(self)), self.outputs)]
        third = bmat([[linear, -linear, stop], [-linear, linear, stop]], format="csr")
        collect = csr_matrix(np.tile(np.eye(self.outputs), len(self)))
        last = bmat([[collect, -collect]], format="csr")
        beta = self.beta.ravel()
        return [
            (first, np.concatenate([np.zeros(2 * n), -self.c])),
            (second, np.concatenate([np.zeros(2 * n + len(closed)), np.ones(len(open_))])),
            (third, np.concatenate([beta, -beta])),
            (last, np.zeros(self.outputs)),
        ]

    # -- values

    def __call__(self, X: Any, *, outside: Literal["error", "zero"] = "error") -> Array:
        """The outputs (rows, m) at rows of inputs.

        A point outside the domain raises DomainError; with outside="zero" it gets zeros, as the network has it: no
        piece passes there.
        """
        X, inside = self._inside(X, outside, "zero")
        values = np.zeros((len(X), self.outputs))
        rows = np.flatnonzero(inside)
        piece = self._pieces(X[rows])
        for part in _parts(len(rows), self.outputs * self.inputs):
            maps = piece[part]
            values[rows[part]] = np.einsum("imn,in->im", self.alpha[maps], X[rows[part]]) + self.beta[maps]
        return values

    def piece(self, X: Any, *, outside: Literal["error", "ignore"] = "error") -> Ids:
        """The piece that passes at each row of X; -1 outside the domain with outside="ignore"."""
        X, inside = self._inside(X, outside, "ignore")
        found = np.full(len(X), -1, dtype=np.int64)
        found[inside] = self._pieces(X[inside])
        return found

    def _inside(self, X: Any, outside: str, otherwise: str) -> tuple[Array, Flags]:
        if outside not in ("error", otherwise):
            raise PolyfoldError(f"outside must be 'error' or {otherwise!r}, got {outside!r}")
        rows = rows_of(X, self.domain.dim)
        inside = contains(self.domain, rows)
        if outside == "error" and not inside.all():
            first = int(np.flatnonzero(~inside)[0])
            raise DomainError(
                f"point {first}, {rows[first].tolist()}, lies outside the domain, {self.domain.describe()}"
            )
        return rows, inside

    def _pieces(self, X: Array) -> Ids:
        """The piece that is violated least: the one that is not violated at all, unless pieces were given roughly."""
        closed, open_ = self._chosen(~self.is_open), self._chosen(self.is_open)
        found = np.empty(len(X), dtype=np.int64)
        for part in _parts(len(X), 2 * (len(self) + len(self.c))):
            beyond = self._beyond(X[part])
            amount = closed @ np.maximum(beyond, 0) + open_ @ np.maximum(-beyond, 0)
            count = closed @ (beyond > 0).astype(float) + open_ @ (beyond <= 0).astype(float)
            least = amount == amount.min(axis=0)
            found[part] = np.where(least, count, np.inf).argmin(axis=0)
        return found

    def _beyond(self, X: Array) -> Array:
        """H x - c (k, rows). Where rounding may have changed a sign, it is computed again, exactly."""
        beyond: Array = self.H @ X.T - self.c[:, None]
        size = np.abs(self.H) @ np.abs(X.T) + np.abs(self.c)[:, None]
        for hyperplane, row in np.argwhere(~(np.abs(beyond) > (WELL_KNOWN + self.margin) * size + TINY)).tolist():
            *h, c = self.exact.hyperplane(hyperplane)
            exact = sum((a * rational(x) for a, x in zip(h, X[row].tolist(), strict=True)), -c)
            # What is left of it needs a sign, and no digits.
            beyond[hyperplane, row] = 0.0 if exact == 0 else np.copysign(TINY, float((exact > 0) - (exact < 0)))
        return beyond

    def _chosen(self, some: Flags) -> csr_matrix:
        """Zero-one (p, k): which hyperplanes a piece has some of its conditions on."""
        from scipy.sparse import csr_matrix

        piece = np.repeat(np.arange(len(self)), np.diff(self.piece_start))[some]
        return csr_matrix((np.ones(len(piece)), (piece, self.condition[some])), shape=(len(self), len(self.c)))

    def exactly(self, point: Any) -> ExactValue:
        """The piece that passes at one point, and the outputs as fractions: the network to the letter, in rationals."""
        return value_at(self, point)

    # -- elsewhere

    def to_torch(self) -> torch.nn.Module:
        """The network as a module in float64: the maps can be fine-tuned, all else is fixed.

        Its scores are zero at points that are outside the domain for sure; `module.inside(x)` tells. Of a model with a
        head, `module(x)` has that behind the scores, and `module.scores(x)` gives these.
        """
        require("torch", extra="torch", purpose="a torch module of a shallow network")
        from polyfold.rewrite.shallow.to_torch import to_torch

        return to_torch(self)

    def to_onnx(self) -> onnx.ModelProto:
        """The network as an ONNX model with input "x" (rows, n), outputs "y" (rows, m) and "inside" (rows,).

        Of a model with a head, "y" are the numbers behind it.
        """
        require("onnx", extra="onnx", purpose="an ONNX model of a shallow network")
        from polyfold.rewrite.shallow.to_onnx import to_onnx

        return to_onnx(self)


def _parts(count: int, floats_each: int) -> Iterator[slice]:
    step = max(1, _FLOATS // max(1, floats_each))
    return (slice(first, first + step) for first in range(0, count, step))
