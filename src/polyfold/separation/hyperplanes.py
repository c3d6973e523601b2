"""Hyperplanes through a given point, as far as possible from both sides in angle: these make the narrowest cones."""

from __future__ import annotations

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.types import Array


def narrowest_cone(behind: Array, ahead: Array) -> Array | None:
    """The unit normal that makes the largest least angle with a hyperplane through the origin, in floats.

    All of `ahead` lie on its positive side and all of `behind` on its negative one, as seen from the origin; None if
    there seems to be no such hyperplane. Points are taken as directions: how far away they are does not matter.

    >>> narrowest_cone(np.array([[-3.0, 0.0]]), np.array([[0.0, 1.0]])).round(6).tolist()
    [0.707107, 0.707107]
    """
    from scipy.optimize import nnls

    towards = np.concatenate([-behind, ahead])
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(towards, axis=1)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        return None
    towards = towards / lengths[:, None]
    # The shortest n with towards . n >= 1 is a least-distance problem, and the residual of a non-negative one.
    try:
        system, goal = np.vstack([towards.T, np.ones(len(towards))]), np.append(np.zeros(towards.shape[1]), 1.0)
        weights, _ = apart(lambda: nnls(system, goal, maxiter=50 * len(towards)))
    except RuntimeError:  # it did not converge
        return None
    residual = goal - system @ weights
    normal = residual[:-1]
    length = float(np.linalg.norm(normal))
    if not length > 0 or not (towards @ normal).min() > 0:
        normal = -normal
        if not length > 0 or not (towards @ normal).min() > 0:
            return None
    unit: Array = normal / length
    return unit


def least_cosine(normal: Array, behind: Array, ahead: Array) -> float:
    """The cosine of the largest angle between the normal and a point ahead, or its opposite and one behind."""
    towards = np.concatenate([-behind, ahead])
    lengths = np.linalg.norm(towards, axis=1)
    if not (lengths > 0).all():
        return 0.0  # points so near to each other that squares of their distances are no floats
    return float(np.min(towards @ normal / (lengths * np.linalg.norm(normal)), initial=1.0))
