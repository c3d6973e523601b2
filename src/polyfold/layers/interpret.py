"""What each layer does to the classes of data: what it keeps, what it collapses, and how like a cone it acts.

A layer acts like a cone on a point if it keeps it (all gates on: tau is the orthogonal projection on the row space of
its weights, the identity if these are injective) or if it collapses it to the base point (all gates off). In between,
with `on` gates above zero and `off` gates below it, its score is |on - off| / (on + off): 1 if all agree, 0 if as many
are on as off; gates that are zero agree with either side, and a point on all walls has 1. The score of a layer is the
mean over the points of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.as_found import first_hand
from polyfold._base.inputs import classes_of, rows_of
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Flags, Ids
from polyfold._base.when_read import replaced
from polyfold.errors import ShapeError
from polyfold.exact.rational_arrays import nearest
from polyfold.layers.gates import Signs, exact_gate_signs, gate_signs
from polyfold.layers.proposition import Residuals, residuals
from polyfold.layers.result import Truncation
from polyfold.network.graph import Network


@dataclass(frozen=True, eq=False, repr=False)
class Interpretation(Rows):
    """What every layer does to every class. Arrays are (layers, classes) unless another shape is said.

    Attributes
    ----------
    names : tuple of str
        Of the ReLUs, one per hidden layer.
    classes : tuple
        The labels.
    members : array of int, shape (classes,)
        How many points each class has.
    kept, collapsed : array of float
        The share of a class's points with all gates on, and with none on. Other points are mixed.
    at_a_point : array of bool
        Whether the class has been collapsed to one point, by this layer, because none of its points has a gate on, or
        by one before it.
    spread : array of float, shape (layers + 1, classes)
        The root of the mean squared distance to the class's mean, in the space of the states; of the inputs first.
    means : array of float, shape (layers + 1, classes, dim)
        The classes' means.
    score : array of float
        How like a cone a layer acts on a class, from 0 to 1.
    layer_score : array of float, shape (layers,)
        The same on all data.
    decided : tuple of bool
        For each layer whether the signs of gates behind these numbers are proved. They are up to and including the
        first layer that is not surjective, and in floats behind it unless `exact`.
    exact : bool
        Whether states were computed in rationals and rounded.
    floats_suffice : tuple of bool
        For each layer whether states are expected to be right to four digits; all of them if `exact`.
    residuals : Residuals
        How well states say what the layers compute.
    states : tuple of array of float
        The data after each truncation, the inputs first.
    labels : array of int, shape (points,)
        Numbers of classes.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    members: Ids
    kept: Array
    collapsed: Array
    at_a_point: Flags
    spread: Array
    means: Array
    score: Array
    layer_score: Array
    decided: tuple[bool, ...]
    exact: bool
    floats_suffice: tuple[bool, ...]
    residuals: Residuals
    states: tuple[Array, ...]
    labels: Ids

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    def __repr__(self) -> str:
        said = [
            f"{name}: cone score {score:.2f}"
            + (
                f", at a point {', '.join(str(self.classes[k]) for k in np.flatnonzero(points))}"
                if points.any()
                else ""
            )
            for name, score, points in zip(self.names, self.layer_score, self.at_a_point, strict=True)
        ]
        return f"Interpretation of {int(self.members.sum())} points in {len(self.classes)} classes; " + "; ".join(said)

    @property
    def shrinking(self) -> Array:
        """Spread after each layer as a part of the spread before it; 1 where it was zero already."""
        before, after = self.spread[:-1], self.spread[1:]
        return np.divide(after, before, out=np.ones_like(after), where=before > 0)

    def facts(self) -> dict[str, Any]:
        return {"classes": self.classes, "layer_score": self.layer_score, "exact": self.exact, "rows": self.table()}

    def rows(self) -> dict[str, Any]:
        """One row per layer and class."""
        table = self.table()
        return {name: [row[name] for row in table] for name in (table[0] if table else ())}

    def table(self) -> list[dict[str, Any]]:
        """A row for each layer and class, with numbers that JSON and CSV can take."""
        return [
            {
                "layer": k + 1,
                "name": name,
                "class": self.classes[j],
                "points": int(self.members[j]),
                "kept": float(self.kept[k, j]),
                "collapsed": float(self.collapsed[k, j]),
                "at_a_point": bool(self.at_a_point[k, j]),
                "spread_before": float(self.spread[k, j]),
                "spread_after": float(self.spread[k + 1, j]),
                "cone_score": float(self.score[k, j]),
                "gates_decided": self.decided[k],
                "proposition_proved": self.residuals.proved[k],
                "residual": float(self.residuals.largest[k]),
                "floats_suffice": self.floats_suffice[k],
            }
            for k, name in enumerate(self.names)
            for j in range(len(self.classes))
        ]


def interpret(found: Truncation, X: ArrayLike, y: ArrayLike | None, exact: bool) -> Interpretation:
    """Follow the classes of data through all truncations. Without labels classes are what the network says."""
    inputs = rows_of(X, found.network.input_dim, shape=found.network.inputs[0].shape)
    if not len(inputs):
        raise ShapeError("X has no rows: give at least one input")
    if exact:
        in_rationals = found.states_exactly(inputs)
        states = [nearest(state) for state in in_rationals]
        signs, decided = exact_gate_signs(found, in_rationals), (True,) * len(found.maps)
    else:
        states = found.states(inputs)
        signs, decided = gate_signs(found, states)
    classes, numbers = classes_of(_own_classes(found.network, inputs) if y is None else y, len(inputs))
    members = [np.flatnonzero(numbers == k) for k in range(len(classes))]
    shape = (len(signs), len(classes))
    kept, collapsed, score = (np.zeros(shape) for _ in range(3))
    at_a_point = np.zeros(shape, dtype=np.bool_)
    scores = [cone_score(sign) for sign in signs]
    for k, sign in enumerate(signs):
        all_on, all_off = np.all(sign >= 0, axis=1), np.all(sign <= 0, axis=1)
        for j, rows in enumerate(members):
            kept[k, j], collapsed[k, j] = all_on[rows].mean(), all_off[rows].mean()
            score[k, j] = scores[k][rows].mean()
            at_a_point[k, j] = all_off[rows].all() or (k > 0 and at_a_point[k - 1, j])
    means = np.stack([[state[rows].mean(axis=0) for rows in members] for state in states])
    spread = np.stack(
        [
            [_spread(state[rows], mean) for rows, mean in zip(members, layer_means, strict=True)]
            for state, layer_means in zip(states, means, strict=True)
        ]
    )
    seen = Interpretation(
        found.names,
        classes,
        np.array([len(rows) for rows in members], dtype=np.int64),
        kept,
        collapsed,
        at_a_point,
        spread,
        means,
        score,
        np.array([one.mean() for one in scores]),
        decided,
        exact,
        (True,) * len(found.maps) if exact else found.floats_suffice,
        residuals(found, inputs, exact),
        tuple(states),
        numbers,
    )
    # Numbers of the data are floats, however well the maps are known.
    return answered(seen, first_hand(replaced(found.evidence, proof=None)))


def cone_score(signs: Signs) -> Array:
    """|on - off| / (on + off) of every point (row), 1 where all gates are zero.

    >>> cone_score(np.array([[1, 1], [-1, -1], [1, -1], [0, 0], [0, -1]], dtype=np.int8)).tolist()
    [1.0, 1.0, 0.0, 1.0, 1.0]
    """
    on, off = (signs > 0).sum(axis=1), (signs < 0).sum(axis=1)
    total = on + off
    found: Array = np.divide(np.abs(on - off), total, out=np.ones(len(signs)), where=total > 0)
    return found


def _spread(points: Array, mean: Array) -> float:
    """The root of the mean squared distance to the mean; exactly 0 if all points are the same."""
    if (points == points[0]).all():
        return 0.0
    return float(np.sqrt(((points - mean) ** 2).sum(axis=1).mean()))


def _own_classes(network: Network, X: Array) -> Ids:
    """What the network itself says: the number of the largest output, or of one output whether it is above 0."""
    outputs = network(X)
    if outputs.shape[1] == 1:
        return (outputs[:, 0] > 0).astype(np.int64)
    found: Ids = outputs.argmax(axis=1)
    return found
