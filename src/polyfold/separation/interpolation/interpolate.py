"""interpolate: a classifier with zero training error, by a construction that is asked for or the first that applies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from polyfold._base.clock import Clock, OutOfTimeError, Report, running, tick
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold._base.types import Array, ArrayLike
from polyfold.errors import DataError
from polyfold.separation.data import LabelledData, told_apart
from polyfold.separation.interpolation.classifier import Interpolant, Kind, checked_targets
from polyfold.separation.interpolation.clustered import from_clusters
from polyfold.separation.interpolation.polyhedral import from_polyhedron
from polyfold.separation.interpolation.sequential import from_sequence

# What each construction can be told.
_OPTIONS: dict[Kind, tuple[str, ...]] = {
    "clustered": ("order", "width"),
    "sequential": ("order", "theta", "nu", "mu", "width"),
    "cone": ("inside",),
    "simplex": ("inside",),
}


@question("separation.interpolate")
def interpolate(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kind: Kind | None = None,
    order: Sequence[Any] | None = None,
    theta: ArrayLike | None = None,
    nu: ArrayLike | None = None,
    mu: ArrayLike | None = None,
    inside: Any = None,
    width: int | None = None,
    targets: ArrayLike | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Interpolant:
    """A ReLU network that has the target of its class at every point of X, without training.

    | kind | for | layers |
    |---|---|---|
    | "clustered" | clustered data: from means and radii alone | d0 -> M -> ... -> M -> Q |
    | "sequential" | sequentially separable data, a layer per class | d0 -> M -> ... -> M -> Q |
    | "cone" | two classes, one of them in a polyhedral cone with m <= d0 facets | d0 -> m -> m -> 2 |
    | "simplex" | two classes, one of them in a simplex: concentric data | d0 -> d0 + 1 -> d0 + 1 -> 2 |

    Without a kind they are tried in turn, those that have all options which are given. If none applies, the error says
    why, for each of them.

    Parameters
    ----------
    X : array of float, shape (n, d0)
        Points.
    y : array, shape (n,)
        Their labels.
    kind : "clustered", "sequential", "cone", "simplex" or None
        The construction.
    order : sequence of labels, optional
        Clustered and sequential: the order in which classes are cut off. Clustered data allow any, and are taken in the
        order of sorted labels; else one is found.
    theta : float or array of float, shape (Q,), optional
        Sequential: apertures of the cones, strictly between 0 and pi. If not given, cones are opened twice as wide (in
        tangents) as the data need.
    nu : array of float, shape (Q, d0), optional
        Sequential: normals of the hyperplanes, towards what stays. If not given, those that need the narrowest cones.
    mu : float or array of float, shape (Q,), optional
        Sequential: numbers strictly between 0 and 1; the base points are mu centre + (1 - mu) mean. Chosen if not
        given.
    inside : label, optional
        Cone and simplex: the class inside; both are tried if it is not given.
    width : int, optional
        Clustered and sequential: M >= Q, the width of all hidden layers; d0 if not given. With a larger one the data
        are embedded first.
    targets : array of float, shape (Q, m), optional
        The outputs for the sorted labels; unit vectors if not given.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many pairs of sets
        were tried.

    Returns
    -------
    Interpolant
        The network, and the geometry that it was built from. It can be given wherever a model can.

    Examples
    --------
    >>> import polyfold as pf
    >>> pf.separation.interpolate([[0, 0], [1, 0], [5, 0], [5, 1]], ["a", "a", "b", "b"]).kind
    'clustered'
    >>> crossed = pf.separation.interpolate([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], kind="cone")
    >>> crossed.predict([[0, 0], [1, 1], [0, 1], [1, 0]]).tolist()
    [0, 0, 1, 1]
    >>> found = pf.separation.interpolate([[0, 0], [1, 0], [5, 0], [5, 1]], ["a", "a", "b", "b"], mu=0.25)
    >>> found, found.predict([[0.5, 0.1]]).tolist()
    (Interpolant (sequential): 2 -> 2 -> 2 -> 2, training cost ..., ['a'])
    """
    given = {"order": order, "theta": theta, "nu": nu, "mu": mu, "inside": inside, "width": width}
    kinds = _kinds(kind, {name: value for name, value in given.items() if value is not None})
    data = told_apart(X, y)
    goals = checked_targets(data, targets)
    reasons: dict[Kind, str] = {}
    # Each has a part of the time at first, for another one may be quick; then those that were not over have the rest.
    for part in (True, False):
        left = [one for one in kinds if one not in reasons]
        for number, one in enumerate(left):
            running().tell(len(reasons), len(kinds), "constructions tried")
            seconds = running().left / (len(left) - number) if part else inf
            try:
                with Clock(None if seconds == inf else seconds):
                    return answered(_BUILT[one](data, goals, given))
            except DataError as error:
                if kind is not None:
                    raise
                reasons[one] = f"{one}: {error}"
            except OutOfTimeError:
                tick()
    raise DataError("no construction applies to these data. " + ". ".join(reasons[one] for one in kinds))


def _kinds(kind: Any, given: Mapping[str, Any]) -> list[Kind]:
    """The constructions to try: those that have all options that were given."""
    if kind is not None and kind not in _OPTIONS:
        raise DataError(f"kind={kind!r} must be one of {', '.join(map(repr, _OPTIONS))}, or None to try them in turn")
    kinds: list[Kind] = list(_OPTIONS) if kind is None else [kind]
    fitting = [one for one in kinds if given.keys() <= set(_OPTIONS[one])]
    if fitting:
        return fitting
    if kind is not None:
        strange = next(name for name in given if name not in _OPTIONS[kinds[0]])
        with_it = " and ".join(f"kind={one!r}" for one, names in _OPTIONS.items() if strange in names)
        raise DataError(f"{strange}={given[strange]!r} is an option of {with_it}, not of kind={kind!r}: leave it out")
    names = " and ".join(f"{name}=" for name in given)
    raise DataError(f"no construction has all of {names}: give a kind, and only options that it has")


def _clustered(data: LabelledData, goals: Array, given: Mapping[str, Any]) -> Interpolant:
    return from_clusters(data, given["order"], given["width"], goals)


def _sequential(data: LabelledData, goals: Array, given: Mapping[str, Any]) -> Interpolant:
    return from_sequence(data, given["order"], given["theta"], given["nu"], given["mu"], given["width"], goals)


def _cone(data: LabelledData, goals: Array, given: Mapping[str, Any]) -> Interpolant:
    return from_polyhedron("cone", data, given["inside"], goals)


def _simplex(data: LabelledData, goals: Array, given: Mapping[str, Any]) -> Interpolant:
    return from_polyhedron("simplex", data, given["inside"], goals)


_BUILT: dict[Kind, Callable[[LabelledData, Array, Mapping[str, Any]], Interpolant]] = {
    "clustered": _clustered,
    "sequential": _sequential,
    "cone": _cone,
    "simplex": _simplex,
}
