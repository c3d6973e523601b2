"""Sequentially separable data: one layer for each class, which takes the class to a point and leaves the rest alone.

Layer j has the cumulative weights of a cone with base p_j, axis nu_j and aperture theta_j: class j lies in the
backward cone and becomes p_j, everything else in the forward one. After Q layers every class is a point, and one
affine layer takes the points to the targets. All apertures, normals and base points that fit give networks with zero
cost: a family with parameters (theta, nu, mu).

The points must be affinely independent. They are if and only if the means of the classes are, which the talk takes for
granted. Where they are not, a larger width M lets points leave the data's own space: cones are then those of R^M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyfold._base.clock import tick
from polyfold._base.inputs import real_array, rows_of
from polyfold._base.types import Array, Ids
from polyfold.errors import DataError, ShapeError, how_many
from polyfold.exact.linear_algebra import exact_rank
from polyfold.exact.rational_arrays import Rationals
from polyfold.layers.cone_weights import Cone
from polyfold.separation.data import LabelledData, PointSet
from polyfold.separation.hyperplanes import least_cosine, narrowest_cone
from polyfold.separation.interpolation.classifier import Collapse, Interpolant, Kind, assembled
from polyfold.separation.realise import segment_point, step_at, still_there
from polyfold.separation.sequential import sequence_of
from polyfold.separation.steps import Step


def from_sequence(
    data: LabelledData, order: Sequence[Any] | None, theta: Any, nu: Any, mu: Any, width: int | None, goals: Array
) -> Interpolant:
    """A network with Q + 1 layers and zero cost for sequentially separable data: d0 -> M -> ... -> M -> Q."""
    wide = checked_width(data, width)
    steps = _steps(data, order, nu, mu)
    return built("sequential", data, steps, _each(theta, len(steps), "theta"), wide, goals)


def built(
    kind: Kind, data: LabelledData, steps: Sequence[Step], theta: Array | None, width: int, goals: Array
) -> Interpolant:
    """The network of steps that have been proved."""
    bases = _placed(data, steps, width)
    states = np.zeros((len(data.X), width))
    states[:, : data.dim] = data.points.floats
    hidden: list[tuple[Array, Array]] = []
    collapses: list[Collapse] = []
    for layer, (step, base) in enumerate(zip(steps, bases, strict=True)):
        tick()
        rows = data.members[data.row_of(step.label)]
        cone = _cone(step, base, states, rows, None if theta is None else float(theta[layer]))
        if collapses:
            before = collapses[-1].cone
            weights = cone.weights @ before.inverse
            hidden.append((weights, -cone.weights @ (base - before.base)))
        else:
            hidden.append((cone.weights[:, : data.dim], cone.bias))
        states[rows] = base
        collapses.append(Collapse(step.label, cone, step.mu))
    given = [replace(one, cone=Cone(data.given(one.cone.base), one.cone.axis, one.cone.aperture)) for one in collapses]
    return assembled(kind, data, goals, hidden, given)


def checked_width(data: LabelledData, width: int | None) -> int:
    """M, or the reason why it is too small."""
    wide = data.dim if width is None else width
    if not isinstance(wide, int) or wide < data.dim:
        raise DataError(f"width={width!r} must be an integer, at least {data.dim}: the data must fit into the layers")
    count = len(data.labels)
    if wide < count:
        raise DataError(
            f"there are {count} classes and hidden layers of width {wide}: the theorem needs M >= Q, so that Q "
            f"points can be taken to Q independent targets. Give width={count} (or more) to embed the data first"
        )
    return wide


def _steps(data: LabelledData, order: Sequence[Any] | None, nu: Any, mu: Any) -> list[Step]:
    """Steps with the parameters given, and the others found."""
    count = len(data.labels)
    places = _each(mu, count, "mu")
    if places is not None and not ((places > 0) & (places < 1)).all():
        raise DataError(f"mu={mu!r}: base points lie strictly between the centre and a mean, so 0 < mu < 1")
    normals = None if nu is None else rows_of(nu, data.dim, what="nu")
    if normals is not None and len(normals) != count:
        raise ShapeError(
            f"nu must be a normal of {data.dim} finite numbers for each of {count} steps, not {normals.shape}"
        )
    found: Sequence[Step] = ()
    if order is None or places is None:
        found = _found(data)
    labels = [step.label for step in found] if order is None else list(order)
    numbers = [data.row_of(label) for label in labels]
    if sorted(numbers) != list(range(count)):
        raise DataError(f"order={labels!r} must name each of the {count} labels {data.labels} once")
    by_label = {step.label: step.mu for step in found}
    steps: list[Step] = []
    points: list[PointSet] = []
    for layer, k in enumerate(numbers):
        place = float(places[layer]) if places is not None else by_label[data.labels[k]]
        others = still_there(data, points, numbers[layer + 1 :])
        step = step_at(data, data.centre, k, place, others, None if normals is None else normals[layer])
        if step is None:
            what = (
                "no hyperplane" if normals is None else f"not the hyperplane with the normal {normals[layer].tolist()}"
            )
            raise DataError(
                f"step {layer + 1}: {what} through the base point of class {data.labels[k]!r} for mu = {place:g} has "
                "the class strictly behind it and the base points before and the classes after it strictly ahead"
            )
        steps.append(step)
        points.append(segment_point(data, data.centre, k, place))
    return steps


def _found(data: LabelledData) -> tuple[Step, ...]:
    answer = sequence_of(data, data.centre)
    tick()  # what was ended by the clock is no answer
    if answer.verdict != "yes":
        raise DataError(f"the data are not sequentially separable: {answer.reason}")
    return answer.steps


def _cone(step: Step, base: Array, states: Array, rows: Ids, theta: float | None) -> Cone:
    """The cone of one step in R^M, checked against all points as they are at this layer."""
    behind = states[rows] - base
    ahead = np.delete(states, rows, axis=0) - base
    axis = np.zeros(len(base))
    axis[: len(step.normal)] = step.normal
    if np.any(base[len(step.normal) :]):
        # The base has left the data's own space, and the best axis with it.
        axis = axis if (lifted := narrowest_cone(behind, ahead)) is None else lifted
    cosine = least_cosine(axis, behind, ahead)
    if not cosine > 0:
        raise DataError(
            f"class {step.label!r} is separated by less than roundings: scale the features to similar ranges"
        )
    narrowest = 2 * float(np.arccos(min(cosine, 1.0)))
    if theta is None:
        return Cone(base, axis, 2 * float(np.arctan(2 * np.tan(narrowest / 2))) or np.pi / 2)
    if not narrowest <= theta < np.pi:
        raise DataError(
            f"theta={theta:g} for class {step.label!r}: its cone must be at least {narrowest:g} wide to hold the class "
            "and, on the other side, everything else; and less than pi"
        )
    return Cone(base, axis, theta)


def _placed(data: LabelledData, steps: Sequence[Step], width: int) -> list[Array]:
    """Base points in R^M, affinely independent: those that depend on others get a coordinate of their own."""
    dim = data.dim
    scale = float(np.linalg.norm(data.points.floats - data.centre.floats, axis=1).mean())
    exact = [segment_point(data, data.centre, data.row_of(step.label), step.mu).exact[0] for step in steps]
    kept = set(range(len(exact)) if _affinely_independent(exact) else _largest_independent(exact))
    bases, spare = [], dim
    for k, step in enumerate(steps):
        base = np.zeros(width)
        base[:dim] = step.point
        if k not in kept and spare == width:
            needed = max(len(steps), dim + len(steps) - len(kept))
            raise DataError(
                f"the means of the {len(steps)} classes are affinely dependent, so no affine layer takes their base "
                f"points to arbitrary targets. Give width={needed} to move some of them out of the data's space"
            )
        if k not in kept:
            base[spare] = scale
            spare += 1
        bases.append(base)
    return bases


def _affinely_independent(points: Sequence[Rationals]) -> bool:
    """Whether no point lies in the flat of the others, exactly."""
    if len(points) == 1:
        return True
    edges = np.array([point - points[0] for point in points[1:]], dtype=object)
    return exact_rank(edges) == len(edges)


def _largest_independent(points: Sequence[Rationals]) -> list[int]:
    """The first points that span the flat of all of them."""
    kept: list[int] = []
    for k in range(len(points)):
        if _affinely_independent([points[i] for i in [*kept, k]]):
            kept.append(k)
    return kept


def _each(values: Any, count: int, name: str) -> Array | None:
    """One number for each step."""
    if values is None:
        return None
    found = real_array(f"{name} must be numbers", values)
    if found.ndim == 0:
        found = np.full(count, float(found))
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ShapeError(
            f"{name} must be one finite number or {how_many(count, 'number')}, one for each class, got {values!r}"
        )
    return found
