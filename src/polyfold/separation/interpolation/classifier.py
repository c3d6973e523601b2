"""A classifier that was built from the geometry of its data: the network, and the geometry to read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import tick
from polyfold._base.inputs import rows_of
from polyfold._base.result import Result
from polyfold._base.types import Array, ArrayLike
from polyfold.errors import DataError, ShapeError, how_many
from polyfold.layers.cone_weights import Cone
from polyfold.network.graph import Network
from polyfold.network.ops.linear import Linear
from polyfold.network.read.arrays import from_arrays
from polyfold.separation.data import LabelledData
from polyfold.separation.interpolation.cost import CostDecomposition, cost, cost_decomposition
from polyfold.separation.polyhedral import PolyhedralSeparability

if TYPE_CHECKING:
    import torch

Kind = Literal["clustered", "sequential", "cone", "simplex"]
# Weights of layers lie well within so many powers of two of one.
_FAR = 512


@dataclass(frozen=True, eq=False)
class Collapse:
    """One layer's work: class `label`, in the backward cone, becomes the cone's base; all others, ahead, stay.

    theta is the aperture, nu the unit normal of the hyperplane that separates them (the axis of the cone) and mu
    places the base between the centre (1) and the mean of the class (0). mu is None where the base lies on no such
    segment.
    """

    label: Hashable
    cone: Cone
    mu: float | None

    @property
    def theta(self) -> float:
        """The aperture of the cone."""
        return self.cone.aperture

    @property
    def nu(self) -> Array:
        """The axis of the cone, at right angles to the hyperplane."""
        return self.cone.axis


@dataclass(frozen=True, eq=False)
class Interpolant(Result):
    """A ReLU network that has the target of its class at every training point.

    Attributes
    ----------
    kind : "clustered", "sequential", "cone" or "simplex"
        Which construction it is.
    network : Network
        The network; `network(X)` are its outputs.
    labels : tuple
        The classes.
    targets : array of float, shape (Q, m)
        The output that belongs to each.
    collapses : tuple of Collapse
        The layers that take a class to a point, in order, with the parameters (theta, nu, mu) of the family.
    polyhedron : PolyhedralSeparability, optional
        The cone or simplex of the first layer, where there is one.
    training_cost : float
        The cost (6.5) on the training data, measured. It is zero but for roundings.
    """

    kind: Kind
    network: Network
    labels: tuple[Hashable, ...]
    targets: Array
    collapses: tuple[Collapse, ...]
    polyhedron: PolyhedralSeparability | None
    training_cost: float

    def __polyfold_network__(self) -> Network:
        return self.network

    def ask_instead(self) -> str:
        return "found.training_cost says how near outputs are to their targets"

    def facts(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "layers": self._widths,
            "labels": self.labels,
            "targets": self.targets,
            "collapses": [
                {"label": one.label, "theta": one.theta, "nu": one.nu, "mu": one.mu, "base": one.cone.base}
                for one in self.collapses
            ],
            "polyhedron": self.polyhedron,
            "training_cost": self.training_cost,
        }

    @property
    def _widths(self) -> list[int]:
        widths = [len(node.op.bias) for node in self.network.nodes if isinstance(node.op, Linear)]
        return [self.network.input_dim, *widths]

    def __repr__(self) -> str:
        shown = " -> ".join(map(str, self._widths))
        return f"Interpolant ({self.kind}): {shown}, training cost {self.training_cost:.1e}"

    def predict(self, X: ArrayLike) -> npt.NDArray[Any]:
        """The label whose target is nearest to the output, for every row of X."""
        outputs = self.network(X)
        squares = ((outputs[:, None, :] - self.targets[None]) ** 2).sum(axis=2)
        found: npt.NDArray[Any] = np.array(self.labels)[np.argmin(squares, axis=1)]
        return found

    def loss(self, X: ArrayLike, y: ArrayLike) -> float:
        """The cost (6.5): of every class the mean squared distance from its target, added up."""
        return self.decomposition(X, y).total

    def decomposition(self, X: ArrayLike, y: ArrayLike) -> CostDecomposition:
        """The cost and its parts (6.6)."""
        return cost_decomposition(self.network, X, y, targets=dict(zip(self.labels, self.targets, strict=True)))

    def to_torch(self, *, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """The network as a torch module; see `Network.to_torch`."""
        return self.network.to_torch(dtype=dtype)


def assembled(
    kind: Kind,
    data: LabelledData,
    targets: Array,
    hidden: Sequence[tuple[Array, Array]],
    collapses: Sequence[Collapse],
    polyhedron: PolyhedralSeparability | None = None,
) -> Interpolant:
    """Hidden layers after which every class is one point, and the affine layer that takes these points to the
    targets. The layers read features in the data's unit; the network reads them as they were given."""
    states = data.points.floats
    tick()
    for weight, bias in hidden:
        states = np.maximum(states @ weight.T + bias, 0.0)
    points = np.array([states[rows].mean(axis=0) for rows in data.members])
    middle = points.mean(axis=0)
    last = np.linalg.lstsq(np.column_stack([points - middle, np.ones(len(points))]), targets, rcond=None)[0]
    layers = [*hidden, (last[:-1].T, last[-1] - last[:-1].T @ middle)]
    network = from_arrays(_reading_users_unit(layers, data.exponent))
    outputs = network(data.X)
    measured = cost(outputs, data, targets)
    found = Interpolant(kind, network, data.labels, targets, tuple(collapses), polyhedron, measured)
    wrong = np.flatnonzero(np.argmin(((outputs[:, None] - targets) ** 2).sum(axis=2), axis=1) != data.number)
    if len(wrong):
        raise DataError(
            f"roundings spoil the network: {how_many(len(wrong), 'training point')}, row {int(wrong[0])} for one, "
            "would get another label. The classes are too close to each other for their size: scale features to "
            "similar ranges"
        )
    return found


def _reading_users_unit(layers: Sequence[tuple[Array, Array]], exponent: int) -> list[tuple[Array, Array]]:
    """The same function of features that are 2^exponent times as large.

    The first layer takes them back, as far as weights of floats' sizes go; if that is not far enough, the second takes
    the rest: ReLU layers pass positive factors on.
    """
    first = exponent - exponent // 2 if abs(exponent) > _FAR else exponent
    rest = exponent - first
    (weight, bias), (next_weight, next_bias), *others = layers
    return [
        (np.ldexp(weight, -first), np.ldexp(bias, rest)),
        (np.ldexp(next_weight, -rest), next_bias),
        *others,
    ]


def checked_targets(data: LabelledData, targets: Any) -> Array:
    """One output for each class: what was given, or unit vectors."""
    if targets is None:
        return np.eye(len(data.labels))
    found = rows_of(targets, None, what="targets")
    if len(found) != len(data.labels):
        raise ShapeError(
            f"targets must have a row of finite numbers for each of the {len(data.labels)} classes {data.labels}; the "
            f"shape given is {found.shape}"
        )
    if len(np.unique(found, axis=0)) < len(found):
        raise DataError("two classes have the same target: no output can tell them apart")
    return found
