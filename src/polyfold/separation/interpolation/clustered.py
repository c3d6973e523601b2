"""Clustered data: hyperplanes parallel to the faces of the simplex of means, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold._base.types import Array
from polyfold.errors import DataError
from polyfold.separation.clustered import clusters_of
from polyfold.separation.data import LabelledData, PointSet
from polyfold.separation.interpolation.classifier import Interpolant
from polyfold.separation.interpolation.sequential import built, checked_width
from polyfold.separation.realise import segment_point, step_at, still_there
from polyfold.separation.steps import Step


def from_clusters(data: LabelledData, order: Sequence[Any] | None, width: int | None, goals: Array) -> Interpolant:
    """A network with Q + 1 layers and zero cost for clustered data, from means and radii alone.

    The hyperplane of a class is parallel to the face of the other means, and its base point lies half way between what
    the radii allow. `order` is any order of the labels; sorted if not given.
    """
    wide = checked_width(data, width)
    clusters = clusters_of(data)
    if clusters.verdict != "yes":
        raise DataError(f"the data are not clustered: {clusters.reason}")
    numbers = [data.row_of(label) for label in (data.labels if order is None else order)]
    count = len(data.labels)
    if sorted(numbers) != list(range(count)):
        raise DataError(f"order={order!r} must name each of the {count} labels {data.labels} once")
    steps: list[Step] = []
    points: list[PointSet] = []
    for place, k in enumerate(numbers):
        others = np.delete(clusters.radii, k)
        # The barycentric coordinate of the base point, and where on the way from 1/Q (centre) to 1 (mean) it is
        # reached.
        level = (max(1 / count, others.max() / clusters.heights[k]) + 1 - clusters.radii[k] / clusters.heights[k]) / 2
        mu = float((1 - level) / (1 - 1 / count))
        step = step_at(data, data.centre, k, mu, still_there(data, points, numbers[place + 1 :]), -clusters.normals[k])
        if step is None:
            raise DataError(f"class {data.labels[k]!r} is clustered, but by less than roundings")
        steps.append(step)
        points.append(segment_point(data, data.centre, k, mu))
    return built("clustered", data, steps, None, wide, goals)
